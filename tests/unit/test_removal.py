"""Stretches taken out of a text: what goes with them, and that places stay right however many there are."""

from __future__ import annotations

import pytest

from reverie_server.text.forgotten_parts import MAX_PARTS, without_forgotten, without_forgotten_words
from reverie_server.text.redact import erase, essence, is_in
from reverie_server.text.remove_spans import merged, without_spans, without_spans_by_line


def test_stretches_go_and_what_is_between_stays() -> None:
    assert without_spans("abcdef", [(0, 1), (2, 4)]) == "bef"
    assert without_spans("abc", []) == "abc"


def test_stretches_that_overlap_are_one() -> None:
    assert merged([(5, 6), (0, 3), (2, 4), (4, 5)]) == [(0, 4), (4, 5), (5, 6)]


@pytest.mark.parametrize(
    ("text", "spans", "left"),
    [
        ("- a\n- b\n- c\n", [(6, 7)], "- a\n- c\n"),
        ("a\n\nb\n\n\nc\n", [(3, 4)], "a\n\nc\n"),
        ("a x b x c\n", [(2, 3), (6, 7)], "a b c\n"),
        ("x\ny x\n", [(0, 1), (4, 5)], "y\n"),
        ("a x\nx b\n", [(2, 5)], "a b\n"),
    ],
)
def test_a_line_of_marks_alone_goes_with_its_stretch(text: str, spans: list[tuple[int, int]], left: str) -> None:
    assert without_spans_by_line(text, spans) == left


def test_two_stretches_of_a_line_that_goes_leave_the_next_line_alone() -> None:
    assert erase("'' ''\nhello world\n", "''", by_line=True) == ("hello world\n", 2)


def test_nothing_is_found_of_a_text_of_which_nothing_is_seen() -> None:
    assert not is_in("Ada\u200bm", "\u200b\u200b")
    assert erase("Ada\u200bm", "\u200b \u00ad", by_line=True) == ("Ada\u200bm", 0)


def test_words_that_repeat_are_found_among_others_that_repeat() -> None:
    assert is_in("ab-ab-ab-a c", "ab-ab-a")
    assert not is_in("ab-ab-ab-ab", "ab-ab-a")
    assert is_in("xa a", "a")
    assert not is_in("xa ay", "a")


def test_many_forgotten_lines_go_where_they_stand() -> None:
    lines = [f"- Ada has read book number {number}." for number in range(2 * MAX_PARTS)]
    gone = {essence(line) for line in lines[::2]}
    assert without_forgotten("\n".join(lines), gone.__contains__) == "\n".join(lines[1::2])
    words = [f"word{number}" for number in range(2 * MAX_PARTS + 2)]
    assert without_forgotten_words("\n".join(words), [1], set(words[::2]).__contains__).split() == words[1::2]
