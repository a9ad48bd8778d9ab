"""The part of the composition root that wires what a turn needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from reverie_indexer.database.database import Database
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.gate import Gate
from reverie_server.inject.inject import Injector
from reverie_server.llm.provider import LanguageModel
from reverie_server.nights.digest import MorningCards
from reverie_server.prompt.compaction_tasks import DueRules, SessionCompactions
from reverie_server.prompt.session_compaction import FlushRules, SessionCompaction
from reverie_server.prompt.summary import Summaries
from reverie_server.prompt.turn import ConversationDependencies, TurnRules, Turns
from reverie_server.prompt.turn_log import TurnLog
from reverie_server.prompt.window_summaries import WindowSummaries
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.proxy.proxy import Proxy
from reverie_server.proxy.recording import TurnRecorder
from reverie_server.sessions.sessions import Sessions
from reverie_server.settings.server import Settings
from reverie_server.text.tokens import CountTokens


@dataclass(frozen=True, slots=True)
class TurnDependencies:
    """The parts that turns are wired over."""

    database: Database
    gate: Gate
    pipeline: Pipeline
    tombstones: Tombstones
    sessions: Sessions
    injector: Injector
    llm: LanguageModel | None
    count_tokens: CountTokens


@dataclass(frozen=True, slots=True, kw_only=True)
class WiredTurns:
    """The parts that make prompts, answer with them, and compact sessions."""

    turns: Turns
    turn_log: TurnLog
    session_compaction: SessionCompaction
    compactions: SessionCompactions
    proxy: Proxy | None


def wire_turns(settings: Settings, system: TurnDependencies, now: Callable[[], datetime]) -> WiredTurns:
    """Turns and the compaction of sessions, which every append may set off. `now` gives the time, with its zone."""
    summaries = Summaries(
        system.llm,
        system.count_tokens,
        max_tokens=settings.summary_max_tokens,
        timeout_seconds=settings.summary_timeout_seconds,
    )
    flush_rules = FlushRules(settings.flush_max_rounds, settings.flush_timeout_seconds)
    compaction = SessionCompaction(
        system.pipeline, system.sessions, system.tombstones, system.llm, summaries, flush_rules, now=now
    )
    due_rules = DueRules(
        from_messages=settings.compact_from_messages,
        from_share=settings.compact_from_share,
        window_tokens=settings.context_max_tokens,
        keep_last=settings.compact_keep_last,
    )
    compactions = SessionCompactions(compaction, system.sessions, due_rules)
    system.sessions.after_append = compactions.consider
    window_summaries = WindowSummaries(system.database, keep_seconds=settings.summary_keep_seconds)
    turn_log = TurnLog(system.database, system.tombstones, now=now)
    turns = Turns(
        system.database,
        ConversationDependencies(compactions, summaries, window_summaries, MorningCards(system.database, now=now)),
        system.injector,
        system.count_tokens,
        TurnRules(settings.context_max_tokens, settings.summarise_from_share, settings.compact_wait_seconds),
        turn_log,
        now=now,
    )
    proxy = None
    if system.llm is not None:
        recorder = TurnRecorder(system.database, system.sessions)
        proxy = Proxy(system.gate, turns, recorder, system.llm, system.count_tokens)
    return WiredTurns(
        turns=turns, turn_log=turn_log, session_compaction=compaction, compactions=compactions, proxy=proxy
    )
