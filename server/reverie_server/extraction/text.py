"""The messages that extraction reads, and its answers as lines of files. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from reverie_indexer.errors import DuplicateDetected, ValidationFailed
from reverie_indexer.file_rules import is_unedited_seed
from reverie_indexer.text.analyse import analyse
from reverie_server.heuristics import notes
from reverie_server.heuristics.extract import UserStatement, asks_to_remember
from reverie_server.heuristics.requests.likely_requests import likely_requests
from reverie_server.heuristics.salience import MAX_TEXT_CHARS
from reverie_server.long_term import memory_text
from reverie_server.sessions.model import Message
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.markdown_blocks import blocks_of, folded
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence, spoken_length
from reverie_server.text.statement_spans import statements

TRUNCATED = "... [truncated]"
# A model reads the last characters of the daily note, and the first of a file. It may not replace a longer file.
NOTE_CHARS = 6000
FILE_CHARS = 20_000
# A line repeats a line that a tool saved in the same conversation, if they share these shares of the words of the
# shorter and of the longer line: "coffee rather than tea since May" is not "prefers tea".
_AGAIN_SHARE, _AGAIN_SHARE_OF_LONGER = 0.6, 0.5
_FEWEST_WORDS = 2
_MAX_SAVED = 500
_WORD = re.compile(r"\w")
_NAMES = {"user": "User", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class ExtractionRules:
    """The limits of extraction.

    A conversation is read from `min_messages` on, if the user's last message has `min_chars` letters
    (`redact.spoken_length`), or so many of theirs have: "Thanks!" ends many a long one. The model reads `max_messages`
    at a time, and `message_chars` of each; its answer has at most `max_tokens`. `max_chars` is the limit of MEMORY.md
    and PROFILE.md, `max_loss` the share of a file's entries that may leave it.
    """

    min_messages: int = 4
    min_chars: int = 10
    max_messages: int = 30
    message_chars: int = 2000
    max_tokens: int = 1000
    timeout_seconds: float = 60.0
    max_chars: int = 8000
    max_loss: float = 0.25


def spoken(messages: Sequence[Message]) -> list[Message]:
    """The messages of user and assistant that have words besides injected memory."""
    return [m for m in messages if m.role in _NAMES and strip_injected(m.content).strip()]


def is_too_little(heard: Sequence[Message], earlier: int, rules: ExtractionRules) -> bool:
    """Whether a conversation has too few messages, or its last message of the user is too short, to be extracted.

    `heard` are the spoken messages since the last extraction, `earlier` is the number of messages until then. Where the
    user asks to remember something, it is enough.
    """
    of_user = [strip_injected(m.content).strip() for m in heard if m.role == "user"]
    if not of_user:
        return True
    is_said = [spoken_length(text) >= rules.min_chars for text in of_user]
    is_enough = earlier + len(heard) >= rules.min_messages and (is_said[-1] or sum(is_said) >= rules.min_messages)
    return not is_enough and not any(map(asks_to_remember, of_user))


def may_ask_to_remember(heard: Sequence[Message]) -> bool:
    """Whether a user may ask to remember something in words that no pattern has: the embedding model tells."""
    texts = (strip_injected(message.content)[:MAX_TEXT_CHARS] for message in heard if message.role == "user")
    return any(likely_requests("remember", statements(text)) for text in texts)


def transcript_of(messages: Sequence[Message], zone: ZoneInfo, max_chars: int) -> str:
    """The messages as lines with time and speaker, oldest first. Further lines of a message are indented."""
    lines = []
    for message in spoken(messages):
        text = strip_injected(message.content).strip()
        if len(text) > max_chars:
            text = f"{text[:max_chars].rstrip()}{TRUNCATED}"
        text = "\n  ".join(text.splitlines())
        lines.append(f"[{_local(message.at, zone):%Y-%m-%d %H:%M}] {_NAMES[message.role]}: {text}")
    return "\n".join(lines)


def cleaned(text: str, clean: Callable[[str], str]) -> str:
    """A file that a model wrote, without injected blocks, our fences, and forgotten texts."""
    return clean(neutralise(strip_injected(text)))


def entry_lines_of(daily_entry: str, clean: Callable[[str], str]) -> list[str]:
    """The lines of a daily entry without headings, forgotten texts and lines that have no words."""
    lines = [line for line in daily_entry.splitlines() if not re.match(r" {0,3}#{1,6}(?: |$)", line)]
    kept = clean(notes.bullets(notes.note_lines(lines)))
    return [line for line in notes.note_lines(kept.splitlines()) if _WORD.search(line)]


def lines_not_in(lines: Sequence[str], text: str) -> list[str]:
    """The lines that a text has neither as lines of its own nor inside other lines."""
    whole = folded([text])
    return [
        line
        for line in notes.new_lines(lines, text)
        if not memory_text.contains(whole, folded([line]).rstrip(".!?。！？ "))
    ]


class SavedLines:
    """The lines that tools saved in a conversation, prepared for comparing many new lines with them."""

    def __init__(self, saved: Sequence[str], language: str) -> None:
        self._language = language
        self._essences = {essence(other) for other in saved}
        # Equal lines count once; of very many the newest are compared.
        newest = list(dict.fromkeys(reversed(saved)))[:_MAX_SAVED]
        self._words = [set(analyse(other, language)) for other in newest]

    def has(self, line: str) -> bool:
        """Whether a saved line says the same, in these or similar words."""
        if essence(line) in self._essences:
            return True
        words = set(analyse(line, self._language)) if self._words else set[str]()
        return any(_is_repetition(words, saved) for saved in self._words)


def _is_repetition(words: set[str], saved: set[str]) -> bool:
    fewer, more, shared = min(len(words), len(saved)), max(len(words), len(saved)), len(words & saved)
    return fewer >= _FEWEST_WORDS and shared >= _AGAIN_SHARE * fewer and shared >= _AGAIN_SHARE_OF_LONGER * more


def without_repeats(proposed: str, before: str, saved: Sequence[str], language: str) -> str:
    """A proposed file without the new lines that repeat a line saved in the same conversation."""
    known = {essence(line) for line in before.splitlines()}
    saved_lines = SavedLines(saved, language)
    kept = [
        line
        for line in lines_of(proposed)
        if essence(line) in known or line.lstrip().startswith("#") or not saved_lines.has(line)
    ]
    return "".join(kept)


def with_statements(
    before: str | None, statements: Sequence[UserStatement], max_chars: int
) -> tuple[str | None, list[UserStatement], list[UserStatement]]:
    """MEMORY.md with statements in their sections, those that were added, and those for which there is no room.

    A statement that MEMORY.md has already is in neither list.
    """
    text = before
    added: list[UserStatement] = []
    homeless: list[UserStatement] = []
    for statement in statements:
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


def with_introduction(
    before: str | None, statements: Sequence[UserStatement], max_chars: int
) -> tuple[str | None, list[UserStatement], list[UserStatement]]:
    """PROFILE.md with statements at its end, those that were added, and those for which there is no room.

    The seed that nobody has edited gives way to them. A statement that PROFILE.md has already is in neither list.
    """
    present = "" if before is None or is_unedited_seed("PROFILE.md", before) else before
    new = lines_not_in([statement.text for statement in statements], present)
    added = [s for s in statements if s.text in new]
    text = present.rstrip() or "# Profile"
    for statement in added:
        separator = "\n" if text.splitlines()[-1].startswith("- ") else "\n\n"
        text += f"{separator}- {statement.text}"
    if not added:
        return before, [], []
    if len(text) >= max_chars:
        return before, [], added
    return f"{text}\n", added, []


def title_of(text: str | None) -> str | None:
    """The first heading of the highest level; None where there is none."""
    return next((b.title for b in blocks_of(text or "") if b.kind == "heading" and b.level == 1), None)


def _local(at: datetime, zone: ZoneInfo) -> datetime:
    try:
        return at.astimezone(zone)
    except OverflowError:
        # The first or the last day of the calendar, pushed out of it by the zone.
        return at
