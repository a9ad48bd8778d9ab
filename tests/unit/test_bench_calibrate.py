"""The fit of relevance on numbers worked by hand and on data made with known coefficients."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reverie_indexer.errors import ValidationFailed
from reverie_server.bench.calibrate import Asking, Formula, Sample, Step, calibrate, curve, name_swapper
from reverie_server.bench.data import Collection, Unit
from reverie_server.bench.logistic import Flags, Floats, auc, fit, logit, sigmoid
from reverie_server.recall import rank

RESULT = Path(__file__).parents[2] / "benchmarks/results/relevance-locomo_dev.json"


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


def test_the_curve_by_hand() -> None:
    relevance = np.array([0.31, 0.34, 0.35, 1.0])
    steps = curve(relevance, flags(0, 1, 1, 1), np.array([0.25, 0.5, 0.5, 0.75]))
    assert steps == [
        Step(0.3, 0.35, results=2, evidence=1, expected=0.75),
        Step(0.35, 0.4, results=1, evidence=1, expected=0.5),
        Step(0.95, 1.0, results=1, evidence=1, expected=0.75),
    ]


def made(generator: np.random.Generator, asking: Asking, *, conversations: int, questions_each: int) -> Sample:
    """Five results a question; own ones are evidence by σ(4·similarity + 3·share − 5)."""
    asker = np.repeat(np.arange(conversations), questions_each * 5)
    features: Floats = generator.random((len(asker), 2))
    chance = sigmoid(features @ np.array([4.0, 3.0]) - 5.0)
    return Sample(
        features,
        (generator.random(len(asker)) < chance) & (asking == "own"),
        shipped=features[:, 0],
        question=np.repeat(np.arange(conversations * questions_each), 5),
        asker=asker,
        memory=asker if asking == "own" else (asker + 1) % conversations,
        questions=conversations * questions_each,
    )


def made_samples() -> dict[Asking, Sample]:
    generator = np.random.default_rng(7)
    askings: tuple[Asking, ...] = ("own", "elsewhere", "swapped")
    return {asking: made(generator, asking, conversations=4, questions_each=300) for asking in askings}


def test_relevance_0_3_is_where_evidence_is_as_frequent_as_in_the_whole_mix() -> None:
    samples = made_samples()
    result = calibrate(samples, 4)
    mixed = np.concatenate([samples["own"].features, samples["swapped"].features])
    evidence = np.concatenate([samples["own"].evidence, samples["swapped"].evidence])
    relevance = result.formula.relevance(mixed)
    assert result.base_rate == pytest.approx(evidence.mean())
    around = (relevance > 0.25) & (relevance < 0.35)
    assert evidence[around].mean() == pytest.approx(result.base_rate, abs=0.04)
    assert result.formula.probability(mixed, result.base_rate).mean() == pytest.approx(result.base_rate, abs=1e-4)
    edge = Formula(None, 2.0, logit(rank.FOUND_FROM) - 1.0)
    assert edge.relevance(np.array([[0.5]]))[0] == pytest.approx(rank.FOUND_FROM)
    assert edge.probability(np.array([[0.5]]), 0.04)[0] == pytest.approx(0.04)


def test_every_row_of_the_mix_is_judged_by_a_fit_that_has_not_seen_its_conversation() -> None:
    """Conversation 0 says the opposite of the others: only the fit without it is free of that."""
    samples = made_samples()
    own = samples["own"]
    of_first = own.asker == 0
    own.evidence[of_first] = own.features[of_first, 0] < 0.3
    result = calibrate(samples, 4)
    assert sum(step.results for step in result.curve) == result.results == 2 * 4 * 300 * 5
    without_first = result.left_out[0]
    apart = {asking: (s.asker != 0) & (s.memory != 0) for asking, s in samples.items()}
    swapped = samples["swapped"]
    by_hand = fit(
        np.concatenate([own.features[apart["own"]], swapped.features[apart["swapped"]]]),
        np.concatenate([own.evidence[apart["own"]], swapped.evidence[apart["swapped"]]]),
    )
    assert (without_first.similarity, without_first.idf_share) == pytest.approx(by_hand.slopes)
    assert without_first.similarity is not None
    assert all(f.similarity is not None and f.similarity < without_first.similarity - 1 for f in result.left_out[1:])
    assert result.auc_held_out < result.auc


def test_what_the_threshold_decides_by_hand() -> None:
    """Question 0 of 2: evidence at 0.9, a miss at 0.3. Question 1: evidence at 0.2, so it finds nothing."""
    conversations = np.array([0, 0, 1])

    def rows(shipped: list[float], *evidence: int) -> Sample:
        return Sample(
            np.array([[0.9], [0.5], [0.4]]), flags(*evidence), np.array(shipped),
            np.array([0, 0, 1]), conversations, conversations, questions=2,
        )  # fmt: skip

    samples: dict[Asking, Sample] = {
        "own": rows([0.9, 0.3, 0.2], 1, 0, 1),
        "elsewhere": rows([0.2, 0.1, 0.0], 0, 0, 0),
        "swapped": rows([0.2, 0.1, 0.3], 0, 0, 0),
    }
    shipped = calibrate(samples, 2).verdicts["shipped"]
    assert (shipped.found_own, shipped.found_elsewhere, shipped.found_swapped) == (0.5, 0.0, 0.5)
    assert (shipped.evidence_kept, shipped.precision) == (0.5, 0.5)


def spoken(*said: str) -> Collection:
    return Collection({}, [Unit("memory/2031-02-28.md", 1, 1, text) for text in said], [])


def test_names_are_swapped_first_for_first_as_whole_words_and_all_at_once() -> None:
    swap = name_swapper(spoken("Ann: hello", "Bob: hi", "Ann: so"), spoken("Bob: good: day", "Cleo: yes"))
    assert swap("Did Ann tell Bob's cousins Annika and JoAnn?") == "Did Bob tell Cleo's cousins Annika and JoAnn?"


def test_the_constants_of_relevance_are_those_of_the_result_file() -> None:
    fits = json.loads(RESULT.read_text())["calibrations"]
    with_vector, without = fits["with_vector"]["formula"], fits["without_vector"]["formula"]
    assert {name: round(value, 2) for name, value in with_vector.items()} == {
        "similarity": rank.SIMILARITY_SLOPE, "idf_share": rank.IDF_SHARE_SLOPE, "offset": rank.OFFSET,
    }  # fmt: skip
    assert without["similarity"] is None
    assert round(without["idf_share"], 2) == rank.IDF_SHARE_SLOPE_ALONE
    assert round(without["offset"], 2) == rank.OFFSET_ALONE
