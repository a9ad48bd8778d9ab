"""From when on a fact holds, and until when, as its sentence says; and what that closes, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.facts.resolve import Known, Resolution, Said, resolve
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import StatedFact, Utterance

# A Tuesday.
SAID = datetime(2026, 2, 10, 10, tzinfo=UTC)


def of(text: str, language: str, predicate: str) -> StatedFact:
    """The fact of that predicate that a sentence states."""
    [found] = [fact for fact in read_facts([Utterance(text, SAID)], language) if fact.predicate == predicate]
    return found


@pytest.mark.parametrize(
    ("language", "text", "predicate", "begins"),
    [
        ("english", "I start at Nordwind on 2 March.", "works_at", "2026-03-02"),
        ("english", "I'm starting at Nordwind on March 2nd.", "works_at", "2026-03-02"),
        ("english", "From 1 April, I work for Nordwind.", "works_at", "2026-04-01"),
        ("english", "I start at Nordwind on Monday.", "works_at", "2026-02-16"),
        ("english", "I start at Nordwind on Tuesday.", "works_at", "2026-02-17"),
        ("english", "From Monday my boss is Carla Stein.", "boss", "2026-02-16"),
        ("english", "From 4 January 2027 I work for Nordwind.", "works_at", "2027-01-04"),
        ("english", "I start at Nordwind in two weeks.", "works_at", "2026-02-24"),
        ("english", "From next month my boss is Carla Stein.", "boss", "2026-03-01"),
        ("english", "I start at Nordwind next week.", "works_at", "2026-02-16"),
        ("german", "Ab nächster Woche arbeite ich bei Nordwind.", "works_at", "2026-02-16"),
        ("spanish", "nos mudamos a toledo en junio", "lives_in", "2026-06-01"),
        ("spanish", "me mudo a toledo en junio", "lives_in", "2026-06-01"),
        ("german", "Ab nächstem Monat ist Carla Stein meine Chefin.", "boss", "2026-03-01"),
        ("spanish", "El mes que viene empiezo a trabajar en Nordwind.", "works_at", "2026-03-01"),
        ("german", "Ab 1. März arbeite ich bei Nordwind.", "works_at", "2026-03-01"),
        ("german", "Ich fange am 2. März bei Nordwind an.", "works_at", "2026-03-02"),
        ("german", "Ab Montag arbeite ich bei Nordwind.", "works_at", "2026-02-16"),
        ("spanish", "El lunes empiezo a trabajar en Nordwind.", "works_at", "2026-02-16"),
        ("chinese", "从3月2号起我在北风公司上班。", "works_at", "2026-03-02"),
        ("english", "I'm moving to Leeds on 1 April.", "lives_in", "2026-04-01"),
        ("english", "We're moving to Leeds next month.", "lives_in", "2026-03-01"),
        ("english", "I'm going to move to Leeds on 3 May", "lives_in", "2026-05-03"),
        ("english", "I'll be working at Nordwind from 2 April.", "works_at", "2026-04-02"),
        ("english", "My sister is moving to Oslo in June.", "lives_in", "2026-06-01"),
        ("german", "Ich ziehe am 1. April nach Kassel.", "lives_in", "2026-04-01"),
        ("german", "Am 1. April ziehen wir nach Kassel um.", "lives_in", "2026-04-01"),
        ("german", "ab 1. april wohn ich in kassel", "lives_in", "2026-04-01"),
        ("german", "Ich wohne ab 1. April in Kassel.", "lives_in", "2026-04-01"),
        ("spanish", "Me mudo a Gijón el 1 de abril.", "lives_in", "2026-04-01"),
        ("spanish", "Mi hermana se muda a Oslo en junio.", "lives_in", "2026-06-01"),
        ("chinese", "我四月一号搬去成都。", "lives_in", "2026-04-01"),
        ("chinese", "我下个月要搬到成都。", "lives_in", "2026-03-01"),
        ("chinese", "我4月1日入职腾讯。", "works_at", "2026-04-01"),
    ],
)
def test_what_begins_on_a_day_to_come_holds_from_then_on(language: str, text: str, predicate: str, begins: str) -> None:
    assert of(text, language, predicate).valid_from == datetime.fromisoformat(begins).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "I'm moving to Leeds."),
        ("english", "I'm moving to Leeds soon."),
        ("english", "I might be moving to Leeds in May."),
        ("english", "I want to move to Leeds in May."),
        ("english", "If we get it we're moving to Leeds in June."),
        ("english", "Her brother is moving to Oslo in June."),
        ("german", "Ich ziehe nach Kassel."),
        ("german", "Ich will im Mai nach Rom ziehen."),
        ("german", "Wir überlegen, ob wir im Mai nach Rom ziehen."),
        ("spanish", "Me mudo a Gijón."),
        ("spanish", "Quiero mudarme a Gijón en mayo."),
        ("chinese", "我想六月搬去成都。"),
    ],
)
def test_a_plan_without_its_day_holds_at_no_time(language: str, text: str) -> None:
    assert not read_facts([Utterance(text, SAID)], language)


@pytest.mark.parametrize(
    ("language", "text", "predicate"),
    [
        ("english", "I started at Nordwind on 2 March.", "works_at"),
        ("english", "I've worked at Nordwind since March.", "works_at"),
        ("english", "I work at Nordwind from Monday to Friday.", "works_at"),
        ("english", "I work at Nordwind in March Street.", "works_at"),
        ("english", "I live in Leeds, on Monday I go to Oslo.", "lives_in"),
        ("english", "I live in Leeds and on Monday I go to Oslo.", "lives_in"),
        ("english", "I work at Nordwind.", "works_at"),
        ("german", "Seit Januar arbeite ich bei Nordwind.", "works_at"),
        ("spanish", "Desde el lunes trabajo en Nordwind.", "works_at"),
        ("spanish", "nos mudamos a toledo en junio del año pasado", "lives_in"),
        ("spanish", "nos mudamos a toledo el lunes pasado", "lives_in"),
        ("spanish", "nos hemos mudado a parla", "lives_in"),
    ],
)
def test_what_holds_already_holds_since_it_was_said(language: str, text: str, predicate: str) -> None:
    found = of(text, language, predicate)
    assert (found.valid_from, found.valid_to) == (SAID, None)


@pytest.mark.parametrize(
    ("language", "text", "predicate", "ends"),
    [
        ("english", "I live in Oslo until June.", "lives_in", "2026-06-01"),
        ("english", "My boss is Carla until 3 June.", "boss", "2026-06-04"),
        ("chinese", "我在北风公司上班到6月为止。", "works_at", "2026-06-01"),
    ],
)
def test_what_is_said_to_end_holds_until_then(language: str, text: str, predicate: str, ends: str) -> None:
    assert of(text, language, predicate).valid_to == datetime.fromisoformat(ends).replace(tzinfo=UTC)


def test_a_file_is_read_long_after_it_was_written_and_wants_the_year() -> None:
    def begins(text: str) -> datetime:
        [fact] = read_facts([Utterance(text, SAID, "file")], "english")
        return fact.valid_from

    assert begins("I start at Nordwind on 2 March.") == SAID
    assert begins("I start at Nordwind on 2 March 2026.") == BEGINS


def resolved(*said: tuple[str, int], on: datetime) -> tuple[dict[str, str], Resolution]:
    """The states of facts by their objects, of sentences that were said some days after SAID each."""
    utterances = [Utterance(text, SAID + timedelta(days=days)) for text, days in said]
    facts = read_facts(utterances, "english")
    known = [
        Known(
            fact_id=number,
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            text=fact.text,
            category=fact.category,
            confidence=fact.confidence,
            is_functional=fact.is_functional,
            is_request=fact.is_request,
            about_user=fact.about_user,
            change=fact.change,
            said=(Said(fact.said_at, fact.valid_from, fact.valid_to),),
        )
        for number, fact in enumerate(facts, 1)
    ]
    resolution = resolve(known, on)
    return {fact.object: resolution.states[number].state for number, fact in enumerate(facts, 1)}, resolution


@pytest.mark.parametrize(
    ("language", "text", "object_"),
    [
        ("english", "I start at Nordwind next month.", "Nordwind"),
        ("english", "The rent is 900 euros from April.", "900 euros"),
        ("english", "The code is 4711 until Friday.", "4711"),
        ("german", "Ab nächster Woche arbeite ich bei Nordwind.", "Nordwind"),
        ("english", "My favourite month is May.", "May"),
        ("english", "My exam is on 3 June.", "on 3 June"),
    ],
)
def test_the_time_is_no_part_of_what_something_is(language: str, text: str, object_: str) -> None:
    assert [fact.object for fact in read_facts([Utterance(text, SAID)], language)] == [object_]


@pytest.mark.parametrize("day", [datetime(9999, 12, 31, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)])
@pytest.mark.parametrize(
    "text",
    [
        "I start at Nordwind tomorrow.",
        "I start at Nordwind on Monday.",
        "I work at Nordwind from next month.",
        "I start at Nordwind in 400 months.",
        "My boss is Carla until 31 December.",
        "我在北风公司上班到明天为止。",
    ],
)
def test_a_note_of_the_first_or_the_last_day_is_read(day: datetime, text: str) -> None:
    for language in ("english", "chinese"):
        for speaker in ("user", "file"):
            for fact in read_facts([Utterance(text, day, speaker)], language):
                assert fact.valid_from >= day


NOW_AND_THEN = (("I work at Bosch.", 0), ("I start at Nordwind on 2 March.", 5))
BEGINS = datetime(2026, 3, 2, tzinfo=UTC)


def test_what_is_to_come_closes_nothing_before_it_comes() -> None:
    before, resolution = resolved(*NOW_AND_THEN, on=BEGINS - timedelta(hours=1))
    assert before == {"Bosch": "current", "Nordwind": "current"}
    assert resolution.states[1].valid_to == resolution.states[2].valid_from == BEGINS
    assert not resolution.contradictions
    after, _ = resolved(*NOW_AND_THEN, on=BEGINS)
    assert after == {"Bosch": "superseded", "Nordwind": "current"}


def test_what_holds_may_be_said_again_before_something_else_comes() -> None:
    said = (*NOW_AND_THEN, ("I work at Bosch.", 9))
    assert resolved(*said, on=BEGINS)[0] == {"Bosch": "superseded", "Nordwind": "current"}


def test_what_was_taken_back_before_it_came_never_held() -> None:
    said = (*NOW_AND_THEN, ("I no longer work at Nordwind.", 9))
    for on in (SAID + timedelta(days=10), BEGINS + timedelta(days=10)):
        states, resolution = resolved(*said, on=on)
        assert states["Bosch"] == "current", on
        planned = resolution.states[2]
        assert (planned.state, planned.valid_from, planned.valid_to) == ("superseded", BEGINS, BEGINS)
