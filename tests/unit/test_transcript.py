"""A conversation as a model is given it, and what comes of it: bounded, in order, without what memory had put in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.heuristics.notes import bullets, new_lines, note_lines
from reverie_server.sessions.model import Message, Role
from reverie_server.sessions.transcript import PART_TOKENS, clipped, parts, transcript
from reverie_server.text.fences import CLOSE_FENCE, OPEN_FENCE, SUMMARY_MARK
from reverie_server.text.tokens import estimate_tokens

AT = datetime(2026, 4, 3, tzinfo=UTC)
SECTION = f"{OPEN_FENCE}\n## Memory Context\n- (2026-04-03, a.md) A secret.\n{CLOSE_FENCE}"


def message(role: Role, content: str, tokens: int = 10) -> Message:
    return Message(1, role, content, AT, tokens)


CONVERSATION = [
    message("system", "Be kind."),
    message("user", f"{SECTION}\n\n" + "x" * 400),
    message("assistant", ""),
    message("tool", "y" * 400),
    message("user", f"{SUMMARY_MARK}\nThey spoke."),
    message("assistant", "Two\n\nlines."),
]


def test_for_a_summary_messages_are_short_and_results_of_tools_are_left_out() -> None:
    assert transcript(CONVERSATION, "summary") == f"User: {'x' * 299}…\nAssistant: Two lines."


def test_for_notes_all_is_given_that_was_said() -> None:
    assert transcript(CONVERSATION, "notes") == (
        f"User: {'x' * 400}\nTool result: {'y' * 299}…\nAssistant: Two\n\nlines."
    )


def test_where_nobody_said_anything_there_is_none() -> None:
    assert transcript([message("system", "Be kind."), message("assistant", " ")], "notes") == ""


@given(st.lists(st.integers(0, 3 * PART_TOKENS), max_size=40), st.integers(1, 7))
def test_parts_are_all_messages_in_order_in_at_most_so_many_runs(sizes: list[int], most: int) -> None:
    messages = [message("user", f"text {number}", size) for number, size in enumerate(sizes)]
    found = parts(messages, most)
    assert [m for part in found for m in part] == messages
    assert len(found) <= most
    assert all(found)
    if sum(sizes) <= PART_TOKENS:
        assert len(found) <= 1


def test_parts_are_of_about_the_same_size() -> None:
    messages = [message("user", f"text {number}", 1000) for number in range(50)]
    assert [len(part) for part in parts(messages, 5)] == [10] * 5


def test_lines_of_a_note_have_no_marks_and_come_once() -> None:
    given_lines = ["- Likes tea.", "likes  TEA", f"{SECTION}", "1. One\nline", "## A heading", "", "  ", "#tag stays"]
    assert note_lines(given_lines) == ["Likes tea.", "One line", "A heading", "#tag stays"]


@pytest.mark.parametrize(
    "line",
    [
        "Prefers plan A - not plan B",
        "The answer is 42) or less",
        "Writes C # and F # well",
        "3. April: Elternabend um 19 Uhr",
        "12. Dezember ist frei",
    ],
)
def test_what_looks_like_a_mark_inside_a_line_stays(line: str) -> None:
    assert note_lines([line]) == [line]
    assert note_lines([f"- {line}"]) == [line]


def test_only_lines_that_the_note_does_not_hold_are_new() -> None:
    note = "# 2026-04-03\n\n- likes tea\n\n[09:30] User: x | Assistant: y\n"
    assert new_lines(["Likes tea.", "Likes coffee."], note) == ["Likes coffee."]
    assert bullets(["a", "b"]) == "- a\n- b"


@given(st.text(max_size=300), st.integers(1, 50))
def test_a_clipped_text_fits(text: str, max_tokens: int) -> None:
    assert estimate_tokens(clipped(text, max_tokens, estimate_tokens)) <= max_tokens


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("short", "short"),
        ("a line of it\nanother line of it\nmore", "a line of it\nanother line of it"),
        ("x" * 100, "x" * 32),
        (f"{SECTION}\nreal", "real"),
    ],
)
def test_whole_lines_are_kept_as_far_as_they_fit(text: str, left: str) -> None:
    assert clipped(text, 8, estimate_tokens) == left
