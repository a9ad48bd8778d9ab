"""The composition root: reading this file shows the system. It and `cli.py` alone read settings."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import structlog
from pydantic import SecretStr

from reverie_indexer.database.database import Database, prepare_database
from reverie_indexer.database.faults import Faults
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import SetupError
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.postgres.embedded import EmbeddedPostgres, default_data_dir
from reverie_indexer.text.passages import Rules as IndexRules
from reverie_server.access.agents import Agents
from reverie_server.access.audit import Audit
from reverie_server.access.gate import Gate
from reverie_server.access.keys import Keys
from reverie_server.access.work_slot import long_wait
from reverie_server.app.background import StageDependencies, delays_of, wire_consolidation
from reverie_server.app.turns import Given, language_model, token_counter, wire_turns
from reverie_server.browse.expand import Expansion
from reverie_server.files.files import Workspace
from reverie_server.files.keyword_search import KeywordSearch
from reverie_server.files.snapshots import Snapshots
from reverie_server.files.strict_zip import Limits
from reverie_server.forgetting.clear import Clearing
from reverie_server.forgetting.forget import Forgetting
from reverie_server.forgetting.owners import Owners
from reverie_server.inject.inject import Injector
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.longterm import LongTermMemory
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.runtime import Runtime
from reverie_server.search.memory_search import MemorySearch
from reverie_server.search.rank import Weights
from reverie_server.search.recall_log import RecallLog
from reverie_server.search.request import SearchRules
from reverie_server.search.search import Search
from reverie_server.sessions.append import Recorder
from reverie_server.sessions.sessions import Sessions
from reverie_server.settings.server import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

log = structlog.get_logger()
RECALLS_PATIENCE_SECONDS = 5.0


def data_dir_of(settings: Settings) -> Path:
    """Where the embedded PostgreSQL and the converted model are."""
    return settings.data_dir or default_data_dir()


def weights_dir_of(settings: Settings) -> Path:
    """Where `reverie models fetch` puts the default model's weights."""
    return settings.embedder_weights_dir or data_dir_of(settings) / "models" / "weights"


def embedder_loader(settings: Settings) -> Callable[[], Awaitable[Embedder]] | None:
    """How to get the configured embedder; None when none is configured. Loading it imports its libraries."""
    match settings.embedder:
        case "none":
            return None
        case "local":
            return lambda: _load_local(settings)
        case "hashing":
            return lambda: _load_hashing(settings)
        case "sentence-transformers":
            return lambda: _load_sentence(settings)
        case "openai":
            return lambda: _connect_endpoint(settings)
        case _:
            assert_never(settings.embedder)


async def _load_local(settings: Settings) -> Embedder:
    from reverie_indexer.embed.local import load_local

    return await asyncio.to_thread(
        load_local,
        data_dir_of(settings) / "models",
        weights_dir=weights_dir_of(settings),
        threads=settings.embedder_threads,
    )


async def _load_hashing(settings: Settings) -> Embedder:
    from reverie_indexer.embed.deterministic import HashingEmbedder

    return HashingEmbedder(settings.embedder_dimension or 384)


async def _load_sentence(settings: Settings) -> Embedder:
    from reverie_indexer.embed.sentence import load_sentence

    if settings.embedder_model is None:
        raise SetupError("embedder sentence-transformers needs REVERIE_EMBEDDER_MODEL: a model's name or path")
    return await asyncio.to_thread(load_sentence, settings.embedder_model, device=settings.embedder_device)


async def _connect_endpoint(settings: Settings) -> Embedder:
    from reverie_indexer.embed.endpoint import EndpointConfig, connect_endpoint

    if settings.embedder_model is None or settings.embedder_base_url is None:
        raise SetupError("embedder openai needs REVERIE_EMBEDDER_BASE_URL and REVERIE_EMBEDDER_MODEL")
    key = settings.embedder_api_key
    return await connect_endpoint(
        EndpointConfig(
            base_url=settings.embedder_base_url,
            model=settings.embedder_model,
            api_key=key.get_secret_value() if key else None,
            dimension=settings.embedder_dimension,
            batch_texts=settings.embedder_batch_size,
            timeout_seconds=settings.embedder_timeout_seconds,
        )
    )


async def uninterrupted(function: Callable[[], None]) -> None:
    """Run a function in a thread to its end, also when cancelled: what waits for a thread would else never begin."""
    task = asyncio.create_task(asyncio.to_thread(function))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


@asynccontextmanager
async def open_server(settings: Settings) -> AsyncIterator[tuple[str, Callable[[], Awaitable[None]] | None]]:
    """How to reach the database, and what brings its server back: one's own by URL, else the embedded one, started."""
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value(), None
        return
    async with AsyncExitStack() as stack:
        # Fresh statistics and visibility maps soon after a bulk load: search plans live on them.
        server = EmbeddedPostgres(data_dir_of(settings), options={"autovacuum_naptime": "10s"})
        # Before it is started: a start that is given up goes on in its thread, and is then stopped too.
        stack.push_async_callback(uninterrupted, server.stop)
        conninfo = await asyncio.to_thread(server.start)

        async def recover() -> None:
            await asyncio.to_thread(server.start)

        yield conninfo, recover


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database, checked and with its schema up to date."""
    async with open_server(settings) as (conninfo, recover):
        await prepare_database(conninfo)
        # The disk of a PostgreSQL elsewhere cannot be looked at: there its errors tell.
        directory = data_dir_of(settings) if settings.database_url is None else None
        async with Database(
            conninfo,
            faults=Faults(directory, settings.min_free_disk_mb << 20),
            pool_size=settings.pool_size,
            statement_timeout_seconds=settings.statement_timeout_seconds,
            recover=recover,
        ) as database:
            yield database


def assemble(
    settings: Settings,
    database: Database,
    models: ModelSlot,
    *,
    embed_wait_seconds: float | None = None,
    llm: LanguageModel | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Runtime:
    """Everything over a database and a model, wired. `llm` stands in for the configured one, `now` for the clock."""
    index_rules = IndexRules(
        chunk_max_chars=settings.chunk_max_chars,
        language=settings.language,
        max_file_bytes=settings.max_file_bytes,
        embed_wait_seconds=embed_wait_seconds or settings.embed_wait_seconds,
        batch_size=settings.embedder_batch_size,
    )
    search_rules = SearchRules(
        weights=Weights(settings.text_weight, settings.vector_weight, settings.user_boost, settings.context_weight),
        language=settings.language,
        hnsw_ef_search=settings.hnsw_ef_search,
        bm25_k1=settings.bm25_k1,
        bm25_b=settings.bm25_b,
    )
    defaults = settings.agent_defaults
    pipeline = Pipeline(database, models, index_rules, waiting=long_wait)
    search = Search(database, models, search_rules, now=now)
    tombstones = Tombstones(database)
    workspace = Workspace(database, pipeline)
    long_term = LongTermMemory(workspace)
    count_tokens = token_counter(settings)
    recalls = RecallLog(database, tombstones.load_secret, now=now)
    recorder = Recorder(database, pipeline, tombstones, count_tokens, max_file_bytes=settings.max_file_bytes)
    sessions = Sessions(database, pipeline, recorder, delays_of(settings))
    llm = llm or language_model(settings, database)
    injector = Injector(search, count_tokens, recalls)
    audit = Audit(database, settings.audit_reads)
    gate = Gate(database, defaults, audit)
    wired = wire_turns(settings, Given(database, gate, pipeline, tombstones, sessions, injector, llm, count_tokens))
    consolidation = wire_consolidation(
        StageDependencies(
            settings=settings,
            database=database,
            models=models,
            gate=gate,
            pipeline=pipeline,
            search=search,
            long_term=long_term,
            tombstones=tombstones,
            sessions=sessions,
            llm=llm,
            count_tokens=count_tokens,
            now=now,
        )
    )
    return Runtime(
        settings=settings,
        database=database,
        models=models,
        pipeline=pipeline,
        search=search,
        memory_search=MemorySearch(gate, search, recalls),
        workspace=workspace,
        long_term=long_term,
        keywords=KeywordSearch(database, max_files=settings.keyword_max_files),
        compaction=consolidation.compaction,
        expansion=Expansion(database, now=now),
        snapshots=Snapshots(
            database,
            pipeline,
            max_file_bytes=settings.max_file_bytes,
            limits=Limits(
                max_entries=settings.snapshot_max_entries,
                max_total_bytes=settings.snapshot_max_bytes,
                max_archive_bytes=settings.snapshot_max_bytes + settings.snapshot_max_bytes // 16,
            ),
            without_forgotten=tombstones.without_forgotten,
        ),
        tombstones=tombstones,
        forgetting=Forgetting(database, pipeline, search, tombstones, consolidation.stores, now),
        clearing=Clearing(database, consolidation.stores),
        keys=Keys(database),
        audit=audit,
        gate=gate,
        agents=Agents(database, pipeline, defaults),
        owners=Owners(database, sessions),
        llm=llm,
        count_tokens=count_tokens,
        recalls=recalls,
        injector=injector,
        recorder=recorder,
        sessions=sessions,
        turns=wired.turns,
        session_compaction=wired.session_compaction,
        compactions=wired.compactions,
        proxy=wired.proxy,
        consolidation=consolidation,
    )


@asynccontextmanager
async def open_runtime(
    settings: Settings, *, embed_wait_seconds: float | None = None, model_at_once: bool = True
) -> AsyncIterator[Runtime]:
    """Everything wired, with the model loading beside it; SetupError or DatabaseUnavailable when it cannot be.

    `model_at_once=False` loads the model when something first waits for it: never, where there is nothing to embed.
    """
    async with open_database(settings) as database:
        models = ModelSlot(embedder_loader(settings), query_cache_size=settings.query_cache_size)

        async def load() -> None:
            if not model_at_once:
                await models.wanted.wait()
            await models.fill(database)

        loading = asyncio.create_task(load(), name="load-model")
        try:
            runtime = assemble(settings, database, models, embed_wait_seconds=embed_wait_seconds)
            recording = [
                asyncio.create_task(runtime.recalls.run(), name="record-recalls"),
                asyncio.create_task(runtime.audit.run(), name="record-audit"),
            ]
            try:
                yield runtime
            finally:
                # These still write, which is taken down.
                if runtime.proxy is not None:
                    await runtime.proxy.aclose()
                await runtime.compactions.aclose()
                runtime.recalls.stop()
                runtime.audit.stop()
                # A database that is gone is not waited for: what it was to be told is lost with it.
                _, unfinished = await asyncio.wait(recording, timeout=RECALLS_PATIENCE_SECONDS)
                for task in unfinished:
                    task.cancel()
                if runtime.llm is not None:
                    await runtime.llm.aclose()
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
            await models.aclose()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def bootstrap_key(settings: Settings, keys: Keys) -> None:
    """Make the first key of the settings where there is none. SetupError for what is no key, or a file without one."""
    key, file = settings.bootstrap_admin_key, settings.bootstrap_admin_key_file
    if key is not None and file is not None:
        raise SetupError("give one of REVERIE_BOOTSTRAP_ADMIN_KEY and REVERIE_BOOTSTRAP_ADMIN_KEY_FILE")
    if file is not None:
        try:
            text = await asyncio.to_thread(file.read_text)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise SetupError(f"the file of REVERIE_BOOTSTRAP_ADMIN_KEY_FILE cannot be read: {reason}") from None
        key = SecretStr(text.strip())
    if key is not None and await keys.bootstrap(key.get_secret_value()):
        log.info("bootstrap_key_made")


def create_app(runtime: Runtime) -> FastAPI:
    """The HTTP application over a running system; `/mcp` answers while its lifespan is entered."""
    # These are slow to import, and no other command than `serve` needs them.
    from fastapi import FastAPI

    from reverie_server.app.entrance import wire_entrance
    from reverie_server.http import problems, requests
    from reverie_server.http.all_routes import RESPONSES, routes
    from reverie_server.http.counters import TurnCounters
    from reverie_server.http.job_metrics import JobMetrics
    from reverie_server.http.routes import operations, reference
    from reverie_server.mcp.endpoint import McpEndpoint
    from reverie_server.tools.catalogue import REGISTRY

    mcp = McpEndpoint(runtime, REGISTRY)
    settings = runtime.settings
    is_local = is_loopback(settings.host)
    has_public_docs = is_local if settings.public_docs is None else settings.public_docs
    app = FastAPI(
        openapi_url=reference.OPENAPI_PATH if has_public_docs else None,
        lifespan=lambda _: mcp.running(),
        title="Reverie",
        summary="A memory server for AI agents",
        version=version("reverie"),
        responses=RESPONSES,
    )
    app.state.runtime = runtime
    metrics = operations.Metrics()
    metrics.registry.register(
        TurnCounters(runtime.injector, runtime.recalls, runtime.proxy, runtime.recorder, runtime.audit)
    )
    app.router.routes.extend(routes().routes)
    jobs = JobMetrics(runtime.consolidation.health)
    metrics.registry.register(jobs)
    is_public = is_local if settings.public_metrics is None else settings.public_metrics
    app.include_router(operations.metrics_router(metrics, jobs.look, is_public=is_public))
    if not has_public_docs:
        app.include_router(reference.reference_router(app))
    app.router.routes.append(mcp.route)
    problems.install(app)
    app.add_middleware(operations.HeadAsGet)
    app.state.load = wire_entrance(app, runtime)
    metrics.registry.register(app.state.load)
    app.add_middleware(operations.Measured, metrics=metrics)
    app.add_middleware(requests.Requests, audit=runtime.audit)
    return app
