"""Long-term memory with several writers, under both of its names, and through compaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from tests.consistency import assert_index_consistent

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import Conflict, DuplicateDetected, NotFound
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline, UnitOfWork, Within
from reverie_server.access.principal import Principal
from reverie_server.files.files import Workspace, Write
from reverie_server.long_term import compaction as compaction_module
from reverie_server.long_term.compaction import KEPT_BACKUPS, Compaction
from reverie_server.long_term.longterm import LongTermMemory

ADA = Place("default", "wren", "personal", "user:ada")
TEAM = Place("default", "wren", "team")
TEA = "Prefers tea to coffee in the morning."
TWICE = f"# Long-term Memory\n\n## Notes\n\n- {TEA}\n- {TEA}\n- Likes chess.\n"


@pytest.fixture
def memory(workspace: Workspace) -> LongTermMemory:
    return LongTermMemory(workspace)


async def put(pipeline: Pipeline, place: Place, path: str, text: str) -> None:
    await pipeline.write(place, overwrite(path, text, by="test", reason="test"))


async def text_at(workspace: Workspace, place: Place, path: str) -> str | None:
    found = await workspace.present(place, [path])
    return found[path][1] if path in found else None


def principal_of(place: Place) -> Principal:
    return Principal(place.tenant_id, place.agent_id, place.owner_key)


class TestSavers:
    async def test_eight_first_savers_all_arrive_in_one_new_memory(
        self, memory: LongTermMemory, workspace: Workspace, conninfo: str
    ) -> None:
        contents = [f"Something that task number {n} has to remember." for n in range(8)]
        categories = ["profile", "preferences", "notes", None]
        await asyncio.gather(*(memory.save(ADA, c, categories[n % 4], by="test") for n, c in enumerate(contents)))
        text = await text_at(workspace, ADA, "MEMORY.md")
        assert text is not None
        assert all(text.count(f"- {content}\n") == 1 for content in contents)
        assert text.count("# Long-term Memory") == 1
        assert_index_consistent(conninfo)

    async def test_savers_of_several_processes_all_arrive(
        self, database: Database, pipeline: Pipeline, memory: LongTermMemory, workspace: Workspace
    ) -> None:
        """A second pipeline shares no lock with the first."""
        other = LongTermMemory(Workspace(database, Pipeline(database, pipeline._models, pipeline._rules)))
        savers = [memory, other] * 4
        await asyncio.gather(
            *(
                one.save(ADA, f"What saver number {n} of eight wants kept.", None, by="test")
                for n, one in enumerate(savers)
            )
        )
        text = await text_at(workspace, ADA, "MEMORY.md")
        assert text is not None
        assert all(f"- What saver number {n} of eight wants kept.\n" in text for n in range(8))

    async def test_of_eight_who_save_the_same_one_succeeds(self, memory: LongTermMemory, workspace: Workspace) -> None:
        """Each looks for duplicates in the text that is really there when it is written."""
        outcomes = await asyncio.gather(
            *(memory.save(ADA, TEA, "notes", by="test") for _ in range(8)), return_exceptions=True
        )
        assert sum(isinstance(outcome, DuplicateDetected) for outcome in outcomes) == 7
        text = await text_at(workspace, ADA, "MEMORY.md")
        assert text is not None
        assert text.count(TEA) == 1

    async def test_an_append_a_save_and_an_update_at_once_lose_nothing(
        self, memory: LongTermMemory, workspace: Workspace, pipeline: Pipeline
    ) -> None:
        await put(pipeline, ADA, "MEMORY.md", "## Notes\n\n- the first entry\n")
        write = Write("MEMORY.md", "test", "test")
        await asyncio.gather(
            memory.save(ADA, TEA, None, by="test"),
            memory.update(ADA, "the first entry", "the corrected entry", by="test"),
            workspace.apply(ADA, write, "append", "appended at the end", None),
        )
        text = await text_at(workspace, ADA, "MEMORY.md")
        assert text is not None
        assert all(part in text for part in ("the corrected entry", TEA, "appended at the end"))

    async def test_what_a_person_saves_is_not_the_teams(self, memory: LongTermMemory, workspace: Workspace) -> None:
        await memory.save(ADA, TEA, None, by="test")
        await memory.save(TEAM, "What all of the team should know.", None, by="test")
        own, shared = await text_at(workspace, ADA, "MEMORY.md"), await text_at(workspace, TEAM, "MEMORY.md")
        assert own is not None
        assert shared is not None
        assert TEA in own
        assert TEA not in shared


class TestStandIn:
    """memory.md is read where there is no MEMORY.md; a save may neither hide it nor be hidden by it."""

    async def test_what_is_there_is_written(
        self, memory: LongTermMemory, workspace: Workspace, pipeline: Pipeline
    ) -> None:
        await put(pipeline, ADA, "memory.md", "# Mine\n\n- old entry\n")
        await memory.save(ADA, TEA, "notes", by="test")
        assert await text_at(workspace, ADA, "memory.md") == f"# Mine\n\n- old entry\n\n## Notes\n\n- {TEA}\n"
        assert await text_at(workspace, ADA, "MEMORY.md") is None
        updated = await memory.update(ADA, "old entry", "new entry", by="test")
        assert updated.version == 3
        read = await workspace.read(principal_of(ADA), "MEMORY.md")
        assert (read.document.path, read.content) == ("memory.md", f"# Mine\n\n- new entry\n\n## Notes\n\n- {TEA}\n")
        with pytest.raises(DuplicateDetected):
            await memory.save(ADA, TEA, "notes", by="test")

    async def test_a_memory_of_the_right_name_comes_first(
        self, memory: LongTermMemory, workspace: Workspace, pipeline: Pipeline
    ) -> None:
        for path in ("memory.md", "MEMORY.md"):
            await put(pipeline, ADA, path, f"## Notes\n\n- entry of {path}\n")
        await memory.save(ADA, TEA, None, by="test")
        assert await text_at(workspace, ADA, "MEMORY.md") == f"## Notes\n\n- entry of MEMORY.md\n- {TEA}\n"
        assert await text_at(workspace, ADA, "memory.md") == "## Notes\n\n- entry of memory.md\n"

    async def test_a_deleted_memory_does_not_come_first(
        self, memory: LongTermMemory, workspace: Workspace, pipeline: Pipeline
    ) -> None:
        for path in ("memory.md", "MEMORY.md"):
            await put(pipeline, ADA, path, f"## Notes\n\n- entry of {path}\n")
        await workspace.delete(ADA, "MEMORY.md", by="test", if_version=None)
        await memory.save(ADA, TEA, None, by="test")
        assert await text_at(workspace, ADA, "memory.md") == f"## Notes\n\n- entry of memory.md\n- {TEA}\n"
        assert await text_at(workspace, ADA, "MEMORY.md") is None

    @pytest.mark.parametrize(("there", "appears"), [("memory.md", "MEMORY.md"), (None, "memory.md")])
    async def test_a_file_that_appears_meanwhile_is_seen(
        self, workspace: Workspace, pipeline: Pipeline, there: str | None, appears: str
    ) -> None:
        """The choice of the file is checked again under the lock that the write holds."""
        if there is not None:
            await put(pipeline, ADA, there, "## Notes\n\n- there before\n")
        meanwhile = Meanwhile(workspace, lambda: put(pipeline, ADA, appears, "## Notes\n\n- came meanwhile\n"))
        await LongTermMemory(meanwhile).save(ADA, TEA, None, by="test")  # type: ignore[arg-type]
        read = await workspace.read(principal_of(ADA), "MEMORY.md")
        assert (read.document.path, read.content) == (appears, f"## Notes\n\n- came meanwhile\n- {TEA}\n")

    async def test_a_file_that_disappears_meanwhile_is_not_brought_back(
        self, workspace: Workspace, pipeline: Pipeline
    ) -> None:
        for path in ("memory.md", "MEMORY.md"):
            await put(pipeline, ADA, path, f"## Notes\n\n- entry of {path}\n")
        meanwhile = Meanwhile(workspace, lambda: workspace.delete(ADA, "MEMORY.md", by="test", if_version=None))
        await LongTermMemory(meanwhile).save(ADA, TEA, None, by="test")  # type: ignore[arg-type]
        assert await text_at(workspace, ADA, "memory.md") == f"## Notes\n\n- entry of memory.md\n- {TEA}\n"
        assert await text_at(workspace, ADA, "MEMORY.md") is None

    async def test_update_makes_no_memory(self, memory: LongTermMemory, workspace: Workspace) -> None:
        with pytest.raises(NotFound):
            await memory.update(ADA, "a", "b", by="test")
        with pytest.raises(NotFound):
            await workspace.read(principal_of(ADA), "AGENTS.md")


class Meanwhile:
    """A workspace in which something happens between the first look and the write."""

    def __init__(self, workspace: Workspace, happens: Callable[[], object]) -> None:
        self._workspace = workspace
        self._happens: Callable[[], object] | None = happens
        self.present = workspace.present

    async def edit(
        self, place: Place, write: Write, edit: Callable[[str | None], str], within: Within | None = None
    ) -> object:
        if self._happens is not None:
            happens, self._happens = self._happens, None
            await happens()  # type: ignore[misc]
        return await self._workspace.edit(place, write, edit, within)


@pytest.fixture
def clock() -> list[datetime]:
    """The time, in its only element."""
    return [datetime(2026, 4, 3, 2, 0, tzinfo=UTC)]


@pytest.fixture
def compaction(database: Database, pipeline: Pipeline, memory: LongTermMemory, clock: list[datetime]) -> Compaction:
    return Compaction(database, pipeline, memory, now=lambda: clock[0])


def rows_of(conninfo: str, where: str) -> list[tuple[str, int, int]]:
    """Path, versions and chunks of documents, straight from the tables."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
        return connection.execute(
            f"""SELECT d.path, (SELECT count(*) FROM versions v
                            WHERE v.tenant_id = d.tenant_id AND v.document_id = d.document_id),
                (SELECT count(*) FROM chunks c WHERE c.tenant_id = d.tenant_id AND c.document_id = d.document_id)
                FROM documents d WHERE {where} ORDER BY d.path"""
        ).fetchall()


class TestCompaction:
    async def test_the_backup_is_the_text_before_under_the_time_in_utc(
        self, compaction: Compaction, workspace: Workspace, pipeline: Pipeline, clock: list[datetime], conninfo: str
    ) -> None:
        await put(pipeline, ADA, "MEMORY.md", TWICE)
        clock[0] = datetime.fromisoformat("2026-04-03T09:30:05+02:00")
        compacted = await compaction.compact(ADA, by="user")
        assert compacted.backup == "MEMORY_backup_2026-04-03_07-30-05.md"
        assert await text_at(workspace, ADA, compacted.backup) == TWICE
        assert rows_of(conninfo, "d.path LIKE 'MEMORY_backup%'") == [(compacted.backup, 1, 0)]
        [backup] = await compaction.backups(ADA)
        assert (backup.name, backup.at, backup.size) == (compacted.backup, clock[0], len(TWICE))
        assert await compaction.backups(TEAM) == []
        assert_index_consistent(conninfo)

    async def test_five_backups_are_kept_and_older_ones_leave_nothing_behind(
        self, compaction: Compaction, pipeline: Pipeline, clock: list[datetime], conninfo: str
    ) -> None:
        await put(pipeline, TEAM, "MEMORY.md", TWICE)
        await compaction.compact(TEAM, by="user")
        names = []
        for _ in range(7):
            await put(pipeline, ADA, "MEMORY.md", TWICE)
            clock[0] += timedelta(days=1)
            names.append((await compaction.compact(ADA, by="user")).backup)
        assert [backup.name for backup in await compaction.backups(ADA)] == names[: -KEPT_BACKUPS - 1 : -1]
        assert len(await compaction.backups(TEAM)) == 1, "of each place"
        kept = rows_of(conninfo, "d.path LIKE 'MEMORY_backup%'")
        assert [path for path, _, _ in kept] == sorted([*names[-KEPT_BACKUPS:], "MEMORY_backup_2026-04-03_02-00-00.md"])
        with psycopg.connect(conninfo) as connection:
            orphans = "SELECT count(*) FROM versions WHERE document_id NOT IN (SELECT document_id FROM documents)"
            assert connection.execute(orphans).fetchone() == (0,)
        assert_index_consistent(conninfo)

    async def test_two_in_one_second_have_two_backups(self, compaction: Compaction, pipeline: Pipeline) -> None:
        for _ in range(2):
            await put(pipeline, ADA, "MEMORY.md", TWICE)
            await compaction.compact(ADA, by="user")
        assert [backup.name for backup in await compaction.backups(ADA)] == [
            "MEMORY_backup_2026-04-03_02-00-01.md",
            "MEMORY_backup_2026-04-03_02-00-00.md",
        ]

    async def test_what_is_saved_meanwhile_is_never_overwritten(
        self, compaction: Compaction, memory: LongTermMemory, workspace: Workspace, pipeline: Pipeline,
        monkeypatch: pytest.MonkeyPatch
    ) -> None:  # fmt: skip
        await put(pipeline, ADA, "MEMORY.md", TWICE)
        saves = ["Saved while the memory was being compacted.", "Saved while it was tried for the second time."]
        real = Pipeline.unit_of_work

        @asynccontextmanager
        async def after_a_save(
            self: Pipeline, place: Place, changes: Sequence[Change] = (), **options: Any
        ) -> AsyncIterator[UnitOfWork]:
            if len(changes) == 2 and saves:
                await memory.save(ADA, saves.pop(0), None, by="test")
            async with real(self, place, changes, **options) as unit:
                yield unit

        monkeypatch.setattr(Pipeline, "unit_of_work", after_a_save)
        compacted = await compaction.compact(ADA, by="user")
        text = await text_at(workspace, ADA, "MEMORY.md")
        assert text is not None
        assert text.count(TEA) == 1
        assert (
            "- Saved while the memory was being compacted.\n- Saved while it was tried for the second time.\n" in text
        )
        assert compacted.version == 4
        [backup] = await compaction.backups(ADA)
        before = await text_at(workspace, ADA, backup.name)
        assert before is not None
        assert "for the second time" in before
        assert before.count(TEA) == 2

    async def test_a_memory_that_never_rests_is_left_as_it_is(
        self, compaction: Compaction, memory: LongTermMemory, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await put(pipeline, ADA, "MEMORY.md", TWICE)
        real = Pipeline.unit_of_work
        count = 0

        @asynccontextmanager
        async def after_a_save(
            self: Pipeline, place: Place, changes: Sequence[Change] = (), **options: Any
        ) -> AsyncIterator[UnitOfWork]:
            nonlocal count
            if len(changes) == 2:
                count += 1
                await memory.save(ADA, f"This is the save with the number {count}.", None, by="test")
            async with real(self, place, changes, **options) as unit:
                yield unit

        monkeypatch.setattr(Pipeline, "unit_of_work", after_a_save)
        monkeypatch.setattr(compaction_module, "_ATTEMPTS", 3)
        with pytest.raises(Conflict):
            await compaction.compact(ADA, by="user")
        assert await compaction.backups(ADA) == []

    async def test_savers_and_compactions_at_once_lose_nothing(
        self, compaction: Compaction, memory: LongTermMemory, workspace: Workspace, pipeline: Pipeline, conninfo: str
    ) -> None:
        await put(pipeline, ADA, "MEMORY.md", TWICE)
        contents = [f"Task number {n} saves beside compactions." for n in range(8)]
        await asyncio.gather(
            *(memory.save(ADA, content, "projects", by="test") for content in contents),
            *(compaction.compact(ADA, by="user") for _ in range(3)),
        )
        text = await text_at(workspace, ADA, "MEMORY.md")
        assert text is not None
        assert all(text.count(f"- {content}\n") == 1 for content in contents)
        assert text.count(TEA) == 1
        assert_index_consistent(conninfo)

    async def test_the_stand_in_is_compacted_and_restored_under_its_own_name(
        self, compaction: Compaction, workspace: Workspace, pipeline: Pipeline
    ) -> None:
        await put(pipeline, ADA, "memory.md", TWICE)
        name = (await compaction.compact(ADA, by="user")).backup
        assert name is not None
        text = await text_at(workspace, ADA, "memory.md")
        assert text is not None
        assert text.count(TEA) == 1
        await compaction.restore(ADA, name, by="user")
        assert await text_at(workspace, ADA, "memory.md") == TWICE
        assert await text_at(workspace, ADA, "MEMORY.md") is None

    async def test_a_memory_that_was_deleted_is_restored_as_one_that_prompts_have(
        self, compaction: Compaction, workspace: Workspace, pipeline: Pipeline
    ) -> None:
        await put(pipeline, ADA, "MEMORY.md", TWICE)
        name = (await compaction.compact(ADA, by="user")).backup
        assert name is not None
        await workspace.delete(ADA, "MEMORY.md", by="test", if_version=None)
        await compaction.restore(ADA, name, by="user")
        read = await workspace.read(principal_of(ADA), "MEMORY.md")
        assert (read.content, read.document.enabled) == (TWICE, True)

    async def test_a_blank_memory_makes_no_backup(self, compaction: Compaction, pipeline: Pipeline) -> None:
        await put(pipeline, ADA, "MEMORY.md", " \n\n")
        compacted = await compaction.compact(ADA, by="user")
        assert (compacted.compacted, compacted.reason, compacted.backup) == (False, "the memory is blank", None)
        assert await compaction.backups(ADA) == []

    async def test_a_structure_that_cannot_be_kept_is_left_as_it_is(
        self, compaction: Compaction, workspace: Workspace, pipeline: Pipeline
    ) -> None:
        text = f"## Notes\n\n- {TEA}\n- {TEA}\n\n## Own\n\n## Notes\n\n    code of the second section\n"
        await put(pipeline, ADA, "MEMORY.md", text)
        compacted = await compaction.compact(ADA, by="user")
        assert compacted.compacted is False
        assert "structure" in (compacted.reason or "")
        assert await text_at(workspace, ADA, "MEMORY.md") == text
