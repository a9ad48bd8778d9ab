"""An index of statements finds what comparing all with all would, and takes a bounded time for a question."""

import random

import pytest

from reverie_server.heuristics.statement_index import MAX_CANDIDATES, FrameIndex, TermIndex
from reverie_server.heuristics.statements import Statement, contradicts, entails, is_duplicate, statement

WORDS = [
    *("I", "live", "in", "Oslo", "Bergen", "not", "my", "sister", "likes", "tea", "and", "coffee", "never"),
    *("works", "at", "Acme", "since", "May", "the", "blue", "bike"),
]


def some_statements(seed: int, *, longest: int) -> list[Statement]:
    """Statements of few words, so that many are alike."""
    chance = random.Random(seed)
    words = chance.sample(WORDS, 9)
    first = [chance.choices(words, k=chance.randint(1, longest)) for _ in range(12)]
    # Each also with one spot changed, with two words swapped, with a word more and with a denial.
    changed = []
    for said in first:
        at, length = chance.randrange(len(said)), chance.randint(1, 4)
        changed += [
            [*said[:at], chance.choice(WORDS), *said[at + length :]],
            [*said[1:2], *said[:1], *said[2:]],
            [*said, chance.choice(WORDS)],
            [*said[:at], "not", *said[at:]],
        ]
    return [statement(" ".join(said), "english") for said in [*first, *changed]]


@pytest.mark.parametrize("longest", [5, 12, 34, 60])
@pytest.mark.parametrize("seed", range(12))
def test_what_contradicts_a_statement_is_among_what_is_found(seed: int, longest: int) -> None:
    found = some_statements(seed, longest=longest)
    index = FrameIndex(found)
    for said in found:
        opposed = set(index.opposed(said))
        assert len(opposed) <= MAX_CANDIDATES
        if len(opposed) < MAX_CANDIDATES:
            assert {number for number, other in enumerate(found) if contradicts(other, said)} <= opposed


@pytest.mark.parametrize("longest", [3, 8, 30])
@pytest.mark.parametrize("seed", range(12))
def test_whether_a_statement_is_held_or_holds_is_found_out_as_by_comparing_all(seed: int, longest: int) -> None:
    found = some_statements(seed, longest=longest)
    index = TermIndex(found[::2])
    known = found[::2]
    for said in found:
        alike = [known[number] for number in index.alike(said)]
        assert any(entails(other, said) for other in alike) == any(entails(other, said) for other in known)
        assert any(entails(said, other) for other in alike) == any(entails(said, other) for other in known)
        assert any(is_duplicate(other, said) for other in alike) == any(is_duplicate(other, said) for other in known)


def test_of_very_many_that_look_the_same_a_bounded_number_is_found_and_the_equal_one_first() -> None:
    many = [statement(f"The blue bike of number {number} is in the yard", "english") for number in range(3000)]
    terms, frames = TermIndex(many), FrameIndex(many)
    assert terms.alike(many[7])[0] == 7
    assert len(terms.alike(many[7])) <= MAX_CANDIDATES + 1
    assert len(frames.opposed(many[7])) == MAX_CANDIDATES


def test_what_was_found_most_alike_comes_first_and_what_shares_little_not_at_all() -> None:
    known = [
        statement(text, "english")
        for text in ("Ada likes green tea", "Ada likes green tea with honey", "Tom paints boats")
    ]
    index = TermIndex(known)
    assert index.alike(statement("Ada likes green tea with milk", "english")) == [0, 1]
    assert index.alike(statement("Tom sells shoes", "english")) == []
    assert index.alike(statement("…", "english")) == []
