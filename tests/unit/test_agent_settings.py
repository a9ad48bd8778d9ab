"""What may be set for an agent."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reverie_server.settings import agent
from reverie_server.settings.agent import AgentSettings, effective_settings


def test_a_request_does_not_look_for_time_zones_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request looks at the settings of its agent, and finding all time zones takes some 40 ms."""
    defaults = AgentSettings()
    effective_settings(defaults, {})
    monkeypatch.setattr(agent, "available_timezones", lambda: pytest.fail("the disk is searched again"))
    assert effective_settings(defaults, {"time_zone": "Asia/Tokyo"}).time_zone == "Asia/Tokyo"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "utc/"])
def test_a_time_zone_that_there_is_not_is_refused(zone: str) -> None:
    with pytest.raises(ValidationError, match="not a time zone"):
        AgentSettings(time_zone=zone)
