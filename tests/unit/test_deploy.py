"""What stands in `deploy/`, the Dockerfile and compose.yaml names settings, commands, paths and limits that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import typer.main
import yaml
from docs import generate
from tests.image.dockerfile import Ignored, stages

from reverie_indexer.errors import Overloaded
from reverie_server.access.keys import _KEY
from reverie_server.cli.main import cli
from reverie_server.http.bodies import MAX_BODY_BYTES
from reverie_server.http.entrance import _OPEN
from reverie_server.http.readiness import READY_SECONDS
from reverie_server.http.routes.proxy import MAX_CHAT_BYTES
from reverie_server.settings.server import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PROXIES = [DEPLOY / "proxy/Caddyfile", DEPLOY / "proxy/nginx.conf", DEPLOY / "proxy/haproxy.cfg"]
FILES = [ROOT / "Dockerfile", ROOT / "compose.yaml", *sorted(path for path in DEPLOY.rglob("*") if path.is_file())]
DEFAULTS = {name: field.default for name, field in Settings.model_fields.items()}
SETTINGS = {f"REVERIE_{name.upper()}" for name in DEFAULTS}
# Python that runs Reverie in the image and under systemd.
PROGRAM = "/opt/reverie/bin/reverie"


def settings_named(text: str) -> set[str]:
    return set(re.findall(r"REVERIE_[A-Z_]*[A-Z]", text))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_variable_is_a_setting(path: Path) -> None:
    assert settings_named(path.read_text()) <= SETTINGS


def test_all_kinds_of_files_are_looked_at() -> None:
    assert len(UNITS) == 2
    assert sum(1 for path in FILES if settings_named(path.read_text())) >= 8


def check_command(words: list[str]) -> None:
    """Each command and option is one of the command line's."""
    command: Any = typer.main.get_command(cli)
    assert words[0] in ("reverie", PROGRAM)
    for word in words[1:]:
        if word.startswith("-"):
            assert word in {name for option in command.params for name in option.opts}, word
        else:
            command = command.commands[word]


# Containers


def image() -> dict[str, str]:
    """The variables of the image, with its user, port and command under the names of their instructions."""
    variables: dict[str, str] = {}
    for instruction in stages((ROOT / "Dockerfile").read_text())[-1].instructions:
        if instruction.name == "ENV":
            variables |= dict(pair.split("=", 1) for pair in instruction.rest.split())
        elif instruction.name in ("USER", "EXPOSE", "VOLUME", "CMD"):
            variables[instruction.name] = instruction.rest
    return variables


def test_the_image_listens_where_its_port_is_published_and_runs_as_a_named_user() -> None:
    values = image()
    assert values["REVERIE_HOST"] == "0.0.0.0"
    assert values["EXPOSE"] == str(DEFAULTS["port"])
    assert values["VOLUME"] == values["REVERIE_DATA_DIR"]
    for command in (f"groupadd --system --gid {values['USER']} ", f"useradd --system --uid {values['USER']} "):
        assert command in (ROOT / "Dockerfile").read_text()
    check_command(yaml.safe_load(values["CMD"]))


def test_an_engine_gets_what_is_copied_and_no_secret() -> None:
    ignored = Ignored((ROOT / ".dockerignore").read_text())
    for path in (
        "runtime.lock",
        "server/reverie_server/cli/main.py",
        "benchmarks/reverie_bench/cli.py",
        "prompts/a.md",
    ):
        assert PurePosixPath(path) not in ignored, path
    secrets = (".env", "secret.yaml", "bootstrap_admin_key", "monday.rvb", ".git/config", ".venv-ha/bin/python")
    for path in (*secrets, "benchmarks/peers/run.py", "tests/ports.py", "benchmarks/reverie_bench/__pycache__/cli.pyc"):
        assert PurePosixPath(path) in ignored, path


def test_compose_publishes_on_loopback_keeps_data_and_asks_for_the_first_key() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    service = compose["services"]["reverie"]
    assert service["ports"] == [f"${{PUBLISH_ADDRESS:-127.0.0.1}}:{DEFAULTS['port']}:{image()['EXPOSE']}"]
    assert "network_mode" not in service
    # The log of what was forgotten is in data_dir where no other place is set.
    assert service["volumes"] == [f"reverie-data:{image()['REVERIE_DATA_DIR']}"]
    assert "REVERIE_FORGOTTEN_LOG" not in service["environment"]
    assert "reverie-data" in compose["volumes"]
    assert service["environment"]["REVERIE_BOOTSTRAP_ADMIN_KEY"].startswith("${REVERIE_BOOTSTRAP_ADMIN_KEY:?")
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert int(service["stop_grace_period"].removesuffix("s")) > DEFAULTS["shutdown_grace_seconds"] + drain_seconds()


def test_the_document_makes_a_key_that_the_server_takes() -> None:
    text = (ROOT / "docs/operations.md").read_text()
    commands = re.findall(r"^printf 'rv_.*?(?= >|$)", text.replace("\\\n", ""), re.M)
    assert commands
    for command in commands:
        key = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout
        assert _KEY.fullmatch(key)


# systemd


def unit(path: Path) -> dict[str, dict[str, list[str]]]:
    """The sections of a unit; a name may be given more than once."""
    sections: dict[str, dict[str, list[str]]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            section.setdefault(name, []).append(value)
    return sections


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_is_hardened_and_has_time_to_end(path: Path) -> None:
    service = unit(path)["Service"]
    wanted = {
        "User": "reverie",
        "StateDirectory": "reverie",
        "Restart": "on-failure",
        "KillMode": "mixed",
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "PrivateDevices": "yes",
        "MemoryDenyWriteExecute": "yes",
        "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    }
    assert {name: service.get(name) for name in wanted} == {name: [value] for name, value in wanted.items()}
    assert "REVERIE_DATA_DIR=/var/lib/reverie" in service["Environment"]
    assert int(service["TimeoutStopSec"][0]) > DEFAULTS["shutdown_grace_seconds"] + (
        drain_seconds() if path.stem == "reverie" else 0
    )
    check_command(service["ExecStart"][0].split())


def test_the_first_key_reaches_the_server_as_a_credential_and_the_worker_not() -> None:
    server, worker = (
        unit(DEPLOY / "systemd" / name)["Service"] for name in ("reverie.service", "reverie-worker.service")
    )
    (name, _, source) = server["LoadCredential"][0].partition(":")
    assert source == "/etc/reverie/bootstrap_admin_key"
    assert f"REVERIE_BOOTSTRAP_ADMIN_KEY_FILE=%d/{name}" in server["Environment"]
    assert "LoadCredential" not in worker
    assert worker["ExecCondition"] == ["/bin/sh -c 'test -n \"$$REVERIE_DATABASE_URL$$REVERIE_DATABASE_URL_FILE\"'"]


@pytest.mark.parametrize("is_embedded", [False, True])
def test_the_example_of_an_environment_is_one(
    is_embedded: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The settings take its values, those commented out too: with one's own PostgreSQL, or the embedded one."""
    monkeypatch.chdir(tmp_path)
    of_one = {
        False: {"REVERIE_DATABASE_URL", "REVERIE_READ_DATABASE_URL"},
        True: {"REVERIE_WAL_ARCHIVE_DIR"},
    }
    found = dict(re.findall(r"^#?(REVERIE_\w+)=(.*)$", (DEPLOY / "systemd/reverie.env.example").read_text(), re.M))
    assert of_one[False] | of_one[True] <= found.keys()
    for name, value in found.items():
        if name not in of_one[not is_embedded]:
            monkeypatch.setenv(name, value)
    settings = Settings.load()
    assert settings.backup_dir is not None
    assert (settings.wal_archive_dir is not None) is is_embedded
    assert (settings.database_url is None) is (settings.read_database_url is None) is is_embedded
    assert settings.trusted_proxies == "127.0.0.1"
    assert (settings.public_metrics, settings.public_docs) == (False, False)


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not there: units are not verified"
)
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_takes_a_unit(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    # It looks whether the program is there.
    copy.write_text(path.read_text().replace(PROGRAM, shutil.which("true") or ""))
    verified = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
    assert (verified.stderr, verified.returncode) == ("", 0)


# Kubernetes


def manifests() -> list[dict[str, Any]]:
    return [
        document
        for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
    ]


def named(kind: str, name: str = "reverie") -> dict[str, Any]:
    (found,) = (each for each in manifests() if (each["kind"], each["metadata"]["name"]) == (kind, name))
    return found


DEPLOYMENTS = ["reverie", "reverie-worker"]


def pod(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A deployment's pod and its only container."""
    spec = named("Deployment", name)["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    return spec, container


def test_the_manifests_are_these() -> None:
    kinds = [(each["kind"], each["apiVersion"]) for each in manifests()]
    assert sorted(kinds) == [
        ("Deployment", "apps/v1"),
        ("Deployment", "apps/v1"),
        ("PersistentVolumeClaim", "v1"),
        ("PodDisruptionBudget", "policy/v1"),
        ("Secret", "v1"),
        ("Service", "v1"),
    ]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_pod_may_do_as_little_as_it_needs(name: str) -> None:
    spec, container = pod(name)
    assert spec["securityContext"]["runAsNonRoot"] is True
    # initdb and file rights know the image's user alone.
    for name in ("runAsUser", "runAsGroup", "fsGroup"):
        assert str(spec["securityContext"][name]) == image()["USER"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"cpu", "memory"} <= set(container["resources"]["requests"])
    check_command(container["args"])


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_pod_writes_to_volumes_only_and_the_log_of_what_was_forgotten_outlives_it(name: str) -> None:
    spec, container = pod(name)
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
    assert mounts.keys() == {"/tmp", image()["REVERIE_DATA_DIR"], "/forgotten"}
    log = Path(values_of(container)["REVERIE_FORGOTTEN_LOG"])
    claim = mounts[str(log.parent)]["persistentVolumeClaim"]["claimName"]
    assert named("PersistentVolumeClaim", claim)["spec"]["accessModes"] == ["ReadWriteMany"]


def values_of(container: dict[str, Any]) -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in container["env"]}


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_settings_of_a_pod_are_taken(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _, container = pod(name)
    (source,) = container["envFrom"]
    secret = named("Secret", source["secretRef"]["name"])["stringData"]
    monkeypatch.chdir(tmp_path)
    for variable, value in {**secret, **values_of(container)}.items():
        monkeypatch.setenv(variable, value)
    settings = Settings.load()
    assert settings.database_url is not None
    assert settings.bootstrap_admin_key is not None
    assert settings.log_format == "json"


def probes() -> Iterator[tuple[str, dict[str, Any]]]:
    _, container = pod("reverie")
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        yield name, container[name]


def test_probes_ask_routes_that_exist_and_wait_for_their_answer() -> None:
    asked = {name: probe["httpGet"] for name, probe in probes()}
    assert {name: get["path"] for name, get in asked.items()} == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz",
    }
    assert {get["path"] for get in asked.values()} <= generate.openapi()["paths"].keys()
    assert dict(probes())["readinessProbe"]["timeoutSeconds"] > READY_SECONDS
    # A step of an upgrade waits ten minutes for a table in use.
    startup = dict(probes())["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] > 600


def test_ports_and_labels_agree() -> None:
    _, container = pod("reverie")
    (port,) = container["ports"]
    values = values_of(container)
    assert values["REVERIE_PORT"] == str(port["containerPort"]) == image()["EXPOSE"]
    assert values["REVERIE_HOST"] == image()["REVERIE_HOST"]
    (served,) = named("Service")["spec"]["ports"]
    assert served["targetPort"] == port["name"]
    assert {probe["httpGet"]["port"] for _, probe in probes()} == {port["name"]}
    labels = named("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert named("Service")["spec"]["selector"] == labels
    assert named("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    assert named("PodDisruptionBudget")["spec"]["minAvailable"] < named("Deployment")["spec"]["replicas"]
    for name in DEPLOYMENTS:
        spec = named("Deployment", name)["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
        # Else servers of two versions stand beside each other.
        assert spec["strategy"] == {"type": "Recreate"}


def test_a_pod_has_time_to_end() -> None:
    spec, container = pod("reverie")
    _, pause = container["lifecycle"]["preStop"]["exec"]["command"]
    assert spec["terminationGracePeriodSeconds"] > int(pause) + DEFAULTS["shutdown_grace_seconds"]
    assert pod("reverie-worker")[0]["terminationGracePeriodSeconds"] > DEFAULTS["shutdown_grace_seconds"]


# Proxies


def largest_body_mebibytes() -> int:
    """Of JSON, of a conversation for a language model, and of an archive, a sixteenth longer than its files."""
    archive = DEFAULTS["snapshot_max_bytes"] * 17 // 16
    return max(MAX_BODY_BYTES, MAX_CHAT_BYTES, archive) // 1024**2


def test_nginx_passes_on_what_the_server_needs() -> None:
    text = (DEPLOY / "proxy/nginx.conf").read_text()
    for line in (
        f"client_max_body_size {largest_body_mebibytes()}m;",
        f"server 127.0.0.1:{DEFAULTS['port']};",
        "proxy_set_header Host $http_host;",
        "proxy_set_header X-Forwarded-For $remote_addr;",
        "proxy_set_header X-Forwarded-Proto $scheme;",
        "proxy_buffering off;",
        "proxy_http_version 1.1;",
    ):
        assert line in text, line
    assert seconds_in(text, r"keepalive_timeout (\d+)s;") < DEFAULTS["keep_alive_seconds"]
    of_a_model = DEFAULTS["llm_timeout_seconds"] * (1 + DEFAULTS["llm_max_retries"])
    assert seconds_in(text, r"proxy_read_timeout (\d+)s;") > max(of_a_model, DEFAULTS["events_stream_seconds"])


def test_caddy_passes_on_what_the_server_needs() -> None:
    text = (DEPLOY / "proxy/Caddyfile").read_text()
    assert f"max_size {largest_body_mebibytes()}MiB" in text
    assert f"reverse_proxy 127.0.0.1:{DEFAULTS['port']} {{" in text
    # It would be another Host, or no forwarded address, or answers that come at once.
    assert not re.search(r"^\s*(header_up|flush_interval|response_buffers)", text, re.M)
    assert seconds_in(text, r"keepalive (\d+)s") < DEFAULTS["keep_alive_seconds"]


def test_haproxy_passes_on_what_the_server_needs() -> None:
    text = (DEPLOY / "proxy/haproxy.cfg").read_text()
    for line in (
        "http-request set-header X-Forwarded-For %[src]",
        "http-request set-header X-Forwarded-Proto https",
        "option httpchk GET /readyz",
    ):
        assert line in text, line
    assert not re.search(r"^\s*(http-request set-header Host|option (forwardfor|http-buffer-request))", text, re.M)
    assert seconds_in(text, r"pool-purge-delay (\d+)s") < DEFAULTS["keep_alive_seconds"]
    of_a_model = DEFAULTS["llm_timeout_seconds"] * (1 + DEFAULTS["llm_max_retries"])
    for name in ("server", "client"):
        assert seconds_in(text, rf"timeout {name} (\d+)s") > max(of_a_model, DEFAULTS["events_stream_seconds"])
    assert seconds_in(text, r"timeout check (\d+)s") > READY_SECONDS
    found_out = seconds_in(text, r"inter (\d+)s") * seconds_in(text, r"fall (\d+)")
    assert seconds_in(text, r"REVERIE_SHUTDOWN_DRAIN_SECONDS=(\d+)") > found_out + 1
    (body,) = re.findall(r"string '(.+)' hdr Retry-After \d+$", text, re.M)
    assert json.loads(body)["code"] == Overloaded.code


def drain_seconds() -> int:
    """What a server behind the proxy of `deploy` is told to wait before it ends."""
    return seconds_in((DEPLOY / "proxy/haproxy.cfg").read_text(), r"REVERIE_SHUTDOWN_DRAIN_SECONDS=(\d+)")


def seconds_in(text: str, pattern: str) -> int:
    (found,) = re.findall(pattern, text)
    return int(found)


@pytest.mark.parametrize("path", PROXIES, ids=lambda path: path.name)
def test_a_proxy_names_routes_that_exist_and_hides_the_metrics(path: Path) -> None:
    text = path.read_text()
    paths = {*generate.openapi()["paths"], *_OPEN}
    hidden = re.findall(r"^\s*(?:location =|respond|http-request return status 404 if { path) (/\S+)", text, re.M)
    assert hidden == ["/metrics"]
    assert {*hidden, *re.findall(r"(?:\((?=/)|httpchk GET )(/[^\s)]+)", text)} <= paths
    named = settings_named(text) - {"REVERIE_SHUTDOWN_DRAIN_SECONDS"}
    assert named == {"REVERIE_TRUSTED_PROXIES", "REVERIE_KEEP_ALIVE_SECONDS"}
    assert f"REVERIE_KEEP_ALIVE_SECONDS ({DEFAULTS['keep_alive_seconds']})" in text
