"""The command as a person uses it: answers on stdout, one line on stderr when something is wrong, exit statuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psycopg
import pytest
from tests.clusters import cluster_directory
from tests.releases.restore import empty_database, restored

from reverie_indexer.database.upgrade import shipped_program

CHECKOUT = Path(__file__).resolve().parents[2]
REVERIE = [sys.executable, "-m", "reverie_server.cli.main"]


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A data directory of this module, with the model that needs no loading."""
    with cluster_directory() as directory:
        yield directory / "data"


def reverie(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*REVERIE, *(str(part) for part in arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "REVERIE_EMBEDDER": "hashing", **environment},
    )


def test_index_then_search_then_index_again(data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    note = tmp_path / "memory" / "2026-04-03.md"
    note.write_text("# 2026-04-03\n\nAda moved the review to Thursday.\n")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    where = ["--agent", "wren", "--owner", "user:42", "--data-dir", data_dir]
    done = reverie("index", tmp_path, *where)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 new, 0 changed, 0 unchanged, 0 removed, 1 skipped; 1 chunks written\n"
    assert "skipped latin.md: not UTF-8" in done.stderr

    done = reverie("search", "review with Ada", *where)
    assert done.returncode == 0, done.stderr
    assert "memory/2026-04-03.md:1-3" in done.stdout.splitlines()[0]
    answer = json.loads(reverie("search", "review with Ada", "--json", *where).stdout)
    assert answer["results"][0]["owner_key"] == "user:42"

    note.unlink()
    done = reverie("index", tmp_path, *where)
    assert done.stdout.startswith("0 new, 0 changed, 0 unchanged, 1 removed")
    answer = json.loads(reverie("search", "review with Ada", "--json", *where).stdout)
    assert not any(result["path"].startswith("memory/") for result in answer["results"])


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["search", "x", "--agent", "nobody"], 1, "there is no agent 'nobody'"),
        (["search", "x", "--agent", "a b"], 2, "an agent id has"),
        (["search", "x", "--agent", "wren", "--owner", "nonsense"], 2, "an owner key is"),
        (["serve", "--host", "0.0.0.0"], 1, "listens on loopback only"),
    ],
)
def test_an_error_is_one_line_on_stderr(data_dir: Path, arguments: list[str], status: int, message: str) -> None:
    done = reverie(*arguments, "--data-dir", data_dir)
    assert (done.returncode, done.stdout) == (status, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("reverie: ")
    assert message in done.stderr


def test_a_wrong_setting_is_named_with_its_remedy(data_dir: Path) -> None:
    done = reverie("doctor", "--data-dir", data_dir, REVERIE_TEXT_WEIGHT="0.5")
    assert done.returncode == 1
    assert "text_weight + vector_weight must be 1" in done.stderr
    done = reverie("doctor", "--data-dir", data_dir, REVERIE_PORT="http")
    assert (done.returncode, "port" in done.stderr, "Traceback" in done.stderr) == (1, True, False)


def test_a_setting_that_there_is_not_is_refused_at_start(data_dir: Path) -> None:
    done = reverie("serve", "--data-dir", data_dir, REVERIE_EXTRACTION_COOLDOWN="5")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "REVERIE_EXTRACTION_COOLDOWN: there is no such setting" in done.stderr
    assert "REVERIE_EXTRACTION_COOLDOWN_SECONDS" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["serve", "--nonsense"],
        ["serve", "--port", "99999"],
        ["bogus"],
        ["index", "/nonexistent", "--agent", "a"],
    ],
)
def test_wrong_use_is_status_2_and_one_line(arguments: list[str]) -> None:
    done = reverie(*arguments)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert done.stderr.startswith("reverie: ")


def test_help_is_shown_when_asked_for_and_without_arguments() -> None:
    assert "serve" in reverie("--help").stdout
    assert reverie("--help").returncode == 0
    alone = reverie()
    assert "serve" in alone.stdout + alone.stderr


def test_doctor_reports_and_masks_secrets(data_dir: Path) -> None:
    done = reverie(
        "doctor", "--data-dir", data_dir, REVERIE_EMBEDDER_API_KEY="sk-very-secret", REVERIE_BACKUP_DIR="/backups"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "embedded PostgreSQL 18" in done.stdout
    assert "all is well" in done.stdout
    # What other tests wrote into the same memory may still be to be done.
    assert re.search(r"no worker runs now; \d+ pending, 0 running, \d+ scheduled, 0 failed", done.stdout)
    assert "embedder_api_key = ********" in done.stdout
    assert "log_level" not in done.stdout
    assert re.search(r"^backup +/backups; no backup yet: a worker makes it$", done.stdout, re.M)
    assert "sk-very-secret" not in done.stdout + done.stderr


def test_doctor_tells_an_unreachable_database_from_a_working_one(data_dir: Path) -> None:
    done = reverie("doctor", "--data-dir", data_dir, REVERIE_DATABASE_URL="postgresql://nobody@127.0.0.1:9/none")
    assert done.returncode == 1
    assert "PostgreSQL does not answer" in done.stdout


def test_another_model_at_start_names_both_and_the_command(data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("lantern")
    assert reverie("index", tmp_path, "--agent", "wren", "--data-dir", data_dir).returncode == 0
    done = reverie("serve", "--port", "0", "--data-dir", data_dir, REVERIE_EMBEDDER_DIMENSION="128")
    assert done.returncode == 1
    # A worker may have been about to start: its line can come after.
    (reason,) = [line for line in done.stderr.splitlines() if line.startswith("reverie: ")]
    assert "(384-d)" in reason
    assert "(128-d)" in reason
    assert "reverie embeddings migrate" in reason

    done = reverie("embeddings", "migrate", "--data-dir", data_dir, REVERIE_EMBEDDER_DIMENSION="128")
    assert done.returncode == 0, done.stderr
    assert "(128-d)" in done.stdout
    done = reverie(
        "search", "lantern", "--json", "--agent", "wren", "--data-dir", data_dir, REVERIE_EMBEDDER_DIMENSION="128"
    )
    assert json.loads(done.stdout)["mode"] == "hybrid"
    done = reverie("embeddings", "migrate", "--data-dir", data_dir)
    assert done.returncode == 0, done.stderr


def test_serve_answers_and_stops_cleanly_on_sigterm(data_dir: Path) -> None:
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [*REVERIE, "serve", "--port", "0", "--data-dir", str(data_dir)],
            stderr=log,
            env={**os.environ, "REVERIE_EMBEDDER": "hashing"},
        )
        try:
            url = None
            for _ in range(1200):
                log.seek(0)
                if found := re.search(r"listens on (http://\S+)", log.read()):
                    url = found[1]
                    break
                time.sleep(0.05)
            assert url is not None
            health = httpx.get(f"{url}/healthz", timeout=10)
            assert health.json() == {"status": "ok"}
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) in (0, -signal.SIGTERM)
    assert not (data_dir / "postgres" / "postmaster.pid").exists(), "the last client stops PostgreSQL"


def test_the_demo_shows_what_it_promises() -> None:
    done = subprocess.run(
        [sys.executable, CHECKOUT / "examples" / "demo.py"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for passage in ("MEMORY.md:17", "memory/2026-11-05.md:11", "MEMORY.md:38", "memory/2026-10-15.md:16"):
        assert passage in done.stdout
    assert re.search(r"look into this memory at http://127\.0\.0\.1:\d+/browser/wren/overview\?owner=", done.stdout)


def test_keys_are_made_listed_and_revoked_and_close_the_server(tmp_path: Path) -> None:
    with cluster_directory() as directory:
        where = ["--data-dir", directory / "data"]
        done = reverie("keys", "create", "--tenant", "acme", "--role", "member", "--owner", "user:1", "--json", *where)
        assert done.returncode == 0, done.stderr
        made = json.loads(done.stdout)
        assert made.keys() == {"id", "key"}
        listed = reverie("keys", "list", *where).stdout
        assert made["id"] in listed
        assert made["key"] not in listed
        assert "user:1" in listed
        ended = reverie("keys", "create", "--role", "viewer", "--name", "shop", "--expires", "90d", "--json", *where)
        assert ended.returncode == 0, ended.stderr
        entries = {entry["id"]: entry for entry in json.loads(reverie("keys", "list", "--json", *where).stdout)}
        entry = entries[json.loads(ended.stdout)["id"]]
        left = datetime.fromisoformat(entry["expires_at"]) - datetime.now(UTC)
        assert (entry["name"], entry["state"], left.days) == ("shop", "valid", 89)
        assert reverie("keys", "create", "--role", "viewer", "--expires", "soon", *where).returncode == 2
        assert reverie("keys", "create", "--role", "viewer", "--expires", "2020-01-01", *where).returncode == 2
        assert reverie("keys", "create", "--role", "king", *where).returncode == 2
        assert reverie("keys", "create", "--role", "admin", "--owner", "nonsense", *where).returncode == 2
        assert reverie("keys", "revoke", made["id"], *where).returncode == 0
        assert "revoked" in reverie("keys", "list", *where).stdout
        assert reverie("keys", "revoke", made["id"], *where).returncode == 1


def test_upgrade_says_what_it_would_do_and_does_it(server_conninfo: str) -> None:
    newest = shipped_program().number
    with restored(server_conninfo, "0.1.0") as conninfo:
        where = {"REVERIE_DATABASE_URL": conninfo}
        done = reverie("upgrade", "--dry-run", **where)
        assert done.returncode == 0, done.stderr
        steps = done.stdout.splitlines()
        assert steps[0].startswith("0001_numbered: Number the schema")
        assert steps[-1].endswith(f"steps would be taken: the database is at migration 0 of {newest}")
        done = reverie("upgrade", **where)
        assert done.stdout.splitlines()[:-1] == steps[:-1]
        assert done.stdout.endswith(f"the database is at migration {newest}\n")
        assert reverie("upgrade", **where).stdout == f"nothing was to be done: the database is at migration {newest}\n"
        done = reverie("upgrade", "--dry-run", **where)
        assert done.stdout == f"nothing is to be done: the database is at migration {newest} of {newest}\n"
    with empty_database(server_conninfo) as conninfo:
        done = reverie("upgrade", "--dry-run", REVERIE_DATABASE_URL=conninfo)
        assert done.stdout == f"there is no schema yet: it would be made as of migration {newest}\n"
        done = reverie("upgrade", REVERIE_DATABASE_URL=conninfo)
        assert done.stdout == f"the schema was made: the database is at migration {newest}\n"


def test_doctor_upgrades_nothing(server_conninfo: str) -> None:
    with restored(server_conninfo, "0.1.0") as conninfo:
        done = reverie("doctor", REVERIE_DATABASE_URL=conninfo)
        assert done.returncode == 1
        assert re.search(r"PROBLEM: \d+ migrations are to be applied: `reverie upgrade`", done.stdout)
        assert "would be taken" in reverie("upgrade", "--dry-run", REVERIE_DATABASE_URL=conninfo).stdout


def test_what_a_search_shows_is_noted_as_recalled(conninfo: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The lantern hangs in the hall.")
    where = ["--agent", "wren", "--owner", "user:42"]
    assert reverie("index", tmp_path, *where, REVERIE_DATABASE_URL=conninfo).returncode == 0
    done = reverie("search", "lantern", *where, REVERIE_DATABASE_URL=conninfo)
    assert (done.returncode, "a.md:1" in done.stdout) == (0, True), done.stderr
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        assert connection.execute("SELECT count(*), max(source) FROM recalls").fetchone() == (1, "search")


def test_a_database_of_a_newer_program_is_refused_in_one_line(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute(b"INSERT INTO reverie_migrations (number, name) VALUES (9876, '9876_later')")
    for command in (
        ["serve", "--port", "0"],
        ["upgrade"],
        ["upgrade", "--dry-run"],
        ["search", "x", "--agent", "wren"],
    ):
        done = reverie(*command, REVERIE_DATABASE_URL=conninfo)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
        assert "the database is newer than this program: it has migration 9876" in done.stderr
