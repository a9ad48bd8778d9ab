"""Requests to remember that are made in passing: what is to be remembered."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.requests.fact_requests import split_request, with_named


@pytest.mark.parametrize(
    ("said", "remembered"),
    [
        ("apúntame ahí que el martes no puedo", "el martes no puedo"),
        ("anota por ahí que el seguro vence en marzo", "el seguro vence en marzo"),
        ("oye, que no se te pase: el código del portal es 4412", "el código del portal es 4412"),
        ("para que lo tengas en cuenta, trabajo de noche", "trabajo de noche"),
        ("麻烦记一笔，车险三月到期", "车险三月到期"),
        ("给我备注一下，房东电话是13800001111", "房东电话是13800001111"),
        ("Falls ich jemals frage: Die Urkunde liegt im Nähkasten.", "Die Urkunde liegt im Nähkasten."),
        ("Por si alguna vez pregunto: la llave está en la lata.", "la llave está en la lata."),
        ("Die Zahl für den Spind ist jetzt 8036, wirf die alte bitte raus.", "Die Zahl für den Spind ist jetzt 8036"),
        ("The locker opens with 8036 now, you can throw out the old one.", "The locker opens with 8036 now"),
        ("Ahora se quita con el 3307, apréndetelo bien, que no quiero líos.", "Ahora se quita con el 3307"),
        ("Kannst du dir noch meine Personalnummer notieren?", "meine Personalnummer"),
    ],
)
def test_what_is_asked_for_in_passing_is_remembered(said: str, remembered: str) -> None:
    request = split_request(said)
    assert said[request.start : request.end].strip() == remembered


def test_why_it_is_to_be_remembered_is_not_what_is() -> None:
    assert split_request("Acuérdate, por favor, que me la ha dicho el cura al oído.").kind == "before"
    assert split_request("Acuérdate de que el seguro vence en marzo.").kind == "inside"


def test_what_a_thing_is_may_come_before_its_word() -> None:
    found = with_named("60-2218 lautet sie, die brauche ich immer.", "meine Personalnummer")
    assert found == "Meine Personalnummer ist 60-2218"


@pytest.mark.parametrize(
    "said", ["no sé si anota por ahí las cosas", "se te pasó la hora", "他在本子上记了一笔账", "你备注过这个客户吗？"]
)
def test_what_only_has_the_words_asks_for_nothing(said: str) -> None:
    assert split_request(said).kind == "none"
