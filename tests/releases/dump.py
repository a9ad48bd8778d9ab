"""Makes the dump of a release that upgrades are tested with: `python -m tests.releases.dump 0.1.0 COMMIT`.

The program of that commit serves an empty database, which is filled over HTTP, so that rows are those it writes. What
no request reaches here without a language model or days of waiting is inserted (`rows.sql`): every table has a row.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
from tests.clusters import cluster_directory

from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.postgres.host import wheel_binaries

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
ADA = {"owner_key": "user:ada"}
TALK = [
    ("user", "Please remember that my sister Clara lives in Rome and that I work at Acme on the harbour project."),
    ("assistant", "Noted: Clara lives in Rome, and you work at Acme on the harbour project."),
    ("user", "I prefer short answers, and we decided to move the launch of the harbour project to the 3rd of May."),
    ("assistant", "The launch is on the 3rd of May, and my answers stay short."),
]
# By then the stages that follow from a conversation have run, and upkeep has looked for large memories.
SETTLED_SECONDS = 30


@contextmanager
def program_of(commit: str) -> Iterator[Path]:
    """A checkout of that commit, for a while."""
    with tempfile.TemporaryDirectory(prefix="reverie-release-") as name:
        tree = Path(name) / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", tree, commit], cwd=CHECKOUT, check=True)
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=CHECKOUT, check=True)


@contextmanager
def served(tree: Path, conninfo: str) -> Iterator[str]:
    """The program of a checkout, serving a database; its address."""
    paths = os.pathsep.join(str(tree / part) for part in ("client", "indexer", "server"))
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "REVERIE_DATABASE_URL": conninfo,
        "REVERIE_EMBEDDER": "hashing",
        "REVERIE_EMBEDDER_DIMENSION": "16",
        # So that one memory is large: its vectors are then in a partition of their own.
        "REVERIE_EXACT_MAX_CHUNKS": "12",
        "REVERIE_BACKFILL_INTERVAL_SECONDS": "2",
        "REVERIE_EXTRACTION_COOLDOWN_SECONDS": "0",
        "REVERIE_DREAMING_DEBOUNCE_SECONDS": "0",
    }
    command = [sys.executable, "-m", "reverie_server.cli.main", "serve", "--port", "0"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, cwd=tree)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"listens on (http://\S+)", line):
                yield found[1]
                return
        raise RuntimeError("the program of that release did not start")
    finally:
        process.terminate()
        process.communicate()


def fill(base_url: str) -> None:
    """What somebody might have done in a day."""
    with httpx.Client(base_url=f"{base_url}/api/v1", timeout=60) as client:

        def ask(method: str, path: str, **arguments: object) -> None:
            client.request(method, path, **arguments).raise_for_status()  # type: ignore[arg-type]

        ask("PUT", "/agents/wren", json={"name": "Wren"})
        ask("PUT", "/agents/finch", json={"name": "Finch", "leader_agent_id": "wren"})
        ask("PUT", "/agents/wren/files/AGENTS.md", json={"content": "# Agents\n\nBe brief.\n"})
        memory = "# Memory\n\n## Facts\n\n- Ada plays the fiddle.\n- The lantern is blue.\n"
        ask("PUT", "/agents/wren/files/MEMORY.md", json={"content": memory, **ADA})
        note = "# Harbour\n\nThe bridge is closed until May.\n"
        ask("PUT", "/agents/wren/files/memory/harbour.md", json={"content": note, **ADA})
        ask("PUT", "/agents/wren/files/memory/harbour.md", json={"content": note + "\nThe crane is hired.\n", **ADA})
        ask(
            "PUT", "/agents/wren/files/memory/old.md", json={"content": "The password of the shed is swordfish.", **ADA}
        )
        ask("POST", "/agents/wren/memory/forget", json={"text": "swordfish", "dry_run": False, **ADA})
        messages = [{"role": role, "content": content, "id": f"m{n}"} for n, (role, content) in enumerate(TALK)]
        ask("POST", "/agents/wren/sessions/web:1/messages", json={"messages": messages, **ADA})
        ask("POST", "/agents/wren/sessions/web:1/complete", json=ADA)
        ask("POST", "/agents/wren/memory/search", json={"query": "when does the bridge open?", **ADA})
        time.sleep(SETTLED_SECONDS)


def dump(conninfo: str) -> str:
    """The database as SQL that any client can run, without what belongs to this machine."""
    parts = psycopg.conninfo.conninfo_to_dict(conninfo)
    command = [wheel_binaries() / "bin/pg_dump", "--inserts", "--rows-per-insert=20", "--no-owner", "--no-comments"]
    done = subprocess.run(
        [*command, "-h", parts["host"], "-p", str(parts["port"]), "-U", parts["user"], parts["dbname"]],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    # What only psql understands, and who made it.
    text = re.sub(r"^\\.*\n", "", done.stdout, flags=re.MULTILINE)
    text = re.sub(r"^-- Dumped .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\bTO postgres\b", "TO CURRENT_USER", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def main(release: str, commit: str) -> None:
    with program_of(commit) as tree, cluster_directory() as directory, EmbeddedPostgres(directory / "home") as server:
        conninfo = server.start()
        with served(tree, conninfo) as base_url:
            fill(base_url)
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute((HERE / f"{release}.rows.sql").read_bytes())
        (HERE / f"{release}.sql").write_text(dump(conninfo))


if __name__ == "__main__":
    main(*sys.argv[1:3])
