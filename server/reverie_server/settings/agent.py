"""The settings that an agent may have of its own. What it does not set follows the server's settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text.analyse import language_name

# Up to a year: far beyond it, PostgreSQL or the clock of the event loop could not take the number.
Seconds = Annotated[float, Field(gt=0, le=31_536_000)]
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
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        json_schema_extra={"example": {"language": "german", "memory_isolation": False}},
    )

    memory_enabled: bool = True
    """Whether an agent has memory at all."""
    memory_isolation: bool = True
    """Whether owners are kept apart. Off: all memory of an agent is the team's."""
    require_owner: bool = False
    """A request that names no owner is answered 422 `owner_required`, so that a forgotten header never gives a person's
    words to the team."""
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "UTC"
    """Time zone of daily notes and nights."""

    # Files and their index.
    language: Annotated[str, AfterValidator(_known_language)] = "english"
    """Language of stems and stop words."""
    chunk_max_chars: Annotated[int, Field(ge=100, le=8000)] = 1000
    """Longest passage, in characters."""
    version_keep_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """Days that a replaced version of a file is kept. None: for ever."""
    version_keep_count: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Versions kept of one file, the present one included. None: all."""

    # Search.
    text_weight: Share = 0.3
    """Weight of the score by words. With `vector_weight` it sums to 1."""
    vector_weight: Share = 0.7
    """Weight of the score by meaning."""
    user_boost: Annotated[float, Field(ge=1, le=1.2)] = 1.2
    """Factor for the owner's memory over shared memory."""
    context_weight: Share = 0.3
    """Weight of neighbouring passages and of the file in the score of a passage; 0 turns context off."""

    # Turns.
    auto_inject_enabled: bool = True
    """Whether prompts get relevant memories."""
    auto_inject_threshold: Share = 0.3
    """Least `relevance` of a memory that is injected."""
    auto_inject_max_tokens: Annotated[int, Field(ge=1, le=100_000)] = 200
    """Tokens of the injected section."""
    inject_placement: Literal["system", "user"] = "system"
    """Where the injected section goes: the end of the system prompt, or beside the user's message."""
    recent_days: Annotated[int, Field(ge=0, le=365)] = 7
    """Days before today whose daily notes are in the prompt."""
    recent_max_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = 1000
    """Tokens in the prompt of the daily notes before today's."""
    model_max_tokens: Annotated[int, Field(ge=1000, le=100_000_000)] | None = None
    """Tokens of a prompt of the agent's model, where the request names no window. None: the server's window."""
    index_messages: bool = True
    """Whether messages are found by search."""
    chat_commands: bool = True
    """Whether `/new`, `/compact` and `/status` in a chat are answered by the server."""
    seeds_in_prompt: bool = False
    """Whether the files that a new agent starts with are in prompts before anybody has edited them. Search never finds
    such a file."""

    # Background work.
    consolidation_enabled: bool = True
    """Whether episodes, graph and dreaming are made."""
    auto_summarize_enabled: bool = True
    """Whether extraction writes into files what conversations say."""
    emergence_enabled: bool = True
    """Whether the nights change MEMORY.md."""
    skip_cron_conversations: bool = True
    """Conversations with the `trigger_source` or the channel `cron` leave nothing."""
    compaction_enabled: bool = True
    """Whether sessions and MEMORY.md are compacted."""
    episodic_ttl_days: Annotated[int, Field(ge=1, le=36_500)] = 90
    """Days that an episode is kept."""

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> Self:
        if abs(self.text_weight + self.vector_weight - 1) > 1e-9:
            raise ValueError("text_weight + vector_weight must be 1")
        return self


def effective_settings(defaults: AgentSettings, agent_values: Mapping[str, Any]) -> AgentSettings:
    """The defaults with the values that an agent sets itself on top."""
    if not agent_values:
        return defaults
    return AgentSettings.model_validate({**defaults.model_dump(), **_with_both_weights(agent_values)})


def _with_both_weights(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values with the other weight of search where they have one: the two sum to 1, whatever the defaults are."""
    for name, other in (("text_weight", "vector_weight"), ("vector_weight", "text_weight")):
        weight = values.get(name)
        if other not in values and isinstance(weight, int | float) and 0 <= weight <= 1:
            return {**values, other: round(1 - weight, 9)}
    return values
