"""DREAMS.md and its archives as files: parts of a month, several writers, and a diary without room."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest
from tests.nights import TEA, Nights, lines, nights

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.errors import PayloadTooLarge
from reverie_indexer.model_slot import ModelSlot
from reverie_server.nights import diary
from reverie_server.nights.diary import DiaryEntry
from reverie_server.nights.diary_files import DiaryFiles


def entry(number: int, at: datetime) -> DiaryEntry:
    told = [("Concluded", f"Line {line} of run {number}, which is worth a line.") for line in range(3)]
    return DiaryEntry(at + timedelta(minutes=number), "dreaming", "3 lines of 5 episodes", f"{number:016x}", told)


async def nothing(_connection: Connection, _slice: Slice) -> None:
    pass


async def all_of(ada: Nights) -> dict[str, str]:
    """The diary and the parts of its archive, by path."""
    paths = [diary.PATH, *(diary.archive_path("2026-04", number) for number in range(1, 30))]
    found = await ada.runtime.workspace.present(ada.place, paths)
    return {path: text for path, (_, text) in found.items()}


async def test_the_archive_of_a_month_has_parts_and_nothing_is_lost_or_there_twice(
    database: Database, models: ModelSlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diary, "PART_CHARS", 1500)
    ada = await nights(database, models)
    files = DiaryFiles(ada.runtime.database, ada.runtime.pipeline, max_chars=2000)
    entries = [entry(number, ada.at) for number in range(24)]
    for number in range(0, 24, 2):
        # Two at a time write the same diary.
        await asyncio.gather(*(files.write(ada.place, [], one, nothing) for one in entries[number : number + 2]))
    texts = await all_of(ada)
    assert len(texts[diary.PATH]) <= 2000
    assert len(texts) >= 4
    assert all(len(text) < 2200 for text in texts.values())
    everything = "\n".join(texts.values())
    for one in entries:
        assert everything.count(diary.render_entry(one).strip()) == 1, one
    archives = "\n".join(text for path, text in texts.items() if path != diary.PATH)
    assert all(archives.count(f"(report {one.report_id})") <= 1 for one in entries)


async def test_a_diary_without_room_keeps_no_night_from_its_work(database: Database, models: ModelSlot) -> None:
    """*(Found)*: from 1 MiB on every night stage failed, with the memory that it would have written."""
    ada = await nights(database, models, max_file_bytes=9000)
    own = "# Dreams\n\n" + "My own words. " * 640 + "\n"
    await ada.runtime.pipeline.write_many(ada.place, [overwrite(diary.PATH, own, by="user", reason="put")])
    await ada.ready()
    assert (await ada.emerge()).status == "completed"
    assert lines(await ada.text("MEMORY.md")) == [TEA]
    assert await ada.text(diary.PATH) == own
    assert len(await ada.reports()) == 1


async def test_a_file_that_is_too_long_itself_is_refused_as_ever(database: Database, models: ModelSlot) -> None:
    ada = await nights(database, models, max_file_bytes=9000)
    files = DiaryFiles(ada.runtime.database, ada.runtime.pipeline)
    change = overwrite("notes.md", "x" * 9001, by="server", reason="test")
    with pytest.raises(PayloadTooLarge):
        await files.write(ada.place, [change], entry(1, ada.at), nothing)
    assert await ada.text(diary.PATH) is None
