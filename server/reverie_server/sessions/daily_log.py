"""Each exchange as a line of the day's note, in the agent's time zone. Pure: no database, no clock."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from reverie_server.sessions.model import Role, paired
from reverie_server.text.redact import Folded, pattern_of
from reverie_server.text.statement_spans import statement_spans

USER_CHARS = 200
ASSISTANT_CHARS = 300
# The first of a day has the note's heading above it.
_LINE = re.compile(r"(?:# \d{4}-\d\d-\d\d\s+)?\[\d\d:\d\d\] User: (?P<user>.*) \| Assistant: (?P<assistant>.*)")
_SPACE = re.compile(r"\s+")
# A wide bar looks like one, counts as one when texts are compared, and ends no part of a line.
_WIDE_BAR = "\uff5c"
# How many characters of a text may stand for one of a piece of it: marks apart from their letters, invisible ones.
_SPELLED = 8
# A shorter text is another's part by chance.
_MIN_MATCH_CHARS = 20


class Spoken(Protocol):
    """A message as the log needs it: its speaker, its text and its time."""

    @property
    def role(self) -> Role:
        """Who says it."""

    @property
    def content(self) -> str:
        """The text of the message."""

    @property
    def at(self) -> datetime:
        """When, with an offset."""

    @property
    def extra(self) -> Mapping[str, Any]:
        """The other fields of the protocol: `tool_calls` above all."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An exchange in the note of its day."""

    path: str
    line: str


def entries(messages: Sequence[Spoken], time_zone: str) -> list[Entry]:
    """The exchanges of a conversation, each with the note of the day on which its user spoke."""
    zone = ZoneInfo(time_zone)
    return [_entry(user, assistant, zone) for user, assistant in paired(messages)]


def log_text(user: str, assistant: str) -> str:
    """An exchange as the log has it, without the time: at most 200 and 300 characters, on one line."""
    return f"User: {excerpt(user, USER_CHARS)} | Assistant: {excerpt(assistant, ASSISTANT_CHARS)}"


def excerpt(text: str, max_chars: int) -> str:
    """The beginning of a text on one line, an ellipsis included where it is cut; a bar becomes a wide one."""
    return _cut_to(_folded(text), max_chars)


def local_day(at: datetime, time_zone: str) -> date:
    """The day of an instant where the agent is."""
    return _local(at, ZoneInfo(time_zone)).date()


def parts_of(passage: str) -> tuple[str, str] | None:
    """The texts of user and assistant in a passage that is one line of the log; None for any other."""
    match = _LINE.fullmatch(passage)
    return (match["user"], match["assistant"]) if match else None


def repeats(passage: str, text: str) -> bool:
    """Whether a passage is a line of the log and one of its parts is a text, or holds it, or is its beginning."""
    parts = parts_of(passage)
    folded = _folded(text)
    return parts is not None and bool(folded) and any(_contains(part, folded) for part in parts)


def cut_off(text: str, pieces: Sequence[str]) -> list[str]:
    """The beginnings, in the excerpts of a message's text, of pieces that the excerpts cut in the middle.

    A piece that stands whole in an excerpt is found there as it is; one that the cut goes through leaves its beginning.
    """
    folded_text = _folded(text)
    kept = [
        cut.removesuffix("…")
        for size in (USER_CHARS, ASSISTANT_CHARS)
        if (cut := _cut_to(folded_text, size)) != folded_text
    ]
    left: list[list[str]] = [[] for _ in kept]
    for piece in filter(str.strip, pieces):
        if not kept:
            break
        # A piece that the cut goes through begins before it, and takes no more than this in any spelling.
        folded = Folded.of(folded_text[: ASSISTANT_CHARS + _SPELLED * len(piece)])
        for start, end in folded.spans_of(pattern_of(piece)):
            for cut, found in zip(kept, left, strict=True):
                found += [f"{cut[start:]}…"] if start < len(cut) < end else []
            if start >= ASSISTANT_CHARS:
                break
    return [rest for found in left for rest in found]


def exchange_with(asked: str, answered: str, *, is_of_user: bool) -> str:
    """What the line of an exchange has from the last statement of its user on, or all where the user's part goes."""
    user, answer = excerpt(asked, USER_CHARS), excerpt(answered, ASSISTANT_CHARS)
    spans = statement_spans(user)
    start = spans[-1][0] if spans and not is_of_user else 0
    return f"{user[start:]} | Assistant: {answer}" if user and answer else ""


def _entry(user: Spoken, assistant: Spoken, zone: ZoneInfo) -> Entry:
    local = _local(user.at, zone)
    line = f"[{local:%H:%M}] {log_text(user.content, assistant.content)}"
    return Entry(f"memory/{local.date().isoformat()}.md", line)


def _local(at: datetime, zone: ZoneInfo) -> datetime:
    try:
        return at.astimezone(zone)
    except OverflowError:
        # The first or the last day of the calendar, pushed out of it by the zone.
        return at


def _cut_to(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).strip().replace("|", _WIDE_BAR)


def _contains(part: str, text: str) -> bool:
    if part == text or (len(text) >= _MIN_MATCH_CHARS and text in part):
        return True
    beginning = part.removesuffix("…")
    return beginning != part and len(beginning) >= _MIN_MATCH_CHARS and text.startswith(beginning)
