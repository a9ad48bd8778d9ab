"""Which messages of a conversation a prompt holds. Pure: deterministic, and in the order of the conversation.

A *unit* is what may not be taken apart: a message, or a call of tools with all its results. A *pair* is a message of
the user's and all that answers it. Of the window nothing is reserved for the answer: whoever calls the model takes
what its answer may cost off the window that he names.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reverie_server.sessions.model import Message

KEPT_PAIRS = 2
KEPT_MESSAGES = 2
Unit = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Room for a prompt, in tokens. `others` is what all of it takes that is no message of the conversation."""

    max_tokens: int
    others: int
    summarise_from_share: float = 0.75

    def is_filling(self, messages: Iterable[Message]) -> bool:
        """Whether the prompt with these messages is so long that older ones are to be summarised."""
        return self.others + tokens_of(messages) >= self.summarise_from_share * self.max_tokens


def tokens_of(messages: Iterable[Message]) -> int:
    """What messages take of a prompt."""
    return sum(message.tokens for message in messages)


def units_of(messages: Sequence[Message]) -> list[Unit]:
    """The units in order. A tool's result whose call is not there is in none.

    A call is an assistant's message with `tool_calls`, or one that tool messages follow. Its unit reaches to the last
    of its results, by their ids, whatever came between, and up to a later call of the same id.
    """
    units = (_without_orphans(messages[start:end]) for start, end in _spans(messages))
    return [unit for unit in units if unit]


def divide(messages: Sequence[Message], *, pairs: int = KEPT_PAIRS) -> tuple[list[Message], list[Message]]:
    """What is older than the last pairs, and these. What precedes the first pair is older than any.

    Without a single pair the last units count as such. Orphaned results are in neither.
    """
    units = units_of(messages)
    starts = [index for index, unit in enumerate(units) if unit[0].role == "user"] or list(range(len(units)))
    first = starts[-pairs] if len(starts) >= pairs else starts[0] if starts else 0
    return _flat(units[:first]), _flat(units[first:])


def trim(messages: Sequence[Message], room: int) -> list[Message]:
    """The newest units that fit into so many tokens; those with the last two messages in any case.

    The first message is no tool's result. Nothing newer is left out for something older.
    """
    units = units_of(messages)
    kept: list[Unit] = []
    count = used = 0
    for unit in reversed(units):
        size = tokens_of(unit)
        if count >= KEPT_MESSAGES and used + size > room:
            break
        kept.append(unit)
        count += len(unit)
        used += size
    return _flat(reversed(kept))


def stretch_before(messages: Sequence[Message], keep_last: int) -> list[Message]:
    """The messages before the last so many: as many as can be had without taking a unit apart.

    What is left out as an orphan belongs to the stretch that it stands in.
    """
    if len(messages) <= keep_last:
        return []
    cut = len(messages) - keep_last
    for start, end in _spans(messages):
        if start < cut < end:
            cut = start
    return list(messages[:cut])


def _spans(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Where the units are, orphans in them; each message lies in exactly one span, a half-open one."""
    results, calls = _positions(messages)
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(messages):
        position, end = start, start + 1
        # What came between a call and its results may have been another call.
        while position < end:
            if messages[position].role == "assistant":
                end = max(end, _end_of_call(messages, position, results, calls))
            position += 1
        spans.append((start, end))
        start = end
    return spans


def _positions(messages: Sequence[Message]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Where the results and the calls of each id are, in order."""
    results: dict[str, list[int]] = defaultdict(list)
    calls: dict[str, list[int]] = defaultdict(list)
    for position, message in enumerate(messages):
        if message.role == "assistant":
            for name in _call_ids(message):
                calls[name].append(position)
        elif message.role == "tool" and isinstance(wanted := message.extra.get("tool_call_id"), str):
            results[wanted].append(position)
    return results, calls


def _end_of_call(
    messages: Sequence[Message], position: int, results: dict[str, list[int]], calls: dict[str, list[int]]
) -> int:
    """One past the last result of the assistant's message at a position; one past itself without any."""
    end = position + 1
    while end < len(messages) and messages[end].role == "tool":
        end += 1
    for name in _call_ids(messages[position]):
        # Some models count their calls anew in each turn.
        again = bisect_right(calls[name], position)
        limit = calls[name][again] if again < len(calls[name]) else len(messages)
        before = bisect_left(results[name], limit)
        end = max(end, results[name][before - 1] + 1 if before else 0)
    return end


def _without_orphans(messages: Sequence[Message]) -> Unit:
    """The messages of a unit without results that no call in it asked for."""
    asked: set[str] = set()
    is_open = False
    kept = []
    for message in messages:
        if message.role == "tool":
            if not is_open:
                continue
            name = message.extra.get("tool_call_id")
            if name is not None and asked and name not in asked:
                continue
        elif message.role == "assistant":
            is_open = True
            asked |= _call_ids(message)
        kept.append(message)
    return tuple(kept)


def _call_ids(message: Message) -> set[str]:
    calls: Any = message.extra.get("tool_calls")
    if not isinstance(calls, list):
        return set()
    return {call["id"] for call in calls if isinstance(call, dict) and isinstance(call.get("id"), str)}


def _flat(units: Iterable[Unit]) -> list[Message]:
    return [message for unit in units for message in unit]
