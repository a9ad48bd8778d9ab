"""What people plainly tell of their lives: kinds of objects, ways of speaking, and word order."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import StatedFact, Utterance


def read(language: str, *texts: str) -> list[StatedFact]:
    return read_facts([Utterance(text, datetime(2026, 3, 9, tzinfo=UTC)) for text in texts], language)


@pytest.mark.parametrize(
    ("language", "said", "fact"),
    [
        # What one has for long, and is.
        ("english", "I have type 1 diabetes.", ("user", "has", "type 1 diabetes")),
        ("german", "Ich habe Asthma.", ("user", "has", "Asthma")),
        ("spanish", "Tengo artritis.", ("user", "has", "artritis")),
        ("chinese", "我有高血压。", ("user", "has", "高血压")),
        ("english", "I'm left-handed.", ("user", "is", "left-handed")),
        ("german", "Unser Hund Oskar ist taub.", ("Oskar", "is", "taub")),
        ("spanish", "Llevo diez años casado.", ("user", "is", "casado")),
        ("english", "I'm on maternity leave until October.", ("user", "is", "on maternity leave")),
        # What one does.
        ("english", "I collect fountain pens.", ("user", "habit", "collect fountain pens")),
        ("spanish", "Colecciono mapas antiguos.", ("user", "habit", "Colecciono mapas antiguos")),
        ("english", "I get up at half five these days.", ("user", "habit", "get up at half five")),
        (
            "german",
            "Abends lese ich meinen Kindern immer vor.",
            ("user", "habit", "lese meinen Kindern immer vor abends"),
        ),
        ("english", "I run three times a week.", ("user", "habit", "run three times a week")),
        # Where one works that has no name, whom one joins, what one is taught.
        ("german", "Meine Freundin Jule arbeitet im Tierheim.", ("Jule", "works_at", "Tierheim")),
        ("english", "I've joined the allotment society.", ("user", "subscribes", "allotment society")),
        ("german", "Mein Sohn macht eine Ausbildung zum Koch.", ("user's son", "learns", "Koch")),
        ("chinese", "我女儿上二年级了。", ("user's daughter", "school_year", "二年级")),
        # An animal by its name, several people, an adjective behind, somebody's thing.
        ("english", "Juno only eats wet food.", ("Juno", "eats", "wet food")),
        ("german", "Nala frisst nur Trockenfutter.", ("Nala", "eats", "Trockenfutter")),
        ("english", "My parents live in Hexham.", ("user's parents", "lives_in", "Hexham")),
        ("spanish", "Mi hermano pequeño vive en Londres.", ("user's brother", "lives_in", "Londres")),
        ("spanish", "Bruno tiene ocho años y Leo acaba de cumplir cinco.", ("Leo", "age", "cinco")),
        ("english", "Nadia is my wife, she's a midwife.", ("Nadia", "works_as", "midwife")),
        # Birthdays, plans, medicines, people one goes to.
        ("german", "Ich habe am 4. Juni Geburtstag.", ("Geburtstag", "when", "am 4. Juni")),
        ("english", "I turn 40 in August.", ("birthday", "when", "in August")),
        ("english", "We're going to Porto instead.", ("trip destination", "is", "Porto")),
        ("english", "I'm seeing a new therapist, Dr. Mora.", ("user", "therapist", "Dr. Mora")),
        ("chinese", "我换了个新的理疗师，叫马婷。", ("user", "physio", "马婷")),
        ("english", "Priya is my line manager now.", ("user", "boss", "Priya")),
        ("english", "I've been prescribed metformin.", ("user", "takes", "metformin")),
        # One verb for two objects; what stands first and is not the subject.
        ("german", "Wir haben den Polo verkauft und einen Yaris gekauft.", ("user", "has", "Yaris")),
        ("german", "Das Studium habe ich abgebrochen.", ("user", "quit", "Studium")),
        ("spanish", "Las notas las llevo en Logseq.", ("user", "uses", "Logseq para las notas")),
        ("chinese", "播客的计划我放弃了。", ("user", "quit", "播客的计划")),
        ("chinese", "我自行车被偷了，现在骑电动车。", ("user", "drives", "电动车")),
    ],
)
def test_what_people_tell_of_their_lives(language: str, said: str, fact: tuple[str, str, str]) -> None:
    assert fact in [(each.subject, each.predicate, each.object) for each in read(language, said)]


@pytest.mark.parametrize(
    ("language", "said", "predicate", "old"),
    [
        ("german", "Ich bin doch nicht gegen Penicillin allergisch.", "allergic_to", "Penicillin"),
        ("english", "I don't work Fridays any more.", "habit", "work Fridays"),
        ("english", "Carla took over Orion from me.", "works_on", "Orion"),
        ("spanish", "Las películas de miedo ya no me gustan.", "likes", "películas de miedo"),
    ],
)
def test_what_is_over(language: str, said: str, predicate: str, old: str) -> None:
    ended = [each for each in read(language, said) if each.change is not None and each.change.kind == "ends"]
    assert [(each.predicate, each.change and each.change.old_object) for each in ended] == [(predicate, old)]


def test_his_number_is_that_of_somebody_named_before() -> None:
    found = {(each.subject, each.object) for each in read("english", "My landlord is Mr Pryce. His number is 4402.")}
    assert ("Mr Pryce's number", "4402") in found
    assert not read("english", "His number is 4402.")


@pytest.mark.parametrize(("who", "has_left"), [("My boss", True), ("My sister", False)])
def test_who_left_the_station_ends_what_they_are_only_if_they_worked_there(who: str, *, has_left: bool) -> None:
    facts = read("english", f"{who} is Helen.", "Helen left the station.")
    assert ("left" in [each.predicate for each in facts]) is has_left


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "I've got a migraine coming on."),
        ("german", "Ich habe die Diagnose gestern bekommen."),
        ("spanish", "Tengo la ansiedad por las nubes."),
        ("spanish", "La profesora de mi hijo se llama Elena."),
        ("english", "Looks like years ago."),
    ],
)
def test_what_only_sounds_like_it(language: str, said: str) -> None:
    assert not [each for each in read(language, said) if each.subject == "user"]


def test_what_another_clause_denies_ends_nothing() -> None:
    assert [each.change for each in read("chinese", "我爱吃折耳根，同事都受不了")] == [None]


def test_a_role_of_several_words_stands_in_a_way_of_speaking() -> None:
    rules = [rule.pattern for rule in all_phrases()["english"].rewrites if rule.to == "my <role> is now <name>"]
    assert any(pattern.search("priya is my line manager now") for pattern in rules)


@pytest.mark.parametrize(
    ("language", "said", "value"),
    [
        ("german", "Ich esse vegetarisch, also keinen Speck bitte.", "vegetarisch"),
        ("german", "Ich esse vegan, deshalb nie Butter.", "vegan"),
        ("english", "I'm vegetarian, so never any bacon.", "vegetarian"),
        ("spanish", "Soy vegano, así que no como queso.", "vegano"),
    ],
)
def test_what_follows_from_a_diet_does_not_deny_it(language: str, said: str, value: str) -> None:
    facts = read(language, said)
    assert any(fact.object == value for fact in facts)
    assert not any(fact.object == value and fact.predicate == "avoids" for fact in facts)
    assert not any(fact.change is not None and fact.change.kind == "ends" for fact in facts)


def test_a_denial_before_what_follows_holds() -> None:
    facts = read("german", "Ich wohne nicht mehr in Kassel, also keine Post mehr dahin.")
    assert any(fact.change is not None and fact.change.kind == "ends" for fact in facts)
