"""A round of extraction on its way into the database: files, where their lines come from, and the marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.index import store
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded
from reverie_server.extraction import store as extraction_store
from reverie_server.extraction.propose import STAGE, Basis, NewFile, Proposal
from reverie_server.extraction.store import Pending, Retry
from reverie_server.extraction.text import ExtractionRules, lines_not_in
from reverie_server.files.well_known import note_path
from reverie_server.heuristics import notes
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Work
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.archive import archive_change
from reverie_server.long_term.longterm import MEMORY, STAND_IN
from reverie_server.provenance.record import Derived, record
from reverie_server.provenance.tombstones import Tombstones, standing
from reverie_server.sessions.message_range import is_unchanged
from reverie_server.sessions.model import Message
from reverie_server.text import markdown_edit as sections
from reverie_server.text.tokens import CountTokens

AUTHOR = "server"
# When the model failed: asked again after so long, then after twice as long each time, for a bit more than a day.
RETRY_SECONDS = 300.0
MAX_RETRY_SECONDS = 6 * 3600.0


class DoneMeanwhileError(Exception):
    """Another run was faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionDependencies:
    """What extraction works with. `cooldown_seconds` is the least time between two runs on a slice."""

    database: Database
    pipeline: Pipeline
    tombstones: Tombstones
    model: LanguageModel | None
    count: CountTokens
    rules: ExtractionRules
    cooldown_seconds: float
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Round:
    """Messages that are read at once: all from the first to the last of them, and what of it was heard.

    `retry`: it was done without the model, which is asked again.
    """

    pending: Pending
    messages: Sequence[Message]
    heard: Sequence[Message]
    retry: Retry | None = None

    @property
    def through_seq(self) -> int:
        """The number of its last message."""
        return self.messages[-1].seq


@dataclass(frozen=True, slots=True)
class Read:
    """The state of a slice that a round is read with: its files, the note of a day, what was forgotten."""

    basis: Basis
    note: str | None
    day: date
    standing: object

    @property
    def note_path(self) -> str:
        """Where the note is."""
        return note_path(self.day)


@dataclass(slots=True)
class Writing:
    """A round on its way into the database. `added` are the lines that the note then got."""

    dependencies: ExtractionDependencies
    place: Place
    work: Work
    round_: Round
    read: Read
    proposal: Proposal
    added: list[str] = field(default_factory=list)

    def changes(self) -> list[Change]:
        """The files to be written."""
        changes = [_whole(file) for file in self.proposal.files]
        if self.proposal.lines:
            changes.append(Change(self.read.note_path, self._with_lines, AUTHOR, STAGE))
        dropped = [entry for file in self.proposal.files for entry in file.dropped]
        if dropped:
            changes.append(archive_change(self.read.day, dropped, AUTHOR))
        return changes

    def _with_lines(self, text: str | None) -> str:
        lines = [line for line, *_ in self.proposal.lines]
        held = text or ""
        new = lines_not_in(lines, held) if self.proposal.lines_inside else notes.new_lines(lines, held)
        self.added = new
        return sections.append(text, notes.bullets(new), self.read.note_path) if new else held

    async def within(self, connection: Connection, slice_: Slice) -> None:
        """The marks, if all is as it was read; and where the lines come from."""
        tenant_id, round_, session = self.place.tenant_id, self.round_, self.round_.pending.session
        if not await is_unchanged(connection, tenant_id, session, round_.messages):
            raise Superseded
        if await standing(connection, tenant_id, [slice_.slice_id]) != self.read.standing:
            raise Superseded
        if self.proposal.files and not await self._is_memory(connection, slice_):
            raise Superseded
        if round_.retry is not None:
            is_first = await extraction_store.drop_retry(connection, tenant_id, slice_.slice_id, round_.retry)
        else:
            is_first = await extraction_store.advance(connection, tenant_id, round_.pending, round_.through_seq)
        if not is_first:
            raise DoneMeanwhileError
        noted = {line: (made, source) for line, made, source in self.proposal.lines}
        derived = [Derived(self.read.note_path, [line], noted[line][0], STAGE, [noted[line][1]]) for line in self.added]
        derived += [each for file in self.proposal.files for each in file.derived]
        now = self.dependencies.now()
        await record(connection, tenant_id, slice_.slice_id, derived, at=now)
        if self.proposal.fallback is not None and round_.retry is None:
            wait = retry_wait_seconds(1)
            key = (session.session_key, round_.messages[0].seq, round_.through_seq)
            retry = Retry(*key, 1, self.read.day)
            due_at = now + timedelta(seconds=wait)
            reason = self.proposal.fallback
            await extraction_store.add_retry(connection, tenant_id, slice_.slice_id, retry, reason, due_at)
            again = Work(STAGE, tenant_id, self.work.agent_id, self.work.owner_key, trigger="retry")
            await defer(connection, again, after_seconds=wait)

    async def _is_memory(self, connection: Connection, slice_: Slice) -> bool:
        """Whether the file that was read is the memory still, and no other has taken its place."""
        found = await store.read_documents(connection, self.place.tenant_id, [slice_.slice_id], [MEMORY, STAND_IN])
        alive = {document.path for document, _ in found if document.deleted_at is None}
        path = self.read.basis.memory.path
        return path == MEMORY if MEMORY in alive else (STAND_IN not in alive or path == STAND_IN)


def retry_wait_seconds(attempts: int) -> float:
    """How long the model is left alone after it failed so many times: twice as long each time. Pure."""
    return min(RETRY_SECONDS * 2.0 ** (attempts - 1), MAX_RETRY_SECONDS)


def _whole(file: NewFile) -> Change:
    def edit(text: str | None) -> str:
        if text != file.before:
            raise Superseded
        return file.text

    return Change(file.path, edit, AUTHOR, STAGE)
