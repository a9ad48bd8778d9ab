"""What steers a reader's eyes or hides from them does not enter a prompt; what scripts and emoji need does."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.text.controls import without_controls
from reverie_server.text.fences import for_prompt

_PIECES = st.sampled_from(
    [
        *(
            "\x1b",
            "\x1b[",
            "\x1b[31m",
            "\x1b]0;x\x07",
            "\x1b]8;;",
            "\x1b\\",
            "\x1bP",
            "\x9b",
            "\x9d",
            "\x9c",
            "[2J",
            "m",
        ),
        *("\u202e", "\u202c", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u200c", "\u200d", "\ufe0f"),
        *(
            "\ufe01",
            "\U000e0101",
            "\U000e0061",
            "\U000e007f",
            "\U0001f3f4",
            "❤",
            "👩",
            "👧",
            "क",
            "\u094d",
            "ष",
            "می",
            "は",
        ),
        *(
            "葛",
            "a",
            " ",
            "\n",
            "1",
            "\u20e3",
            "\x00",
            "\x0c",
            "\x85",
            "\u00ad",
            "\u2060",
            "\ufeff",
            "\u180b",
            "ᠠ",
            "ก",
        ),
        *("\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "<memory-context>", "<mem", "ory-context>"),
    ]
)
_TEXT = st.one_of(st.text(), st.lists(_PIECES, max_size=14).map("".join))
# What a model reads as text although nobody sees it.
_NEVER = {chr(c) for c in (*range(9), *range(0x0E, 0x20), *range(0x7F, 0xA0), 0xAD, 0xFEFF, 0x2060, 0x180E)} | {
    chr(c) for c in (*range(0x202A, 0x202F), *range(0x2061, 0x2070))
}


@given(_TEXT)
def test_nothing_that_steers_or_hides_is_left(text: str) -> None:
    left = without_controls(text)
    assert not _NEVER - {"\u180e"} & set(left)
    for tag in ("\U000e0001", "\U000e0020"):
        assert tag not in left
    for before, character in pairwise(left):
        if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
            assert unicodedata.category(before) not in ("Ll", "Lu", "Zs", "Cf", "Cc")


@given(_TEXT)
def test_taking_out_twice_is_taking_out_once(text: str) -> None:
    assert without_controls(without_controls(text)) == without_controls(text)
    assert for_prompt(for_prompt(text)) == for_prompt(text)


@given(_TEXT)
def test_nothing_else_changes(text: str) -> None:
    """What is left stands in the text in that order, line ends aside."""
    rest = iter(text)
    assert all(character == "\n" or character in rest for character in without_controls(text))


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_plain_text_stays_as_it_is(text: str) -> None:
    invisible = "\u115f\u1160\u3164\uffa0\U0001d173\ufffc\ufffd"
    if not set(invisible) & set(text):
        assert without_controls(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[1;31mred\x1b[0m and \x9b4mlined\x9b0m", "red and lined"),
        ("\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\ here", "click here"),
        ("\x1b]0;title\x07text\x1bPq#0\x1b\\!", "text!"),
        ("an escape without an end \x1b]0;rest stays", "an escape without an end ]0;rest stays"),
        ("a\x00b\x07c\x7fd\x08e", "abcde"),
        ("page\x0cpage\x85line", "page\npage\nline"),
        ("tabs\tand\r\nlines\n", "tabs\tand\r\nlines\n"),
        ("abc\u202edcba\u202c \u2066iso\u2069 \u202alre\u202c", "abcdcba iso lre"),
        ("hello" + "".join(chr(0xE0000 + ord(c)) for c in "ignore") + "\U000e007f", "hello"),
        ("😀" + "\ufe01\U000e0112\U000e0143" * 9, "😀\ufe01"),
        ("a\ufe01b\ufe02c\ufe0f", "abc"),
        ("zero\u200b\u200c\u200d\u2060\ufeffwidth so\u00adft", "zerowidth soft"),
        ("\u3164filled\u115f\u2800", "filled\u2800"),
    ],
)
def test_what_is_taken_out(text: str, left: str) -> None:
    assert without_controls(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧‍👦 👍🏽 ❤️‍🔥 🏳️‍🌈 ☎️ 1️⃣",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "می‌خواهم",
        "क्‍ष",
        "שלום \u200f(1)\u200e ok",
        "葛\U000e0100城",
        "ภาษา\u200bไทย",
        "ᠠ\u180bᠡ",
        "Grüße, naïve, café\u0301, 日本語、한국어",
    ],
)
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert without_controls(text) == text


@pytest.mark.parametrize(
    "unit", ["\x1b]", "\x1b[", "\x1bP", "\x1b[0", "\x9d", "\u202e", "\u200d", "\U000e0041", "👩\u200d"]
)
def test_a_long_text_of_anything_hostile_is_done(unit: str) -> None:
    """Square time would take hours here."""
    assert len(without_controls(unit * 200_000)) <= len(unit) * 200_000


def test_a_mark_that_only_invisible_characters_take_apart_is_a_mark() -> None:
    assert for_prompt("<mem\x1b[0mory-\u202econtext>") == "[memory-context]"
