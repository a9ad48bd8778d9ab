"""Sets of turns and the figures of injection, on values worked by hand; and the set that comes with the project."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from reverie_bench.inject.figures import Injected, Message, curve, figures, share, trivial_confusion
from reverie_bench.recall.turns import NEAR_MISS, UNANSWERED, Kind, Turn, TurnSet, load_turns
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text.analyse import analyse

SHIPPED = Path(__file__).parents[2] / "benchmarks/inject"
MEANING = SHIPPED / "meaning"
HALVES = (MEANING, MEANING / "held")
UNRELATED = {"greeting", "acknowledgement", "small talk", "general", "code", "arithmetic", "translation"}


def message(kind: Kind, *injected: tuple[float, int], evidence: int = 0, trivial: bool = False) -> Message:
    """A message; of the memories injected each with its relevance and the piece of evidence it holds, -1 for none."""
    memories = tuple(Injected(relevance, frozenset({piece} - {-1})) for relevance, piece in injected)
    return Message("english", kind, kind, trivial, memories, evidence)


MESSAGES = [
    message("should", (0.9, 0), (0.4, -1), (0.2, 1), evidence=2),
    message("should", (0.5, -1), (0.1, 0), evidence=1),
    message("should", evidence=1, trivial=True),
    message("unrelated", (0.2, -1)),
    message("unrelated", trivial=True),
    message("near miss", (0.6, -1)),
    message("apart", (0.3, -1)),
]


def test_the_figures_at_a_threshold_by_hand() -> None:
    at = figures(MESSAGES, 0.3)
    assert (at.recall.count, at.recall.of) == (1, 3)
    assert (at.fired.count, at.fired.of) == (2, 3)
    assert (at.false.count, at.false.of) == (1, 3)
    assert (at.unrelated.count, at.near_miss.count, at.apart.count) == (0, 1, 1)
    # Three sections, those apart left out, and evidence in one of them; of its two pieces one.
    assert (at.precision.count, at.precision.of) == (1, 3)
    assert at.evidence == pytest.approx((1 / 2 + 0 + 0) / 3)


def test_a_lower_threshold_lets_more_through_of_everything() -> None:
    at = figures(MESSAGES, 0.0)
    assert (at.recall.count, at.unrelated.count) == (2, 1)
    points = curve(MESSAGES, steps=10)
    assert [point.threshold for point in points] == pytest.approx([step / 10 for step in range(11)])
    recalls = [point.recall for point in points if point.recall is not None]
    assert recalls == sorted(recalls, reverse=True)
    assert points[-1].precision is None


def test_what_the_trivial_filter_kept_by_kind() -> None:
    kept = trivial_confusion(MESSAGES)
    assert {kind: None if s is None else (s.count, s.of) for kind, s in kept.items()} == {
        "should": (1, 3), "unrelated": (1, 2), "near miss": (0, 1), "apart": (0, 1),
    }  # fmt: skip


def test_an_interval_by_hand() -> None:
    """Wilson's for 8 of 10 is 0.490 to 0.943; of nothing there is none."""
    found = share([True] * 8 + [False] * 2)
    assert found is not None
    assert (found.share, found.low, found.high) == (0.8, pytest.approx(0.490, abs=1e-3), pytest.approx(0.943, abs=1e-3))
    assert share([]) is None


def test_without_messages_there_are_no_figures() -> None:
    at = figures([], 0.3)
    assert (at.recall, at.precision, at.evidence) == (None, None, None)


def test_the_set_of_the_project_has_turns_of_every_kind_in_four_languages() -> None:
    sets = load_turns(SHIPPED)
    assert [each.language for each in sets] == ["chinese", "english", "german", "spanish"]
    for each in sets:
        needing = sum(bool(turn.evidence) for turn in each.turns)
        assert len(each.turns) >= 60
        assert 0.45 <= needing / len(each.turns) <= 0.55
        assert {NEAR_MISS, UNANSWERED, "greeting", "follow-up", "long"} <= {turn.category for turn in each.turns}
    assert sum(len(each.turns) for each in sets) >= 200


def test_held_turns_are_about_the_same_memories() -> None:
    sets = load_turns(SHIPPED / "held")
    assert sum(len(each.turns) for each in sets) == 40
    assert [each.files for each in sets] == [each.files for each in load_turns(SHIPPED)]


def test_no_turn_of_the_held_ones_is_among_the_others() -> None:
    known = {turn.message for each in load_turns(SHIPPED) for turn in each.turns}
    assert not known & {turn.message for each in load_turns(SHIPPED / "held") for turn in each.turns}


@pytest.mark.parametrize("half", HALVES, ids=lambda half: half.name)
def test_each_half_of_the_turns_about_meaning_has_the_same_mix_in_six_languages(half: Path) -> None:
    sets = load_turns(half)
    assert [each.language for each in sets] == ["arabic", "chinese", "english", "german", "japanese", "spanish"]
    for each in sets:
        counts = Counter("unrelated" if turn.category in UNRELATED else turn.category for turn in each.turns)
        identified = counts.pop("identifier", 0) + counts.pop("name", 0)
        assert identified == 1
        assert counts == {
            "direct": 2, "paraphrase": 4, "statement": 3, "follow-up": 3, "long": 1, "mixed": 1, "short": 1,
            NEAR_MISS: 4, "unrelated": 3,
        }  # fmt: skip
        assert all(bool(turn.recent) == (turn.category == "follow-up") for turn in each.turns)
        assert all(bool(turn.evidence) == (turn.kind == "should") for turn in each.turns)
        assert sum(bool(turn.names) for turn in each.turns) >= 4


@pytest.mark.parametrize("half", HALVES, ids=lambda half: half.name)
def test_a_paraphrase_shares_no_content_word_with_its_evidence(half: Path) -> None:
    """Nor do two statements of three in each language."""
    for each in load_turns(half):
        paraphrases = [turn for turn in each.turns if turn.category == "paraphrase"]
        statements = [turn for turn in each.turns if turn.category == "statement"]
        assert not any(shared_terms(each, turn) for turn in paraphrases)
        assert sum(not shared_terms(each, turn) for turn in statements) >= 2


def shared_terms(each: TurnSet, turn: Turn) -> set[str]:
    """The terms that a message shares with the lines of its evidence."""
    lines = [line for text in each.files.values() for line in text.split("\n")]
    evidence = " \n".join(line for line in lines if any(quote in line for quote in turn.evidence))
    return set(analyse(turn.message, each.language)) & set(analyse(evidence, each.language))


def test_the_halves_of_the_turns_about_meaning_share_no_line_and_no_message() -> None:
    ours, held = (load_turns(half) for half in HALVES)
    assert not {turn.message for each in ours for turn in each.turns} & {
        turn.message for each in held for turn in each.turns
    }
    assert not facts(ours) & facts(held)
    assert not facts([*ours, *held]) & facts(load_turns(SHIPPED))


def facts(sets: list[TurnSet]) -> set[str]:
    """The lines of the memories, but headings."""
    lines = (line for each in sets for text in each.files.values() for line in text.split("\n"))
    return {line for line in lines if line and not line.startswith("#")}


def test_stand_ins_replace_names_and_make_a_near_miss_of_a_turn_that_depends_on_them() -> None:
    turn = Turn("follow-up", "Is Ada in?", ("I ring Ada.", "No, Bo."), ("Ada is away",), (("Ada", "Kim"), ("Bo", "Lu")))
    assert turn.with_stand_ins() == Turn("follow-up", "Is Kim in?", ("I ring Kim.", "No, Lu."), ("Ada is away",))
    depending = Turn("name", "who is Ada", evidence=("Ada is away",), names=(("Ada", "Kim"),), depends_on_names=True)
    assert depending.with_stand_ins() == Turn(NEAR_MISS, "who is Kim")


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ({"Bo": "Kim"}, "does not stand in"),
        ({"Cy": "Kim"}, "no name of the memory"),
        ({"Ada": "bo"}, "cannot replace"),
    ],
)
def test_a_name_without_a_place_and_a_stand_in_of_the_memory_are_refused(
    tmp_path: Path, names: dict[str, str], problem: str
) -> None:
    turn = {"category": "direct", "message": "Do Ada and Cy know?", "names": names}
    raw = {"language": "english", "memory": {"a.md": ["Ada knows Bo"]}, "turns": [turn]}
    (tmp_path / "english.json").write_text(json.dumps(raw))
    with pytest.raises(ValidationFailed, match=problem):
        load_turns(tmp_path)


@pytest.mark.parametrize(
    "raw",
    [
        "[1]",
        "{",
        json.dumps({"language": "english"}),
        json.dumps({"language": "english", "memory": {"a.md": 3}, "turns": []}),
        json.dumps({"language": "english", "memory": {"a.md": ["x"]}, "turns": [{"message": "x"}]}),
        json.dumps(
            {
                "language": "english",
                "memory": {"a.md": ["x"]},
                "turns": [{"category": "direct", "message": "x", "names": 3}],
            }
        ),
    ],
)
def test_what_is_no_set_of_turns_is_refused(tmp_path: Path, raw: str) -> None:
    (tmp_path / "english.json").write_text(raw)
    with pytest.raises(ValidationFailed):
        load_turns(tmp_path)


def test_a_quote_that_stands_nowhere_or_twice_is_refused(tmp_path: Path) -> None:
    for quote in ("nowhere", "twice"):
        turn = {"category": "direct", "message": "?", "evidence": [quote]}
        raw = {"language": "english", "memory": {"a.md": ["twice", "twice"]}, "turns": [turn]}
        (tmp_path / "english.json").write_text(json.dumps(raw))
        with pytest.raises(ValidationFailed, match="not once"):
            load_turns(tmp_path)
    with pytest.raises(ValidationFailed, match="no turns"):
        load_turns(tmp_path / "none")
