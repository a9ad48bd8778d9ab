"""What is said of a name, a number or an address is no value of it, and takes the place of none."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.stated_fact import StatedFact, Utterance
from reverie_server.sessions.model import Message

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def read(said: Sequence[str], language: str) -> list[StatedFact]:
    utterances = [Utterance(text, START + timedelta(days=day)) for day, text in enumerate(said)]
    return read_facts(utterances, language)


def closed(said: Sequence[str], language: str) -> set[str]:
    facts = [
        TimedFact(
            number, fact.subject, fact.predicate, fact.object, fact.text, fact.said_at, fact.is_functional, fact.change,
            fact.about_user,
        )
        for number, fact in enumerate(read(said, language))
    ]  # fmt: skip
    return {facts[closure.old].text for closure in resolve(facts).closures}


@pytest.mark.parametrize(
    ("language", "value", "remark"),
    [
        ("english", "My phone number is 07700 900123.", "My phone number is still the same."),
        ("english", "My address is 12 Elm Road.", "my address is wrong on the invoice"),
        ("english", "My email is ann@x.org.", "my email is full"),
        ("english", "My email is ann@x.org.", "My email is the best way to reach me."),
        ("english", "My name is Sarah.", "My name is on the guest list."),
        ("english", "My name is Sarah.", "my name is sooo common lol"),
        ("english", "My name is Sarah.", "my name is spelled wrong on the ticket"),
        ("english", "My birthday is 3 March.", "My birthday is next week."),
        ("english", "My birthday is 3 March.", "My birthday is in 3 weeks."),
        ("english", "My PIN is 4471.", "my pin is easy to remember"),
        ("english", "My salary is 42k.", "My salary is too low."),
        ("english", "My shoe size is 8.", "My shoe size is hard to find"),
        ("spanish", "Mi nombre es Ana Ruiz.", "Mi nombre es difícil de pronunciar"),
        ("spanish", "Mi dirección es Calle Mayor 5.", "mi dirección es difícil de encontrar"),
        ("spanish", "Mi número es 600 123 456.", "Mi número es el mismo"),
        ("german", "Mein Name ist Lena Vogt.", "mein name ist programm lol"),
        ("german", "Mein Geburtstag ist am 3. März.", "Mein Geburtstag ist nächste Woche"),
        ("german", "Meine Miete ist 900 Euro.", "Meine Miete ist zu hoch"),
        ("chinese", "我的名字是王小明。", "我的名字是我爷爷起的"),
        ("chinese", "我的地址是北京市朝阳区建国路88号。", "我的地址是错的"),
        ("chinese", "我的生日是三月三号。", "我的生日是下周"),
    ],
)
def test_a_remark_about_a_value_is_no_value_and_closes_none(language: str, value: str, remark: str) -> None:
    assert read([value], language) != []
    assert read([remark], language) == []
    assert closed([value, remark], language) == set()


@pytest.mark.parametrize(
    ("language", "value", "other"),
    [
        ("english", "My name is Sarah.", "my name is common"),
        ("english", "My birthday is 3 March.", "My birthday is on Friday."),
        ("english", "My password is moonfox7.", "my password is annoying"),
        ("spanish", "Mi nombre es Ana Ruiz.", "mi nombre es común"),
    ],
)
def test_what_may_be_a_remark_closes_no_value(language: str, value: str, other: str) -> None:
    assert closed([value, other], language) == set()


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("english", "My phone number is 07700 900123.", "My phone number is 07700 900999."),
        ("english", "My email is ann@x.org.", "my email is ann@y.org"),
        ("english", "My name is Sarah Hill.", "My name is Sarah Jones."),
        ("english", "my name is lisa", "my name is now lena"),
        ("english", "My birthday is 3 March.", "My birthday is 4 March."),
        ("english", "My rent is nine hundred pounds.", "My rent is 950 pounds."),
        ("german", "Meine Telefonnummer ist 0171 2345678.", "Meine neue Telefonnummer ist 0171 999999."),
        ("spanish", "Mi nombre es Ana Ruiz.", "Mi nombre es María de la Cruz."),
        ("chinese", "我的电话是13800138000。", "我的电话是13900139000。"),
    ],
)
def test_another_value_closes_the_one_before(language: str, old: str, new: str) -> None:
    assert closed([old, new], language) == {old}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "My phone number is 07700 900123."),
        ("english", "My address is Flat 2, Elm Road."),
        ("english", "My email is tom at example dot com."),
        ("english", "My birthday is in May."),
        ("german", "Meine Telefonnummer ist 0171 2345678."),
        ("german", "Meine Adresse ist Lindenstraße 5, 50674 Köln."),
        ("german", "Meine E-Mail-Adresse ist lena@x.de."),
        ("german", "Mein Geburtstag ist am 3. März."),
        ("spanish", "Mi número de teléfono es 600 123 456."),
        ("spanish", "Mi dirección es Calle Mayor 5, Lugo."),
        ("spanish", "Mi correo es ana@x.es."),
        ("spanish", "Mi cumpleaños es el 3 de marzo."),
        ("chinese", "我的电话是13800138000。"),
        ("chinese", "我的地址是北京市朝阳区建国路88号。"),
        ("chinese", "我的邮箱是wang@qq.com。"),
        ("chinese", "我的生日是三月三号。"),
    ],
)
def test_how_to_reach_somebody_is_of_the_profile_in_each_language(language: str, said: str) -> None:
    messages = [Message(1, "user", said, START, 1, "1", {})]
    lines = memorable_of(messages, language, "UTC").lines
    assert [(line.target, line.statement.text) for line in lines] == [("profile", said)]


@pytest.mark.parametrize("said", ["My phone is on the desk.", "My address is on the letter.", "My name is at the top."])
def test_where_something_lies_is_nothing_of_the_profile(said: str) -> None:
    messages = [Message(1, "user", said, START, 1, "1", {})]
    assert [line.target for line in memorable_of(messages, "english", "UTC").lines] == []
