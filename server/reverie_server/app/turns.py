"""The part of the composition root that wires what a turn needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from reverie_indexer.database.database import Database
from reverie_indexer.errors import SetupError
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.gate import Gate
from reverie_server.inject.inject import Injector
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.endpoint import Endpoint, EndpointConfig
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
from reverie_server.text.tokens import CountTokens, estimate_tokens, load_tokenizer


def language_model(settings: Settings, database: Database) -> LanguageModel | None:
    """The configured language model, which is not called here; None where none is configured.

    Raises SetupError where only half of it is configured.
    """
    if settings.llm_base_url is None and settings.llm_model is None:
        return None
    if settings.llm_base_url is None or settings.llm_model is None:
        raise SetupError("a language model needs both REVERIE_LLM_BASE_URL and REVERIE_LLM_MODEL")
    config = EndpointConfig(
        base_url=settings.llm_base_url,
        model=settings.llm_model,
        api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else None,
        timeout_seconds=settings.llm_timeout_seconds,
        max_retries=settings.llm_max_retries,
        max_response_bytes=settings.llm_max_response_bytes,
        breaker_failures=settings.llm_breaker_failures,
        breaker_pause_seconds=settings.llm_breaker_pause_seconds,
    )
    return LanguageModel(Endpoint(config), CallBudget(database, settings.llm_calls_per_day))


def token_counter(settings: Settings) -> CountTokens:
    """How tokens are counted: by the configured tokenizer, else estimated. Raises SetupError for another file."""
    return load_tokenizer(settings.llm_tokenizer_file) if settings.llm_tokenizer_file else estimate_tokens


@dataclass(frozen=True, slots=True)
class TurnDependencies:
    """What turns are wired over."""

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
    """What makes prompts, answers with them, and compacts sessions."""

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
        ConversationDependencies(
            system.sessions, compactions, summaries, window_summaries, MorningCards(system.database, now=now)
        ),
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
