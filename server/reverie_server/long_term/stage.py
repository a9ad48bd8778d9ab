"""The stage `compaction`: rewrites MEMORY.md with the model, in parts where it is long, or without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import structlog

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound, StaleVersion
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Document, Place
from reverie_server.access.gate import Grant
from reverie_server.jobs.model import Outcome, Work
from reverie_server.llm.answers import Compaction as Answer
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.archive_files import archive_change
from reverie_server.long_term.compaction import AUTHOR, Compaction, Proposed, compacted
from reverie_server.long_term.compaction_text import is_due
from reverie_server.long_term.longterm import MEMORY, LongTermMemory
from reverie_server.long_term.proposal import (
    MAX_PARTS,
    Rewritten,
    lines_with_sources,
    parts_of,
    put_together,
)
from reverie_server.provenance.record import Derived, line_sha256, machine_lines, record
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark
from reverie_server.text.tokens import CountTokens

SQL = Queries(__file__)
log = structlog.get_logger()
STAGE = "compaction"
# After this many attempts that other writers superseded, compaction goes on without the model.
_ASKED_ATTEMPTS = 2
# The room for an answer, by the tokens of the part to rewrite: a share of them, and a constant.
_ANSWER_SHARE, _ANSWER_TOKENS = 1.5, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritingDependencies:
    """The dependencies and limits of rewriting. `max_chars` is the most that MEMORY.md may have, `max_loss` the share
    of its entries that may leave it, `timeout_seconds` the limit for each part."""

    database: Database
    tombstones: Tombstones
    model: LanguageModel | None
    count: CountTokens
    max_chars: int
    max_loss: float
    timeout_seconds: float
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


class Rewriting:
    """Proposes the new text of a memory: the model's where the guard accepts it, else one without a model."""

    def __init__(self, dependencies: RewritingDependencies) -> None:
        self._dependencies = dependencies

    async def propose(self, place: Place, document: Document, text: str, attempt: int) -> Proposed:
        """The proposal for a memory: by the model, else (no usable answer, _ASKED_ATTEMPTS reached) without it.

        Holds no connection while it asks the model. A proposal that changes nothing is recorded here; any other is
        recorded in the transaction of its write.
        """
        before, machine = await self._state(place, document)
        rewritten, generation, fallback = await self._rewritten_by_model(place, text, machine, attempt)
        if rewritten is not None and rewritten.text is not None:
            more = await self._archived(place, rewritten.dropped)
            making = _Making(
                self._dependencies, place, document, (text, rewritten.text), generation, rewritten.reason or None
            )
            return Proposed(rewritten.text, None, generation, None, more, making.within(before))
        if rewritten is not None:
            log.warning("compaction_refused", reason=rewritten.reason)
            fallback = f"refused: {rewritten.reason}"
        shorter = await asyncio.to_thread(compacted, text, lambda line: line_sha256(line) in machine)
        result, reason = shorter.text, shorter.reason
        making = _Making(self._dependencies, place, document, (text, result), EXTRACTIVE, fallback or reason)
        if result is None:
            async with self._dependencies.database.tenant(place.tenant_id) as connection:
                await own_slices(connection, place)
                await making.note(connection)
            return Proposed(None, reason, EXTRACTIVE, fallback)
        more = await self._archived(place, shorter.dropped)
        return Proposed(result, None, EXTRACTIVE, fallback, more, making.within(before))

    async def _archived(self, place: Place, dropped: Sequence[str]) -> list[Change]:
        """The changes by which entries that leave the memory come into its archive."""
        if not dropped:
            return []
        day = self._dependencies.now().date()
        return [await archive_change(self._dependencies.database, place, day, dropped, AUTHOR)]

    async def _state(self, place: Place, document: Document) -> tuple[object, frozenset[bytes]]:
        """The tombstone mark of the place, and the hashes of the lines that the server wrote."""
        async with self._dependencies.database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            machine = await machine_lines(connection, place.tenant_id, document.slice_id, document.path)
            return await tombstone_mark(connection, place.tenant_id, slice_ids), machine

    async def _rewritten_by_model(
        self, place: Place, text: str, machine: frozenset[bytes], attempt: int
    ) -> tuple[Rewritten | None, Generation, str | None]:
        """The model's rewriting (or None), its generation, and the reason why a configured model was not used."""
        if self._dependencies.model is None or not text.strip():
            return None, EXTRACTIVE, None
        if attempt >= _ASKED_ATTEMPTS:
            return None, EXTRACTIVE, "others wrote it while the model did"
        parts = await asyncio.to_thread(parts_of, text, self._dependencies.count)
        if len(parts) > MAX_PARTS:
            return None, EXTRACTIVE, f"it has more than {MAX_PARTS} parts"
        if not parts:
            return None, EXTRACTIVE, None
        answers: list[Answer] = []
        generation = EXTRACTIVE
        for number, part in enumerate(parts, start=1):
            inputs = {
                "today": self._dependencies.now().date().isoformat(),
                "part": f"{number} of {len(parts)}",
                "memory": part,
            }
            room = int(self._dependencies.count(part) * _ANSWER_SHARE) + _ANSWER_TOKENS
            question = Question("compaction", inputs, Answer, room, self._dependencies.timeout_seconds)
            answer = await ask(self._dependencies.model, place.tenant_id, question)
            if answer.value is None:
                return None, EXTRACTIVE, answer.fallback
            answers.append(answer.value)
            generation = answer.generation
        clean = await self._dependencies.tombstones.without_forgotten(place)
        limits = (self._dependencies.max_chars, self._dependencies.max_loss)
        rewritten = await asyncio.to_thread(put_together, text, parts, answers, clean, machine, *limits)
        return rewritten, generation, None


@dataclass(frozen=True, slots=True)
class _Making:
    """A compaction to be recorded. `texts` are the memory before and after (None: it changes nothing)."""

    dependencies: RewritingDependencies
    place: Place
    document: Document
    texts: tuple[str, str | None]
    generation: Generation
    reason: str | None

    def within(self, before: object) -> Callable[[Connection, Slice], Awaitable[None]]:
        """The function to run in the transaction of the write: records the lines' provenance and the compaction.

        It raises StaleVersion, to begin again, where something was forgotten since the mark `before`.
        """

        async def run(connection: Connection, slice_: Slice) -> None:
            tenant_id = self.place.tenant_id
            if await tombstone_mark(connection, tenant_id, [slice_.slice_id]) != before:
                raise StaleVersion("something was forgotten meanwhile", version=None)
            old, new = self.texts
            path = self.document.path
            derived = [
                Derived(path, [line], self.generation, STAGE, sources)
                for line, sources in lines_with_sources(path, old, new or "")
            ]
            await record(connection, tenant_id, slice_.slice_id, derived, at=self.dependencies.now())
            await self.note(connection)

        return run

    async def note(self, connection: Connection) -> None:
        """Record the compaction, also one that changed nothing."""
        params = {
            "tenant_id": self.place.tenant_id,
            "slice_id": self.document.slice_id,
            "document_id": self.document.document_id,
            "version_before": self.document.version,
            "version_after": None if self.texts[1] is None else self.document.version + 1,
            "method": self.generation.method,
            "prompt": self.generation.prompt,
            "prompt_version": self.generation.prompt_version,
            "model": self.generation.model,
            "reason": self.reason,
            "at": self.dependencies.now(),
        }
        await connection.execute(SQL["note"], params)


class MemoryCompaction:
    """The stage: compacts a memory from a length on, at most once a day of the agent, or by hand."""

    def __init__(self, database: Database, memory: LongTermMemory, compaction: Compaction, *, from_chars: int) -> None:
        self._database = database
        self._memory = memory
        self._compaction = compaction
        self._from_chars = from_chars
        self._now: Callable[[], datetime] = compaction.now

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Compact the MEMORY.md of a slice, if it is due. Raises what `Compaction.compact` raises but NotFound."""
        found = await self._memory.current(place)
        if found is None:
            return Outcome("skipped", f"there is no {MEMORY}")
        now = self._now().astimezone(ZoneInfo(grant.settings.time_zone))
        if work.trigger != "api" and not is_due(found[1], await self._last(place), now, self._from_chars):
            return Outcome("skipped", "it is short, or was compacted today")
        try:
            done = await self._compaction.compact(place, by=AUTHOR)
        except NotFound:
            return Outcome("skipped", f"there is no {MEMORY}")
        if not done.compacted:
            return Outcome("skipped", done.reason or "", done.method, done.fallback)
        reason = f"from {done.size_before} to {done.size_after} bytes"
        return Outcome("completed", reason, done.method, done.fallback)

    async def _last(self, place: Place) -> datetime | None:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            params = {"tenant_id": place.tenant_id, "slice_ids": slice_ids}
            row = await (await connection.execute(SQL["last"], params)).fetchone()
        return row["at"] if row else None
