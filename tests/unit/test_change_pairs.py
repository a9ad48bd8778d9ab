"""Tests of the model that says of two sentences whether the second says otherwise what the first said."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from reverie_bench.changes.pairs import LANGUAGES, Group, labelled_groups, pairs_of
from reverie_indexer.embed.built_in import E5
from reverie_server.heuristics.changes.change_pairs import FEATURES, PairModel, pair_features, pair_models, units_of
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, change_sentences
from reverie_server.heuristics.changes.paired_changes import can_be_otherwise, limit_of, log_odds, may_tell_otherwise
from reverie_server.heuristics.stated_fact import Utterance

THEN, NOW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
MODEL = PairModel(
    features=np.array([1.0] + [0.0] * (len(FEATURES) - 1), np.float32),
    old=np.array([0.0, 1.0], np.float32),
    new=np.array([2.0, 0.0], np.float32),
    offset=-3.0,
    limit=-1.0,
)
X, Y = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


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


def test_the_features_of_a_pair() -> None:
    seen = dict(
        zip(
            FEATURES,
            pair_features("The stall opens at 8:00.", "The stall opens at 10:00 now.", "english", 0.5),
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


def test_the_log_odds_are_a_sum_and_those_of_the_best_parts() -> None:
    # 1 · (4 · 0) + 1 · (old: y · y) + 2 · (new: x · x) − 3
    assert log_odds([("New things.", X)], [("Old things.", Y)], "english", MODEL) == pytest.approx(0.0)
    # 1 · (4 · 1) + 0 + 2 − 3
    parts = [("Nothing at all.", Y), ("New things now.", X)]
    assert log_odds(parts, [("Old things.", X)], "english", MODEL) == pytest.approx(3.0)


def test_what_is_all_but_the_same_without_a_word_of_change_is_said_again() -> None:
    assert log_odds([("A lot of things.", X)], [("Lots of things.", X)], "english", MODEL) == -math.inf


def test_what_could_be_no_change_of_anything_is_not_compared() -> None:
    change = statement("I train at the pool these days.")
    assert may_tell_otherwise(change, np.stack([X]), MODEL)
    hopeless = PairModel(MODEL.features, MODEL.old, MODEL.new, offset=-9.0, limit=-1.0)
    assert not may_tell_otherwise(change, np.stack([Y]), hopeless)


@pytest.mark.parametrize(
    ("told", "known", "can_be"),
    [
        ("I train at the pool these days.", fact("uses", "I train at Pulse."), True),
        ("I train at the pool these days.", fact("name", "I'm Ann."), False),
        ("I train at the pool these days.", fact("wife", "My wife is Hanna."), False),
        ("I train at the pool these days.", fact("schwiegermutter", "Meine Schwiegermutter ist Hilde."), False),
        ("I train at the pool these days.", fact("lives_in", "Fay lives in Bristol.", subject="Fay"), False),
        ("Fay rang from her new place in Cork.", fact("lives_in", "Fay lives in Bristol.", subject="Fay"), True),
    ],
)
def test_what_can_be_otherwise(told: str, known: OpenFact, can_be: bool) -> None:
    assert can_be_otherwise(statement(told), known) == can_be


def test_within_a_conversation_nothing_is_otherwise() -> None:
    just_said = OpenFact("user", "uses", "Pulse", "I train at Pulse.", NOW - timedelta(minutes=9), is_functional=True)
    assert not can_be_otherwise(statement("I train at the pool these days."), just_said)


def test_more_is_asked_of_what_is_not_nearest_and_of_what_there_are_several_of() -> None:
    one, many = fact("uses", "I train at Pulse."), fact("habit", "I train at Pulse.", is_functional=False)
    assert limit_of(one, MODEL, is_nearest=True) == MODEL.limit
    assert limit_of(one, MODEL, is_nearest=False) > MODEL.limit
    assert limit_of(many, MODEL, is_nearest=True) > MODEL.limit
    assert limit_of(many, MODEL, is_nearest=False) > limit_of(one, MODEL, is_nearest=False)
    assert limit_of(fact("dog", "My dog is Pepper.", is_functional=False), MODEL, is_nearest=True) == MODEL.limit


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


def test_pairs_are_of_a_group_or_of_what_is_near() -> None:
    groups = [
        Group(language, "gym", (f"Gym one {language}.",), (f"Gym two {language}.",), (f"Gym full {language}.",))
        for language in LANGUAGES
    ]
    vectors = _Anything()
    pairs = [pair for pair in pairs_of(groups, vectors) if pair.is_of_one]
    assert sorted((pair.new, pair.is_change) for pair in pairs if pair.language == "english") == [
        ("Gym full english.", False),
        ("Gym two english.", True),
    ]


class _Anything(dict[str, np.ndarray]):
    def __missing__(self, key: str) -> np.ndarray:
        return np.array([len(key) % 7, len(key) % 5], np.float32)
