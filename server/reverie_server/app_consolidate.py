"""The part of the composition root that wires what works in the background."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reverie_indexer.db import Database
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.settings import Settings
from reverie_indexer.slot import ModelSlot
from reverie_server.access.gate import Gate
from reverie_server.consolidate.jobs import Delays
from reverie_server.consolidate.model import Runs, Stage
from reverie_server.llm.provider import LanguageModel
from reverie_server.recall.search import Search
from reverie_server.recall.tokens import CountTokens
from reverie_server.turns.sessions import Sessions
from reverie_server.workspace.longterm import LongTermMemory
from reverie_server.workspace.tombstones import Tombstones


def delays_of(settings: Settings) -> Delays:
    """How long after its cause each debounced stage runs."""
    return Delays(settings.extraction_cooldown_seconds, settings.dreaming_debounce_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenStages:
    """What the stages are wired over."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """What works in the background, and what is asked of it."""

    delays: Delays
    stages: Mapping[Stage, Runs]


def wire_consolidation(given: GivenStages) -> Consolidation:
    """The stages over a running system."""
    return Consolidation(delays=delays_of(given.settings), stages={})
