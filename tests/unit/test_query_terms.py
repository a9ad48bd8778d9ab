"""Which terms of a query carry its meaning, and which name something."""

import pytest

from reverie_indexer.text.analyse import analyse_query
from reverie_server.search.query_terms import meaning_of


@pytest.mark.parametrize(
    ("query", "language", "terms"),
    [
        ("Und wo bekommt man das noch?", "english", {"bekommt"}),
        ("wann ist die Probefahrt?", "english", {"probefahrt"}),
        ("¿Qué sabemos de la póliza?", "spanish", {"sab", "poliz"}),
        ("What did Bob's sister do?", "english", {"bob", "sister"}),
        ("I'd like that", "english", {"like"}),
        ("17 * 24 - 3", "english", set()),
        ("call 1250", "english", {"call", "1250"}),
    ],
)
def test_stop_words_of_either_language_asking_words_and_small_numbers_carry_no_meaning(
    query: str, language: str, terms: set[str]
) -> None:
    assert meaning_of(query, language).terms == terms


def test_question_words_and_particles_of_a_run_carry_no_meaning() -> None:
    """Seen elsewhere: 什么 and 时候 counted like any other word."""
    assert meaning_of("公开课是什么时候？").terms == {"公开", "开课"}
    assert meaning_of("我的钥匙在哪里").terms == {"钥匙"}
    assert meaning_of("灯？").terms == {"灯"}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Remind me what is going on with Kesten", {"kesten"}),
        ("Kesten? I forgot. Ada knows", set()),
        ("what was LP-212 about", {"lp-212", "lp", "212"}),
        ("GS-17 fixed 了吗", {"gs-17", "gs", "17"}),
        ("CALL KESTEN NOW", set()),
        ("nothing here", set()),
        ("", set()),
    ],
)
def test_names_are_identifiers_and_what_has_a_capital_inside_a_sentence(query: str, names: set[str]) -> None:
    assert meaning_of(query).names == names


@pytest.mark.parametrize("query", ["Who is Zoë at naïve-cafe's?", "明天 lp-212 的会议", "the and of", "Ünïcode ÄRGER"])
def test_what_carries_a_meaning_is_among_what_is_looked_for(query: str) -> None:
    meaning = meaning_of(query)
    assert meaning.names <= meaning.terms <= set(analyse_query(query).terms)
