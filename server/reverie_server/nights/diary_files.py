"""Reads and writes DREAMS.md and its archives. An entry is written in one transaction with the changes it reports."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from reverie_indexer.change import Change
from reverie_indexer.database.database import Database
from reverie_indexer.errors import PayloadTooLarge
from reverie_indexer.index.slices import own_slices
from reverie_indexer.index.store import read_documents
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline, Within
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.files.parts import list_parts
from reverie_server.nights import diary
from reverie_server.nights.diary import DiaryEntry, Rolled

log = structlog.get_logger()
# The attempts to write the diary while others write it, too.
_ATTEMPTS = 20


class DiaryFiles:
    """The diaries of places."""

    def __init__(self, database: Database, pipeline: Pipeline, *, max_chars: int = diary.MAX_CHARS) -> None:
        self._database = database
        self._pipeline = pipeline
        self._max_chars = max_chars

    async def write(self, place: Place, changes: Sequence[Change], entry: DiaryEntry | None, within: Within) -> None:
        """Write files of a place and an entry of its diary (None: none); older entries move to archives to make room.

        Where the diary has no room the files are written without an entry. Raises what `Pipeline.unit_of_work` raises.
        """

        async def attempt() -> None:
            diary_changes = [] if entry is None else await self._changes(place, entry)
            try:
                await self._write(place, [*changes, *diary_changes], within)
            except PayloadTooLarge:
                if not diary_changes:
                    raise
                # A person may have filled the diary, which is no reason to lose what it would report.
                log.warning("diary_full", agent=place.agent_id)
                await self._write(place, changes, within)

        await until_stable(attempt, attempts=_ATTEMPTS, what=diary.PATH, on=_Rolled)

    async def latest(self, place: Place) -> str | None:
        """The newest entry of a place's diary; None where there is none."""
        text = await self._text(place)
        return diary.latest(text) if text else None

    async def exists(self, place: Place) -> bool:
        """Whether a place has a diary."""
        return await self._text(place) is not None

    async def _write(self, place: Place, changes: Sequence[Change], within: Within) -> None:
        async with self._pipeline.unit_of_work(place, changes) as unit:
            await within(unit.connection, unit.slice_)

    async def _text(self, place: Place) -> str | None:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            found = await read_documents(connection, place.tenant_id, slice_ids, [diary.PATH])
        return next((text for document, text in found if document.deleted_at is None), None)

    async def _changes(self, place: Place, entry: DiaryEntry) -> list[Change]:
        rendered = diary.render_entry(entry)
        planned = diary.written(await self._text(place), rendered, max_chars=self._max_chars)

        def edit(text: str | None) -> str:
            rolled = diary.written(text, rendered, max_chars=self._max_chars)
            # The archives of a write are planned beforehand, so what else leaves needs a new attempt.
            if rolled.moved != planned.moved:
                raise _Rolled
            return rolled.text

        change = Change(diary.PATH, edit, "server", "diary")
        archives = [change for month in sorted(planned.moved) for change in await self._archives(place, month, planned)]
        return [change, *archives]

    async def _archives(self, place: Place, month: str, planned: Rolled) -> list[Change]:
        """The changes of the parts of a month's archive that get what leaves the diary."""
        present = await self._parts(place, month)
        after = await asyncio.to_thread(diary.archived, present, month, planned.moved[month])
        return [_archive_change(month, number, present.get(number), text) for number, text in after.items()]

    async def _parts(self, place: Place, month: str) -> dict[int, str]:
        """The parts of a month's archive, by their numbers."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            parts = await list_parts(connection, place.tenant_id, slice_ids, diary.archive_stem(month))
            paths = [document.path for document in parts.values()]
            found = await read_documents(connection, place.tenant_id, slice_ids, paths)
        texts = {document.path: text for document, text in found}
        return {number: texts[document.path] for number, document in parts.items()}


class _Rolled(Superseded):
    """The diary or an archive of it is not what a write was planned from."""


def _archive_change(month: str, number: int, before: str | None, after: str) -> Change:
    def edit(text: str | None) -> str:
        if text != before:
            raise _Rolled
        return after

    return Change(diary.archive_path(month, number), edit, "server", "archive of DREAMS.md")
