"""Compaction of a place's MEMORY.md, and the backups that it leaves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound, StaleVersion, ValidationFailed
from reverie_indexer.file_rules import BACKUP
from reverie_indexer.index import store
from reverie_indexer.index.document_index import purge_documents
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Document, Place, Written
from reverie_indexer.pipeline import Pipeline, Within
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.llm.generation import EXTRACTIVE, Generation, Method
from reverie_server.long_term.compaction_text import compact_text, guard
from reverie_server.long_term.longterm import MEMORY, LongTermMemory
from reverie_server.long_term.repeats import without_repeats

SQL = Queries(__file__)
KEPT_BACKUPS = 5
# How often others may write the memory while it is compacted.
_ATTEMPTS = 20
AUTHOR = "server"
_NAME_FORMAT = "MEMORY_backup_%Y-%m-%d_%H-%M-%S.md"


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of MEMORY.md from before a compaction. `at` is when it was made, `size` is in bytes."""

    name: str
    at: datetime
    size: int


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of a compaction; `reason` is why it changed nothing. Sizes are in bytes, `version` is the file's.

    `fallback` is why a configured model was not used, or why its proposal was refused.
    """

    compacted: bool
    reason: str | None
    method: Method
    backup: str | None
    size_before: int
    size_after: int
    version: int
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Proposed:
    """The compacted text, or None and in `reason` why the memory stays as it is; `made` is how the text was generated.

    `more` are further changes of the same write. `within` runs in its transaction; when it raises StaleVersion, the
    compaction begins again.
    """

    text: str | None
    reason: str | None = None
    generation: Generation = EXTRACTIVE
    fallback: str | None = None
    more: Sequence[Change] = ()
    within: Within | None = None


# Proposes the new text: from the memory's place, its document and text, and the number of the attempt (from 0).
Propose = Callable[[Place, Document, str, int], Awaitable[Proposed]]


async def propose_extractively(place: Place, document: Document, text: str, attempt: int) -> Proposed:
    """The text compacted without a model: equal entries merged, each entry in its section."""
    del place, document, attempt
    shorter = await asyncio.to_thread(compacted, text)
    return Proposed(shorter.text, shorter.reason)


class Compaction:
    """Compacts memories and restores them. `now` gives the time, with its zone."""

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        memory: LongTermMemory,
        *,
        propose: Propose = propose_extractively,
        kept_backups: int = KEPT_BACKUPS,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._pipeline = pipeline
        self._memory = memory
        self._propose = propose
        self._kept_backups = kept_backups
        self.now = now

    async def compact(self, place: Place, *, by: str) -> Compacted:
        """Merge equal entries and sort the rest into sections, however short the memory is.

        One transaction writes the backup and the new text and removes old backups. Where others changed the memory
        since it was read, the compaction begins again with their text. NotFound where there is no memory, Conflict
        when others changed it at every attempt.
        """
        numbers = count()

        async def attempt() -> Compacted:
            found = await self._memory.current(place)
            if found is None:
                raise NotFound(f"there is no {place.scope} {MEMORY} to compact")
            document, text = found
            proposed = await self._propose(place, document, text, next(numbers))
            method, fallback = proposed.generation.method, proposed.fallback
            size = document.size
            if proposed.text is None:
                return Compacted(False, proposed.reason, method, None, size, size, document.version, fallback)
            name = await self._free_name(place)
            try:
                written = await self._replace(place, (document, text), proposed, name, by)
            except StaleVersion:
                raise Superseded from None
            return Compacted(True, None, method, name, size, written.bytes_written, written.version, fallback)

        return await until_stable(attempt, attempts=_ATTEMPTS, what=MEMORY)

    async def backups(self, place: Place) -> list[Backup]:
        """The place's backups, newest first."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            return [backup for _, backup in await _backups(connection, place, await own_slices(connection, place))]

    async def restore(self, place: Place, name: str, *, by: str) -> Written:
        """Write a backup's text to the memory, as a new version. NotFound for no such backup, ValidationFailed for a
        blank one, Conflict when the backup changed at every attempt."""

        async def attempt() -> Written:
            text = await self._backup_text(place, name)
            if text is None:
                raise NotFound(f"there is no backup {name!r}")
            if not text.strip():
                raise ValidationFailed(f"backup {name!r} is blank: restoring it would delete the memory")
            current = await self._memory.current(place)
            path = current[0].path if current else MEMORY
            change = overwrite(path, text, by=by, reason=f"restore of {name}")
            async with self._pipeline.unit_of_work(place, [change]) as unit:
                # The backup may have been forgotten or cleared since it was read.
                if await _living_text(unit.connection, place, [unit.slice_.slice_id], name) != text:
                    raise Superseded
            return unit.written[0]

        return await until_stable(attempt, attempts=_ATTEMPTS, what=f"the backup {name}")

    async def _backup_text(self, place: Place, name: str) -> str | None:
        """The text of a backup, or None where there is none of that name."""
        if not _time_of(name):
            return None
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            return await _living_text(connection, place, await own_slices(connection, place), name)

    async def _free_name(self, place: Place) -> str:
        """The name of a backup made now; where it is taken, that of the next second without a backup."""
        taken = {backup.name for backup in await self.backups(place)}
        at = self.now().astimezone(UTC)
        while (name := at.strftime(_NAME_FORMAT)) in taken:
            at += timedelta(seconds=1)
        return name

    async def _replace(
        self, place: Place, present: tuple[Document, str], proposed: Proposed, name: str, by: str
    ) -> Written:
        (document, before), after = present, proposed.text or ""
        # A text from a model was not the decision of the person who asked for the compaction.
        author = AUTHOR if proposed.generation.method == "llm" else by
        reason = f"backup of version {document.version} before compaction"
        backup = Change(name, lambda _: before, by, reason, enabled=False, overwrites=True, reserved=True)
        change = Change(
            document.path, lambda _: after, author, "compaction", if_version=document.version, overwrites=True
        )
        async with self._pipeline.unit_of_work(place, [backup, change, *proposed.more]) as unit:
            found = await _backups(unit.connection, place, [unit.slice_.slice_id])
            old = [document_id for document_id, _ in found[self._kept_backups :]]
            await purge_documents(unit.connection, place.tenant_id, old)
            if proposed.within is not None:
                await proposed.within(unit.connection, unit.slice_)
        return unit.written[1]


async def _living_text(connection: Connection, place: Place, slice_ids: Sequence[int], path: str) -> str | None:
    """The text of the file at a path, or None where there is none or it is deleted."""
    found = await store.read_documents(connection, place.tenant_id, slice_ids, [path])
    return found[0][1] if found and found[0][0].deleted_at is None else None


@dataclass(frozen=True, slots=True)
class Shorter:
    """A memory compacted without a model, and the entries that left it; or None and why it stays as it is."""

    text: str | None
    reason: str | None = None
    dropped: tuple[str, ...] = ()


def compacted(text: str, is_machine: Callable[[str], bool] = lambda _: False, language: str = "english") -> Shorter:
    """The text compacted without a model: repeats among the entries that are not a person's go. Pure.

    `is_machine` returns whether the server or a tool wrote a line.
    """
    if not text.strip():
        return Shorter(None, "the memory is blank")
    merged = without_repeats(text, is_machine, language)
    result = compact_text(merged.text)
    if result is None:
        return Shorter(None, "its structure cannot be kept: an indentation or a fence would change its meaning")
    if result == text:
        return Shorter(None, "there is nothing to compact")
    refused = guard(text, result, merged.dropped)
    return Shorter(None, refused) if refused else Shorter(result, None, merged.dropped)


async def _backups(connection: Connection, place: Place, slice_ids: Sequence[int]) -> list[tuple[int, Backup]]:
    """The backups in the given slices, each behind the id of its document, newest first."""
    params = {"tenant_id": place.tenant_id, "slice_ids": list(slice_ids), "pattern": BACKUP}
    rows = await (await connection.execute(SQL["backups"], params)).fetchall()
    # A name may match the pattern with a time that does not exist, such as February 30.
    timed = [(row, _time_of(row["name"])) for row in rows]
    return [(row["document_id"], Backup(row["name"], at, row["size"])) for row, at in timed if at is not None]


def _time_of(name: str) -> datetime | None:
    """When a backup was made, by its name; None for any other name."""
    try:
        return datetime.strptime(name, _NAME_FORMAT).replace(tzinfo=UTC) if re.search(BACKUP, name) else None
    except ValueError:
        return None
