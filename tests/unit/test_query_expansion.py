"""What a message is searched by besides itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.inject.query_expansion import MAX_SENTENCES, salient_sentences, shortened, with_recent_messages
from reverie_server.text.query import check_query


@pytest.mark.parametrize(
    ("message", "sentences"),
    [
        ("When is the review with Ada?", []),
        ("ok thanks!", []),
        (
            "Oh well. The kids were loud and the train was late. When is the dentist appointment? Bye!",
            ["The kids were loud and the train was late.", "When is the dentist appointment?"],
        ),
        ("好的，谢谢。昨天很累。成绩录入由谁负责？", ["成绩录入由谁负责？"]),
        (
            "Look at LP-212. Nice weather today here in Bristol.",
            ["Look at LP-212.", "Nice weather today here in Bristol."],
        ),
        ("why does it fail?\n```\nfoo. bar. baz qux quux.\n```", ["why does it fail?"]),
    ],
)
def test_the_sentences_that_ask_name_or_tell_most(message: str, sentences: list[str]) -> None:
    assert salient_sentences(message) == sentences


@given(st.text(max_size=300))
def test_there_are_never_more_than_a_few(message: str) -> None:
    sentences = salient_sentences(message)
    assert len(sentences) <= MAX_SENTENCES
    assert all(sentence in message for sentence in sentences)


@given(st.text(), st.integers(min_value=3, max_value=50))
def test_what_is_searched_by_is_a_query_that_search_takes(message: str, max_chars: int) -> None:
    text = shortened(message, max_chars)
    assert len(text) <= max_chars
    assert not text or check_query(text) == text


def test_a_pasted_log_is_cut_in_its_middle() -> None:
    text = shortened("Why this?" + "x" * 50_000 + "What did we do last time?")
    assert text.startswith("Why this?")
    assert text.endswith("What did we do last time?")


def test_a_message_of_few_words_leans_on_the_last_two_before_it() -> None:
    recent = ["first", "Is the mirror ordered?", "x" * 1000 + " the big one"]
    joined = with_recent_messages("and how long does it take?", recent)
    assert joined is not None
    assert joined.startswith("Is the mirror ordered?\nxxx")
    assert joined.endswith("the big one\nand how long does it take?")
    assert len(joined) < 1000
    assert with_recent_messages("How long does the delivery of the steel planters from Rotterdam take?", recent) is None
    assert with_recent_messages("and how long does it take?", []) is None
    assert with_recent_messages("and how long does it take?", [" "]) is None
