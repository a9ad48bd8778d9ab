"""The campaign of a million requests and a thousand kills: each `make test-all` carries it on by a round."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.endurance.campaign import archive_of_citus, carry_on

STATE = Path(__file__).parents[2] / ".endurance"


@pytest.mark.slow
def test_nothing_is_lost_doubled_or_mixed_up_whatever_is_killed() -> None:
    """`make test-endurance` does all rounds that are left."""
    result = carry_on(STATE, archive_of_citus())[-1]
    assert sum(result.kills.values()) > 0
    assert result.forgotten > 0
