"""The settings that an agent may have of its own. What it does not set follows the server's settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text.analyse import language_name

Share = Annotated[float, Field(ge=0, le=1)]


@cache
def _zones() -> frozenset[str]:
    # Python reads some hundred files to list them, and every request reads the settings of its agent.
    return frozenset(available_timezones())


def _known_zone(name: str) -> str:
    if name not in _zones():
        raise ValueError("not a time zone of the IANA database")
    return ZoneInfo(name).key


def _known_language(name: str) -> str:
    try:
        return language_name(name)
    except ValidationFailed as error:
        raise ValueError(error.detail) from None


class AgentSettings(BaseModel):
    """The settings of one agent, all optional. An unknown name or a value out of range is refused, never clamped."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"example": {"language": "german", "memory_isolation": False}}
    )

    memory_enabled: bool = True
    memory_isolation: bool = True
    # Refuses a request that names no owner: a forgotten header must not give a person's words to the team.
    require_owner: bool = False
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "UTC"

    # Files and their index. A replaced version is kept for this time, and at most this many of a file. None keeps all.
    language: Annotated[str, AfterValidator(_known_language)] = "english"
    chunk_max_chars: Annotated[int, Field(ge=100, le=8000)] = 1000
    version_keep_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    version_keep_count: Annotated[int, Field(ge=1, le=1_000_000)] | None = None

    # Search. `context_weight`: what the best passage of a file adds to its others; 0 leaves neighbours out, too.
    text_weight: Share = 0.3
    vector_weight: Share = 0.7
    user_boost: Annotated[float, Field(ge=1, le=1.2)] = 1.2
    context_weight: Share = 0.3

    # The turn. `seeds_in_prompt`: whether prompts have the files of a new agent before anybody has edited them.
    auto_inject_enabled: bool = True
    auto_inject_threshold: Share = 0.3
    auto_inject_max_tokens: Annotated[int, Field(ge=1, le=100_000)] = 200
    inject_placement: Literal["system", "user"] = "system"
    recent_days: Annotated[int, Field(ge=0, le=365)] = 7
    recent_max_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = 1000
    index_messages: bool = True
    seeds_in_prompt: bool = False

    # Consolidation.
    consolidation_enabled: bool = True
    auto_summarize_enabled: bool = True
    emergence_enabled: bool = True
    skip_cron_conversations: bool = True
    compaction_enabled: bool = True
    episodic_ttl_days: Annotated[int, Field(ge=1, le=36_500)] = 90

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> Self:
        if abs(self.text_weight + self.vector_weight - 1) > 1e-9:
            raise ValueError("text_weight + vector_weight must be 1")
        return self


def effective_settings(defaults: AgentSettings, agent_values: Mapping[str, Any]) -> AgentSettings:
    """The defaults with the values that an agent sets itself on top."""
    return AgentSettings.model_validate({**defaults.model_dump(), **agent_values}) if agent_values else defaults
