"""Auto-injection: what of memory goes into a turn's prompt, looked for before the language model is called."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal
from zoneinfo import ZoneInfo

import structlog

from reverie_indexer.errors import NotFound, ReverieError
from reverie_indexer.file_rules import seed_files
from reverie_indexer.model import Tier
from reverie_indexer.resources import read_resource
from reverie_indexer.text.chunk import note_date
from reverie_server.access.gate import Grant
from reverie_server.access.settings import AgentSettings
from reverie_server.files.well_known import INSTRUCTIONS
from reverie_server.heuristics.small_talk import is_trivial
from reverie_server.inject.query_expansion import RECENT_MESSAGES as RECENT_MESSAGES
from reverie_server.inject.query_expansion import shortened, telling_sentences, with_recent
from reverie_server.inject.section import Candidate, Entry, Held, fit, notice_of, section, select
from reverie_server.search.episode_passages import episode_text
from reverie_server.search.recall_log import RecallLog
from reverie_server.search.request import Outcome, Result, request_for, rules_for
from reverie_server.search.search import Search
from reverie_server.text.fences import strip_injected
from reverie_server.text.spans import span
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
Skipped = Literal["trivial", "disabled", "no_match", "budget"]
OUTCOMES = ("injected", "trivial", "disabled", "no_match", "budget", "failed")
# As many passages as a search looks at; what the prompt holds already is among them.
MAX_RESULTS = 20
_NOTICE_FILE = "prompts/sections/memory_context.md"


@dataclass(frozen=True, slots=True)
class InjectRequest:
    """A message of the user's, and what the prompt holds besides it.

    `recent_user_messages` are in their order. What is contained in a text of `prompt_texts`, or named by id or path in
    `in_prompt`, is not injected again; nor is an episode of messages that the prompt has, which are those of a session
    from a number on (`in_session`). None: as the agent's settings have it.
    """

    message: str
    recent_user_messages: Sequence[str] = ()
    prompt_texts: Sequence[str] = ()
    in_prompt: Sequence[str] = ()
    in_session: tuple[str, int] | None = None
    max_tokens: int | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class InjectedMemory:
    """A memory in the section: its text on one line, as it stands there; `score` is its relevance, 0..1."""

    id: str
    tier: Tier
    text: str
    score: float
    date: date
    source: str


@dataclass(frozen=True, slots=True)
class Injection:
    """What goes into the prompt; `section` is "" when nothing does, and `skipped` says why.

    `match_count` is how many memories were relevant enough and not in the prompt yet, `top_score` the best relevance
    seen, also of what is not injected. `tokens` are those of the section.
    """

    section: str
    injected: int
    match_count: int
    top_score: float
    tokens: int
    skipped: Skipped | None
    memories: Sequence[InjectedMemory]
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Queries:
    """What a message is searched by: itself; with the vector of it and what was said before, if it leans on that; and
    sentences of it."""

    message: str
    with_recent: str | None
    sentences: Sequence[str]


def nothing(
    skipped: Skipped, *, top_score: float = 0.0, match_count: int = 0, warnings: Iterable[str] = ()
) -> Injection:
    """An injection of nothing, and why."""
    return Injection("", 0, match_count, top_score, 0, skipped, (), tuple(warnings))


class Injector:
    """Looks for memory before each turn. `outcomes` counts what came of it, by OUTCOMES."""

    def __init__(self, search: Search, count: CountTokens, recalls: RecallLog) -> None:
        self._search = search
        self._count = count
        self._recalls = recalls
        # What every agent starts with says nothing of anybody.
        self._seeds = tuple(seed_files().values())
        self.outcomes: Counter[str] = Counter()

    async def inject(self, grant: Grant, asked: InjectRequest) -> Injection:
        """What memory has for a message.

        A failing model or database is no error: the section is empty, and a warning says why. NotFound for an agent
        that is gone.
        """
        with span("inject"):
            try:
                injection = await self._inject(grant, asked)
            except NotFound:
                raise
            except ReverieError as error:
                log.warning("injection_failed", code=error.code, detail=error.detail)
                failed = nothing("no_match", warnings=[f"memory could not be searched ({error.code})"])
                return self._counted(grant, "failed", failed)
        return self._counted(grant, injection.skipped or "injected", injection)

    async def _inject(self, grant: Grant, asked: InjectRequest) -> Injection:
        settings = grant.settings
        if not settings.auto_inject_enabled:
            return nothing("disabled")
        # Pasted text may be long: looking through it must not hold up other requests.
        queries = await asyncio.to_thread(_queries, asked, settings.language)
        if queries is None:
            return nothing("trivial")
        results, warnings = await self._found(grant, queries)
        top_score = max((result.relevance for result in results), default=0.0)
        entries, taken = await asyncio.to_thread(self._taken, settings, asked, results)
        if not entries:
            return nothing("no_match", top_score=top_score, warnings=warnings)
        if not taken:
            return nothing("budget", top_score=top_score, match_count=len(entries), warnings=warnings)
        shown = [(entry.candidate.chunk_id, entry.candidate.relevance) for entry in taken]
        self._recalls.note(grant.principal.tenant_id, queries.message, shown, "inject")
        text = section(taken, _notice())
        return Injection(
            section=text,
            injected=len(taken),
            match_count=len(entries),
            top_score=top_score,
            tokens=self._count(text),
            skipped=None,
            memories=[_memory(entry) for entry in taken],
            warnings=tuple(warnings),
        )

    async def _found(self, grant: Grant, queries: _Queries) -> tuple[list[Result], list[str]]:
        """What the queries find, each passage where it is the most relevant; and what went wrong."""
        best: dict[int, Result] = {}
        warnings: dict[str, None] = {}
        rules = rules_for(grant, self._search.rules)

        async def look_for(query: str, vector_query: str | None = None) -> Outcome:
            request = request_for(grant, query, max_results=MAX_RESULTS, vector_query=vector_query)
            outcome = await self._search.search(request, rules)
            warnings.update(dict.fromkeys(outcome.warnings))
            for result in outcome.results:
                known = best.get(result.chunk_id)
                if known is None or result.relevance > known.relevance:
                    best[result.chunk_id] = result
            return outcome

        # One after the other: a turn takes one connection at a time.
        first = await look_for(queries.message)
        if queries.with_recent is not None and first.mode != "text":
            await look_for(queries.message, queries.with_recent)
        for sentence in queries.sentences:
            await look_for(sentence)
        return list(best.values()), list(warnings)

    def _taken(
        self, settings: AgentSettings, asked: InjectRequest, results: Sequence[Result]
    ) -> tuple[list[Entry], list[Entry]]:
        """What is relevant enough and new to the prompt, and what of it fits."""
        threshold = settings.auto_inject_threshold if asked.threshold is None else asked.threshold
        max_tokens = settings.auto_inject_max_tokens if asked.max_tokens is None else asked.max_tokens
        texts = [asked.message, *asked.recent_user_messages, *asked.prompt_texts, *self._seeds]
        held = Held(texts, frozenset((*asked.in_prompt, *INSTRUCTIONS)))
        new = [result for result in results if not _is_of_session(result, asked.in_session)]
        entries = select([_candidate(result, settings.time_zone) for result in new], threshold, held)
        return entries, fit(entries, _notice(), max_tokens, self._count)

    def _counted(self, grant: Grant, outcome: str, injection: Injection) -> Injection:
        self.outcomes[outcome] += 1
        log.info(
            "injection",
            tenant=grant.principal.tenant_id,
            agent=grant.principal.agent_id,
            outcome=outcome,
            injected=injection.injected,
            match_count=injection.match_count,
            top_score=round(injection.top_score, 3),
            tokens=injection.tokens,
        )
        return injection


def _queries(asked: InjectRequest, language: str) -> _Queries | None:
    """What to search by; None for a trivial message. What memory had put into it is not searched for."""
    message = shortened(strip_injected(asked.message))
    if is_trivial(message, language):
        return None
    recent = [strip_injected(text) for text in asked.recent_user_messages]
    return _Queries(message, with_recent(message, recent, language), telling_sentences(message, language))


def _notice() -> str:
    return notice_of(read_resource(_NOTICE_FILE))


def _candidate(result: Result, time_zone: str) -> Candidate:
    return Candidate(
        chunk_id=result.chunk_id,
        tier=result.tier,
        path=result.path,
        day=_day(result.path, result.tier, result.updated_at, time_zone),
        text=result.text if result.episode is None else episode_text(result.text, result.episode.abstract),
        relevance=result.relevance,
        score=result.score,
    )


def _is_of_session(result: Result, in_session: tuple[str, int] | None) -> bool:
    """Whether a passage is of an episode whose messages are all in the prompt."""
    if result.episode is None or in_session is None:
        return False
    session_id, first = in_session
    return result.episode.session_id == session_id and result.episode.from_seq >= first


def _day(path: str, tier: Tier, at: datetime, time_zone: str) -> date:
    """The day of a daily note; else the one on which a file was written or a message said, where the agent is."""
    of_note = note_date(path) if tier == "document" else None
    return of_note if of_note is not None else at.astimezone(ZoneInfo(time_zone)).date()


def _memory(entry: Entry) -> InjectedMemory:
    found = entry.candidate
    return InjectedMemory(str(found.chunk_id), found.tier, entry.text, found.relevance, found.day, found.path)
