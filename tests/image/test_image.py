"""The Dockerfile is built and its image run as compose.yaml and the manifests of Kubernetes say, without an engine.

The build is done in a tree of Debian by chroot, a container is a process in namespaces of its own. What an engine's
seccomp profile forbids, its resource limits and its own forwarding of ports are not tried.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml
from tests.image.build import Build, Image
from tests.image.compose import Service, service
from tests.image.container import Container, Options, named_volume
from tests.image.tree import Mounts, mounts_below
from tests.reaper import start_reaper

from reverie_indexer.database.faults import OPERATOR_SQL
from reverie_server.settings.server import Settings

pytestmark = pytest.mark.image
ROOT = Path(__file__).parents[2]
_PREFIX = f"reverie-image-{os.getpid()}-"
_PROGRAMS = ("mmdebstrap", "unshare", "nsenter", "chroot", "ip", "tar")
_AGENT = "/api/v1/agents/home"
_SENTENCES = {
    "notes/pets.md": "The cat sleeps on the windowsill until noon.",
    "notes/money.md": "The invoice of the landlord is due on the first of the month.",
    "notes/work.md": "Deployments wait for the review of the database team.",
}


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """For trees and volumes; in the end it is gone, and nothing was ever mounted in it as seen from here."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    assert not missing, f"make test-image needs {', '.join(missing)} (Debian: mmdebstrap, iproute2)"
    assert os.geteuid() == 0, "make test-image needs root, for chroot and mounts"
    start_reaper(f"{tempfile.gettempdir()}/{_PREFIX}*")
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        yield Path(name).resolve()
        assert mounts_below(Path(name).resolve()) == []


@pytest.fixture(scope="module")
def image(directory: Path) -> Image:
    """What `docker build .` makes."""
    return Build(ROOT, directory).run()


@pytest.fixture
def key() -> str:
    """A first key, made as docs/operations.md says."""
    return f"rv_{secrets.token_hex(8)}_{secrets.token_urlsafe(32)}"


def compose(image: Image, directory: Path, variables: dict[str, str]) -> Service:
    """compose.yaml's service on a new volume."""
    text = (ROOT / "compose.yaml").read_text()
    (path,) = image.volumes
    volume = named_volume(image, path, Path(tempfile.mkdtemp(dir=directory)) / "volume")
    told = service(text, variables, {"reverie-data": volume})
    assert told.volumes == {"reverie-data": path}
    return told


def as_admin(container: Container, key: str) -> httpx.Client:
    return container.http(Authorization=f"Bearer {key}")


def test_compose_serves_keeps_and_restores_a_memory(image: Image, directory: Path, key: str, tmp_path: Path) -> None:
    told = compose(image, directory, {"REVERIE_BOOTSTRAP_ADMIN_KEY": key})
    log = tmp_path / "log"
    with Container(image, told.options, log) as container:
        print(f"\nhealthy after {container.until_healthy():.1f} s")
        assert_may_do_little(container, image)
        with container.http() as nobody:
            for method, path in (("GET", "agents"), ("PUT", "agents/a/files/x.md"), ("POST", "agents/a/memory/search")):
                assert nobody.request(method, f"/api/v1/{path}", json={}).status_code == 401
        with as_admin(container, key) as http:
            for path, text in _SENTENCES.items():
                write(http, path, text)
            assert_found_by_meaning(http)
        listed = container.run("reverie", "keys", "list")
        assert (listed.returncode, listed.stderr) == (0, "")
        assert re.search(r"\badmin\b", listed.stdout)
        backup = container.run("reverie", "backup", "/data/monday.rvb")
        assert backup.returncode == 0, backup.stderr
        with as_admin(container, key) as http:
            write(http, "notes/late.md", "Written after the backup.")
        assert_stops(container, told)
    with Container(image, told.options, log) as container:
        container.until_healthy()
        with as_admin(container, key) as http:
            assert set(notes(http)) == {*_SENTENCES, "notes/late.md"}
            assert_found_by_meaning(http)
        assert_stops(container, told)
    once = Options(**{**vars(told.options), "command": ["reverie", "restore", "/data/monday.rvb", "--replace"]})
    with Container(image, once, log) as container:
        assert container.wait() == 0, container.said()
    with Container(image, told.options, log) as container:
        container.until_healthy()
        with as_admin(container, key) as http:
            assert set(notes(http)) == set(_SENTENCES)
            assert_found_by_meaning(http)
        assert_stops(container, told)
    for word in ("Traceback", "telemetry", key):
        assert word not in log.read_text()


def test_without_a_key_it_does_not_listen(image: Image, directory: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="REVERIE_BOOTSTRAP_ADMIN_KEY is the first key"):
        compose(image, directory, {})
    (path,) = image.volumes
    volume = named_volume(image, path, tmp_path / "volume")
    with Container(image, Options(mounts=Mounts({path: volume})), tmp_path / "log") as container:
        assert container.wait() == 1
        assert "REVERIE_BOOTSTRAP_ADMIN_KEY" in container.said()
        assert "Traceback" not in container.said()


def assert_may_do_little(container: Container, image: Image) -> None:
    """Its user writes to its volume and to /tmp alone, and has no privilege."""
    status = Path(f"/proc/{container.pid()}/status").read_text()
    told = dict(re.findall(r"^(\w+):\t(.*)$", status, re.M))
    assert set(told["Uid"].split()) == {image.user}
    assert {int(told[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert told["NoNewPrivs"] == "1"
    for path in ("/opt/reverie", "/home/reverie", "/etc", "/usr/local", "/var/tmp"):
        assert container.run("touch", f"{path}/written").returncode == 1, path
    for path in ("/tmp", *image.volumes):
        assert container.run("sh", "-c", f"touch {path}/written && rm {path}/written").returncode == 0, path


def write(http: httpx.Client, path: str, text: str) -> None:
    answer = http.put(f"{_AGENT}/files/{path}", json={"content": text})
    assert answer.status_code in (200, 201), answer.text


def notes(http: httpx.Client) -> list[str]:
    paths = [each["path"] for each in http.get(f"{_AGENT}/files").json()["files"]]
    return [path for path in paths if path.startswith("notes/")]


def assert_found_by_meaning(http: httpx.Client) -> None:
    """In another language, of which no word is in the text: the model is in the image."""
    query = {"query": "¿Dónde duerme el gato?", "max_results": 1}
    answer = http.post(f"{_AGENT}/memory/search", json=query)
    assert answer.status_code == 200, answer.text
    (found,) = answer.json()["results"]
    assert (found["path"], found["text"]) == ("notes/pets.md", _SENTENCES["notes/pets.md"])
    assert found["text_score"] == 0


def talk(http: httpx.Client) -> None:
    """A conversation that ends, of which a worker makes an episode."""
    said = [{"id": "m1", "role": "user", "content": "We decided to paint the kitchen green in spring."}]
    for path, body in (("messages", {"messages": said}), ("complete", {})):
        answer = http.post(f"{_AGENT}/sessions/web:1/{path}", json=body)
        assert answer.status_code < 300, answer.text


def assert_stops(container: Container, told: Service) -> None:
    """By itself, well before an engine would kill it, with no process left over."""
    status, seconds = container.stop(told.stop_grace_seconds)
    print(f"stopped after {seconds:.1f} s")
    assert status == 0, container.said()


# Kubernetes


def manifests() -> dict[str, dict[str, Any]]:
    text = (ROOT / "deploy/kubernetes/reverie.yaml").read_text()
    return {each["metadata"]["name"]: each for each in yaml.safe_load_all(text) if each["kind"] == "Deployment"}


def pod_options(deployment: dict[str, Any], secret: dict[str, str], volumes: dict[str, Path]) -> Options:
    """A pod's only container; its volumes have the owner that `fsGroup` gives them."""
    spec = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    group = spec["securityContext"]["fsGroup"]
    for volume in volumes.values():
        volume.mkdir(exist_ok=True)
        os.chown(volume, 0, group)
        volume.chmod(0o2777)
    return Options(
        environment={**secret, **{each["name"]: each["value"] for each in container["env"]}},
        command=container["args"],
        mounts=Mounts(
            {each["mountPath"]: volumes[each["name"]] for each in container["volumeMounts"]},
            read_only=container["securityContext"]["readOnlyRootFilesystem"],
        ),
        no_capabilities=container["securityContext"]["capabilities"] == {"drop": ["ALL"]},
        no_new_privileges=not container["securityContext"]["allowPrivilegeEscalation"],
        user=spec["securityContext"]["runAsUser"],
        group=spec["securityContext"]["runAsGroup"],
        fs_group=group,
    )


@pytest.fixture
def postgres(image: Image, tmp_path: Path) -> Iterator[Container]:
    """A PostgreSQL of one's own: that of the image, in a container that the pods share a network with."""
    (path,) = image.volumes
    volume = named_volume(image, path, tmp_path / "postgres")
    script = """
        bin=$(python -c 'from reverie_indexer.postgres.host import wheel_binaries; print(wheel_binaries() / "bin")')
        $bin/initdb -D /data/postgres -U postgres -A trust -E UTF8 --locale=C > /dev/null
        echo 'host all all 198.18.0.0/15 trust' >> /data/postgres/pg_hba.conf
        exec $bin/postgres -D /data/postgres -c listen_addresses='*' -c unix_socket_directories=/data
    """
    options = Options(command=["sh", "-ec", script], mounts=Mounts({path: volume}))
    with Container(image, options, tmp_path / "postgres.log") as container:
        container.until(lambda: "ready to accept connections" in container.said(), 120)
        admin = f"postgresql://postgres@{container.address}"
        with psycopg.connect(f"{admin}/postgres", autocommit=True) as connection:
            connection.execute("CREATE ROLE reverie LOGIN")
            connection.execute("CREATE DATABASE reverie OWNER reverie")
        with psycopg.connect(f"{admin}/reverie", autocommit=True) as connection:
            connection.execute(OPERATOR_SQL.replace("<the role of REVERIE_DATABASE_URL>", "reverie").encode())
        yield container


def test_pods_of_kubernetes_serve_and_work_on_a_postgresql_of_ones_own(
    image: Image, postgres: Container, key: str, tmp_path: Path
) -> None:
    server, worker = manifests()["reverie"], manifests()["reverie-worker"]
    secret = {"REVERIE_DATABASE_URL": "postgresql://reverie@127.0.0.1/reverie", "REVERIE_BOOTSTRAP_ADMIN_KEY": key}
    own = {pod: {name: tmp_path / f"{pod}-{name}" for name in ("data", "tmp")} for pod in ("server", "worker")}
    shared = {"forgotten": tmp_path / "forgotten"}
    options = pod_options(server, secret, {**own["server"], **shared})
    with Container(image, options, tmp_path / "server.log", beside=postgres) as container:
        container.until_healthy()
        (spec,) = server["spec"]["template"]["spec"]["containers"]
        with as_admin(container, key) as http:
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                container.until(lambda: http.get(spec[probe]["httpGet"]["path"]).status_code == 200, 60)  # noqa: B023
            assert_may_do_little(container, image)
            options = pod_options(worker, secret, {**own["worker"], **shared})
            with Container(image, options, tmp_path / "worker.log", beside=postgres) as working:
                for path, text in _SENTENCES.items():
                    write(http, path, text)
                assert_found_by_meaning(http)
                talk(http)
                working.until(lambda: bool(http.get(f"{_AGENT}/episodes").json()["episodes"]), 60)
                gone = {"text": _SENTENCES["notes/money.md"], "dry_run": False}
                answer = http.post(f"{_AGENT}/memory/forget", json=gone)
                assert answer.status_code == 200, answer.text
                status, seconds = working.stop(worker["spec"]["template"]["spec"]["terminationGracePeriodSeconds"])
                print(f"\nthe worker stopped after {seconds:.1f} s")
                assert status == 0, working.said()
        assert container.run(*spec["lifecycle"]["preStop"]["exec"]["command"]).returncode == 0
        status, seconds = container.stop(Settings().shutdown_grace_seconds)
        print(f"the server stopped after {seconds:.1f} s")
        assert status == 0, container.said()
        assert "Traceback" not in container.said() + working.said()
    assert (shared["forgotten"] / "forgotten.log").stat().st_size > 0
