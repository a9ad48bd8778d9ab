"""What may be set for an agent."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reverie_indexer.errors import SetupError
from reverie_server.settings import agent
from reverie_server.settings.agent import AgentSettings, effective_settings
from reverie_server.settings.server import Settings


def test_a_request_does_not_look_for_time_zones_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request looks at the settings of its agent, and finding all time zones takes some 40 ms."""
    defaults = AgentSettings()
    effective_settings(defaults, {"time_zone": "Europe/Berlin"})
    monkeypatch.setattr(agent, "available_timezones", lambda: pytest.fail("the disk is searched again"))
    assert effective_settings(defaults, {"time_zone": "Asia/Tokyo"}).time_zone == "Asia/Tokyo"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "utc/"])
def test_a_time_zone_that_there_is_not_is_refused(zone: str) -> None:
    with pytest.raises(ValidationError, match="not a time zone"):
        AgentSettings(time_zone=zone)


def test_an_agent_that_sets_nothing_follows_the_server() -> None:
    server = Settings(time_zone="Asia/Tokyo", text_weight=0.5, vector_weight=0.5, version_keep_days=30)
    assert server.agent_defaults == AgentSettings(
        time_zone="Asia/Tokyo", text_weight=0.5, vector_weight=0.5, version_keep_days=30
    )


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [("time_zone", "Mars/Olympus", "not a time zone"), ("language", "klingon", "no analyser for language")],
)
def test_a_server_does_not_start_with_a_value_that_no_agent_may_have(name: str, value: str, complaint: str) -> None:
    with pytest.raises(SetupError, match=rf"are not valid: {name}: Value error, {complaint}"):
        Settings.load(**{name: value})


@pytest.mark.parametrize("own", [{"text_weight": 0.3}, {"vector_weight": 0.7}])
def test_a_weight_of_an_agent_stands_whatever_the_servers_are(own: dict[str, float]) -> None:
    defaults = AgentSettings(text_weight=0.5, vector_weight=0.5)
    found = effective_settings(defaults, own)
    assert (found.text_weight, found.vector_weight) == (0.3, 0.7)


def test_a_time_that_never_comes_is_no_schedule() -> None:
    with pytest.raises(ValidationError, match="never comes"):
        Settings(backup_schedule="0 0 31 2 *", _env_file=None)
