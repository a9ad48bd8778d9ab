"""`reverie doctor` names a few of what it could not look at, and counts the rest."""

from __future__ import annotations

import pytest

from reverie_server.cli.doctor import _some


@pytest.mark.parametrize(
    ("count", "told"),
    [(1, "a0"), (5, "a0, a1, a2, a3, a4"), (6, "a0, a1, a2, a3, a4 and 1 more")],
)
def test_some_are_named(count: int, told: str) -> None:
    assert _some([f"a{number}" for number in range(count)]) == told
