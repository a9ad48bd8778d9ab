"""Reads and writes DREAMS.md and its archives. An entry is written in one transaction with the changes it reports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from reverie_indexer.change import Change
from reverie_indexer.database.database import Database
from reverie_indexer.index.slices import own_slices
from reverie_indexer.index.store import read_documents
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline, Within
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.nights import diary
from reverie_server.nights.diary import DiaryEntry, Rolled

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

        Raises what `Pipeline.unit_of_work` raises.
        """

        async def attempt() -> None:
            diary_changes = [] if entry is None else await self._changes(place, entry)
            async with self._pipeline.unit_of_work(place, [*changes, *diary_changes]) as unit:
                await within(unit.connection, unit.slice_)

        await until_stable(attempt, attempts=_ATTEMPTS, what=diary.PATH, on=_Rolled)

    async def latest(self, place: Place) -> str | None:
        """The newest entry of a place's diary; None where there is none."""
        text = await self._text(place)
        return diary.latest(text) if text else None

    async def exists(self, place: Place) -> bool:
        """Whether a place has a diary."""
        return await self._text(place) is not None

    async def _text(self, place: Place) -> str | None:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            found = await read_documents(connection, place.tenant_id, slice_ids, [diary.PATH])
        return next((text for document, text in found if document.deleted_at is None), None)

    async def _changes(self, place: Place, entry: DiaryEntry) -> list[Change]:
        rendered = diary.render_entry(entry)
        planned = diary.written(await self._text(place), rendered, max_chars=self._max_chars)
        rolled = planned

        def edit(text: str | None) -> str:
            nonlocal rolled
            rolled = diary.written(text, rendered, max_chars=self._max_chars)
            # The paths of a write are fixed beforehand, so other archives need a new attempt.
            if rolled.moved.keys() != planned.moved.keys():
                raise _Rolled
            return rolled.text

        def archive(month: str, text: str | None) -> str:
            return diary.archived(text, month, rolled.moved[month])

        change = Change(diary.PATH, edit, "server", "diary")
        return [change, *(_archive_change(month, partial(archive, month)) for month in _months(planned))]


class _Rolled(Superseded):
    """Other months than those that were planned leave the diary."""


def _months(rolled: Rolled) -> list[str]:
    return sorted(rolled.moved)


def _archive_change(month: str, edit: partial[str]) -> Change:
    return Change(diary.archive_path(month), edit, "server", "archive of DREAMS.md")
