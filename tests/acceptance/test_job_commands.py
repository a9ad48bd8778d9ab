"""`reverie worker` and `reverie jobs`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from tests.jobs import Recorded, deferred, jobs_of, with_stages
from typer.testing import CliRunner

from reverie_indexer.database.database import Database
from reverie_indexer.errors import EmbedderUnavailable, NotFound
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.pending_jobs import drain
from reverie_server.app.wiring import assemble
from reverie_server.cli.main import cli
from reverie_server.jobs.model import Work
from reverie_server.jobs.queue import JobRules
from reverie_server.settings.server import Settings

ADA = Work("dedup", "default", "wren", "user:1")


pytestmark = pytest.mark.usefixtures("own_log")


async def prepare(conninfo: str) -> int:
    """A job that waits, one that is scheduled, and one that has failed for good, whose id this is."""
    async with Database(conninfo) as database:
        system = assemble(Settings(embedder="none"), database, ModelSlot(None))
        system = with_stages(system, {"dedup": Recorded(EmbedderUnavailable("down"))}, JobRules(max_attempts=1))
        failed = await deferred(database, ADA)
        await drain(system)
        await deferred(database, Work("extraction", "default", "wren", None))
        await deferred(database, Work("dreaming", "acme", "finch", "user:2"), after_seconds=3600)
    return failed


def test_jobs_are_listed_and_tried_again(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_DATABASE_URL", conninfo)
    failed = asyncio.run(prepare(conninfo))

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(cli, ["jobs", *arguments], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    assert [line.split()[:4] for line in run("list").splitlines()] == [
        [str(failed), "dedup", "failed", "default/wren/user:1"],
        [str(failed + 1), "extraction", "pending", "default/wren/team"],
        [str(failed + 2), "dreaming", "scheduled", "acme/finch/user:2"],
    ]
    found: list[dict[str, Any]] = json.loads(run("list", "--failed", "--json"))
    assert [(job["job_id"], job["state"], job["attempts"], job["error"]) for job in found] == [
        (str(failed), "failed", 1, "embedder_unavailable")
    ]
    assert len(json.loads(run("list", "--json", "--agent", "wren"))) == 2
    assert "dreaming" in run("list", "--stage", "dreaming")
    with pytest.raises(NotFound):
        run("retry", "999999")
    examined = CliRunner().invoke(cli, ["doctor"], catch_exceptions=False)
    assert examined.exit_code == 1
    assert "`reverie jobs retry` tries them again" in examined.output
    assert run("retry", str(failed)) == "1 jobs are tried again\n"
    assert run("list", "--failed") == "no jobs\n"


def test_a_worker_works_until_it_is_told_to_end(conninfo: str) -> None:
    async def waiting() -> list[str]:
        async with Database(conninfo) as database:
            return [job["status"] for job in await jobs_of(database)]

    async def defer_one() -> None:
        async with Database(conninfo) as database:
            await deferred(database, Work("dreaming", "default", "nobody", None))

    asyncio.run(defer_one())
    given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "reverie_server.cli.main", "worker", "--concurrency", "1"],
        env={**given, "REVERIE_DATABASE_URL": conninfo, "REVERIE_EMBEDDER": "none", "REVERIE_LOG_FORMAT": "json"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        # Of an agent that there is not: nothing is to be done.
        told = next(json.loads(line) for line in process.stderr if '"event": "job"' in line)
        assert (told["stage"], told["agent"], told["trigger"], told["status"]) == (
            "dreaming",
            "nobody",
            "event",
            "skipped",
        )
        assert asyncio.run(waiting()) == ["succeeded"]
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait() == 0
    finally:
        process.kill()
        process.communicate()
