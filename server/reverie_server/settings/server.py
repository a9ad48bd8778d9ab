"""The settings of the server, from `REVERIE_*` variables or `reverie.toml`. Only `app` and `cli` load them."""

from __future__ import annotations

import ipaddress
import os
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, PositiveInt, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from reverie_indexer.errors import SetupError
from reverie_server.settings.agent import AgentSettings, Share
from reverie_server.settings.names import unknown_name, unknown_variables, without_services

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# Up to a year: far beyond it, PostgreSQL or the clock of the event loop could not take the number.
Seconds = Annotated[float, Field(gt=0, le=31_536_000)]


class Settings(BaseSettings, AgentSettings):
    """The effective settings. An unknown key in `reverie.toml` or a value out of range is an error at start.

    The fields of `AgentSettings` are what agents get that set nothing themselves.
    """

    model_config = SettingsConfigDict(
        env_prefix="REVERIE_",
        env_ignore_empty=True,
        allow_inf_nan=False,
        toml_file="reverie.toml",
        extra="forbid",
        frozen=True,
    )

    # Where things are. No database_url: the embedded PostgreSQL under data_dir.
    data_dir: Path | None = None
    database_url: SecretStr | None = None
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8077
    pool_size: PositiveInt = 10
    # With the embedded PostgreSQL: below this much free disk, writes are refused before PostgreSQL itself must stop.
    min_free_disk_mb: Annotated[int, Field(ge=0)] = 64
    statement_timeout_seconds: Annotated[float, Field(gt=0, le=86_400)] = 30.0
    # The first key of a server that has none: the key itself, or a file that holds it.
    bootstrap_admin_key: SecretStr | None = None
    bootstrap_admin_key_file: Path | None = None
    # Whether metrics and the API reference are shown without a key; None: where the server listens on loopback.
    public_metrics: bool | None = None
    public_docs: bool | None = None
    # Which reads the audit has: each one, one row a minute for each key, agent, owner and kind, or none. Writes always.
    audit_reads: Literal["off", "sampled", "on"] = "sampled"
    audit_keep_days: Annotated[int, Field(ge=1, le=36_500)] = 365
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    # The limits for clients. Connections, None: as many as the limit of file descriptors allows, at most 2000. Above
    # it idle connections are closed; if there are none, the new connection is refused. Then the seconds for the head
    # of a request, for a whole body (which has a minimum rate), for a response that the client leaves unread, and
    # between two requests.
    max_connections: Annotated[int, Field(ge=16, le=100_000)] | None = None
    header_timeout_seconds: Seconds = 5.0
    body_timeout_seconds: Seconds = 120.0
    body_min_bytes_per_second: PositiveInt = 16_384
    response_timeout_seconds: Seconds = 20.0
    keep_alive_seconds: Annotated[int, Field(ge=1, le=31_536_000)] = 10
    # Addresses and networks of proxies, with commas between. Only they are believed about a client's address and
    # scheme (X-Forwarded-For, X-Forwarded-Proto). None: nobody is.
    trusted_proxies: str | None = None
    # Requests at work, None: four a processor, at most pool_size; of one key (without keys: of one address), None: all
    # but an eighth. Further requests wait for their turn. A request is refused (429 or 503) when it can no longer be
    # answered within max_answer_seconds. A request that waits for a language model is not at work.
    max_in_flight: Annotated[int, Field(ge=1, le=1000)] | None = None
    max_in_flight_per_key: Annotated[int, Field(ge=1, le=1000)] | None = None
    max_waiting: Annotated[int, Field(ge=0, le=10_000)] = 256
    max_answer_seconds: Seconds = 1.5
    # Bytes of request bodies in memory, of all requests and of those of one key.
    max_body_memory_bytes: Annotated[int, Field(ge=8 * 1024 * 1024)] = 64 * 1024 * 1024
    max_body_memory_bytes_per_key: Annotated[int, Field(ge=8 * 1024 * 1024)] = 48 * 1024 * 1024

    # The embedding model.
    embedder: Literal["local", "sentence-transformers", "openai", "hashing", "none"] = "local"
    embedder_model: str | None = None
    embedder_base_url: str | None = None
    embedder_api_key: SecretStr | None = None
    embedder_dimension: PositiveInt | None = None
    embedder_batch_size: PositiveInt = 64
    embedder_timeout_seconds: Seconds = 30.0
    embedder_device: str | None = None
    embedder_threads: PositiveInt = 1
    embedder_weights_dir: Path | None = None
    query_cache_size: PositiveInt = 1024
    # How long one write waits for its vectors. After it, the write answers `embedded: false`, and the back-fill adds
    # the rest. The default covers a model that still loads and a file of a megabyte.
    embed_wait_seconds: Seconds = 10.0
    backfill_interval_seconds: Seconds = 5.0

    # Indexing.
    max_file_bytes: PositiveInt = 1_048_576

    # A snapshot's entries, and the bytes of them all, unpacked; the archive may be a sixteenth longer.
    snapshot_max_entries: Annotated[int, Field(ge=2, le=65_000)] = 500
    snapshot_max_bytes: Annotated[int, Field(ge=1_048_576, le=1_073_741_824)] = 16_777_216
    # The most files in which a keyword search finds lines.
    keyword_max_files: Annotated[int, Field(ge=1, le=1000)] = 50

    # Search.
    # BM25: how soon a repeated word stops counting, and how much the length of a passage is discounted.
    bm25_k1: Annotated[float, Field(ge=0, le=10)] = 1.2
    bm25_b: Share = 0.75
    # Slices up to this many chunks are scanned exactly; above, HNSW on a partition of their own.
    exact_max_chunks: PositiveInt = 5000
    hnsw_ef_search: Annotated[int, Field(ge=10, le=1000)] = 100
    max_partitions: Annotated[int, Field(ge=0, le=1000)] = 100

    # The turn. A prompt's window in tokens. From `summarise_from_share` of it older messages are summarised for the
    # prompt; from `compact_from_share` of it, or from `compact_from_messages`, the session itself is compacted.
    context_max_tokens: Annotated[int, Field(ge=1000, le=100_000_000)] = 128_000
    summarise_from_share: Annotated[float, Field(gt=0, le=1)] = 0.75
    compact_from_share: Annotated[float, Field(gt=0, le=1)] = 0.85
    compact_from_messages: PositiveInt = 50
    compact_keep_last: Annotated[int, Field(ge=2, le=1000)] = 20
    # How long the prompt of a turn waits for a compaction under way.
    compact_wait_seconds: Seconds = 10.0
    summary_max_tokens: PositiveInt = 300
    summary_keep_seconds: Seconds = 1800.0
    summary_timeout_seconds: Seconds = 15.0
    flush_max_rounds: Annotated[int, Field(ge=1, le=100)] = 5
    flush_timeout_seconds: Seconds = 90.0
    # A session is complete when nobody has written to it for this time.
    session_idle_seconds: Seconds = 1800.0

    # Consolidation: the limits of the stages.
    episodic_timeout_seconds: Seconds = 30.0
    episodic_max_tokens: Annotated[int, Field(ge=100, le=100_000)] = 1024
    extraction_cooldown_seconds: Annotated[float, Field(ge=0, le=31_536_000)] = 300.0
    # Which conversations extraction reads; the messages, characters of each, and tokens of the answer in one round.
    extraction_min_messages: PositiveInt = 4
    extraction_min_chars: Annotated[int, Field(ge=0)] = 10
    extraction_max_messages: Annotated[int, Field(ge=2, le=1000)] = 30
    extraction_message_chars: Annotated[int, Field(ge=100)] = 2000
    extraction_max_tokens: Annotated[int, Field(ge=100, le=100_000)] = 1000
    extraction_timeout_seconds: Seconds = 60.0
    # No background work makes MEMORY.md longer than this.
    memory_max_chars: Annotated[int, Field(ge=1000)] = 8000
    # The share of its entries that one rewriting may remove, and the share of its length that a night may add.
    memory_max_loss: Share = 0.25
    memory_max_growth: Annotated[float, Field(ge=0, le=100)] = 0.5
    # Its length from which it is compacted once a day, and the number of its backups.
    memory_compact_from_chars: Annotated[int, Field(ge=0, le=1_000_000_000)] = 3000
    memory_backups_kept: Annotated[int, Field(ge=1, le=1000)] = 5
    memory_compact_timeout_seconds: Seconds = 120.0
    dreaming_debounce_seconds: Annotated[float, Field(ge=0, le=31_536_000)] = 600.0
    dreaming_min_episodes: PositiveInt = 5
    dreaming_max_episodes: PositiveInt = 10
    dreaming_max_tokens: Annotated[int, Field(ge=100, le=100_000)] = 4096
    # The hour at which the night begins where the agent is.
    nightly_hour: Annotated[int, Field(ge=0, le=23)] = 2
    # How many of the newest daily notes each night reads, and what a candidate for MEMORY.md needs.
    emergence_days: Annotated[int, Field(ge=1, le=36_500)] = 7
    emergence_min_recalls: Annotated[int, Field(ge=0)] = 3
    emergence_min_queries: Annotated[int, Field(ge=0)] = 2
    emergence_max_age_days: Annotated[int, Field(ge=1, le=36_500)] = 30
    emergence_min_score: Share = 0.4
    # The weights of its score, which must be 1 together, and the half-life of a recall's recency.
    emergence_frequency_weight: Share = 0.30
    emergence_recency_weight: Share = 0.25
    emergence_diversity_weight: Share = 0.20
    emergence_freshness_weight: Share = 0.15
    emergence_consolidation_weight: Share = 0.10
    emergence_half_life_days: Annotated[float, Field(gt=0, le=36_500)] = 7.0
    emergence_timeout_seconds: Seconds = 60.0
    # Beyond this length, older entries of DREAMS.md are summarised and move to the archive of their month.
    dreams_max_chars: Annotated[int, Field(ge=2000, le=500_000)] = 20_000
    # The knowledge graph: the least confidence of a statement; the cosine and the similarity of names (Jaro-Winkler)
    # from which two entities are merged, and the cosine from which a person is asked; rows and time of a search.
    semantic_min_confidence: Share = 0.75
    dedup_merge_cosine: Share = 0.98
    dedup_merge_names: Share = 0.85
    dedup_candidate_cosine: Share = 0.90
    dedup_nearest: Annotated[int, Field(ge=1, le=100)] = 3
    graph_max_rows: Annotated[int, Field(ge=10, le=100_000)] = 2000
    graph_timeout_seconds: Seconds = 5.0
    # Background jobs: whether a server starts a worker.
    worker_enabled: bool = True
    worker_concurrency: Annotated[int, Field(ge=1, le=100)] = 2
    worker_poll_seconds: Seconds = 5.0
    # All attempts of a failing job; the wait before each further attempt is twice the wait before the last.
    job_max_attempts: Annotated[int, Field(ge=1, le=100)] = 6
    job_retry_seconds: Annotated[float, Field(ge=0, le=31_536_000)] = 15.0
    job_timeout_seconds: Seconds = 600.0
    # A job of which this many processes died is not tried again. A death counts where the job ran alone in its process.
    job_max_deaths: Annotated[int, Field(ge=1, le=100)] = 3
    # A process ends itself after this much CPU time in which its event loop did not turn, and is started again.
    stall_seconds: Annotated[float, Field(gt=0, le=86_400)] = 20.0
    # After SIGTERM a server or worker has this time to end by itself; then it is killed.
    shutdown_grace_seconds: Annotated[float, Field(gt=0, le=86_400)] = 15.0
    # How long the rows of finished jobs are kept; failed jobs stay until they are tried again.
    job_keep_days: Annotated[int, Field(ge=1, le=36_500)] = 7
    # How often what has expired and the rows of old jobs are removed.
    prune_interval_hours: Annotated[int, Field(ge=1, le=24)] = 6

    # The language model: any OpenAI-compatible endpoint. Without one, heuristics do its work.
    llm_base_url: str | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    llm_timeout_seconds: Seconds = 60.0
    llm_max_retries: Annotated[int, Field(ge=0, le=20)] = 2
    llm_max_response_bytes: Annotated[int, Field(ge=65_536)] = 8 * 1024 * 1024
    # After this many failures in a row, or one time-out, the endpoint is not asked for the pause, then for longer.
    llm_breaker_failures: PositiveInt = 3
    llm_breaker_pause_seconds: Seconds = 10.0
    # Calls of one tenant on one day (UTC); the proxy's own forwarding does not count.
    llm_calls_per_day: Annotated[int, Field(ge=0)] = 1000
    # A tokenizer.json of that model: tokens are then counted instead of estimated.
    llm_tokenizer_file: Path | None = None

    @field_validator("trusted_proxies")
    @classmethod
    def _proxies_are_addresses(cls, value: str | None) -> str | None:
        for part in (value or "").split(","):
            if part.strip():
                ipaddress.ip_network(part.strip())
        return value

    @model_validator(mode="after")
    def _emergence_weights_sum_to_one(self) -> Self:
        if abs(sum(self.emergence_weights.values()) - 1) > 1e-9:
            raise ValueError("the five emergence_*_weight must be 1 together")
        return self

    @property
    def agent_defaults(self) -> AgentSettings:
        """The settings of an agent that sets none itself."""
        return AgentSettings.model_validate({name: getattr(self, name) for name in AgentSettings.model_fields})

    @property
    def emergence_weights(self) -> dict[str, float]:
        """The weights of a candidate's score, by part."""
        parts = ("frequency", "recency", "diversity", "freshness", "consolidation")
        return {part: getattr(self, f"emergence_{part}_weight") for part in parts}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments over environment over `reverie.toml`."""
        del dotenv_settings, file_secret_settings
        if isinstance(env_settings, EnvSettingsSource):
            env_settings.env_vars = without_services(env_settings.env_vars)
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @classmethod
    def load(cls, **overrides: object) -> Settings:
        """The settings with `overrides` on top; an override of None counts for nothing.

        SetupError names each wrong value, and each unknown name with the nearest name of a setting.
        """
        arguments = {name: value for name, value in overrides.items() if value is not None}
        wrong = unknown_variables(without_services(os.environ), cls.model_fields)
        settings = None
        try:
            settings = cls(**arguments)  # type: ignore[arg-type]  # validated by pydantic, field by field
        except ValidationError as error:
            wrong += [_sentence(item, cls.model_fields) for item in error.errors()]
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            wrong.append(f"reverie.toml: {error}")
        if wrong or settings is None:
            raise SetupError(f"settings (REVERIE_* or reverie.toml) are not valid: {'; '.join(wrong)}")
        return settings


def _sentence(item: ErrorDetails, setting_names: Collection[str]) -> str:
    """The sentence about one wrong value."""
    name = ".".join(map(str, item["loc"]))
    if item["type"] == "extra_forbidden":
        return unknown_name(name, setting_names)
    return f"{name or 'settings'}: {item['msg']}"
