"""What is said with a laugh takes no fact away, and what is taken back as a joke is none."""

from __future__ import annotations

import pytest
from tests.unit.test_fact_places import START, closed, facts_of


@pytest.mark.parametrize(
    ("language", "old", "said"),
    [
        ("english", "I'm 34.", "im 80 years old lol"),
        ("english", "I live in Leeds.", "I live in Narnia haha"),
        ("english", "I work at Tesco.", "I joined Harbour Care 😂"),
        ("german", "Ich bin 34 Jahre alt.", "Ich bin 80 Jahre alt haha"),
        ("german", "Ich wohne in Köln.", "Ich wohne in Bielefeld lol"),
        ("spanish", "Tengo 34 años.", "Tengo 80 años jaja"),
        ("chinese", "我34岁。", "我80岁了哈哈"),
    ],
)
def test_what_is_said_with_a_laugh_ends_nothing(language: str, old: str, said: str) -> None:
    assert facts_of(said, START, language) != []
    assert closed(old, said, language) == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "im 80 years old lol joking"),
        ("english", "I work at NASA, just kidding"),
        ("english", "I live in Monaco, jk"),
        ("english", "I'm a teacher at heart lol"),
        ("english", "I am a chef at heart."),
        ("german", "Ich bin 80 Jahre alt haha Spaß."),
        ("german", "Ich wohne in Monaco, nur Spaß!"),
        ("spanish", "Tengo 80 años, es broma"),
        ("chinese", "我80岁了，开玩笑的"),
    ],
)
def test_a_joke_states_nothing(language: str, said: str) -> None:
    assert facts_of(said, START, language) == []


@pytest.mark.parametrize(
    ("language", "old", "said"),
    [
        ("english", "I live in Leeds lol", "I moved to York."),
        ("english", "I live in Leeds.", "i no longer live in leeds lol"),
        ("english", "I'm 34.", "I'm 35, not joking."),
        ("english", "I live in Leeds.", "I moved to York last week and I love joking around."),
    ],
)
def test_what_is_meant_ends_what_was_said(language: str, old: str, said: str) -> None:
    assert [text.rstrip(".") for text in closed(old, said, language)] == [old.rstrip(".")]
