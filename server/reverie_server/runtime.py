"""The running system as `app/wiring.py` builds it, for HTTP, MCP, the tools and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.agents import Agents
from reverie_server.access.audit import Audit
from reverie_server.access.browser_sessions import BrowserSessions
from reverie_server.access.gate import Gate
from reverie_server.access.keys import Keys
from reverie_server.browse.conversations import Conversations
from reverie_server.browse.episodes import Episodes
from reverie_server.browse.events import Events
from reverie_server.browse.expand import Expansion
from reverie_server.browse.people import People
from reverie_server.browse.sources import LineSources
from reverie_server.browse.summary import Summaries
from reverie_server.browse.timeline import Timeline
from reverie_server.browse.turns import StoredTurns
from reverie_server.facts.changes import FactChanges
from reverie_server.facts.upkeep import FactUpkeep
from reverie_server.facts.view import FactView
from reverie_server.facts.votes import FactVotes
from reverie_server.files.files import Workspace
from reverie_server.files.keyword_search import KeywordSearch
from reverie_server.files.snapshots import Snapshots
from reverie_server.forgettable import Forgettable
from reverie_server.forgetting.clear import Clearing
from reverie_server.forgetting.forget import Forgetting
from reverie_server.forgetting.owners import Owners
from reverie_server.forgetting.receipts import Receipts
from reverie_server.forgetting.unmet import UnmetRequests
from reverie_server.graph.search import GraphSearch
from reverie_server.graph.upkeep import GraphUpkeep
from reverie_server.graph.view import GraphView
from reverie_server.inject.inject import Injector
from reverie_server.jobs.defer import Delays
from reverie_server.jobs.health import Health
from reverie_server.jobs.model import Runs, Stage
from reverie_server.jobs.queue import Queue
from reverie_server.jobs.runner import StageRunner
from reverie_server.jobs.schedule import Cron
from reverie_server.jobs.scheduled_backups import BackupHealth
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.compaction import Compaction
from reverie_server.long_term.longterm import LongTermMemory
from reverie_server.nights.card_entries import CardEntries
from reverie_server.nights.digest import MorningCards
from reverie_server.nights.emergence.stage import Emergence
from reverie_server.nights.reports import Reports
from reverie_server.prompt.compaction_tasks import SessionCompactions
from reverie_server.prompt.session_compaction import SessionCompaction
from reverie_server.prompt.turn import Turns
from reverie_server.prompt.turn_log import TurnLog
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.proxy.proxy import Proxy
from reverie_server.search.calibration.renew import Calibration
from reverie_server.search.hot.cache import HotSlices
from reverie_server.search.memory_search import MemorySearch
from reverie_server.search.recall_log import RecallLog
from reverie_server.search.rerank.reranking import Reranking
from reverie_server.search.search import Search
from reverie_server.sessions.append import Recorder
from reverie_server.sessions.sessions import Sessions
from reverie_server.settings.server import Settings
from reverie_server.text.tokens import CountTokens


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeGraph:
    """The use cases of the knowledge graph: search, reading, and changes by people."""

    search: GraphSearch
    view: GraphView
    upkeep: GraphUpkeep


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """The background work: its queue and stages, and the use cases that read and control it."""

    delays: Delays
    stages: Mapping[Stage, Runs]
    queue: Queue
    runner: StageRunner
    cron: Cron
    health: Health
    backups: BackupHealth
    episodes: Episodes
    graph: KnowledgeGraph
    stores: Sequence[Forgettable]
    emergence: Emergence
    reports: Reports
    morning_cards: MorningCards
    card_entries: CardEntries
    sources: LineSources
    compaction: Compaction


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The facts: how they are read, voted on, and changed."""

    view: FactView
    votes: FactVotes
    changes: FactChanges
    upkeep: FactUpkeep


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """All parts of the running system."""

    settings: Settings
    database: Database
    models: ModelSlot
    pipeline: Pipeline
    search: Search
    hot_slices: HotSlices
    calibration: Calibration
    reranking: Reranking | None  # None: no reranker is configured
    memory_search: MemorySearch
    expansion: Expansion
    workspace: Workspace
    long_term: LongTermMemory
    keywords: KeywordSearch
    compaction: Compaction
    snapshots: Snapshots
    tombstones: Tombstones
    forgetting: Forgetting
    receipts: Receipts
    unmet_requests: UnmetRequests
    clearing: Clearing
    keys: Keys
    browser_sessions: BrowserSessions
    audit: Audit
    gate: Gate
    agents: Agents
    owners: Owners
    llm: LanguageModel | None  # None: no provider is configured, and all stages work without a model
    count_tokens: CountTokens
    recalls: RecallLog
    injector: Injector
    recorder: Recorder
    sessions: Sessions
    conversations: Conversations
    people: People
    summaries: Summaries
    turns: Turns
    turn_log: TurnLog
    stored_turns: StoredTurns
    events: Events
    timeline: Timeline
    session_compaction: SessionCompaction
    compactions: SessionCompactions
    proxy: Proxy | None  # None without a language model
    consolidation: Consolidation
    facts: KnownFacts
