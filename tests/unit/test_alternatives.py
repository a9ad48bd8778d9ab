"""A pattern by first letters finds what one of all alternatives finds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from reverie_server.heuristics.alternatives import any_by_first_letter, by_first_letter

WORDS = [
    "ab",
    "a",
    "a(?:b|c)d",
    "(?:b|c)a",
    "b?a",
    "ba",
    "c",
    "c+a",
    "a|d",
    "'s",
    " ",
    "d(?:ab)?",
    "你a",
    "你?a",
    "(?<!a)b",
]


@given(st.permutations(WORDS), st.integers(1, len(WORDS)), st.text("abcd's 你", max_size=12))
def test_it_matches_the_same_alternatives(words: list[str], count: int, text: str) -> None:
    named = [(word, f"(?P<w{number}>{word})") for number, word in enumerate(words[:count])]
    plain = re.compile("|".join(pattern for _, pattern in named))
    grouped = re.compile(by_first_letter(named))
    assert [(m.lastgroup, m.span()) for m in plain.finditer(text)] == [
        (m.lastgroup, m.span()) for m in grouped.finditer(text)
    ]


@given(st.permutations(WORDS), st.integers(1, len(WORDS)), st.text("abcd's 你", max_size=12))
def test_a_place_is_found_where_one_of_all_stands(words: list[str], count: int, text: str) -> None:
    plain = re.compile(rf"(?<!\w)(?:{'|'.join(words[:count])})(?!\w)")
    grouped = re.compile(rf"(?<!\w)(?:{any_by_first_letter(words[:count])})(?!\w)")
    assert (plain.search(text) is None) == (grouped.search(text) is None)


def test_words_of_a_plain_letter_stand_together() -> None:
    assert any_by_first_letter(["ab", "cd", "ax", "b?a"]) == "a(?:b|x)|c(?:d)|b?a"
    assert by_first_letter([("ab", "ab"), ("cd", "cd"), ("ax", "ax")]) == "(?=a)(?:ab|ax)|(?=c)(?:cd)"
