"""Tokens: estimated by script, or counted by a tokenizer file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.embed.built_in import MINILM
from reverie_indexer.errors import SetupError
from reverie_server.text.tokens import MESSAGE_OVERHEAD, estimate_tokens, load_tokenizer, message_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("abcd", 1),
        ("abcde", 2),
        ("截止日期", 4),
        ("截止，", 3),  # punctuation of those scripts is a token as well
        ("ありがとう", 5),
        ("감사합니다", 5),
        ("привет", 4),
        ("é", 1),
        ("ab截é", 1 + 1 + 1),
        ("🙂🙂🙂", 2),
    ],
)
def test_an_estimate_by_hand(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_an_estimate_grows_with_the_text_and_is_never_above_one_a_character(one: str, two: str) -> None:
    assert estimate_tokens(one) <= estimate_tokens(one + two) <= estimate_tokens(one) + estimate_tokens(two)
    assert estimate_tokens(one) <= len(one)


def test_a_message_has_its_overhead_and_what_its_role_carries() -> None:
    assert message_tokens("abcd", {}, estimate_tokens) == 1 + MESSAGE_OVERHEAD
    carried = {"tool_call_id": "call_1"}
    assert message_tokens("", carried, len) == len('{"tool_call_id":"call_1"}') + MESSAGE_OVERHEAD


def test_a_tokenizer_file_counts_all_of_a_long_text_and_no_special_tokens() -> None:
    count = load_tokenizer(MINILM.find_weights() / "tokenizer.json")
    assert count("hello world") == 2
    assert count("hello world " * 1000) == 2000
    assert count("") == 0


def test_a_tokenizer_counts_half_of_a_surrogate_pair_too() -> None:
    count = load_tokenizer(MINILM.find_weights() / "tokenizer.json")
    assert count("a \ud83d b") == count("a ? b")


def test_a_file_that_is_no_tokenizer_says_so(tmp_path: Path) -> None:
    wrong = tmp_path / "tokenizer.json"
    with pytest.raises(SetupError, match="cannot be read"):
        load_tokenizer(wrong)
    wrong.write_text("{}")
    with pytest.raises(SetupError, match=r"no tokenizer\.json"):
        load_tokenizer(wrong)
