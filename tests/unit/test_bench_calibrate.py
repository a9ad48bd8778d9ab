"""The fit of relevance on numbers worked by hand and on data made with known coefficients."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from reverie_bench.data import Collection, Question, Unit
from reverie_bench.recall.conversations import crossed_questions, name_swapper
from reverie_bench.recall.logistic import Flags, auc, fit, logit, sigmoid
from reverie_bench.recall.relevance_fit import WORDS, FormulaRules, Group, Sample, calibrate, fitted
from reverie_indexer.errors import ValidationFailed
from reverie_server.search import relevance

RESULTS = Path(__file__).parents[2] / "benchmarks/results"


def flags(*values: int) -> Flags:
    return np.array(values, np.bool_)


def test_the_fit_of_one_yes_or_no_feature_is_the_log_odds_of_its_table() -> None:
    """Of 1,000 rows without it 100, of 1,000 with it 300: ln(1/9) = −2.1972, and ln(3/7) + ln 9 = 1.3499 more."""
    feature = np.repeat([0.0, 1.0], 1000)[:, None]
    outcomes = np.concatenate([np.arange(1000) < 100, np.arange(1000) < 300])
    found = fit(feature, outcomes)
    assert found.intercept == pytest.approx(-2.1972, abs=5e-4)
    assert found.slopes == (pytest.approx(1.3499, abs=5e-4),)


def test_the_fit_finds_the_coefficients_that_the_data_was_made_with() -> None:
    generator = np.random.default_rng(20261121)
    features = generator.random((40_000, 2))
    outcomes = generator.random(40_000) < sigmoid(features @ np.array([5.0, 3.0]) - 6.0)
    found = fit(features, outcomes)
    assert [found.intercept, *found.slopes] == pytest.approx([-6.0, 5.0, 3.0], abs=0.2)


def test_rows_that_are_cleanly_divided_give_finite_slopes_in_the_right_direction() -> None:
    found = fit(np.array([[0.1], [0.2], [0.8], [0.9]]), flags(0, 0, 1, 1))
    assert 0 < found.slopes[0] < 100
    assert found.intercept + 0.5 * found.slopes[0] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("outcomes", [flags(0, 0), flags(1, 1)])
def test_without_both_outcomes_there_is_nothing_to_fit(outcomes: Flags) -> None:
    with pytest.raises(ValidationFailed, match="all or none"):
        fit(np.array([[0.1], [0.9]]), outcomes)


def test_sigmoid_and_logit_are_inverse_and_do_not_overflow() -> None:
    assert sigmoid(np.array([logit(0.3), -2000.0, 2000.0])) == pytest.approx([0.3, 0, 1])


def test_auc_by_hand_with_a_tie() -> None:
    """0.4 is above 0.1 and level with 0.4 (1½ of 2), 0.8 is above both: 3½ of 4."""
    assert auc(np.array([0.1, 0.4, 0.4, 0.8]), flags(0, 1, 0, 1)) == 0.875
    assert auc(np.array([0.9, 0.1]), flags(0, 1)) == 0
    assert auc(np.array([0.5, 0.5, 0.5]), flags(0, 1, 0)) == 0.5


def test_rows_count_as_often_as_their_weight_says() -> None:
    feature, outcomes = np.array([[0.0], [0.0], [1.0], [1.0]]), flags(0, 1, 0, 1)
    weighted = fit(feature, outcomes, np.array([900.0, 100.0, 700.0, 300.0]))
    assert weighted.intercept == pytest.approx(-2.1972, abs=5e-4)
    assert weighted.slopes == (pytest.approx(1.3499, abs=5e-4),)


def sample(
    rows: list[list[tuple[float, float]]], evidence: AbstractSet[tuple[int, int]] = frozenset(), asker: int = 0
) -> Sample:
    """Passages by message, each with share and name; `evidence` names those that are, by message and place."""
    flat = [(message, place, values) for message, each in enumerate(rows) for place, values in enumerate(each)]
    return Sample(
        np.array([values for *_, values in flat], np.float64),
        np.array([(message, place) in evidence for message, place, _ in flat], np.bool_),
        np.array([values[0] for *_, values in flat], np.float64),
        np.array([message for message, *_ in flat], np.int64),
        np.full(len(flat), asker),
        np.full(len(flat), asker),
        len(rows),
    )


def doubled(once: Sample) -> Sample:
    """The messages of a sample twice."""
    columns = {
        name: np.concatenate([getattr(once, name)] * 2)
        for name in ("features", "evidence", "shipped", "asker", "memory")
    }
    message = np.concatenate([once.message, once.message + once.messages])
    return replace(once, **columns, message=message, messages=2 * once.messages)


def made(generator: np.random.Generator, count: int, *, knows: bool, asker: int) -> Sample:
    """Three passages a message; where memory knows, the first has the words of it, mostly."""
    rows = []
    for _ in range(count):
        noise = [(float(generator.random() * 0.4), float(generator.random() * 0.2)) for _ in range(3)]
        rows.append([(float(0.3 + generator.random() * 0.6), 0.5), *noise[1:]] if knows else noise)
    return sample(rows, {(message, 0) for message in range(count)} if knows else set(), asker)


def made_samples() -> dict[Group, Sample]:
    generator = np.random.default_rng(7)
    return {
        "own": made(generator, 200, knows=True, asker=0),
        "elsewhere": made(generator, 400, knows=False, asker=0),
        "should": made(generator, 60, knows=True, asker=1),
        "unrelated": made(generator, 100, knows=False, asker=1),
    }


def test_words_decide_so_that_0_3_is_what_one_in_twenty_unrelated_messages_reaches_and_most_of_the_others() -> None:
    samples = made_samples()
    result = calibrate(samples, WORDS, 2)
    found, right = result.verdicts["fitted"].found, result.verdicts["fitted"].right
    assert 0.04 <= (found["elsewhere"] + found["unrelated"]) / 2 <= 0.05
    assert right["own"] > 0.9
    assert right["own"] <= found["own"]
    assert list(result.formula.slopes) == ["idf_share", "named"]
    assert result.formula.slopes["idf_share"] > 0
    assert result.messages == 760


def test_each_message_is_judged_by_a_fit_that_has_not_seen_what_it_is_of() -> None:
    """The second asker says the opposite: only the fit without it is free of that."""
    samples = made_samples()
    samples["should"].evidence[:] = samples["should"].features[:, 1] < 0.5
    result = calibrate(samples, WORDS, 2)
    without_second = fitted({group: s for group, s in samples.items() if group in ("own", "elsewhere")}, WORDS)
    assert result.left_out[1].slopes == pytest.approx(without_second.slopes)
    assert result.left_out[1].slopes["named"] > result.formula.slopes["named"]


def test_the_offset_is_set_by_the_groups_and_the_share_of_the_rules() -> None:
    """Of 64 near misses 14 find something, .219; one more would be more than the .22 that are allowed."""
    samples = made_samples()
    samples["near miss"] = sample([[(share / 64, 0.0)] for share in range(64)])
    result = calibrate(samples, FormulaRules(WORDS.features, ("near miss",), 0.22), 0)
    assert result.verdicts["fitted"].found["near miss"] == 14 / 64
    one_too_many, last = result.formula.relevance(np.array([[49 / 64, 0.0], [50 / 64, 0.0]]))
    assert one_too_many < 0.3 <= last


def test_a_group_weighs_what_the_rules_say_however_many_messages_it_has() -> None:
    """Names are evidence for the first group and none for the second: the heavier one has its way."""
    samples = made_samples()
    samples["should"].features[:, 1] = 0.0
    light, heavy = (fitted(samples, replace(WORDS, weights={"own": weight})) for weight in (0.1, 10.0))
    assert heavy.slopes["named"] > light.slopes["named"] + 1
    twice = {group: doubled(each) if group == "own" else each for group, each in samples.items()}
    assert fitted(twice, WORDS).slopes == pytest.approx(fitted(samples, WORDS).slopes, rel=0.05)


def test_a_feature_of_the_message_is_a_slope_like_any_other() -> None:
    """What memory has nothing for is impersonal: the formula learns that, in the order of its features."""
    samples = {
        group: replace(each, features=np.column_stack([each.features, np.full(len(each.features), personal)]))
        for (group, each), personal in zip(made_samples().items(), (1.0, 0.5, 1.0, -1.0), strict=True)
    }
    found = fitted(samples, replace(WORDS, features=("idf_share", "named", "personal")))
    assert list(found.slopes) == ["idf_share", "named", "personal"]
    assert found.slopes["personal"] > 0
    sum_of = 0.5 * found.slopes["idf_share"] + 0.25 * found.slopes["named"] - found.slopes["personal"] + found.offset
    assert found.relevance(np.array([[0.5, 0.25, -1.0]])) == pytest.approx(sigmoid(np.array([sum_of])))


def test_turns_are_judged_by_category_without_what_they_are_of() -> None:
    samples = made_samples()
    samples["should"] = replace(samples["should"], categories=["direct"] * 20 + ["statement"] * 40)
    by_category = calibrate(samples, WORDS, 2).by_category
    assert {group: list(categories) for group, categories in by_category.items()} == {"should": ["direct", "statement"]}
    direct, statement = by_category["should"].values()
    assert (direct.messages, statement.messages) == (20, 40)
    held_out = calibrate(samples, WORDS, 2).verdicts["held out"]
    assert (20 * direct.found + 40 * statement.found) / 60 == pytest.approx(held_out.found["should"])
    assert direct.right is not None
    assert 0.5 < direct.right <= direct.found


def test_what_the_threshold_decides_by_hand() -> None:
    """Of two messages the first has evidence at 0.9; the second's is at 0.2, but another passage reaches 0.3."""
    samples: dict[Group, Sample] = {
        "own": sample([[(0.9, 0.0), (0.3, 0.0)], [(0.2, 0.0), (0.3, 0.0)]], {(0, 0), (1, 0)}),
        "elsewhere": sample([[(0.2, 0.0)], [(0.1, 0.0)], []]),
    }
    shipped = calibrate(samples, WORDS, 0).verdicts["shipped"]
    assert shipped.found == {"own": 1.0, "elsewhere": 0.0}
    assert shipped.right == {"own": 0.5}


def spoken(*said: str) -> Collection:
    return Collection({}, [Unit("memory/2031-02-28.md", 1, 1, text) for text in said], [])


def test_names_are_swapped_first_for_first_as_whole_words_and_all_at_once() -> None:
    swap = name_swapper(spoken("Ann: hello", "Bob: hi", "Ann: so"), spoken("Bob: good: day", "Cleo: yes"))
    assert swap("Did Ann tell Bob's cousins Annika and JoAnn?") == "Did Bob tell Cleo's cousins Annika and JoAnn?"


def test_each_question_is_asked_of_its_own_memory_and_twice_of_one_that_cannot_know() -> None:
    def talk(speaker: str) -> Collection:
        unit = Unit("memory/2031-02-28.md", 1, 1, f"{speaker}: hello")
        return Collection({}, [unit], [Question(f"What does {speaker} say?", frozenset({0}), None)])

    first, *_ = questions = list(crossed_questions([talk("Ann"), talk("Bob"), talk("Cleo")]))
    assert [(q.crossing, q.asker, q.memory, q.text) for q in questions[:3]] == [
        ("own", 0, 0, "What does Ann say?"),
        ("elsewhere", 0, 1, "What does Ann say?"),
        ("swapped", 0, 1, "What does Bob say?"),
    ]
    assert questions[-1].memory == 0, "the last one's next is the first"
    assert (first.relevant, questions[1].relevant) == ({0}, set())
    assert [q.crossing for q in crossed_questions([talk("Ann")])] == ["own"]


@pytest.mark.parametrize("model", relevance.SCALES)
def test_the_constants_of_relevance_are_those_of_the_result_file_of_the_model(model: str) -> None:
    fits = json.loads((RESULTS / f"relevance-{model}.json").read_text())["calibrations"]
    scale = relevance.SCALES[model]
    for name, plane in {"asked": scale.asked, "unasked": scale.unasked, "words": relevance.WORDS}.items():
        formula = fits[name]["formula"]
        found = {**formula["slopes"], "offset": formula["offset"]}
        constants = {constant: value for constant, value in asdict(plane).items() if constant in found or value}
        assert {constant: round(value, 2) for constant, value in found.items()} == constants, f"{name} of {model}"
