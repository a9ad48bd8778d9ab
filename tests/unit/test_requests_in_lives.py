"""The requests to forget of whole lives, from which it is learnt what a request means."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reverie_bench.requests.talks.cases import cases_of, fold_of, requests_in_lives
from reverie_server.search.asked.heard import WAITS


@pytest.mark.parametrize("left_out", [False, True])
def test_each_request_and_what_it_means_is_said_in_its_life(*, left_out: bool) -> None:
    lives = requests_in_lives(left_out=left_out)
    assert len({fold_of(life) for life in lives}) > 1
    for life in lives:
        numbers = {mark for said in life.said for mark in said.marks if mark.isdigit()}
        asked = {number for said in life.said for number in said.means}
        assert numbers == asked != set(), life.name


def test_nothing_is_learnt_from_lives_that_are_left_out() -> None:
    learnt, left_out = (
        {life.name.partition("-")[0] for life in requests_in_lives(left_out=which)} for which in (False, True)
    )
    assert not learnt & left_out
    assert {"en_bertram", "de_ludmila", "es_fermin", "zh_jiayi"} < left_out


def test_what_a_request_means_is_heard_before_it_or_with_it() -> None:
    """All that was said on other days is in the memory, of which the nearest is heard."""
    life = next(life for life in requests_in_lives() if life.name.startswith("de_torben"))
    meant = {said.text for said in life.said if any(mark.isdigit() for mark in said.marks)}

    def nearest(_request: str, texts: Sequence[str]) -> list[str]:
        return sorted(texts, key=lambda text: text not in meant)

    cases = list(cases_of(life, nearest))
    assert len(cases) == 9
    for case in cases:
        found = [heard.text for heard, is_meant in zip(case.heard, case.is_meant, strict=True) if is_meant]
        assert found
        assert WAITS not in found
