"""The part of the composition root that wires what works in the background."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.gate import Gate
from reverie_server.app.backups.forgotten import forgotten_log_of
from reverie_server.app.databases import archive_of
from reverie_server.app.stores import wire_stores
from reverie_server.browse.episodes import Episodes
from reverie_server.browse.sources import LineSources
from reverie_server.episodes.make import EpisodeMaking, EpisodicRules
from reverie_server.episodes.stage import Episodic, EpisodicDependencies
from reverie_server.extraction.stage import Extraction
from reverie_server.extraction.text import ExtractionRules
from reverie_server.extraction.write import ExtractionDependencies
from reverie_server.facts.asking import Asking, AskingDependencies, AskingRules
from reverie_server.facts.echoes import add_echoes_of_episode
from reverie_server.facts.erase import forget_session
from reverie_server.facts.profile import ProfileOfFacts
from reverie_server.facts.reading import ReadFacts
from reverie_server.facts.stage import Facts, FactsDependencies
from reverie_server.facts.store import FactSlice
from reverie_server.facts.upkeep import defer_facts
from reverie_server.graph.dedup import Dedup, DedupDependencies, DedupRules
from reverie_server.graph.search import GraphRules, GraphSearch
from reverie_server.graph.stage import Semantic, SemanticDependencies, SemanticRules
from reverie_server.graph.upkeep import GraphUpkeep
from reverie_server.graph.view import GraphView
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.jobs.defer import Delays
from reverie_server.jobs.guarded_stage import GuardedStage, Switch
from reverie_server.jobs.guarded_stage import Stage as StageOfSlice
from reverie_server.jobs.health import Health
from reverie_server.jobs.model import Runs, Stage
from reverie_server.jobs.queue import BACKUP_QUEUE, JobRules, Queue
from reverie_server.jobs.runner import StageRunner
from reverie_server.jobs.schedule import Cron, NightlyDefaults
from reverie_server.jobs.scheduled_backups import BackupHealth, ScheduledBackups
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.compaction import Compaction
from reverie_server.long_term.guard import GuardRules
from reverie_server.long_term.longterm import LongTermMemory
from reverie_server.long_term.stage import MemoryCompaction, Rewriting, RewritingDependencies
from reverie_server.nights.card_entries import CardEntries
from reverie_server.nights.digest import MorningCards
from reverie_server.nights.dreaming.stage import Dreaming, DreamingDependencies, DreamingRules
from reverie_server.nights.emergence.candidates import Rules as CandidateRules
from reverie_server.nights.emergence.stage import Emergence, EmergenceDependencies, EmergenceRules
from reverie_server.nights.reports import Reports
from reverie_server.nights.soul.due import count_writes
from reverie_server.nights.soul.stage import SoulDependencies, SoulEvolution, SoulRules
from reverie_server.prompt.turn_erase import forget_turns_of_session
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.runtime import Consolidation, KnowledgeGraph
from reverie_server.search.asked.near_statements import NearStatements
from reverie_server.search.search import Search
from reverie_server.sessions.sessions import Sessions
from reverie_server.settings.server import Settings
from reverie_server.text.tokens import CountTokens

if TYPE_CHECKING:
    from reverie_server.jobs.worker import Worker


def delays_of(settings: Settings) -> Delays:
    """How long after its cause each debounced stage runs."""
    return Delays(
        settings.extraction_cooldown_seconds, settings.dreaming_debounce_seconds, settings.facts_debounce_seconds
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageDependencies:
    """The parts that all stages are wired over. `now` gives the time, with its zone: a year can be simulated."""

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
    read_facts: ReadFacts = read_facts


def wire_consolidation(system: StageDependencies) -> Consolidation:
    """The stages over a running system, the queue and schedule of their jobs, and what shows what came of them."""
    settings, database, now = system.settings, system.database, system.now
    episode_making = _episode_making(system)
    compaction = _compaction(system)
    emergence = _emergence(system)

    def guarded(stage: StageOfSlice, switch: Switch, *, by_hand_anyway: bool = False) -> GuardedStage:
        return GuardedStage(system.gate, stage, switch, by_hand_anyway=by_hand_anyway)

    stages: dict[Stage, Runs] = {
        "facts": guarded(_facts(system), "consolidation_enabled"),
        "episodic": guarded(_episodic(system, episode_making), "consolidation_enabled"),
        "extraction": guarded(_extraction(system), "auto_summarize_enabled", by_hand_anyway=True),
        "semantic": guarded(_semantic(system), "consolidation_enabled"),
        "dedup": guarded(_dedup(system), "consolidation_enabled"),
        "dreaming": guarded(_dreaming(system), "consolidation_enabled"),
        "emergence": guarded(emergence, "emergence_enabled"),
        "compaction": guarded(_memory_compaction(system, compaction), "compaction_enabled", by_hand_anyway=True),
        "soul": guarded(_soul(system), "consolidation_enabled"),
    }
    stores = wire_stores(episode_making, delays_of(settings), system.count_tokens, now)
    system.sessions.on_delete = stores.episode_removal.remove_of_session
    system.sessions.on_empty = partial(_forget_session, now)
    system.pipeline.on_change = partial(_follow_change, settings)
    queue = Queue(database, _job_rules(settings))
    return Consolidation(
        delays=delays_of(settings),
        stages=stages,
        queue=queue,
        runner=StageRunner(queue, stages),
        cron=Cron(database, _nightly_defaults(settings), now=now),
        health=Health(database),
        backups=backup_health(settings, database, now),
        emergence=emergence,
        reports=Reports(database, now),
        morning_cards=MorningCards(database, now=now),
        card_entries=CardEntries(database, system.long_term, now=now),
        sources=LineSources(database, now=now),
        compaction=compaction,
        episodes=Episodes(
            database,
            system.pipeline,
            system.search,
            stores.episode_removal,
            has_model=system.llm is not None,
            forgotten_log=system.sessions.forgotten_log,
            now=now,
        ),
        graph=_graph(system),
        stores=stores.forgettable,
    )


def backup_health(
    settings: Settings, database: Database, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> BackupHealth:
    """How the backups of a database stand, dumps and bases."""
    dumps = ScheduledBackups(database, settings.backup_schedule if settings.backup_dir else None, now=now)
    bases = ScheduledBackups(
        database, settings.base_backup_schedule if settings.wal_archive_dir else None, "base", now=now
    )
    return BackupHealth(database, dumps, bases)


async def _forget_session(
    now: Callable[[], datetime], connection: Connection, place: Place, slice_: Slice, session_key: int
) -> None:
    """Forget the facts that a session alone states, and the turns that were made for it."""
    await forget_session(now, connection, place, slice_, session_key)
    await forget_turns_of_session(connection, place.tenant_id, session_key)


async def _follow_change(settings: Settings, connection: Connection, place: Place, changes: Sequence[Change]) -> None:
    """Defer the work after a change of a place, in its transaction: facts are read, and SOUL.md is due at some time."""
    delays = delays_of(settings)
    await defer_facts(delays, connection, place)
    await count_writes(settings.soul_every_writes, delays, connection, place, changes)


def _job_rules(settings: Settings) -> JobRules:
    return JobRules(
        settings.job_max_attempts, settings.job_retry_seconds, settings.job_timeout_seconds, settings.job_max_deaths
    )


def _nightly_defaults(settings: Settings) -> NightlyDefaults:
    return NightlyDefaults(
        time_zone=settings.time_zone,
        memory_enabled=settings.memory_enabled,
        emergence_enabled=settings.emergence_enabled,
        compaction_enabled=settings.compaction_enabled,
        hour=settings.nightly_hour,
        from_chars=settings.memory_compact_from_chars,
    )


def _episode_making(system: StageDependencies) -> EpisodeMaking:
    settings = system.settings
    rules = EpisodicRules(settings.episodic_max_tokens, timeout_seconds=settings.episodic_timeout_seconds)
    return EpisodeMaking(system.llm, system.count_tokens, rules)


def _episodic(system: StageDependencies, making: EpisodeMaking) -> Episodic:
    return Episodic(
        EpisodicDependencies(
            system.database,
            system.pipeline,
            system.tombstones,
            making,
            delays_of(system.settings),
            on_written=partial(_add_echoes, system.now),
            now=system.now,
        )
    )


async def _add_echoes(
    now: Callable[[], datetime], connection: Connection, tenant_id: str, slice_id: int, episode_id: int
) -> None:
    await add_echoes_of_episode(FactSlice(connection, tenant_id, slice_id, now()), episode_id)


def _semantic(system: StageDependencies) -> Semantic:
    settings = system.settings
    rules = SemanticRules(settings.semantic_min_confidence, timeout_seconds=settings.llm_timeout_seconds)
    dependencies = SemanticDependencies(
        system.database, system.tombstones, system.llm, delays_of(system.settings), rules, now=system.now
    )
    return Semantic(dependencies)


def _dedup(system: StageDependencies) -> Dedup:
    settings = system.settings
    rules = DedupRules(
        settings.dedup_merge_cosine, settings.dedup_merge_names, settings.dedup_candidate_cosine, settings.dedup_nearest
    )
    return Dedup(DedupDependencies(system.database, system.models, rules, now=system.now))


def _graph(system: StageDependencies) -> KnowledgeGraph:
    rules = GraphRules(system.settings.graph_max_rows, system.settings.graph_timeout_seconds)
    return KnowledgeGraph(
        search=GraphSearch(system.database, system.models, rules, now=system.now),
        view=GraphView(system.database),
        upkeep=GraphUpkeep(system.database, now=system.now),
    )


def _extraction(system: StageDependencies) -> Extraction:
    settings = system.settings
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
    dependencies = ExtractionDependencies(
        database=system.database,
        pipeline=system.pipeline,
        tombstones=system.tombstones,
        models=system.models,
        near_statements=NearStatements(system.database, system.search, system.now),
        model=system.llm,
        count=system.count_tokens,
        rules=rules,
        cooldown_seconds=settings.extraction_cooldown_seconds,
        first=lambda grant, place: system.sessions.before_extraction(grant, place),
        now=system.now,
    )
    return Extraction(dependencies)


def _facts(system: StageDependencies) -> Facts:
    asking = Asking(
        AskingDependencies(
            database=system.database,
            pipeline=system.pipeline,
            tombstones=system.tombstones,
            model=system.llm,
            read_facts=system.read_facts,
            rules=AskingRules(timeout_seconds=system.settings.llm_timeout_seconds),
            now=system.now,
        )
    )
    profile = ProfileOfFacts(system.database, system.pipeline, system.tombstones, now=system.now)
    needs = FactsDependencies(system.database, system.pipeline, system.read_facts, asking, profile, now=system.now)
    return Facts(needs)


def _compaction(system: StageDependencies) -> Compaction:
    dependencies = RewritingDependencies(
        database=system.database,
        tombstones=system.tombstones,
        model=system.llm,
        count=system.count_tokens,
        max_chars=system.settings.memory_max_chars,
        max_loss=system.settings.memory_max_loss,
        timeout_seconds=system.settings.memory_compact_timeout_seconds,
        now=system.now,
    )
    propose = Rewriting(dependencies).propose
    return Compaction(
        system.database,
        system.pipeline,
        system.long_term,
        propose=propose,
        kept_backups=system.settings.memory_backups_kept,
        now=system.now,
    )


def _dreaming(system: StageDependencies) -> Dreaming:
    settings = system.settings
    rules = DreamingRules(
        min_episodes=settings.dreaming_min_episodes,
        max_episodes=settings.dreaming_max_episodes,
        max_tokens=settings.dreaming_max_tokens,
        timeout_seconds=settings.emergence_timeout_seconds,
        diary_max_chars=settings.dreams_max_chars,
        nightly_hour=settings.nightly_hour,
    )
    dependencies = DreamingDependencies(
        system.database, system.pipeline, system.tombstones, system.llm, system.count_tokens
    )
    return Dreaming(dependencies, rules, now=system.now)


def _emergence(system: StageDependencies) -> Emergence:
    settings = system.settings
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
        fact_half_life_days=settings.fact_half_life_days,
    )
    dependencies = EmergenceDependencies(
        system.database, system.pipeline, system.search, system.models, system.tombstones, system.llm
    )
    return Emergence(dependencies, rules, now=system.now)


def _soul(system: StageDependencies) -> SoulEvolution:
    settings = system.settings
    rules = SoulRules(settings.soul_min_chars, settings.soul_max_words, settings.emergence_timeout_seconds)
    dependencies = SoulDependencies(system.database, system.pipeline, system.tombstones, system.llm)
    return SoulEvolution(dependencies, rules, now=system.now)


def _memory_compaction(system: StageDependencies, compaction: Compaction) -> MemoryCompaction:
    from_chars = system.settings.memory_compact_from_chars
    return MemoryCompaction(system.database, system.long_term, compaction, from_chars=from_chars)


def wire_worker(
    settings: Settings,
    database: Database,
    consolidation: Consolidation,
    start_quarantine: Callable[[], None] | None = None,
) -> Worker:
    """A worker over a running system. Slow to import, and of no use to most commands."""
    from reverie_server.app.backups.base_backup import BasePlan, take_base
    from reverie_server.app.backups.scheduled_backup import BackupPlan, make_backup, make_when_due
    from reverie_server.jobs.worker import Periodic, Worker, WorkerRules

    async def prune() -> None:
        await consolidation.queue.prune(settings.job_keep_days)
        await consolidation.episodes.prune(datetime.now(UTC))

    async def begin_nightly() -> None:
        await consolidation.cron.defer_nightly()

    # A day has 24 hours: an interval of them all is once a day.
    prune_at = f"0 */{settings.prune_interval_hours} * * *" if settings.prune_interval_hours < 24 else "0 0 * * *"
    periodic = [Periodic("prune", prune_at, prune), Periodic("nightly", "*/5 * * * *", begin_nightly)]
    if settings.backup_dir is not None:
        plan = BackupPlan(settings.backup_dir, settings.backup_keep, forgotten_log_of(settings))
        back_up = partial(make_when_due, consolidation.backups.dumps, partial(make_backup, plan, database.conninfo))
        periodic.append(Periodic("backup", "*/5 * * * *", back_up, BACKUP_QUEUE))
    if (archive := archive_of(settings)) is not None:
        bases = BasePlan(archive, settings.base_backup_keep, forgotten_log_of(settings))
        take = partial(make_when_due, consolidation.backups.bases, partial(take_base, bases, database.conninfo))
        periodic.append(Periodic("base_backup", "*/5 * * * *", take, BACKUP_QUEUE))
    rules = WorkerRules(settings.worker_concurrency, settings.worker_poll_seconds)
    return Worker(database, consolidation.queue, consolidation.runner, periodic, rules, start_quarantine)
