"""The running system: what `app.py` wired, for the skins over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reverie_indexer.db import Database
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.settings import Settings
from reverie_indexer.slot import ModelSlot
from reverie_server.access.audit import Audit
from reverie_server.access.gate import Gate
from reverie_server.access.keys import Keys
from reverie_server.agents.agents import Agents
from reverie_server.consolidate.cron import Cron
from reverie_server.consolidate.emergence import Emergence
from reverie_server.consolidate.episode_catalogue import Episodes
from reverie_server.consolidate.forgetting import DerivedForgetting
from reverie_server.consolidate.graph_search import GraphSearch
from reverie_server.consolidate.graph_upkeep import GraphUpkeep
from reverie_server.consolidate.graph_view import GraphView
from reverie_server.consolidate.health import Health
from reverie_server.consolidate.jobs import Delays
from reverie_server.consolidate.model import Runs, Stage
from reverie_server.consolidate.morning import Morning
from reverie_server.consolidate.queue import Queue
from reverie_server.consolidate.reports import Reports
from reverie_server.consolidate.running import StageRunner
from reverie_server.consolidate.sources import LineSources
from reverie_server.llm.provider import LanguageModel
from reverie_server.recall.expand import Expansion
from reverie_server.recall.inject import Injector
from reverie_server.recall.recalls import Recalls
from reverie_server.recall.search import Search
from reverie_server.recall.tokens import CountTokens
from reverie_server.turns.appending import Recorder
from reverie_server.turns.compaction import SessionCompaction
from reverie_server.turns.compaction_tasks import SessionCompactions
from reverie_server.turns.proxy import Proxy
from reverie_server.turns.sessions import Sessions
from reverie_server.turns.turn import Turns
from reverie_server.workspace.clear import Clearing
from reverie_server.workspace.compaction import Compaction
from reverie_server.workspace.files import Workspace
from reverie_server.workspace.forget import Forgetting
from reverie_server.workspace.keyword import KeywordSearch
from reverie_server.workspace.longterm import LongTermMemory
from reverie_server.workspace.owners import Owners
from reverie_server.workspace.snapshots import Snapshots
from reverie_server.workspace.tombstones import Tombstones


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeGraph:
    """What is asked of the knowledge graph, and changed in it by people."""

    search: GraphSearch
    view: GraphView
    upkeep: GraphUpkeep


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """What works in the background, and what is asked of it."""

    delays: Delays
    stages: Mapping[Stage, Runs]
    queue: Queue
    runner: StageRunner
    cron: Cron
    health: Health
    episodes: Episodes
    graph: KnowledgeGraph
    forgetting: DerivedForgetting
    emergence: Emergence
    reports: Reports
    morning: Morning
    sources: LineSources
    compaction: Compaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Everything that runs."""

    settings: Settings
    database: Database
    models: ModelSlot
    pipeline: Pipeline
    search: Search
    expansion: Expansion
    workspace: Workspace
    long_term: LongTermMemory
    keywords: KeywordSearch
    compaction: Compaction
    snapshots: Snapshots
    tombstones: Tombstones
    forgetting: Forgetting
    clearing: Clearing
    keys: Keys
    audit: Audit
    gate: Gate
    agents: Agents
    owners: Owners
    llm: LanguageModel | None  # None: no provider is configured, and what needs one goes its extractive way
    count_tokens: CountTokens
    recalls: Recalls
    injector: Injector
    recorder: Recorder
    sessions: Sessions
    turns: Turns
    session_compaction: SessionCompaction
    compactions: SessionCompactions
    proxy: Proxy | None  # None without a language model
    consolidation: Consolidation
