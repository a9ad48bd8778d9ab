"""Tests of the model that says of two sentences whether the second says otherwise what the first said."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from reverie_bench.changes.pairs import LANGUAGES, Group, cases_of_groups, cases_of_lives, labelled_groups
from reverie_bench.tagged import tagged_lives
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import load_local
from reverie_server.facts.unread import as_open
from reverie_server.heuristics.changes.aspects import aspect_models, same_aspect
from reverie_server.heuristics.changes.change_pairs import (
    COLUMNS,
    FEATURES,
    OF_ASPECTS,
    OF_WORDS,
    Near,
    Network,
    PairModel,
    pair_features,
    pair_models,
    units_of,
    word_features,
)
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, change_sentences
from reverie_server.heuristics.changes.changed_facts import has_to_do_with, has_value
from reverie_server.heuristics.changes.judged_pairs import (
    EarlierSentence,
    NewSentence,
    nearness_of,
    pair_log_odds,
    pair_rows,
)
from reverie_server.heuristics.changes.lasting_facts import are_two_events, may_end_whole
from reverie_server.heuristics.changes.paired_changes import can_be_otherwise, can_end_marked, can_end_whole
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.heuristics.trees import Trees

THEN, NOW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
NOTHING = np.zeros(E5.shape.hidden, np.float32)
NEW = NewSentence("New things now.", "english", NOTHING, NOTHING, NOW)
# One tree: 3 where a column is above a limit, else -2.
ABOVE, NOT_ABOVE = 3, -2


def model_of(*, share: float = 0.0, **weights: float) -> PairModel:
    """A model that weighs some features, and nothing else; what it says of a pair counts a `share`."""
    features = np.array([weights.get(name, 0.0) for name in FEATURES], np.float32)
    # Of all numbers the last one, as it is.
    hidden, as_it_is = np.zeros((len(FEATURES) + 1, 2), np.float32), np.array([1.0, -1.0], np.float32)
    hidden[-1] = as_it_is
    network = Network(hidden, np.zeros(2, np.float32), as_it_is, 0.0)
    joint = {"of_network": 1.0, "of_change": weights.get("as_change", 0.0), "joint_offset": weights.get("joint", 0.0)}
    limits = {"share_of_pair": share, "limit": 0.0, "likely": 1.0, "certain": 2.0, "least_ends": -3.0}
    return PairModel(
        E5.name, features, NOTHING, NOTHING, 0.0, network, **joint, trees=tree_of("of_pair", 0.5), **limits
    )


def tree_of(column: str, limit: float) -> Trees:
    """A tree that asks whether a column is above a limit."""
    feature = np.array([[COLUMNS.index(column), 0, 0]], np.int16)
    below, above = np.array([[1, 1, 2]], np.int16), np.array([[2, 1, 2]], np.int16)
    numbers = (np.array([each], np.float32) for each in ([limit, 0, 0], [0, NOT_ABOVE, ABOVE]))
    threshold, value = numbers
    return Trees(feature, threshold, below, above, value, 1, 0.0)


def by_pair(new: NewSentence, earlier: list[EarlierSentence], model: PairModel) -> list[float]:
    """The log-odds of each pair by itself, of 9 sentences that were said."""
    found: list[float] = pair_rows(new, earlier, 9, model)[:, COLUMNS.index("of_pair")].tolist()
    return found


def statement(sentence: str, language: str = "english") -> ChangeSentence:
    [found] = change_sentences([Utterance(sentence, NOW)], language, with_statements=True)
    return found


def fact(predicate: str, text: str, *, subject: str = "user", is_functional: bool = True) -> OpenFact:
    return OpenFact(subject, predicate, text, text, THEN, is_functional, about_user=subject == "user")


@pytest.mark.parametrize(
    ("sentence", "units"),
    [
        (
            "Got on the scales, 97 kilos, and that is down seven.",
            [
                "Got on the scales",
                "97 kilos, and that is down seven.",
                "Got on the scales, 97 kilos, and that is down seven.",
            ],
        ),
        ("The budget is 12,000 dollars.", ["The budget is 12,000 dollars."]),
        ("Off.", ["Off."]),
        (
            "我在西安上大三，住学校东区七号楼",
            ["我在西安上大三", "住学校东区七号楼", "我在西安上大三，住学校东区七号楼"],
        ),
    ],
)
def test_the_parts_of_a_sentence_say_something_each(sentence: str, units: list[str]) -> None:
    assert units_of(sentence) == units


def test_the_features_of_the_words_of_a_pair() -> None:
    seen = dict(
        zip(
            OF_WORDS,
            word_features("The stall opens at 8:00.", "The stall opens at 10:00 now.", "english", 0.5),
            strict=True,
        )
    )
    assert seen["similarity"] == 2
    assert seen["tells"] == 1
    assert seen["other_value"] == pytest.approx(1.5)
    assert seen["same_values"] == 0
    assert seen["shared"] == pytest.approx(2 / 3)
    assert seen["shared_name"] == 0
    assert seen["similarity_if_tells"] == 1
    assert seen["shared_part"] == 0


@pytest.mark.parametrize(
    ("old", "new", "share"),
    [
        ("Das Rudertraining ist am Dienstag.", "Das Training ist jetzt am Donnerstag.", 0.5),
        ("Unser Stationsleiter heißt Obermeier.", "Meine Stationsleitung ist Dilara Aksoy.", 0.5),
        ("Das Rudertraining ist am Dienstag.", "Mein Rad ist im Keller.", 0.0),
    ],
)
def test_words_of_german_compounds_are_shared(old: str, new: str, share: float) -> None:
    assert word_features(old, new, "german", 0.5)[OF_WORDS.index("shared_part")] == share


def test_the_features_of_what_else_was_said() -> None:
    of_words = [0.0] * len(OF_WORDS)
    home, any_of = np.array([0.75, 0.0], np.float32), np.array([0.5, 0.5], np.float32)
    near = Near(0.5, 0, 0.25, among=4)
    seen = dict(zip(FEATURES, pair_features(of_words, near, -2.0, 4.0, home, any_of), strict=True))
    assert (seen["nearest"], seen["rank"], seen["ahead"], seen["nearness"], seen["alone"]) == (1, 0, 1, 2, 0.5)
    assert (seen["ends"], seen["endable"], seen["ends_near"], seen["ends_nearest"]) == (-2, 4, -1, -2)
    assert (seen["ends_endable"], seen["surely_ends_near"]) == (-2, 0)
    assert [seen[name] for name in OF_ASPECTS] == pytest.approx([3 * 0.375, 0.75, 1.0])
    near = Near(0.4, 3, -0.1, among=4)
    farther = dict(zip(FEATURES, pair_features(of_words, near, 2.0, 4.0, home, home), strict=True))
    assert (farther["nearest"], farther["rank"], farther["ends_nearest"]) == (0, 0.5, 0)
    assert farther["surely_ends_near"] == pytest.approx(0.8)


def test_each_earlier_sentence_is_judged_among_the_others() -> None:
    earlier = [EarlierSentence("Old things.", NOTHING, nearness, THEN) for nearness in (0.2, 0.6, 0.5)]

    def judged(model: PairModel) -> list[float]:
        return by_pair(NEW, earlier, model)

    assert judged(model_of(nearest=1.0)) == [0, 1, 0]
    assert judged(model_of(rank=6.0)) == pytest.approx([2, 0, 1])
    assert judged(model_of(ahead=0.25)) == pytest.approx([-0.4, 0.1, -0.1])
    assert judged(model_of(alone=3.0)) == pytest.approx([1, 1, 1])
    assert pair_log_odds(NEW, earlier, 9, model_of(nearest=1.0)) == [NOT_ABOVE, ABOVE, NOT_ABOVE]
    by_both = pair_log_odds(NEW, earlier, 9, model_of(share=0.25, nearest=1.0))
    assert by_both == pytest.approx([0.75 * NOT_ABOVE, 0.25 + 0.75 * ABOVE, 0.75 * NOT_ABOVE])
    assert pair_log_odds(NEW, [], 9, model_of(rank=1.0)) == []


def test_the_days_between_two_sentences_and_the_aspects_of_both_are_weighed_too() -> None:
    earlier = [EarlierSentence("Old.", NOTHING, 0.5, NOW - timedelta(days=days)) for days in (2, 40)]
    model = model_of()
    rows = pair_rows(NEW, earlier, 9, model)
    shares = model.aspects(NOTHING)
    assert rows.shape == (2, len(COLUMNS) + len(shares))
    assert rows[:, COLUMNS.index("days")].tolist() == [2, 40]
    assert rows[0, COLUMNS.index("old_chars")] == 4
    assert rows[0, COLUMNS.index("new_chars")] == len(NEW.text)
    assert rows[0, len(COLUMNS) :] == pytest.approx(shares)
    assert pair_log_odds(NEW, earlier, 9, replace(model, trees=tree_of("days", 7))) == [NOT_ABOVE, ABOVE]


def test_what_a_sentence_is_near_to_as_a_change_counts_beside_what_it_says() -> None:
    x, y = np.eye(2, E5.shape.hidden, dtype=np.float32)
    new = NewSentence("New things now.", "english", NOTHING, x, NOW)
    earlier = [EarlierSentence("Old things.", each, 0.5, THEN) for each in (x, y, (x - y) / np.float32(2**0.5))]
    judged = by_pair(new, earlier, model_of(as_change=10.0, joint=-4.0))
    assert judged == pytest.approx([6, -4, 10 * 2**-0.5 - 4])


def test_what_he_does_is_nothing_of_hers() -> None:
    hers = "Ella da clases de flamenco los jueves y tiene lista de espera."
    assert not has_to_do_with(statement("Él ahora es cocinero en una venta.", "spanish"), hers)
    assert has_to_do_with(statement("Ella ahora es cocinera en una venta.", "spanish"), hers)


def test_a_day_is_no_place() -> None:
    home = fact("lives_in", "I'm moving to Ilkley.")
    assert not has_value(statement("I moved in on Saturday."), home)
    assert has_value(statement("I moved to Otley on Saturday."), home)


def test_what_is_all_but_the_same_without_a_word_of_change_is_said_again() -> None:
    x = np.zeros(E5.shape.hidden, np.float32)
    x[0] = 1.0
    earlier = [EarlierSentence("Lots of things.", x, 1.0, THEN)]
    again, otherwise = (NewSentence(text, "english", x, x, NOW) for text in ("A lot of things.", "New things now."))
    assert pair_log_odds(again, earlier, 9, model_of(nearest=1.0)) == [-math.inf]
    assert pair_log_odds(otherwise, earlier, 9, model_of(nearest=1.0)) == [ABOVE]


def test_the_nearest_parts_say_how_near_sentences_are() -> None:
    x, y = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    assert nearness_of(np.stack([x, y]), np.stack([0.5 * x, 0.8 * y])) == pytest.approx(0.8)


def test_a_sentence_that_tells_of_an_end_reads_otherwise_than_one_that_tells_of_a_plan() -> None:
    model = pair_models()[E5.name]
    told, planned = "We moved to the flat in Leith, so that is home now.", "Can you write me a poem about the sea?"
    assert model.ends(told, NOTHING) > model.ends(planned, NOTHING)
    assert model.endable("I live in a flat in Leith.", NOTHING) > model.endable(planned, NOTHING)


@pytest.mark.parametrize(
    ("told", "known", "can_be"),
    [
        ("I train at the pool these days.", fact("uses", "I train at Pulse."), True),
        ("I train at the pool these days.", fact("name", "I'm Ann."), False),
        ("I train at the pool these days.", fact("wife", "My wife is Hanna."), False),
        ("I train at the pool these days.", fact("schwiegermutter", "Meine Schwiegermutter ist Hilde."), False),
        ("I train at the pool these days.", fact("lives_in", "Fay lives in Bristol.", subject="Fay"), False),
        ("Fay rang from her new place in Cork.", fact("lives_in", "Fay lives in Bristol.", subject="Fay"), True),
        (
            "That is none of my business, really.",
            fact("opens_with", "The bike lock opens with 2714.", subject="bike lock"),
            False,
        ),
        (
            "The bike lock has 6049 these days.",
            fact("opens_with", "The bike lock opens with 2714.", subject="bike lock"),
            True,
        ),
        ("The spare key is with number 19.", fact("staff number", "60417"), False),
        ("My new staff number is 60999.", fact("staff number", "60417"), True),
        ("My car is fourteen years old now.", fact("age", "I'm 36 years old."), False),
        (
            "My blood test came back, the doctor says my iron is on the floor.",
            fact("is", "I come out in hives from penicillin."),
            False,
        ),
        ("Turns out I can take penicillin now.", fact("is", "I come out in hives from penicillin."), True),
        ("The allergy was a mistake of the lab's.", fact("is", "I come out in hives from penicillin."), True),
        ("sold the Transit for scrap, four hundred quid.", fact("drives", "Transit"), True),
        ("The van broke down again this morning.", fact("drives", "Transit"), False),
        (
            "Now the fun costs 910 euros, but we split the rent.",
            fact("is", "The rent is 780 euros warm.", subject="rent"),
            True,
        ),
        ("I sold the roof rack of the Transit.", fact("drives", "Transit"), False),
        ("I no longer take the Transit to work on Fridays.", fact("drives", "Transit"), False),
        ("Anna's rent is now 500 euros.", fact("is", "The rent is 780 euros.", subject="rent"), False),
        ("The rent for the van was 90 euros.", fact("is", "The rent is 780 euros.", subject="rent"), False),
        (
            "Now the gym costs 31 euros a month.",
            fact("is", "The rent is 780 euros warm.", subject="rent"),
            False,
        ),
        ("It is 7 October now, at ten to nine.", fact("is", "Joel's birthday is 13 October.", subject="Joel"), False),
        ("若楠上周搬去杭州了。", fact("is", "若楠的预产期是6月10日。", subject="若楠"), False),
        ("Ellie's kids are called Josh and Maya.", fact("lives_in", "Bristol", subject="Ellie"), False),
        ("Ellie moved to Bath.", fact("lives_in", "Bristol", subject="Ellie"), True),
        ("Ellie has a cottage near Bath now.", fact("lives_in", "Bristol", subject="Ellie"), True),
    ],
)
def test_what_can_be_otherwise(told: str, known: OpenFact, can_be: bool) -> None:
    assert can_be_otherwise(statement(told), known) == can_be


def test_within_a_conversation_nothing_is_otherwise() -> None:
    just_said = OpenFact("user", "uses", "Pulse", "I train at Pulse.", NOW - timedelta(minutes=9), is_functional=True)
    assert not can_be_otherwise(statement("I train at the pool these days."), just_said)


def test_mere_statements_come_with_the_others_where_they_are_asked_for() -> None:
    told = [Utterance("It is a nice flat near the park. Is it? Maybe it is a nice flat.", NOW)]
    assert change_sentences(told, "english") == []
    [found] = change_sentences(told, "english", with_statements=True)
    assert (found.sentence, found.tells) == ("It is a nice flat near the park.", False)


def test_there_is_a_model_for_the_default_embedding_model() -> None:
    model = pair_models()[E5.name]
    assert model.old.shape == model.new.shape == (E5.shape.hidden,)
    assert model.features[FEATURES.index("similarity")] > 0
    assert model.features[FEATURES.index("other_value")] > 0


def test_the_labelled_sentences_are_of_one_kind_each() -> None:
    groups = labelled_groups()
    assert {group.language for group in groups} == set(LANGUAGES)
    for group in groups:
        texts = (*group.said, *group.replaced, *group.holds)
        assert len(set(texts)) == len(texts), group.about
        assert group.said
        assert group.holds


def test_a_sentence_of_a_group_ends_what_was_said_in_it_and_nothing_else() -> None:
    groups = [
        Group(language, "gym", (f"Gym one {language}.",), (f"Gym two {language}.",), (f"Gym full {language}.",))
        for language in LANGUAGES
    ]
    cases = {case.new: case for case in cases_of_groups(groups) if case.of == "gym" and case.language == "english"}
    assert cases.keys() == {"Gym two english.", "Gym full english."}
    assert [cases["Gym two english."].earlier[at] for at in cases["Gym two english."].ends] == ["Gym one english."]
    assert cases["Gym full english."].ends == frozenset()
    assert len(cases["Gym full english."].earlier) > 1


def test_a_line_of_a_life_ends_what_stands_before_it_and_was_not_over() -> None:
    held, others = cases_of_lives(held=True), cases_of_lives(held=False)
    assert {case.of for case in held}.isdisjoint(case.of for case in others)
    assert {case.of for case in (*held, *others)} == {life.name for life in tagged_lives()}
    for case in (*held, *others):
        assert case.ends <= set(range(len(case.earlier)))
    assert sum(len(case.ends - case.is_over) for case in others) > 500


@pytest.mark.parametrize(
    ("old", "sentence", "can_be"),
    [
        (fact("drives", "I drive the number 12 for Bayline Buses."), "Our house has thirty-one stairs.", False),
        (fact("drives", "I drive a Corsa."), "I take the bus to work now.", True),
        (fact("is", "Lunch with Anna is on Tuesday.", subject="Lunch"), "Lunch with Ben is on Friday.", False),
        (fact("lives_in", "I'm moving to Ilkley."), "I moved to Otley on Saturday.", True),
        (fact("works_on", "Bron works on the desk.", subject="Bron"), "Bron can't have penicillin.", False),
        (fact("is", "Consuelo is diabetic.", subject="Consuelo"), "Consuelo stays with her cousin in town.", False),
        (fact("lives_in", "Ada lives in Hereford.", subject="Ada"), "Ada has a house in Ludlow.", True),
        (fact("works_as", "I'm a cook."), "The gas key hangs at the chef's padlock, combination 77.", False),
        (fact("works_as", "I'm a cook."), "I'm a chef now, my code for the till is 4471.", True),
    ],
)
def test_what_is_of_a_kind_ends_by_a_value_of_that_kind(old: OpenFact, sentence: str, can_be: bool) -> None:
    assert can_be_otherwise(statement(sentence), old) is can_be


@pytest.mark.parametrize(
    ("sentence", "language", "is_one"),
    [
        ("The doctor said no more coffee, so it's peppermint tea for me these days.", "english", True),
        ("I would love to move to Lisbon one day.", "english", False),
        ("If we move to Leeds in May, my commute is much longer.", "english", False),
        ("如果我换工作，我就搬到上海住了", "chinese", False),
        ("El nuevo encargado se llama Bruno Lanz, podría ser mi hijo.", "spanish", True),
        ("Ich würde gern nach Bonn ziehen.", "german", False),
        ("搬好了，現在窩在花蓮市，陽台看得到一小條海，大概一公分", "chinese", True),
    ],
)
def test_a_part_of_a_sentence_that_states_something_is_enough(sentence: str, language: str, is_one: bool) -> None:
    found = change_sentences([Utterance(sentence, NOW)], language, with_statements=True)
    assert [each.is_statement for each in found if each.is_statement] == [True] * is_one


@pytest.mark.parametrize(
    ("one", "other", "unlike"),
    [
        ("Keith runs our depot and wants it by tonight.", "The new supervisor is called Farah.", "I live in Leeds."),
        ("Unser Stationsleiter heißt Obermeier.", "Frau Aksoy hat jetzt die Leitung.", "Ich esse vegetarisch."),
    ],
)
async def test_sentences_of_one_aspect_of_a_life_are_known_in_other_words(
    tmp_path: Path, one: str, other: str, unlike: str
) -> None:
    embedder, model = load_local(tmp_path, E5), aspect_models()[E5.name]
    shares = [model.shares(np.array(vector, np.float32)) for vector in await embedder.embed([one, other, unlike])]
    await embedder.aclose()
    assert same_aspect(shares[0], shares[1]) > 2 * max(same_aspect(each, shares[2]) for each in shares[:2])


@pytest.mark.parametrize(
    ("language", "said", "later", "can_be"),
    [
        ("german", "Das Rudertraining ist jeden Dienstag.", "Das Training ist ab jetzt am Donnerstag.", True),
        ("german", "Das Rudertraining ist jeden Dienstag.", "Der Chor probt ab jetzt am Donnerstag.", False),
        ("german", "Die Kontonummer ist 4471882.", "Die Nummer von meinem Zimmer ist ab jetzt 312.", False),
        ("english", "I go swimming every Saturday morning.", "No swimming on Saturdays any more.", True),
        (
            "english",
            "I go swimming every Saturday morning.",
            "I don't swim on Saturdays any more, I've switched to Wednesday evenings.",
            True,
        ),
        ("english", "I go swimming every Saturday morning.", "I go running in the evenings now.", False),
        # What was asked to be kept as a whole has no subject.
        ("spanish", "Guárdame que la alarma se quita con el 1958.", "Ahora se quita con el 3307, apréndetelo.", True),
        ("spanish", "Guárdame que la alarma se quita con el 1958.", "El candado se abre con el 4410 ahora.", False),
        (
            "english",
            "Remember that the desk wall is 136 cm wide.",
            "I rounded the legs of the desk by the wall.",
            False,
        ),
        ("chinese", "我们养了一只猫叫年糕。", "年糕又胖了，医生让减肥。", False),
        ("chinese", "我女朋友叫阿雯。", "阿雯转白班了，终于不用上夜班。", False),
        ("english", "I have a dog called Rex.", "Rex has put on weight again.", False),
        ("english", "I go every Sunday.", "I've given up sugar.", False),
        ("english", "I swim every Sunday.", "I've given up swimming, I row now.", True),
        ("english", "Remember that the desk wall is 136 cm wide.", "The desk wall is 142 cm wide now.", True),
        ("english", "We have two kids, Ruby and Oliver.", "Greg found us a place with a big yard.", False),
        ("english", "We have two kids, Ruby and Oliver.", "We have three kids now.", True),
        ("english", "I live in Kiel.", "We found a flat in Lübeck after looking for ages.", True),
        ("german", "Ich wohne in Kiel, direkt an der Förde.", "Wir suchen jetzt ernsthaft eine Wohnung.", False),
        ("german", "Ich wohne in Kiel, direkt an der Förde.", "Wir wohnen jetzt in einer Wohnung in Lübeck.", True),
        ("english", "I live in Ilkley.", "I moved in on Saturday.", False),
        ("english", "I live in Ilkley.", "I moved in at a flat in Otley on Saturday.", True),
        ("german", "Der Hautarzt heißt Dr. Brandt.", "Beim Hautarzt ist schon wieder etwas dazwischengekommen.", False),
        ("german", "Der Hautarzt heißt Dr. Brandt.", "Der Hautarzt ist jetzt eine Frau Dr. Vogel.", True),
        ("english", "The dentist is called Ahmed Rahman.", "They've moved the dentist again.", False),
        ("english", "The dentist is called Ahmed Rahman.", "The dentist, Rahman, has left the practice.", True),
        ("english", "Our storage locker is number 41C.", "We are in the new house since yesterday.", False),
        ("english", "Our storage locker is number 41C.", "The storage locker is number 12 now.", True),
    ],
)
def test_what_a_sentence_can_say_otherwise(language: str, said: str, later: str, can_be: bool) -> None:
    [known, *_] = read_facts([Utterance(said, NOW - timedelta(days=30))], language)
    [change] = change_sentences([Utterance(later, NOW)], language, with_statements=True)
    assert can_be_otherwise(change, as_open(known)) is can_be


@pytest.mark.parametrize(
    ("language", "said", "later", "can_end"),
    [
        # An age, a name and a trade end by no story of something else; neither do kin, nor what an animal is called.
        (
            "english",
            "I'm Kay, 52, and I tune pianos here.",
            "The woman who owned the piano stood in the hall now.",
            False,
        ),
        ("german", "Mein Mann Jörg ist Krankenpfleger und hat Nachtdienst.", "Der Jörg grillt im neuen Garten.", False),
        ("english", "our daughter Ida is on her way.", "The vet is on the corner, nice girl at the desk.", False),
        ("english", "My niece Clare is getting the piano.", "I've decided that the piano stays here now.", True),
        ("english", "My sister Siobhan marries on 30 August.", "Siobhan's wedding is on 13 September now.", True),
        ("english", "hes called biscuit, ginger lad.", "biscuit is under the bath now.", False),
        ("english", "hes called biscuit, ginger lad.", "we renamed biscuit, its toffee now.", True),
        # A code ends by a code of the same thing.
        ("english", "The shed is locked with 4471.", "Our storage room at the harbour has number 90264.", False),
        ("english", "The shed is locked with 4471.", "The shed has got a new lock with 90264.", True),
        ("german", "Das Rolltor geht mit 4482 auf.", "Meine Kundennummer ist übrigens 20871.", False),
        # What is asked to be kept is new, where it says of no change.
        ("english", "They go there on the 11th of May.", "Write down that the fitter comes on the 19th of May.", False),
        ("english", "They go there on the 11th of May.", "Write down that they now go there on the 19th.", True),
        ("english", "The choir rehearses in the chapel hall.", "The chapel hall is closed, so the choir is off.", True),
    ],
)
def test_what_ends_all_that_a_sentence_says(language: str, said: str, later: str, can_end: bool) -> None:
    known = [as_open(each) for each in read_facts([Utterance(said, NOW - timedelta(days=30))], language)]
    [change] = change_sentences([Utterance(later, NOW)], language, with_statements=True)
    assert can_end_whole(change, said, known, is_likely=True) is can_end


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value", "later", "can_end"),
    [
        ("Mia's in her second year at Bath.", "Mia", "school", "Bath", "Two bedrooms so Mia's got somewhere.", False),
        ("The boss here, Mr Tan, eats lunch with us.", "user", "boss", "Mr Tan", "We eat lunch outside.", False),
        ("Rex is nine and bites postmen.", "Rex", "age", "nine", "Rex bites nobody at the new place now.", False),
        ("We've got the flat in Elmer.", "user", "lives_in", "Elmer", "I lie on the floor in Elmer.", False),
        ("We've got the flat in Elmer.", "user", "lives_in", "Elmer", "We live in Stoke now.", True),
        ("The boss here, Mr Tan, eats lunch with us.", "user", "boss", "Mr Tan", "My new boss is Ms Lee.", True),
    ],
)
def test_what_is_marked_ends_by_what_can_be_said_of_it(
    text: str, subject: str, predicate: str, value: str, later: str, can_end: bool
) -> None:
    fact = OpenFact(
        subject=subject,
        predicate=predicate,
        object=value,
        text=text,
        said_at=NOW - timedelta(days=30),
        is_functional=True,
        about_user=subject == "user",
        category="profile",
    )
    [change] = change_sentences([Utterance(later, NOW)], "english", with_statements=True)
    assert can_end_marked(change, text, [fact]) is can_end


def test_what_lasts_and_what_somebody_cannot_have_is_not_over_altogether() -> None:
    code = OpenFact("padlock", "is", "5520", "The padlock is 5520.", THEN, is_functional=True, about_user=False)
    diet = OpenFact("user", "diet", "vegan", "I'm vegan.", THEN, is_functional=True)
    assert may_end_whole(code.text, [code])
    assert not may_end_whole(diet.text, [diet])
    for said in ("Theo can't have shellfish", "Ben verträgt keine Nüsse", "Ana no puede comer gluten", "小波吃不得虾"):
        assert not may_end_whole(said, [])


def test_what_happened_on_two_days_is_two_events() -> None:
    assert are_two_events("I ran 5 kilometers last Sunday.", "I ran 8 kilometers yesterday.")
    assert are_two_events("上周跑了五公里。", "昨天跑了八公里。")
    assert not are_two_events("I ran 5 kilometers last Sunday.", "I run 8 kilometers now.")


def test_a_guess_needs_a_word_that_both_share_or_a_word_of_change() -> None:
    said = "I owe the taxman quite a lot."
    assert not can_end_whole(statement("We have a lodger in the attic room."), said, (), is_likely=False)
    assert can_end_whole(statement("The taxman has had all of it."), said, (), is_likely=False)
    assert can_end_whole(statement("We no longer have any debts."), said, (), is_likely=False)


@pytest.mark.parametrize(
    ("predicate", "sentence", "can_be"),
    [
        ("works_as", "Leni ist Katrins Tochter und kommt jetzt in die Schule.", False),
        ("works_as", "Katrin ist jetzt Abteilungsleiterin in Leipzig.", True),
        ("is", "Katrin grillt heute im neuen Garten.", False),
        ("is", "Katrin arbeitet jetzt als Gärtnerin in Leipzig.", True),
    ],
)
def test_a_trade_ends_by_a_trade(predicate: str, sentence: str, can_be: bool) -> None:
    known = OpenFact(
        "Katrin",
        predicate,
        "Lehrerin",
        "Katrin ist Lehrerin.",
        NOW - timedelta(days=30),
        is_functional=True,
        about_user=False,
    )
    assert can_be_otherwise(statement(sentence, "german"), known) is can_be
