"""What is forgotten while it is being restored does not come back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from tests.consistency import assert_index_consistent
from tests.integration.test_forget import GRANT, MINE, PRINCIPAL, SECRET, put
from tests.rows import leftovers

from reverie_indexer.change import Change
from reverie_indexer.errors import NotFound
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline, UnitOfWork
from reverie_server.files.files import Write
from reverie_server.forgettable import Selection
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime

BACKUP = "MEMORY_backup_2026-04-03_02-00-00.md"


def meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], Awaitable[object]]) -> None:
    """Let something happen once, between what the next write read and its transaction."""
    unit_of_work = Pipeline.unit_of_work

    @asynccontextmanager
    async def late(self: Pipeline, place: Place, changes: Sequence[Change] = ()) -> AsyncIterator[UnitOfWork]:
        monkeypatch.setattr(Pipeline, "unit_of_work", unit_of_work)
        await happens()
        async with unit_of_work(self, place, changes) as unit:
            yield unit

    monkeypatch.setattr(Pipeline, "unit_of_work", late)


async def test_an_older_version_comes_back_without_it(
    runtime: Runtime, pipeline: Pipeline, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(pipeline, "notes.md", f"{SECRET}\n\nAda likes tea.\n")
    await put(pipeline, "notes.md", "Ada likes coffee.\n")
    meanwhile(monkeypatch, lambda: runtime.forgetting.forget(GRANT, MINE, Target(text=SECRET), dry_run=False))
    await runtime.workspace.restore(PRINCIPAL, Write("notes.md", "user", "restore"), MINE, 1)
    assert (await runtime.workspace.read(PRINCIPAL, "notes.md")).content == "Ada likes tea.\n"
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)


async def test_a_backup_comes_back_without_it(
    runtime: Runtime, pipeline: Pipeline, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"# Long-term Memory\n\n- Ada likes tea.\n- {SECRET}\n"
    await pipeline.write(MINE, Change(BACKUP, lambda _: text, "user", "backup", reserved=True))
    await put(pipeline, "MEMORY.md", "# Long-term Memory\n")
    meanwhile(monkeypatch, lambda: runtime.forgetting.forget(GRANT, MINE, Target(text=SECRET), dry_run=False))
    await runtime.compaction.restore(MINE, BACKUP, by="user")
    assert (await runtime.workspace.read(PRINCIPAL, "MEMORY.md")).content == "# Long-term Memory\n\n- Ada likes tea.\n"
    assert leftovers(conninfo, "quince") == []


async def test_what_is_cleared_is_not_there_to_be_restored(
    runtime: Runtime, pipeline: Pipeline, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(pipeline, "notes.md", SECRET)
    everything = Selection(None, None, ("document",))
    meanwhile(monkeypatch, lambda: runtime.clearing.clear(MINE, everything, dry_run=False))
    with pytest.raises(NotFound):
        await runtime.workspace.restore(PRINCIPAL, Write("notes.md", "user", "restore"), MINE, 1)
    assert leftovers(conninfo, "quince") == []
