"""What says the same, what contradicts, what follows: by words, in several languages."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.statements import Ground, Statement, contradicts, entails, is_duplicate, statement


def said(text: str, language: str = "english") -> Statement:
    return statement(text, language)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Prefers tea to coffee.", "- prefers tea to coffee"),
        ("The deploy of the API runs on Thursday", "The deploys of the API run on Thursday."),
        ("我喜欢在早上喝绿茶", "我喜欢在早上喝绿茶。"),
    ],
)
def test_the_same_in_other_clothes(a: str, b: str) -> None:
    assert is_duplicate(said(a), said(b))
    assert not contradicts(said(a), said(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("I live in Oslo, close to the station.", "I live in Bergen, close to the station."),
        ("My favourite colour is teal.", "My favourite colour is blue."),
        ("I prefer window seats", "I prefer aisle seats"),
        ("Prefers tea to coffee", "Prefers coffee to tea"),
        ("The deadline is 3 May", "The deadline is 10 May"),
        ("I eat meat", "I don't eat meat"),
        ("I no longer live in Oslo", "I live in Oslo"),
        ("Ich wohne in Berlin", "Ich wohne in Bonn"),
        ("我住在北京的东边", "我住在上海的东边"),
    ],
)
def test_what_cannot_both_hold(a: str, b: str) -> None:
    assert contradicts(said(a), said(b))
    assert contradicts(said(b), said(a))
    assert not is_duplicate(said(a), said(b))
    assert not entails(said(a), said(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("I like tea", "I like coffee"),
        ("I really like tea", "I really like hiking"),
        ("I visited Rome in May", "I visited Paris in May"),
        ("We agreed that Foo leads the Bar project.", "We agreed that Baz leads the Qux project."),
        ("I prefer Foo tea when I work on the Bar report", "I prefer Baz tea when I work on the Qux report"),
        ("Ada is tall", "Ada is smart"),
        ("The review is on Tuesday", "Ada wrote the review"),
        ("Prefers tea to coffee in the morning.", "Prefers coffee to tea by now."),
    ],
)
def test_what_is_two_things_is_neither_the_same_nor_contradicts(a: str, b: str) -> None:
    assert not contradicts(said(a), said(b))
    assert not is_duplicate(said(a), said(b))


def test_a_statement_holds_what_it_says_more_of() -> None:
    long = said("Prefers green tea to coffee, with a little honey")
    assert entails(long, said("Prefers green tea to coffee"))
    assert not entails(said("Prefers green tea"), long)
    assert not entails(said("Does not like green tea with honey"), said("Like green tea with honey"))


def test_what_nobody_said_does_not_follow() -> None:
    ground = Ground([said("User: I prefer Assam tea when I work on the Kestrel report."), said("2026-04-03 web:1")])
    assert ground.supports(said("The user prefers Assam tea for the Kestrel report"))
    assert ground.supports(said("Prefers Assam tea (said on 2026-04-03)"))
    assert not ground.supports(said("Prefers Ceylon tea for the Kestrel report"))
    assert not ground.supports(said("Prefers 3 cups of Assam tea for the Kestrel report"))
    assert not ground.supports(said("Owns a sailing boat in the harbour"))
    assert not ground.supports(said(""))
