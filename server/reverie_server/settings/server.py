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
from reverie_server.settings.agent import AgentSettings, Seconds, Share
from reverie_server.settings.facts import FactSettings
from reverie_server.settings.names import unknown_name, unknown_variables, without_services
from reverie_server.settings.rerank import RerankSettings
from reverie_server.settings.soul import SoulSettings
from reverie_server.settings.stages import StageSettings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class Settings(BaseSettings, AgentSettings, StageSettings, FactSettings, RerankSettings, SoulSettings):
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
        # They describe what the API takes, which are an agent's; reading them back from the source takes its time.
        use_attribute_docstrings=False,
    )

    # Where things are.
    data_dir: Path | None = None
    """Directory of the embedded PostgreSQL and the models. None: one for each user, `/var/lib/reverie` for root."""
    database_url: SecretStr | None = None
    """Your own PostgreSQL (15 or newer, with pgvector 0.8.4 or newer). None: the embedded one."""
    database_url_file: Path | None = None
    """A file that holds `database_url`, as containers are given secrets."""
    read_database_url: SecretStr | None = None
    """One or several standbys of that PostgreSQL. What requests only read is read there, none of it older than on the
    primary, which reads what they cannot. None: the primary reads all."""
    read_database_url_file: Path | None = None
    """A file that holds `read_database_url`."""
    forgotten_log: Path | None = None
    """The log of what was forgotten, by which backups are restored: keyed hashes, no text. None: `forgotten.log` in
    `data_dir`."""
    host: str = "127.0.0.1"
    """Address to listen on. Without keys only loopback is allowed."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8077
    """Port to listen on; 0 takes any free one."""
    pool_size: PositiveInt = 10
    """Database connections of one process."""
    min_free_disk_mb: Annotated[int, Field(ge=0)] = 64
    """With the embedded PostgreSQL: writes are refused while less than this is free on the disk, before PostgreSQL
    itself must stop."""
    statement_timeout_seconds: Annotated[float, Field(gt=0, le=86_400)] = 30.0
    """Longest time of one SQL statement."""
    database_patience_seconds: Annotated[float, Field(ge=0, le=3600)] = 40.0
    """Time that a request waits for a database that is away before it answers 503: longer than a failover takes, which
    with Patroni's defaults is 30 to 40. When it has been away for that long, requests make one attempt each."""
    log_format: Literal["console", "json"] = "console"
    """Form of the log, which goes to stderr and never holds texts of memory. `json`: with one line a request, too."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severity that is logged."""
    traces_enabled: bool = False
    """Whether server and workers send traces by OTLP, to where `OTEL_EXPORTER_OTLP_ENDPOINT` says. Needs
    `reverie[otel]`. No text of memory, query, owner or path is in them."""

    # Access.
    bootstrap_admin_key: SecretStr | None = None
    """Makes the first key of a server that never had one: an admin's key of the tenant `default`. `rv_`, 16 characters
    of 0-9 a-z, `_`, 43 characters of A-Z a-z 0-9 `_` `-`."""
    bootstrap_admin_key_file: Path | None = None
    """A file that holds `bootstrap_admin_key`."""
    public_metrics: bool | None = None
    """Whether `/metrics` is served without a key. None: where `host` is loopback."""
    public_docs: bool | None = None
    """Whether `/docs` and `/openapi.json` are served without a key. None: where `host` is loopback."""
    audit_reads: Literal["off", "sampled", "on"] = "sampled"
    """Reads in the audit: `on` each one, `sampled` one row a minute for each key, agent, owner and kind, `off` none.
    Writes and refused requests are always in it."""
    audit_keep_days: Annotated[int, Field(ge=1, le=36_500)] = 365
    """Days that a row of the audit is kept."""
    turn_keep_days: Annotated[int, Field(ge=1, le=36_500)] = 30
    """Days that a turn is kept in the log of turns."""
    events_stream_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Longest time of one stream of events; whoever follows them then asks again from the last."""
    events_streams_per_key: Annotated[int, Field(ge=1, le=10_000)] = 32
    """Streams of events that a key may follow at once."""
    trusted_proxies: str | None = None
    """Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed: addresses and networks, by commas."""

    # Limits for clients.
    max_connections: Annotated[int, Field(ge=16, le=100_000)] | None = None
    """Open connections. None: as many as the limit of file descriptors allows, at most 2000. Above it idle connections
    are closed; if there are none, the new one is refused."""
    header_timeout_seconds: Seconds = 5.0
    """Time for the head of a request."""
    body_timeout_seconds: Seconds = 120.0
    """Time for the whole body of a request."""
    body_min_bytes_per_second: PositiveInt = 16_384
    """Slowest rate at which a body may arrive."""
    response_timeout_seconds: Seconds = 20.0
    """Time that a client may leave a response unread."""
    keep_alive_seconds: Annotated[int, Field(ge=1, le=31_536_000)] = 10
    """Time that an idle connection stays open."""
    max_in_flight: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Requests at work at once. None: four a processor, at most `pool_size`. A request that waits for a language model
    is not at work."""
    max_in_flight_per_key: Annotated[int, Field(ge=1, le=1000)] | None = None
    """The same for one key, or without keys for one address. None: all but an eighth of `max_in_flight`."""
    max_waiting: Annotated[int, Field(ge=0, le=10_000)] = 256
    """Requests that may wait for their turn. Beyond it the answer is 429 or 503."""
    max_answer_seconds: Seconds = 1.5
    """A waiting request is refused when it can no longer be answered in this time."""
    max_body_memory_bytes: Annotated[int, Field(ge=8 * 1024 * 1024)] = 64 * 1024 * 1024
    """Bytes of all request bodies in memory."""
    max_body_memory_bytes_per_key: Annotated[int, Field(ge=8 * 1024 * 1024)] = 48 * 1024 * 1024
    """Bytes of request bodies in memory of one key."""

    # Embedding model.
    embedder: Literal[
        "local",
        "local:multilingual-e5-small",
        "local:all-MiniLM-L6-v2",
        "sentence-transformers",
        "openai",
        "hashing",
        "none",
    ] = "local"
    """`local:…` are the built-in models on onnxruntime, `local` is the default one, multilingual-e5-small. `openai` is
    any endpoint of that protocol. `hashing` needs no model and knows no meaning. `none` searches by words alone."""
    embedder_model: str | None = None
    """Model's name, for `sentence-transformers` and `openai`."""
    embedder_base_url: str | None = None
    """Address of the endpoint, for `openai`."""
    embedder_api_key: SecretStr | None = None
    """Key of the endpoint, for `openai`."""
    embedder_dimension: PositiveInt | None = None
    """Dimension of the vectors, where the model offers several."""
    embedder_batch_size: PositiveInt = 64
    """Texts that are embedded in one call."""
    embedder_timeout_seconds: Seconds = 30.0
    """Longest time of one call of the endpoint."""
    embedder_device: str | None = None
    """Device, for `sentence-transformers` and for a `cross-encoder` that reranks."""
    embedder_threads: PositiveInt = 1
    """Threads of a `local` model."""
    embedder_weights_dir: Path | None = None
    """Directory of the `local` models' weights. None: one in `data_dir`, else that of the Python environment."""
    query_cache_size: PositiveInt = 1024
    """Queries whose embeddings are kept in memory."""
    embed_wait_seconds: Seconds = 10.0
    """Time that a write waits for its vectors; then it answers `embedded: false`, and the back-fill adds them. The
    default covers a model that still loads and a file of a megabyte."""
    backfill_interval_seconds: Seconds = 5.0
    """Time between two runs of the back-fill."""

    # Files and their index.
    max_file_bytes: PositiveInt = 1_048_576
    """Largest file."""
    snapshot_max_entries: Annotated[int, Field(ge=2, le=65_000)] = 500
    """Entries of a snapshot, its manifest included."""
    snapshot_max_bytes: Annotated[int, Field(ge=1_048_576, le=1_073_741_824)] = 16_777_216
    """Bytes of a snapshot's entries, unpacked. The archive may be a sixteenth longer."""

    # Search.
    keyword_max_files: Annotated[int, Field(ge=1, le=1000)] = 50
    """Most files in which a keyword search finds lines."""
    bm25_k1: Annotated[float, Field(ge=0, le=10)] = 1.2
    """BM25: how soon a repeated word stops counting."""
    bm25_b: Share = 0.75
    """BM25: how much the length of a passage is discounted."""
    exact_max_chunks: PositiveInt = 5000
    """Slices with up to this many passages are searched exactly, larger ones by an HNSW index of their own."""
    hnsw_ef_search: Annotated[int, Field(ge=10, le=1000)] = 100
    """`hnsw.ef_search` of such an index."""
    hot_slices_bytes: Annotated[int, Field(ge=0)] = 256 * 1024 * 1024
    """Memory in which a process holds what ranking needs of the slices that are asked for, without texts; 0: none. A
    passage takes one to two kilobytes. Larger slices are searched in PostgreSQL, and others until they are held."""
    max_partitions: Annotated[int, Field(ge=0, le=1000)] = 100
    """Most slices with an HNSW index of their own."""

    # Turns.
    context_max_tokens: Annotated[int, Field(ge=1000, le=100_000_000)] = 128_000
    """Tokens of a prompt, where the request names no window."""
    summarise_from_share: Annotated[float, Field(gt=0, le=1)] = 0.75
    """Share of the window from which older messages are summarised in the prompt."""
    compact_from_share: Annotated[float, Field(gt=0, le=1)] = 0.85
    """Share of the window from which a session is compacted."""
    compact_from_messages: PositiveInt = 50
    """Number of messages from which a session is compacted."""
    compact_keep_last: Annotated[int, Field(ge=2, le=1000)] = 20
    """Messages that a compaction leaves as they are."""
    compact_wait_seconds: Seconds = 10.0
    """Time that a prompt waits for a compaction under way."""
    summary_max_tokens: PositiveInt = 300
    """Tokens of a summary."""
    summary_keep_seconds: Seconds = 1800.0
    """Time that the prompt's summary of a session is kept for the next turn."""
    summary_timeout_seconds: Seconds = 15.0
    """Time of the language model for a summary."""
    flush_max_rounds: Annotated[int, Field(ge=1, le=100)] = 5
    """Calls of the language model to note down facts before a compaction."""
    flush_timeout_seconds: Seconds = 90.0
    """Time of the language model for these notes."""
    session_idle_seconds: Seconds = 1800.0
    """Time without a message after which a session is complete."""

    # Background work.
    worker_enabled: bool = True
    """Whether `reverie serve` starts a worker."""
    worker_concurrency: Annotated[int, Field(ge=1, le=100)] = 2
    """Jobs that a worker runs at once."""
    worker_poll_seconds: Seconds = 5.0
    """Time between two looks for jobs that nothing announced."""
    job_max_attempts: Annotated[int, Field(ge=1, le=100)] = 6
    """Attempts of a failing job before it is a dead letter."""
    job_retry_seconds: Annotated[float, Field(ge=0, le=31_536_000)] = 15.0
    """Time before the second attempt; it doubles with each further one."""
    job_timeout_seconds: Seconds = 600.0
    """Longest time of one job."""
    job_max_deaths: Annotated[int, Field(ge=1, le=100)] = 3
    """Processes that may die of a job before it is a dead letter. A death counts if the job ran alone in its
    process."""
    stall_seconds: Annotated[float, Field(gt=0, le=86_400)] = 20.0
    """CPU time after which a process is ended whose event loop stands still. It is started again."""
    shutdown_grace_seconds: Annotated[float, Field(gt=0, le=86_400)] = 15.0
    """Time that a server or worker has to end after SIGTERM, and after the drain, before it is killed."""
    shutdown_drain_seconds: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """Time after SIGTERM in which a server still answers, while `/readyz` is 503 and each answer closes its
    connection: more than a proxy takes to find that out."""
    job_keep_days: Annotated[int, Field(ge=1, le=36_500)] = 7
    """Days that rows of finished jobs are kept. Failed ones stay until they are tried again."""
    prune_interval_hours: Annotated[int, Field(ge=1, le=24)] = 6
    """Hours between two removals of what has expired."""

    # Backups.
    backup_dir: Path | None = None
    """Directory into which workers make backups of the whole database by the clock. None: they make none."""
    backup_schedule: str = "0 3 * * *"
    """When: the five fields of cron (minute, hour, day, month, weekday), in UTC."""
    backup_keep: Annotated[int, Field(ge=1, le=10_000)] = 7
    """Backups that are kept in `backup_dir`. The oldest go when a new one is whole."""
    wal_archive_dir: Path | None = None
    """Directory in which the embedded PostgreSQL archives its log (WAL), for `reverie restore --to-time`, and workers
    put the base backups for that. Choose another disk. None: no archive."""
    wal_archive_seconds: Annotated[int, Field(ge=1, le=86_400)] = 60
    """A write is in the archive after so many seconds at the latest."""
    base_backup_schedule: str = "30 3 * * *"
    """When base backups are made: the five fields of cron, in UTC."""
    base_backup_keep: Annotated[int, Field(ge=1, le=1000)] = 7
    """Base backups that are kept. What the archive has from before the oldest goes."""

    # Language model.
    llm_base_url: str | None = None
    """Any endpoint of OpenAI's protocol. None: everything is done without a language model."""
    llm_model: str | None = None
    """Model's name at the endpoint."""
    llm_api_key: SecretStr | None = None
    """Key of the endpoint."""
    llm_timeout_seconds: Seconds = 60.0
    """Longest time of one call."""
    llm_max_retries: Annotated[int, Field(ge=0, le=20)] = 2
    """Further attempts of a call that fails."""
    llm_max_response_bytes: Annotated[int, Field(ge=65_536)] = 8 * 1024 * 1024
    """Bytes that are read of an answer."""
    llm_breaker_failures: PositiveInt = 3
    """Failures in a row after which the model is left alone for a while. One time-out does the same."""
    llm_breaker_pause_seconds: Seconds = 10.0
    """That while; it grows with each further failure, up to five minutes."""
    llm_calls_per_day: Annotated[int, Field(ge=0)] = 1000
    """Calls of one tenant on one day (UTC). What the proxy passes on does not count."""
    llm_tokenizer_file: Path | None = None
    """A `tokenizer.json`, by which tokens are counted. None: they are estimated."""

    @field_validator("trusted_proxies")
    @classmethod
    def _proxies_are_addresses(cls, value: str | None) -> str | None:
        for part in (value or "").split(","):
            if part.strip():
                ipaddress.ip_network(part.strip())
        return value

    @field_validator("backup_schedule", "base_backup_schedule")
    @classmethod
    def _schedule_is_cron(cls, value: str) -> str:
        # Slow to import, and of no use where there is no schedule.
        from croniter import CroniterBadDateError, croniter

        if len(value.split()) != 5 or not croniter.is_valid(value):
            raise ValueError("give the five fields of cron, such as `0 3 * * *`")
        try:
            croniter(value).get_next()
        except CroniterBadDateError:
            raise ValueError("this time never comes") from None
        return value

    @model_validator(mode="after")
    def _archive_is_of_the_embedded_server(self) -> Self:
        if self.wal_archive_dir is not None and (self.database_url or self.database_url_file):
            raise ValueError("wal_archive_dir is the embedded PostgreSQL's: archive your own with its own means")
        return self

    @property
    def agent_defaults(self) -> AgentSettings:
        """The settings of an agent that sets none itself."""
        return AgentSettings.model_validate({name: getattr(self, name) for name in AgentSettings.model_fields})

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
            for name in ("database_url", "read_database_url"):
                if getattr(settings, f"{name}_file") is not None:
                    settings = settings.model_copy(update={name: _url_of(settings, name)})
            if settings.read_database_url is not None and settings.database_url is None:
                raise SetupError("read_database_url: the embedded PostgreSQL has no standby; give database_url, too")
        except ValidationError as error:
            wrong += [_sentence(item, cls.model_fields) for item in error.errors()]
        except SetupError as error:
            wrong.append(error.detail)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            wrong.append(f"reverie.toml: {error}")
        if wrong or settings is None:
            raise SetupError(f"settings (REVERIE_* or reverie.toml) are not valid: {'; '.join(wrong)}")
        return settings


def _url_of(settings: Settings, name: str) -> SecretStr:
    """The URL that a file holds; SetupError where that is nothing, or beside the URL itself."""
    file: Path = getattr(settings, f"{name}_file")
    if getattr(settings, name) is not None:
        raise SetupError(f"give one of {name} and {name}_file")
    try:
        url = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SetupError(f"{name}_file: {file} cannot be read: {reason}") from None
    if not url:
        raise SetupError(f"{name}_file: {file} is empty")
    return SecretStr(url)


def _sentence(item: ErrorDetails, setting_names: Collection[str]) -> str:
    """The sentence about one wrong value."""
    name = ".".join(map(str, item["loc"]))
    if item["type"] == "extra_forbidden":
        return unknown_name(name, setting_names)
    return f"{name or 'settings'}: {item['msg']}"
