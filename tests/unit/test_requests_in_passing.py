"""Requests to remember that are made in passing, in Spanish and Chinese: what is to be remembered."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.requests.fact_requests import split_request


@pytest.mark.parametrize(
    ("said", "remembered"),
    [
        ("apúntame ahí que el martes no puedo", "el martes no puedo"),
        ("anota por ahí que el seguro vence en marzo", "el seguro vence en marzo"),
        ("oye, que no se te pase: el código del portal es 4412", "el código del portal es 4412"),
        ("para que lo tengas en cuenta, trabajo de noche", "trabajo de noche"),
        ("麻烦记一笔，车险三月到期", "车险三月到期"),
        ("给我备注一下，房东电话是13800001111", "房东电话是13800001111"),
    ],
)
def test_what_is_asked_for_in_passing_is_remembered(said: str, remembered: str) -> None:
    request = split_request(said)
    assert said[request.start : request.end].strip() == remembered


@pytest.mark.parametrize(
    "said", ["no sé si anota por ahí las cosas", "se te pasó la hora", "他在本子上记了一笔账", "你备注过这个客户吗？"]
)
def test_what_only_has_the_words_asks_for_nothing(said: str) -> None:
    assert split_request(said).kind == "none"
