"""What of a conversation extraction looks at, and what its answers come to as text. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from reverie_indexer.errors import DuplicateDetected, ValidationFailed
from reverie_indexer.text.analyse import analyse
from reverie_server.heuristics import notes
from reverie_server.heuristics.extract import UserStatement, asks_to_remember
from reverie_server.long_term import memory_text
from reverie_server.sessions.model import Message
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.markdown_blocks import blocks_of, folded
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence

TRUNCATED = "... [truncated]"
# A model is shown so much of the day's note, its end, and so much of a file; one that is longer it may not replace.
NOTE_CHARS = 6000
FILE_CHARS = 20_000
# A line says again what a tool saved in the same conversation, if they share so many of the words of the shorter and
# of the longer one: "coffee rather than tea since May" is not "prefers tea".
_AGAIN_SHARE, _AGAIN_SHARE_OF_LONGER = 0.6, 0.5
_FEWEST_WORDS = 2
_MAX_SAVED = 500
_WORD = re.compile(r"\w")
_NAMES = {"user": "User", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class ExtractionRules:
    """What is looked at: from how many messages on, and how long the last one of the user must be; how many messages a
    model is given at a time, and how much of each. `max_tokens` is for its answer, `max_chars` for MEMORY.md,
    `max_loss` is the share of a file's entries that may leave it."""

    min_messages: int = 4
    min_chars: int = 10
    max_messages: int = 30
    message_chars: int = 2000
    max_tokens: int = 1000
    timeout_seconds: float = 60.0
    max_chars: int = 8000
    max_loss: float = 0.25


def spoken(messages: Sequence[Message]) -> list[Message]:
    """What user and assistant said with words of their own: not what memory had put in."""
    return [m for m in messages if m.role in _NAMES and strip_injected(m.content).strip()]


def is_too_little(heard: Sequence[Message], earlier: int, rules: ExtractionRules) -> bool:
    """Whether a conversation has too few messages, or ends with too short a one of the user, to be looked at.

    `heard` is what was spoken since it was last looked at, `earlier` how many messages there were until then. Neither
    counts where the user asks to remember something.
    """
    of_user = [strip_injected(m.content).strip() for m in heard if m.role == "user"]
    if not of_user:
        return True
    is_enough = earlier + len(heard) >= rules.min_messages and len(of_user[-1]) >= rules.min_chars
    return not is_enough and not any(map(asks_to_remember, of_user))


def transcript_of(messages: Sequence[Message], zone: ZoneInfo, max_chars: int) -> str:
    """Who said what and when, oldest first; a message of several lines cannot look like several messages."""
    lines = []
    for message in spoken(messages):
        text = strip_injected(message.content).strip()
        if len(text) > max_chars:
            text = f"{text[:max_chars].rstrip()}{TRUNCATED}"
        text = "\n  ".join(text.splitlines())
        lines.append(f"[{_local(message.at, zone):%Y-%m-%d %H:%M}] {_NAMES[message.role]}: {text}")
    return "\n".join(lines)


def cleaned(text: str, clean: Callable[[str], str]) -> str:
    """A file that a model wrote, without marks of ours and without what was forgotten."""
    return clean(neutralise(strip_injected(text)))


def entry_lines_of(daily_entry: str, clean: Callable[[str], str]) -> list[str]:
    """The lines of a daily entry, without what was forgotten and lines without words."""
    lines = [line for line in daily_entry.splitlines() if not re.match(r" {0,3}#{1,6}(?: |$)", line)]
    kept = clean(notes.bullets(notes.note_lines(lines)))
    return [line for line in notes.note_lines(kept.splitlines()) if _WORD.search(line)]


def lines_not_in(lines: Sequence[str], text: str) -> list[str]:
    """The lines that a text does not hold yet, neither as lines of its own nor inside of others."""
    whole = folded([text])
    return [
        line
        for line in notes.new_lines(lines, text)
        if not memory_text.contains(whole, folded([line]).rstrip(".!?。！？ "))
    ]


class Saved:
    """What was saved in a conversation, as new lines are compared with it. Made once for all of them."""

    def __init__(self, saved: Sequence[str], language: str) -> None:
        self._language = language
        self._essences = {essence(other) for other in saved}
        # What is equal is one, and of very much the newest is looked at.
        newest = list(dict.fromkeys(reversed(saved)))[:_MAX_SAVED]
        self._words = [set(analyse(other, language)) for other in newest]

    def says(self, line: str) -> bool:
        """Whether a line says what was saved, in these or similar words."""
        if essence(line) in self._essences:
            return True
        words = set(analyse(line, self._language)) if self._words else set[str]()
        return any(_is_again(words, theirs) for theirs in self._words)


def _is_again(words: set[str], theirs: set[str]) -> bool:
    fewer, more, shared = min(len(words), len(theirs)), max(len(words), len(theirs)), len(words & theirs)
    return fewer >= _FEWEST_WORDS and shared >= _AGAIN_SHARE * fewer and shared >= _AGAIN_SHARE_OF_LONGER * more


def without_repeats(proposed: str, before: str, saved: Sequence[str], language: str) -> str:
    """A proposed file without the new lines that say again what was saved in the same conversation."""
    held = {essence(line) for line in before.splitlines()}
    again = Saved(saved, language)
    kept = [
        line
        for line in lines_of(proposed)
        if essence(line) in held or line.lstrip().startswith("#") or not again.says(line)
    ]
    return "".join(kept)


def with_statements(
    before: str | None, stated: Sequence[UserStatement], max_chars: int
) -> tuple[str | None, list[UserStatement], list[UserStatement]]:
    """A MEMORY.md with what was stated in its sections; what of it that added, and what there was no room for.

    What it holds already is neither.
    """
    text = before
    added: list[UserStatement] = []
    homeless: list[UserStatement] = []
    for statement in stated:
        try:
            entry = memory_text.entry_of(statement.text)
            longer = memory_text.add_entry(text, memory_text.section_of(statement.category), entry)
        except (DuplicateDetected, ValidationFailed):
            continue
        if essence(statement.text) in {essence(line) for line in (text or "").splitlines()}:
            continue
        if len(longer) > max_chars:
            homeless.append(statement)
            continue
        text = longer
        added.append(statement)
    return text, added, homeless


def title_of(text: str | None) -> str | None:
    """The first heading of the highest level; None where there is none."""
    return next((b.title for b in blocks_of(text or "") if b.kind == "heading" and b.level == 1), None)


def _local(at: datetime, zone: ZoneInfo) -> datetime:
    try:
        return at.astimezone(zone)
    except OverflowError:
        # The first or the last day of the calendar, pushed out of it by the zone.
        return at
