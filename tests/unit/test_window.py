"""The window of a prompt: which messages stay, whatever the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.prompt.window import Window, all_but_last, divide, tokens_of, trim, units_of
from reverie_server.sessions.model import Message, Role

AT = datetime(2026, 4, 3, tzinfo=UTC)
_KINDS = ("user", "assistant", "system", "call", "tool", "late", "lost")


def message(seq: int, role: Role, tokens: int = 10, **extra: Any) -> Message:
    return Message(seq, role, f"text {seq}", AT, tokens, extra=extra)


def call(seq: int, *ids: str, tokens: int = 10) -> Message:
    return message(seq, "assistant", tokens, tool_calls=[{"id": name, "type": "function"} for name in ids])


def result(seq: int, of: str | None = None, tokens: int = 10) -> Message:
    return message(seq, "tool", tokens, **({} if of is None else {"tool_call_id": of}))


def chat(text: str) -> list[Message]:
    """`u` user, `a` assistant, `s` system, `c` a call without ids, `t` a result without one."""
    roles: dict[str, Role] = {"u": "user", "a": "assistant", "c": "assistant", "s": "system", "t": "tool"}
    return [message(seq, roles[letter]) for seq, letter in enumerate(text, start=1)]


def seqs(messages: Sequence[Message]) -> list[int]:
    return [m.seq for m in messages]


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Anything that may be stored, with calls of tools in parallel, late results, lost calls and repeated ids."""
    found: list[Message] = []
    ids: list[str] = []
    for kind in draw(st.lists(st.sampled_from(_KINDS), max_size=30)):
        seq, tokens = len(found) + 1, draw(st.integers(0, 50))
        if kind == "call":
            names = draw(st.lists(st.sampled_from(["a", "b", "c", f"n{seq}"]), min_size=1, max_size=3, unique=True))
            ids += names
            found.append(call(seq, *names, tokens=tokens))
        elif kind in ("tool", "late") and ids:
            found.append(result(seq, ids[-1] if kind == "tool" else draw(st.sampled_from(ids)), tokens))
        elif kind in ("tool", "late", "lost"):
            found.append(result(seq, draw(st.sampled_from([None, "gone"])), tokens))
        else:
            found.append(message(seq, kind, tokens))
    return found


def check_tools(kept: Sequence[Message], everything: Sequence[Message]) -> None:
    """Every result has its call before it, and no call that has results in the whole lacks one that follows it."""
    assert not kept or kept[0].role != "tool"
    whole = units_of(everything)
    for unit in whole:
        inside = [m for m in unit if m in kept]
        assert inside in ([], list(unit))


@given(conversations())
def test_units_hold_everything_in_order_but_orphaned_results(messages: list[Message]) -> None:
    held = [m for unit in units_of(messages) for m in unit]
    assert seqs(held) == sorted(seqs(held))
    assert all(m.role == "tool" for m in messages if m not in held)
    for unit in units_of(messages):
        assert unit[0].role != "tool"


@given(conversations())
def test_a_result_is_never_apart_from_the_call_of_its_id(messages: list[Message]) -> None:
    units = units_of(messages)
    for index, unit in enumerate(units):
        for found in unit:
            wanted = found.extra.get("tool_call_id")
            if found.role == "tool" and wanted is not None:
                calls = [m for m in unit if m.role == "assistant" and m.seq < found.seq]
                assert calls, "its call, or at least the message that it follows"
        ids = {c["id"] for m in unit for c in m.extra.get("tool_calls", ())}
        for later in units[index + 1 :]:
            again = {c["id"] for m in later for c in m.extra.get("tool_calls", ())}
            stray = {m.extra.get("tool_call_id") for m in later if m.role == "tool"} & (ids - again)
            if ids & again:
                break
            assert not stray


@given(conversations(), st.integers(0, 400))
def test_trimming_keeps_order_units_and_the_last_two_messages(messages: list[Message], room: int) -> None:
    kept = trim(messages, room)
    check_tools(kept, messages)
    held = [m for unit in units_of(messages) for m in unit]
    assert kept == held[len(held) - len(kept) :], "a suffix, in order"
    assert kept[-2:] == held[-2:]
    assert kept == trim(messages, room), "deterministic"
    assert trim(kept, room) == kept


@given(conversations(), st.integers(0, 400))
def test_what_is_kept_fits_whenever_the_last_units_do(messages: list[Message], room: int) -> None:
    least = trim(messages, 0)
    kept = trim(messages, room)
    assert tokens_of(kept) <= max(room, tokens_of(least))
    left = messages[: len(messages) - len(kept)]
    next_unit = units_of(messages)[-len(units_of(kept)) - 1 :][:1]
    if left and len(units_of(messages)) > len(units_of(kept)):
        assert tokens_of(kept) + tokens_of(next_unit[0]) > room, "no more would fit"


@given(conversations())
def test_dividing_keeps_everything_on_one_side_of_the_other(messages: list[Message]) -> None:
    older, recent = divide(messages)
    assert [*older, *recent] == [m for unit in units_of(messages) for m in unit]
    check_tools(recent, messages)
    check_tools(older, messages)


@given(conversations(), st.integers(0, 30))
def test_a_stretch_leaves_at_least_the_last_and_takes_no_unit_apart(messages: list[Message], keep_last: int) -> None:
    stretch = all_but_last(messages, keep_last)
    rest = messages[len(stretch) :]
    assert stretch == messages[: len(stretch)]
    assert len(rest) >= min(keep_last, len(messages))
    assert units_of(stretch) + units_of(rest) == units_of(messages)


@pytest.mark.parametrize(
    ("text", "recent"),
    [
        ("", []),
        ("ua", [1, 2]),
        ("uaua", [1, 2, 3, 4]),
        ("uauaua", [3, 4, 5, 6]),
        ("suaua", [2, 3, 4, 5]),
        ("uauctaua", [3, 4, 5, 6, 7, 8]),
        # A question without an answer is a pair, too.
        ("uauu", [3, 4]),
        # Without a user, the last two units.
        ("aaact", [3, 4, 5]),
    ],
)
def test_the_last_two_pairs_stay(text: str, recent: list[int]) -> None:
    assert seqs(divide(chat(text))[1]) == recent


def test_parallel_calls_and_their_results_are_one_unit_also_when_something_came_between() -> None:
    messages = [
        message(1, "user"),
        call(2, "a", "b"),
        result(3, "a"),
        message(4, "user"),
        result(5, "b"),
        message(6, "assistant"),
    ]
    assert [seqs(unit) for unit in units_of(messages)] == [[1], [2, 3, 4, 5], [6]]
    assert seqs(trim(messages, 10)) == [2, 3, 4, 5, 6]
    assert seqs(all_but_last(messages, 2)) == [1]


def test_a_result_whose_call_is_gone_is_dropped() -> None:
    messages = [result(1, "a"), message(2, "user"), call(3, "b"), result(4, "b"), result(5, "a"), message(6, "user")]
    assert seqs(trim(messages, 1000)) == [2, 3, 4, 6]


def test_a_model_may_count_its_calls_anew_in_each_turn() -> None:
    messages = [call(1, "call_1"), result(2, "call_1"), message(3, "user"), call(4, "call_1"), result(5, "call_1")]
    assert [seqs(unit) for unit in units_of(messages)] == [[1, 2], [3], [4, 5]]


def test_summarising_begins_at_the_share_of_the_window() -> None:
    messages = chat("uaua")
    assert Window(100, 35).is_filling(messages)
    assert not Window(100, 34).is_filling(messages)
    assert Window(100, 10, summarise_from_share=0.5).is_filling(messages)


def test_ten_thousand_calls_are_done_at_once() -> None:
    """Square time would take minutes."""
    messages = [m for n in range(10_000) for m in (call(2 * n + 1, f"c{n}"), result(2 * n + 2, f"c{n}"))]
    assert len(units_of(messages)) == 10_000
    assert seqs(trim(messages, 45)) == [19_997, 19_998, 19_999, 20_000]
