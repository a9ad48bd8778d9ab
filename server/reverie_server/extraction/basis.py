"""What lines and files are proposed from: a conversation that was heard, and the files as they were read. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from reverie_server.extraction.referents import Referents
from reverie_server.extraction.superseded import (
    KnownLine,
    Successor,
    facts_of,
    known_lines,
)
from reverie_server.extraction.text import (
    SavedLines,
)
from reverie_server.heuristics.cues import cues_of, folded
from reverie_server.heuristics.grounding import Sources
from reverie_server.heuristics.line_worth import maybe_introductions
from reverie_server.heuristics.memorable import Heard, Memorable, memorable_of
from reverie_server.heuristics.requests.requested_lines import RequestsByMeaning
from reverie_server.heuristics.salience import MAX_TEXT_CHARS
from reverie_server.heuristics.stated_fact import StatedFact
from reverie_server.jobs.model import message_source
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.sessions.model import Message

# A profile of so many lines gets no further ones but those of facts.
_MAX_PROFILE_LINES = 40
# Of a message so much tells its language.
_MAX_SAID_CHARS = 500
LATE = timedelta(days=1)
"""What was said so long before the last that a file is made of may be over."""


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as it was read (`text` None: there is none).

    `machine` are the hashes of lines the server wrote, `said_at` the times at which what they say was said. `outdated`
    are those that hold no more, as the facts stand, with what takes their place. `of_facts` are the hashes of the lines
    that the stage of facts keeps up to date.
    """

    path: str
    text: str | None
    machine: frozenset[bytes] = frozenset()
    said_at: Mapping[bytes, datetime] = field(default_factory=dict)
    outdated: Mapping[str, Successor | None] = field(default_factory=dict)
    of_facts: frozenset[bytes] = frozenset()


@dataclass(frozen=True)
class Basis:
    """The inputs of a proposal: the messages heard in a session, the files, and the lines that tools saved meanwhile.

    `clean` removes forgotten texts from a text. A model may rewrite the paths in `replaceable`. `names` are the
    speakers' names, `time_zone` is the agent's. `asked` is what `asked_to_remember` gives.
    """

    session_id: str
    heard: Sequence[Message]
    memory: FileSnapshot
    profile: FileSnapshot
    saved: Sequence[str]
    replaceable: frozenset[str]
    clean: Callable[[str], str]
    language: str
    names: Sequence[str] = ()
    time_zone: str = "UTC"
    asked: RequestsByMeaning = field(default_factory=RequestsByMeaning)

    @cached_property
    def grounds(self) -> Sources:
        """The sources of a model's lines. A daily note is no source: it repeats what the assistant said."""
        files = [self.memory.text or "", self.profile.text or ""]
        return Sources(self.heard, [*files, *self.saved], self.names)

    def source(self, messages: Sequence[Message]) -> dict[str, Any]:
        """The provenance of a line that is made of these messages."""
        return message_source(self.session_id, [(m.seq, m.message_id) for m in messages])

    @cached_property
    def known(self) -> list[KnownLine]:
        """The lines of MEMORY.md and PROFILE.md but those that facts keep up to date."""
        return [
            line
            for file in (self.memory, self.profile)
            for line in known_lines(file.path, file.text or "", file.machine, file.said_at)
            if line_sha256(line.text) not in file.of_facts
        ]

    @cached_property
    def spoken_language(self) -> str:
        """The language of the conversation."""
        return language_of(self.heard, [line.text for line in self.known], self.language)

    @cached_property
    def known_facts(self) -> list[tuple[int, StatedFact]]:
        """The facts that these lines state, each with the number of its line."""
        return facts_of(self.known, self.spoken_language)

    @cached_property
    def memorable(self) -> Heard:
        """What is worth keeping of the conversation, found without a model."""
        known = [fact for _, fact in self.known_facts]
        asked = self.asked
        return memorable_of(self.heard, self.spoken_language, self.time_zone, known, asked.meant, asked.stated_at)

    @cached_property
    def referents(self) -> Referents:
        """Whom its sentences mean that name nobody."""
        return Referents(self.heard, self.memorable, self.clean)

    @cached_property
    def maybe_introductions(self) -> list[Memorable]:
        """Lines for PROFILE.md that may say who the user is, in words of which no other line is made.

        There are none where it is long, and none of a conversation before the last that it is made of: what was said
        then may be over.
        """
        if len(entry_lines(self.profile.text or "")) >= _MAX_PROFILE_LINES:
            return []
        latest = max(self.profile.said_at.values(), default=None)
        heard = [m for m in self.heard if latest is None or m.at >= latest - LATE]
        return maybe_introductions(heard, self.memorable, self.spoken_language, self.time_zone, self.asked.meant)

    def saved_lines(self) -> SavedLines:
        """The lines that tools saved in the same conversation, to compare new lines with."""
        return SavedLines(self.saved, self.language)


def language_of(messages: Sequence[Message], known: Sequence[str], language: str) -> str:
    """The language of a conversation, told by what its user says and by the lines of their files; else `language`.

    People speak theirs, whatever the agent's is, and a short conversation alone does not tell which.
    """
    said = [message.content[:_MAX_SAID_CHARS] for message in messages if message.role == "user"]
    cues = cues_of(folded("\n".join([*said, *known])[:MAX_TEXT_CHARS]))
    return language if cues is None else cues.language
