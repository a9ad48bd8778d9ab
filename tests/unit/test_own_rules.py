"""What one always does, or wants for good, is a rule; that something always is so is none."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.own_rules import says_a_rule


@pytest.mark.parametrize(
    "said",
    [
        "I never work on Fridays",
        "Siempre desayuno antes de salir de viaje",
        "Nunca me pongo corbata en la oficina",
        "Por favor contéstame siempre en kilos",
        "No uses nunca mayúsculas conmigo",
    ],
)
def test_what_one_always_does_or_wants_is_a_rule(said: str) -> None:
    assert says_a_rule(folded(said))


@pytest.mark.parametrize(
    "said",
    [
        "Siempre hay alguien que llega tarde",
        "Los vecinos piden siempre lo mismo",
        "Doce años en el puerto y siempre les decía buenas noches",
        "Eso no sale ni nunca",
        "I always peek.",
    ],
)
def test_what_others_always_do_is_none(said: str) -> None:
    assert not says_a_rule(folded(said))
