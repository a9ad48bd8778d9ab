"""The input of emergence: notes, the long-term memory, and what searches showed of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from reverie_server.heuristics.entries import Entry
from reverie_server.nights.emergence.candidates import Recall
from reverie_server.text.redact import essence

# Of entries each day has its share, of the memory the first lines, of its corrections the newest.
MAX_ENTRIES = 600
MAX_LINES = 2000
# A message: its session's id and its number there.
MessageKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A file with entries: a daily note, or a day's file of dreaming (`is_consolidated`)."""

    document_id: int
    path: str
    version: int
    day: date
    text: str
    is_consolidated: bool = False


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """The long-term memory as it was read. `lines` are those with content, `machine` the essences of the server's.

    `worth` is of those of the server's that may leave to make room, by their essences: the trust in what each states,
    and when that was last said or of use. A line that somebody asked to remember has none.
    """

    path: str
    version: int
    text: str
    lines: Sequence[str] = ()
    machine: frozenset[str] = frozenset()
    worth: Mapping[str, tuple[float, datetime]] = field(default_factory=dict)

    def is_machine(self, line: str) -> bool:
        """Whether the server wrote a line."""
        return essence(line) in self.machine


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a file, at lines of it, or of a `message`; with the recalls of it, or its relevance to a topic."""

    path: str
    start_line: int
    end_line: int
    terms: frozenset[str]
    message: MessageKey | None = None
    recalls: tuple[Recall, ...] = ()
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class EmergenceInput:
    """The input of a run of emergence, read in one snapshot.

    `origins` are the messages that entries come from, by the entry's path and raw text, and `message_ids` the
    callers' own ids of these messages. `profile` are the lines of PROFILE.md. `superseded` are texts of entries
    that state what no longer holds, `stated` those whose facts lines of the lasting files state, `corrections` lines
    that a person took out of the memory, with the day. `tombstone_mark` differs when something was forgotten since.
    """

    files: Sequence[NoteFile] = ()
    entries: Sequence[Entry] = ()
    memory: MemoryFile | None = None
    profile: Sequence[str] = ()
    recalled: Sequence[Passage] = ()
    origins: Mapping[tuple[str, str], frozenset[MessageKey]] = field(default_factory=dict)
    message_ids: Mapping[MessageKey, str | None] = field(default_factory=dict)
    superseded: frozenset[str] = frozenset()
    stated: frozenset[str] = frozenset()
    corrections: Sequence[tuple[date, str]] = ()
    tombstone_mark: object = None


def messages_in(sources: Sequence[Any]) -> list[tuple[MessageKey, str | None]]:
    """The messages among sources (`jobs.model.message_source`), each with the caller's id."""
    return [
        ((source["session_id"], message["seq"]), message["id"])
        for source in sources
        if source.get("kind") == "messages"
        for message in source["messages"]
    ]
