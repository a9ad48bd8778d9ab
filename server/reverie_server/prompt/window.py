"""Which messages of a conversation a prompt holds. Pure: deterministic, and in the order of the conversation.

A *unit* stays whole: a message, or a call of tools with all its results. A *pair* is a message of the user's and all
that answers it. Nothing of the window is kept free for the answer: the caller subtracts the longest answer from the
window that it names.
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
    """The room for a prompt, in tokens. `others` is the size of all parts but the messages of the conversation."""

    max_tokens: int
    others: int
    summarise_from_share: float = 0.75

    def is_filling(self, messages: Iterable[Message]) -> bool:
        """Whether the prompt with these messages fills the share of the window from which older ones are summarised."""
        return self.others + tokens_of(messages) >= self.summarise_from_share * self.max_tokens


def tokens_of(messages: Iterable[Message]) -> int:
    """The size of the messages in a prompt, in tokens."""
    return sum(message.tokens for message in messages)


def units_of(messages: Sequence[Message]) -> list[Unit]:
    """The units in order. An orphan, a tool's result without its call, is in none.

    A call is an assistant's message with `tool_calls`, or one that tool messages follow. Its unit ends with the last of
    its results, by their ids, whatever is between, and before a later call of the same id.
    """
    units = (_without_orphans(messages[start:end]) for start, end in _spans(messages))
    return [unit for unit in units if unit]


def divide(messages: Sequence[Message], *, pairs: int = KEPT_PAIRS) -> tuple[list[Message], list[Message]]:
    """The messages older than the last `pairs` pairs, and the messages of these.

    Messages before the first pair are older ones. In a conversation without a pair each unit counts as one. Orphans are
    in neither list.
    """
    units = units_of(messages)
    starts = [index for index, unit in enumerate(units) if unit[0].role == "user"] or list(range(len(units)))
    first = starts[-pairs] if len(starts) >= pairs else starts[0] if starts else 0
    return _flat(units[:first]), _flat(units[first:])


def trim(messages: Sequence[Message], room: int) -> list[Message]:
    """The messages of the newest units that fit into `room` tokens; the units of the last two messages in any case.

    The first message is no tool's result. The first unit that does not fit ends the list.
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


def all_but_last(messages: Sequence[Message], keep_last: int) -> list[Message]:
    """The messages before the last `keep_last`, fewer where that would take a unit apart. Orphans are among them."""
    if len(messages) <= keep_last:
        return []
    cut = len(messages) - keep_last
    for start, end in _spans(messages):
        if start < cut < end:
            cut = start
    return list(messages[:cut])


def _spans(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """The half-open spans of the units with the orphans in them; each message lies in exactly one."""
    results, calls = _positions(messages)
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(messages):
        position, end = start, start + 1
        # A message between a call and its results may be another call.
        while position < end:
            if messages[position].role == "assistant":
                end = max(end, _end_of_call(messages, position, results, calls))
            position += 1
        spans.append((start, end))
        start = end
    return spans


def _positions(messages: Sequence[Message]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """The positions of the results, and of the calls, of each id, in order."""
    results: dict[str, list[int]] = defaultdict(list)
    calls: dict[str, list[int]] = defaultdict(list)
    for position, message in enumerate(messages):
        if message.role == "assistant":
            for name in _call_ids(message):
                calls[name].append(position)
        elif message.role == "tool" and isinstance(call_id := message.extra.get("tool_call_id"), str):
            results[call_id].append(position)
    return results, calls


def _end_of_call(
    messages: Sequence[Message], position: int, results: dict[str, list[int]], calls: dict[str, list[int]]
) -> int:
    """One past the last result of the call at `position`; one past the call itself where it has no result."""
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
    """The messages of a unit without the results that belong to no call in it."""
    call_ids: set[str] = set()
    is_open = False
    kept = []
    for message in messages:
        if message.role == "tool":
            if not is_open:
                continue
            call_id = message.extra.get("tool_call_id")
            if call_id is not None and call_ids and call_id not in call_ids:
                continue
        elif message.role == "assistant":
            is_open = True
            call_ids |= _call_ids(message)
        kept.append(message)
    return tuple(kept)


def _call_ids(message: Message) -> set[str]:
    calls: Any = message.extra.get("tool_calls")
    if not isinstance(calls, list):
        return set()
    return {call["id"] for call in calls if isinstance(call, dict) and isinstance(call.get("id"), str)}


def _flat(units: Iterable[Unit]) -> list[Message]:
    return [message for unit in units for message in unit]
