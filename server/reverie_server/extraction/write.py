"""Writes a round of extraction: files, the provenance of their lines, and the marks of the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.index import store
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded
from reverie_server.access.gate import Grant
from reverie_server.extraction import store as extraction_store
from reverie_server.extraction.basis import Basis
from reverie_server.extraction.propose import STAGE, NewFile, Proposal
from reverie_server.extraction.store import Pending, Retry
from reverie_server.extraction.text import ExtractionRules, lines_not_in
from reverie_server.files.well_known import note_path
from reverie_server.heuristics import notes
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Work
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.archive_files import archive_change
from reverie_server.long_term.longterm import MEMORY, STAND_IN
from reverie_server.provenance.record import Derived, record
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark
from reverie_server.search.asked.near_statements import NearStatements
from reverie_server.sessions.message_range import is_unchanged
from reverie_server.sessions.model import Message
from reverie_server.text import markdown_edit
from reverie_server.text.tokens import CountTokens

AUTHOR = "server"
# The wait after the first failure of the model. It doubles with each further one, up to the maximum.
RETRY_SECONDS = 300.0
MAX_RETRY_SECONDS = 6 * 3600.0


class DoneMeanwhileError(Exception):
    """Another run has extracted these messages meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionDependencies:
    """The dependencies of extraction. `cooldown_seconds` is the least time between two runs on a slice.

    `first` does what comes before anything is read: it may remove messages.
    """

    database: Database
    pipeline: Pipeline
    tombstones: Tombstones
    models: ModelSlot
    near_statements: NearStatements
    model: LanguageModel | None
    count: CountTokens
    rules: ExtractionRules
    cooldown_seconds: float
    first: Callable[[Grant, Place], Awaitable[None]]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Round:
    """Messages that are extracted at once: a range without gaps, and those of it that are extracted (`heard`).

    `retry` is set where these messages were extracted without the model before, which is now asked again. Where it
    `is_too_little`, nothing is extracted and marked: the files alone lose lines that hold no more. One that
    `is_short` is too little unless the embedding model finds that it asks to remember something.
    """

    pending: Pending
    messages: Sequence[Message]
    heard: Sequence[Message]
    retry: Retry | None = None
    is_too_little: bool = False
    is_short: bool = False

    @property
    def through_seq(self) -> int:
        """The number of the last message."""
        return self.messages[-1].seq


@dataclass(frozen=True, slots=True)
class SliceState:
    """The state of a slice when a round is read: its files, its daily note of `day`, and the mark of its tombstones.

    `day` is the day of the last message, `today` that of the run.
    """

    basis: Basis
    note: str | None
    day: date
    today: date
    tombstone_mark: object


@dataclass(slots=True)
class RoundWriter:
    """Writes a round. `added` are the lines that each note got, by its path, known once they are written."""

    dependencies: ExtractionDependencies
    place: Place
    work: Work
    round_: Round
    state: SliceState
    proposal: Proposal
    added: dict[str, list[str]] = field(default_factory=dict)

    async def changes(self) -> list[Change]:
        """The changes of files."""
        changes = [_whole(file) for file in self.proposal.files]
        for day in sorted({line.day for line in self.proposal.lines}):
            path = note_path(day)
            changes.append(Change(path, partial(self._with_lines, path, day), AUTHOR, STAGE))
        dropped = [entry for file in self.proposal.files for entry in file.dropped]
        if dropped:
            database = self.dependencies.database
            changes.append(await archive_change(database, self.place, self.state.today, dropped, AUTHOR))
        return changes

    def _with_lines(self, path: str, day: date, text: str | None) -> str:
        lines = [line.text for line in self.proposal.lines if line.day == day]
        before = text or ""
        new = lines_not_in(lines, before) if self.proposal.lines_inside else notes.new_lines(lines, before)
        self.added[path] = new
        return markdown_edit.append(text, notes.bullets(new), path) if new else before

    async def within(self, connection: Connection, slice_: Slice) -> None:
        """Write the marks and the provenance of the lines, in the transaction that writes the files.

        Raises Superseded where something is not as it was read, DoneMeanwhileError where another run was faster.
        """
        tenant_id, round_, session = self.place.tenant_id, self.round_, self.round_.pending.session
        if not await is_unchanged(connection, tenant_id, session, round_.messages):
            raise Superseded
        if await tombstone_mark(connection, tenant_id, [slice_.slice_id]) != self.state.tombstone_mark:
            raise Superseded
        if self.proposal.files and not await self._is_memory(connection, slice_):
            raise Superseded
        if round_.is_too_little:
            is_first = True
        elif round_.retry is not None:
            is_first = await extraction_store.drop_retry(connection, tenant_id, slice_.slice_id, round_.retry)
        else:
            is_first = await extraction_store.advance(connection, tenant_id, round_.pending, round_.through_seq)
        if not is_first:
            raise DoneMeanwhileError
        lines = {(note_path(line.day), line.text): line for line in self.proposal.lines}
        added = [(path, lines[path, text]) for path, texts in self.added.items() for text in texts]
        derived = [Derived(path, [line.text], line.generation, STAGE, [line.source]) for path, line in added]
        derived += [each for file in self.proposal.files for each in file.derived]
        now = self.dependencies.now()
        await record(connection, tenant_id, slice_.slice_id, derived, at=now)
        if self.proposal.fallback is not None and round_.retry is None:
            wait = retry_wait_seconds(1)
            key = (session.session_key, round_.messages[0].seq, round_.through_seq)
            retry = Retry(*key, 1, self.state.day)
            due_at = now + timedelta(seconds=wait)
            reason = self.proposal.fallback
            await extraction_store.add_retry(connection, tenant_id, slice_.slice_id, retry, reason, due_at)
            again = Work(STAGE, tenant_id, self.work.agent_id, self.work.owner_key, trigger="retry")
            await defer(connection, again, after_seconds=wait)

    async def _is_memory(self, connection: Connection, slice_: Slice) -> bool:
        """Whether the file that was read as the memory still is the memory."""
        found = await store.read_documents(connection, self.place.tenant_id, [slice_.slice_id], [MEMORY, STAND_IN])
        alive = {document.path for document, _ in found if document.deleted_at is None}
        path = self.state.basis.memory.path
        return path == MEMORY if MEMORY in alive else (STAND_IN not in alive or path == STAND_IN)


def retry_wait_seconds(attempts: int) -> float:
    """The seconds until the model is asked again after `attempts` failures. Pure."""
    return min(RETRY_SECONDS * 2.0 ** (attempts - 1), MAX_RETRY_SECONDS)


def _whole(file: NewFile) -> Change:
    def edit(text: str | None) -> str:
        if text != file.before:
            raise Superseded
        return file.text

    return Change(file.path, edit, AUTHOR, STAGE)
