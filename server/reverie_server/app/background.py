"""The part of the composition root that wires what works in the background."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.settings import Settings
from reverie_server.access.gate import Gate
from reverie_server.browse.episodes import Episodes
from reverie_server.browse.sources import LineSources
from reverie_server.episodes.make import EpisodeMaking, EpisodicRules
from reverie_server.episodes.stage import Episodic, EpisodicParts
from reverie_server.extraction.stage import Extraction
from reverie_server.extraction.text import ExtractionRules
from reverie_server.extraction.write import ExtractionTools
from reverie_server.forgetting.derived import DerivedForgetting
from reverie_server.forgetting.episode_removal import remove_of_session
from reverie_server.graph.dedup import Dedup, DedupParts, DedupRules
from reverie_server.graph.search import GraphRules, GraphSearch
from reverie_server.graph.stage import Semantic, SemanticParts, SemanticRules
from reverie_server.graph.upkeep import GraphUpkeep
from reverie_server.graph.view import GraphView
from reverie_server.jobs.defer import Delays
from reverie_server.jobs.health import Health
from reverie_server.jobs.model import Runs, Stage
from reverie_server.jobs.queue import JobRules, Queue
from reverie_server.jobs.runner import StageRunner
from reverie_server.jobs.schedule import Cron, NightlyDefaults
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.compaction import Compaction
from reverie_server.long_term.guard import GuardRules
from reverie_server.long_term.longterm import LongTermMemory
from reverie_server.long_term.stage import MemoryCompaction, Rewriting, RewritingTools
from reverie_server.nights.digest import Morning
from reverie_server.nights.dreaming.stage import Dreaming, DreamingParts, DreamingRules
from reverie_server.nights.emergence.candidates import Rules as CandidateRules
from reverie_server.nights.emergence.stage import Emergence, EmergenceParts, EmergenceRules
from reverie_server.nights.reports import Reports
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.runtime import Consolidation, KnowledgeGraph
from reverie_server.search.search import Search
from reverie_server.sessions.sessions import Sessions
from reverie_server.text.tokens import CountTokens

if TYPE_CHECKING:
    from reverie_server.jobs.worker import Worker


def delays_of(settings: Settings) -> Delays:
    """How long after its cause each debounced stage runs."""
    return Delays(settings.extraction_cooldown_seconds, settings.dreaming_debounce_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenStages:
    """What the stages are wired over. `now` gives the time, with its zone: a year can be simulated."""

    settings: Settings
    database: Database
    models: ModelSlot
    gate: Gate
    pipeline: Pipeline
    search: Search
    long_term: LongTermMemory
    tombstones: Tombstones
    sessions: Sessions
    llm: LanguageModel | None
    count_tokens: CountTokens
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def wire_consolidation(given: GivenStages) -> Consolidation:
    """The stages over a running system."""
    settings = given.settings
    stages: dict[Stage, Runs] = {}
    making = EpisodeMaking(
        given.llm,
        given.count_tokens,
        EpisodicRules(settings.episodic_max_tokens, timeout_seconds=settings.episodic_timeout_seconds),
    )
    stages["episodic"] = _episodic(given, making)
    given.sessions.on_delete = remove_of_session
    stages["extraction"] = _extraction(given)
    compaction = _compaction(given)
    stages["compaction"] = MemoryCompaction(
        given.database,
        given.gate,
        given.long_term,
        compaction,
        from_chars=settings.memory_compact_from_chars,
    )
    stages["dreaming"] = _dreaming(given)
    stages["emergence"] = emergence = _emergence(given)
    stages["semantic"] = _semantic(given)
    stages["dedup"] = _dedup(given)
    rules = JobRules(
        settings.job_max_attempts, settings.job_retry_seconds, settings.job_timeout_seconds, settings.job_max_deaths
    )
    queue = Queue(given.database, rules)
    defaults = NightlyDefaults(
        time_zone=settings.time_zone,
        memory_enabled=settings.memory_enabled,
        emergence_enabled=settings.emergence_enabled,
        compaction_enabled=settings.compaction_enabled,
        hour=settings.nightly_hour,
        from_chars=settings.memory_compact_from_chars,
    )
    return Consolidation(
        delays=delays_of(settings),
        stages=stages,
        queue=queue,
        runner=StageRunner(queue, stages),
        cron=Cron(given.database, defaults, now=given.now),
        health=Health(given.database),
        emergence=emergence,
        reports=Reports(given.database),
        morning=Morning(given.database, now=given.now),
        sources=LineSources(given.database, now=given.now),
        compaction=compaction,
        episodes=Episodes(given.database, given.pipeline, given.search, has_model=given.llm is not None, now=given.now),
        graph=_graph(given),
        forgetting=DerivedForgetting(making, delays_of(settings), given.now),
    )


def _episodic(given: GivenStages, making: EpisodeMaking) -> Episodic:
    parts = EpisodicParts(
        given.database,
        given.gate,
        given.pipeline,
        given.tombstones,
        making,
        delays_of(given.settings),
        now=given.now,
    )
    return Episodic(parts)


def _semantic(given: GivenStages) -> Semantic:
    settings = given.settings
    rules = SemanticRules(settings.semantic_min_confidence, timeout_seconds=settings.llm_timeout_seconds)
    parts = SemanticParts(
        given.database, given.gate, given.tombstones, given.llm, delays_of(given.settings), rules, now=given.now
    )
    return Semantic(parts)


def _dedup(given: GivenStages) -> Dedup:
    settings = given.settings
    rules = DedupRules(
        settings.dedup_merge_cosine, settings.dedup_merge_names, settings.dedup_candidate_cosine, settings.dedup_nearest
    )
    return Dedup(DedupParts(given.database, given.gate, given.models, rules, now=given.now))


def _graph(given: GivenStages) -> KnowledgeGraph:
    rules = GraphRules(given.settings.graph_max_rows, given.settings.graph_timeout_seconds)
    return KnowledgeGraph(
        search=GraphSearch(given.database, given.models, rules, now=given.now),
        view=GraphView(given.database),
        upkeep=GraphUpkeep(given.database, now=given.now),
    )


def _extraction(given: GivenStages) -> Extraction:
    settings = given.settings
    rules = ExtractionRules(
        min_messages=settings.extraction_min_messages,
        min_chars=settings.extraction_min_chars,
        max_messages=settings.extraction_max_messages,
        message_chars=settings.extraction_message_chars,
        max_tokens=settings.extraction_max_tokens,
        timeout_seconds=settings.extraction_timeout_seconds,
        max_chars=settings.memory_max_chars,
        max_loss=settings.memory_max_loss,
    )
    tools = ExtractionTools(
        database=given.database,
        gate=given.gate,
        pipeline=given.pipeline,
        tombstones=given.tombstones,
        model=given.llm,
        count=given.count_tokens,
        rules=rules,
        cooldown_seconds=settings.extraction_cooldown_seconds,
        now=given.now,
    )
    return Extraction(tools)


def _compaction(given: GivenStages) -> Compaction:
    tools = RewritingTools(
        database=given.database,
        tombstones=given.tombstones,
        model=given.llm,
        count=given.count_tokens,
        max_chars=given.settings.memory_max_chars,
        max_loss=given.settings.memory_max_loss,
        timeout_seconds=given.settings.memory_compact_timeout_seconds,
        now=given.now,
    )
    propose = Rewriting(tools).propose
    return Compaction(
        given.database,
        given.pipeline,
        given.long_term,
        propose=propose,
        kept_backups=given.settings.memory_backups_kept,
        now=given.now,
    )


def _dreaming(given: GivenStages) -> Dreaming:
    settings = given.settings
    rules = DreamingRules(
        min_episodes=settings.dreaming_min_episodes,
        max_episodes=settings.dreaming_max_episodes,
        max_tokens=settings.dreaming_max_tokens,
        timeout_seconds=settings.emergence_timeout_seconds,
        diary_max_chars=settings.dreams_max_chars,
        nightly_hour=settings.nightly_hour,
    )
    parts = DreamingParts(given.database, given.gate, given.pipeline, given.tombstones, given.llm, given.count_tokens)
    return Dreaming(parts, rules, now=given.now)


def _emergence(given: GivenStages) -> Emergence:
    settings = given.settings
    rules = EmergenceRules(
        note_count=settings.emergence_days,
        candidates=CandidateRules(
            min_score=settings.emergence_min_score,
            min_recalls=settings.emergence_min_recalls,
            min_queries=settings.emergence_min_queries,
            max_age_days=settings.emergence_max_age_days,
            half_life_days=settings.emergence_half_life_days,
            weights=settings.emergence_weights,
        ),
        guard=GuardRules(settings.memory_max_chars, settings.memory_max_growth, settings.memory_max_loss),
        timeout_seconds=settings.emergence_timeout_seconds,
        diary_max_chars=settings.dreams_max_chars,
        nightly_hour=settings.nightly_hour,
    )
    parts = EmergenceParts(given.database, given.gate, given.pipeline, given.search, given.tombstones, given.llm)
    return Emergence(parts, rules, now=given.now)


def wire_worker(
    settings: Settings,
    database: Database,
    consolidation: Consolidation,
    start_quarantine: Callable[[], None] | None = None,
) -> Worker:
    """A worker over a running system. Slow to import, and of no use to most commands."""
    from reverie_server.jobs.worker import Periodic, Worker, WorkerRules

    async def prune() -> None:
        await consolidation.queue.prune(settings.job_keep_days)
        await consolidation.episodes.prune(datetime.now(UTC))

    async def begin_nightly() -> None:
        await consolidation.cron.defer_nightly()

    # A day has 24 hours: an interval of them all is once a day.
    prune_at = f"0 */{settings.prune_interval_hours} * * *" if settings.prune_interval_hours < 24 else "0 0 * * *"
    periodic = [Periodic("prune", prune_at, prune), Periodic("nightly", "*/5 * * * *", begin_nightly)]
    rules = WorkerRules(settings.worker_concurrency, settings.worker_poll_seconds)
    return Worker(database, consolidation.queue, consolidation.runner, periodic, rules, start_quarantine)
