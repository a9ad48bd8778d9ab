"""The composition root: reading this file shows the system. It, its neighbours and `cli` alone read settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import structlog

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.agents import Agents
from reverie_server.access.audit import Audit
from reverie_server.access.browser_sessions import BrowserSessions
from reverie_server.access.gate import Gate
from reverie_server.access.keys import Keys
from reverie_server.access.work_slot import long_wait
from reverie_server.app.background import StageDependencies, delays_of, wire_consolidation
from reverie_server.app.backups.forgotten import note_revoked, open_forgotten_log
from reverie_server.app.databases import open_database
from reverie_server.app.embedders import embedder_loader
from reverie_server.app.language import language_model, token_counter
from reverie_server.app.rerankers import reranking_of
from reverie_server.app.snapshots import index_rules, wire_snapshots
from reverie_server.app.turns import TurnDependencies, WiredTurns, wire_turns
from reverie_server.browse.conversations import Conversations
from reverie_server.browse.events import Events
from reverie_server.browse.expand import Expansion
from reverie_server.browse.people import People
from reverie_server.browse.summary import Summaries
from reverie_server.browse.timeline import Timeline
from reverie_server.browse.turns import StoredTurns
from reverie_server.facts.changes import FactChanges, FactChangesDependencies
from reverie_server.facts.reading import ReadFacts
from reverie_server.facts.upkeep import FactUpkeep
from reverie_server.facts.view import FactView
from reverie_server.facts.votes import FactVotes
from reverie_server.files.files import Workspace
from reverie_server.files.keyword_search import KeywordSearch
from reverie_server.forgettable import Forgettable
from reverie_server.forgetting.clear import Clearing
from reverie_server.forgetting.forget import Forgetting, ForgettingDependencies
from reverie_server.forgetting.judged import JudgedRequests, JudgingDependencies
from reverie_server.forgetting.owners import Owners
from reverie_server.forgetting.possible_requests import may_ask
from reverie_server.forgetting.receipts import Receipts
from reverie_server.forgetting.said import SaidForgetting
from reverie_server.forgetting.selection import Selection
from reverie_server.forgetting.unmet import UnmetRequests
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.inject.inject import Injector
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.longterm import LongTermMemory
from reverie_server.provenance.forgotten_log import ForgottenLog
from reverie_server.provenance.removed_turns import note_removed_turns
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.runtime import Consolidation, KnownFacts, Runtime
from reverie_server.search.calibration.renew import Calibration
from reverie_server.search.hot.cache import HotSlices
from reverie_server.search.memory_search import MemorySearch
from reverie_server.search.rank import Weights
from reverie_server.search.recall_log import RecallLog
from reverie_server.search.request import SearchRules
from reverie_server.search.search import Search
from reverie_server.sessions.append import Recorder
from reverie_server.sessions.sessions import Sessions
from reverie_server.settings.server import Settings
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
RECALLS_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Core:
    """The parts that everything else is wired over: files, search, sessions and who may use them."""

    pipeline: Pipeline
    search: Search
    tombstones: Tombstones
    workspace: Workspace
    long_term: LongTermMemory
    recalls: RecallLog
    recorder: Recorder
    sessions: Sessions
    audit: Audit
    gate: Gate
    llm: LanguageModel | None
    count_tokens: CountTokens


@dataclass(frozen=True, slots=True)
class _StandIns:
    """The clock of the stages, and what understands sentences."""

    now: Callable[[], datetime]
    read_facts: ReadFacts


def assemble(
    settings: Settings,
    database: Database,
    models: ModelSlot,
    *,
    embed_wait_seconds: float | None = None,
    llm: LanguageModel | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    read_facts: ReadFacts = read_facts,
    forgotten_log: ForgottenLog | None = None,
) -> Runtime:
    """Everything over a database and a model, wired. `llm` stands in for the configured one, `now` for the clock, and
    `read_facts` for what understands sentences. Without a `forgotten_log` nothing is noted for restoring.
    """
    pipeline = Pipeline(database, models, index_rules(settings, embed_wait_seconds), waiting=long_wait)
    hot = HotSlices(database, settings.hot_slices_bytes)
    reranking = reranking_of(settings)
    search = Search(database, models, _search_rules(settings), hot=hot, reranking=reranking, now=now)
    core = _core(settings, pipeline, search, database, llm, now)
    core.sessions.forgotten_log = forgotten_log
    injector = Injector(core.search, core.count_tokens, core.recalls)
    turns = _turns(settings, database, core, injector, now)
    consolidation = _consolidation(settings, database, models, core, _StandIns(now, read_facts))
    stores = consolidation.stores
    forgetting = _forgetting(settings, database, models, core, stores, forgotten_log, now)
    return Runtime(
        settings=settings,
        database=database,
        models=models,
        pipeline=pipeline,
        search=core.search,
        hot_slices=hot,
        calibration=Calibration(database),
        reranking=reranking,
        memory_search=MemorySearch(core.gate, core.search, core.recalls),
        workspace=core.workspace,
        long_term=core.long_term,
        keywords=KeywordSearch(database, max_files=settings.keyword_max_files),
        compaction=consolidation.compaction,
        expansion=Expansion(database, now=now),
        snapshots=wire_snapshots(settings, database, pipeline, core.tombstones),
        tombstones=core.tombstones,
        forgetting=forgetting,
        receipts=Receipts(database),
        unmet_requests=UnmetRequests(database),
        clearing=Clearing(database, stores, forgotten_log),
        keys=Keys(database, note_revoked(forgotten_log)),
        browser_sessions=BrowserSessions(database),
        audit=core.audit,
        gate=core.gate,
        agents=Agents(database, pipeline, settings.agent_defaults, partial(_note_agent, forgotten_log)),
        owners=Owners(database, core.sessions, forgotten_log=forgotten_log),
        llm=core.llm,
        count_tokens=core.count_tokens,
        recalls=core.recalls,
        injector=injector,
        recorder=core.recorder,
        sessions=core.sessions,
        conversations=Conversations(database),
        people=People(database),
        summaries=Summaries(database, settings.fact_half_life_days, now=now),
        turns=turns.turns,
        turn_log=turns.turn_log,
        stored_turns=StoredTurns(database),
        events=Events(database, settings.events_streams_per_key, now=now),
        timeline=Timeline(database),
        session_compaction=turns.session_compaction,
        compactions=turns.compactions,
        proxy=turns.proxy,
        consolidation=consolidation,
        facts=_facts(settings, database, core, _StandIns(now, read_facts)),
    )


async def _note_agent(log: ForgottenLog | None, connection: Connection, tenant_id: str, agent_id: str) -> None:
    await note_removed_turns(connection, tenant_id, "agent", agent_id)
    if log is not None:
        await log.note(connection, "agent", tenant_id, agent_id)


def _core(
    settings: Settings,
    pipeline: Pipeline,
    search: Search,
    database: Database,
    llm: LanguageModel | None,
    now: Callable[[], datetime],
) -> _Core:
    tombstones = Tombstones(database)
    workspace = Workspace(database, pipeline)
    count_tokens = token_counter(settings)
    recorder = Recorder(database, pipeline, tombstones, count_tokens, max_file_bytes=settings.max_file_bytes)
    audit = Audit(database, settings.audit_reads)
    return _Core(
        pipeline=pipeline,
        search=search,
        tombstones=tombstones,
        workspace=workspace,
        long_term=LongTermMemory(workspace),
        recalls=RecallLog(database, tombstones.load_secret, now=now),
        recorder=recorder,
        sessions=Sessions(database, pipeline, recorder, delays_of(settings)),
        audit=audit,
        gate=Gate(database, settings.agent_defaults, audit),
        llm=llm or language_model(settings, database),
        count_tokens=count_tokens,
    )


def _turns(
    settings: Settings, database: Database, core: _Core, injector: Injector, now: Callable[[], datetime]
) -> WiredTurns:
    return wire_turns(
        settings,
        TurnDependencies(
            database, core.gate, core.pipeline, core.tombstones, core.sessions, injector, core.llm, core.count_tokens
        ),
        now,
    )


def _consolidation(
    settings: Settings, database: Database, models: ModelSlot, core: _Core, stand_ins: _StandIns
) -> Consolidation:
    return wire_consolidation(
        StageDependencies(
            settings=settings,
            database=database,
            models=models,
            gate=core.gate,
            pipeline=core.pipeline,
            search=core.search,
            long_term=core.long_term,
            tombstones=core.tombstones,
            sessions=core.sessions,
            llm=core.llm,
            count_tokens=core.count_tokens,
            now=stand_ins.now,
            read_facts=stand_ins.read_facts,
        )
    )


def _forgetting(
    settings: Settings,
    database: Database,
    models: ModelSlot,
    core: _Core,
    stores: Sequence[Forgettable],
    forgotten_log: ForgottenLog | None,
    now: Callable[[], datetime],
) -> Forgetting:
    """Forgetting on request, and of what people ask to forget in their conversations."""
    selection = Selection(database, core.search, core.tombstones, now)
    forgetting = Forgetting(
        ForgettingDependencies(
            database, core.pipeline, selection, core.tombstones, stores, core.sessions, forgotten_log
        ),
        now=now,
    )
    unmet_requests = UnmetRequests(database)
    core.sessions.after_said = SaidForgetting(
        forgetting, selection, core.sessions, models, unmet_requests, has_language_model=core.llm is not None
    ).listen
    core.recorder.may_ask = may_ask
    core.sessions.before_extraction = JudgedRequests(
        JudgingDependencies(
            database=database,
            forgetting=forgetting,
            selection=selection,
            sessions=core.sessions,
            unmet=unmet_requests,
            model=core.llm,
            timeout_seconds=settings.llm_timeout_seconds,
            now=now,
        )
    ).judge
    return forgetting


def _facts(settings: Settings, database: Database, core: _Core, stand_ins: _StandIns) -> KnownFacts:
    changes = FactChangesDependencies(
        database=database,
        pipeline=core.pipeline,
        long_term=core.long_term,
        read_facts=stand_ins.read_facts,
        now=stand_ins.now,
    )
    return KnownFacts(
        view=FactView(database, settings.fact_half_life_days, now=stand_ins.now),
        votes=FactVotes(database, now=stand_ins.now),
        changes=FactChanges(changes),
        upkeep=FactUpkeep(core.pipeline, now=stand_ins.now),
    )


def _search_rules(settings: Settings) -> SearchRules:
    return SearchRules(
        weights=Weights(settings.text_weight, settings.vector_weight, settings.user_boost, settings.context_weight),
        language=settings.language,
        hnsw_ef_search=settings.hnsw_ef_search,
        bm25_k1=settings.bm25_k1,
        bm25_b=settings.bm25_b,
    )


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    *,
    embed_wait_seconds: float | None = None,
    model_at_once: bool = True,
    reads_elsewhere: bool = False,
) -> AsyncIterator[Runtime]:
    """Everything wired, with the model loading beside it; SetupError or DatabaseUnavailable when it cannot be.

    `model_at_once=False` loads the model when something first waits for it: never, where there is nothing to embed.
    `reads_elsewhere` is for who answers requests: what these only read is read on the standby, where one is set.
    """
    async with open_database(settings, reads_elsewhere=reads_elsewhere) as database:
        models = ModelSlot(embedder_loader(settings), query_cache_size=settings.query_cache_size)

        async def load() -> None:
            if not model_at_once:
                await models.wanted.wait()
            await models.fill(database)

        loading = asyncio.create_task(load(), name="load-model")
        try:
            log_of_forgotten = await open_forgotten_log(settings, database)
            runtime = assemble(
                settings, database, models, embed_wait_seconds=embed_wait_seconds, forgotten_log=log_of_forgotten
            )
            recording = [
                asyncio.create_task(runtime.recalls.run(), name="record-recalls"),
                asyncio.create_task(runtime.audit.run(), name="record-audit"),
                asyncio.create_task(runtime.turn_log.run(), name="record-turns"),
            ]
            sweeping = asyncio.create_task(runtime.hot_slices.run(), name="compare-hot-slices")
            try:
                yield runtime
            finally:
                sweeping.cancel()
                await asyncio.gather(sweeping, return_exceptions=True)
                # The proxy and the compactions write recalls and audit rows until they have ended.
                if runtime.proxy is not None:
                    await runtime.proxy.aclose()
                await runtime.compactions.aclose()
                runtime.recalls.stop()
                runtime.turn_log.stop()
                runtime.audit.stop()
                # A database that is gone is not waited for: recalls and audit rows that it did not get are lost.
                _, unfinished = await asyncio.wait(recording, timeout=RECALLS_PATIENCE_SECONDS)
                for task in unfinished:
                    task.cancel()
                if runtime.llm is not None:
                    await runtime.llm.aclose()
                if runtime.reranking is not None:
                    await runtime.reranking.aclose()
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
            await models.aclose()
