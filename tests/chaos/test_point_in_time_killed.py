"""A restore to a point in time that is killed leaves the old memory or the restored one, and can be run again."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.backups import shown_nowhere
from tests.chaos.point_in_time_child import DONE, INSTANTS
from tests.clusters import cluster_directory
from tests.consistency import assert_index_consistent
from tests.integration.test_forget import PRINCIPAL
from tests.point_in_time import Made, embedded, make
from tests.rows import leftovers

from reverie_indexer.errors import NotFound
from reverie_server.app.backups.point_in_time import restore_to_time
from reverie_server.app.backups.restore import RestoreOptions
from reverie_server.runtime import Runtime

# Where it is hardest; the others take their time.
FAST = ("between the names",)


@pytest.fixture(scope="module")
def life() -> Iterator[Made]:
    with cluster_directory() as directory:
        yield asyncio.run(make(directory))


def left(home: Path) -> set[str]:
    """What a restore has left in a data directory."""
    return {"restoring", "postgres.replaced"} & {path.name for path in home.iterdir()}


async def is_there(runtime: Runtime, path: str) -> bool:
    try:
        await runtime.workspace.read(PRINCIPAL, path)
    except NotFound:
        return False
    return True


@pytest.mark.parametrize(
    "instant", [each if each in FAST else pytest.param(each, marks=pytest.mark.slow) for each in INSTANTS]
)
async def test_the_old_memory_or_the_restored_one_is_there_and_it_goes_on(life: Made, instant: str) -> None:
    with cluster_directory() as directory:
        made, home = life.copy_to(directory), directory / "home"
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.chaos.point_in_time_child", directory, made.good.isoformat(), instant,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, said = await child.communicate()
        assert child.returncode == -signal.SIGKILL, said.decode()
        assert left(home)
        with capture_logs() as logs:
            async with embedded(made.settings) as (runtime, conninfo):
                there = [await is_there(runtime, path) for path in ("plan.md", "last.md")]
                assert leftovers(conninfo, "quince") == []
                assert_index_consistent(conninfo)
        is_done = instant in DONE
        assert there == [is_done, not is_done]
        assert {line["event"] for line in logs} >= {"restore_was_killed_when_done" if is_done else "restore_was_killed"}
        assert not left(home)

        await restore_to_time(made.settings, made.good, RestoreOptions(replace=True), shown_nowhere)
        async with embedded(made.settings) as (runtime, conninfo):
            assert (await runtime.workspace.read(PRINCIPAL, "plan.md")).content == "The bridge opens in spring.\n"
            assert leftovers(conninfo, "quince") == []
