"""What asks for work, or behind a comma without a mark, says of nothing that it is otherwise."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.changes.asking_sentences import asks_a_favour, before_asking, is_a_favour


@pytest.mark.parametrize(
    "said",
    [
        "write me a toast for the baker",
        "Schreib mir eine Karte an die Nachbarn",
        "hazme algo corto: redacta un aviso para el portón",
        "给我想个菜名，要短的",
        "刚刚说的那个号码你替我存着",
    ],
)
def test_who_asks_for_a_text_or_to_keep_something_tells_no_change(said: str) -> None:
    assert asks_a_favour(said)


@pytest.mark.parametrize(
    "said", ["I write a column on Fridays now", "Mein Bruder schreibt mir jetzt jeden Tag", "我妹妹给我寄了一本书"]
)
def test_who_tells_of_their_life_asks_for_nothing(said: str) -> None:
    assert not asks_a_favour(said)


def test_what_begins_otherwise_may_tell_something_besides() -> None:
    assert is_a_favour("ayúdame con una nota para el casero")
    assert not is_a_favour("Desde mayo vivo en Lugo, ayúdame con una nota para el casero")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("bueno, qué guiso con dos tomates", "bueno"),
        ("it rains all week, what do i wear", "it rains all week"),
        ("hoy hay sol, qué bien", "hoy hay sol, qué bien"),
        ("mi plato es la sopa, la de mi tía", "mi plato es la sopa, la de mi tía"),
    ],
)
def test_a_question_behind_a_comma_needs_no_mark(said: str, told: str) -> None:
    assert before_asking(said) == told
