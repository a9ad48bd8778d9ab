"""Auto-injection: search memory for a turn's message and make the memory section of its prompt."""

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
from reverie_server.files.well_known import INSTRUCTIONS
from reverie_server.heuristics.past import asks_about_past
from reverie_server.heuristics.small_talk import is_small_talk
from reverie_server.inject.query_expansion import salient_sentences, shortened, with_recent_messages
from reverie_server.inject.section import Entry, FoundMemory, PromptContents, fit, notice_of, section, select
from reverie_server.search.derived_files import only_repeats
from reverie_server.search.episode_passages import episode_text
from reverie_server.search.recall_log import RecallLog
from reverie_server.search.relevance import log_odds
from reverie_server.search.request import SearchResult, request_for, rules_for
from reverie_server.search.search import Search
from reverie_server.search.superseded_text import current_text
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.fences import strip_injected
from reverie_server.text.spans import span
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
Skipped = Literal["trivial", "disabled", "no_match", "budget"]
OUTCOMES = ("injected", "trivial", "disabled", "no_match", "budget", "failed")
# The results of each search. Memories that the prompt has already are among them.
MAX_RESULTS = 20
# How many of what was found and not injected are told of.
_NEAR = 10
_BEGUN_CHARS = 1_000
# Which of what is relevant enough enters first, in log-odds: by the meaning of a passage and its neighbours, and by how
# much of the message they cover; what an assistant said comes after what people did (docs/measurements.md).
_MEANING, _COVERAGE, _OF_ASSISTANT = 15.0, 2.0, 3.0
_SURE = 1e-6
# What is so much less relevant than the best, in log-odds, is there for what all personal talk has in common: of 188
# turns of scripted lives one lost what it needs, and of five injected lines one was saved.
_FARTHEST = 4.0
_NOTICE_FILE = "prompts/sections/memory_context.md"


@dataclass(frozen=True, slots=True)
class InjectRequest:
    """A message of the user's, and the contents of the prompt besides it.

    `recent_user_messages` are in their order. Not injected again: a memory that a text of `prompt_texts` contains, one
    that `in_prompt` names by id or path, and an episode of messages in the prompt. `in_session` names these: a
    session's id and the number of its first message in the prompt. `max_tokens` and `threshold` None: the agent's
    settings.
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
    """A memory in the section, with its text on one line as the section has it; `score` is its relevance, 0..1, and
    `search_score` the score of the search, 0..1.2."""

    id: str
    tier: Tier
    text: str
    score: float
    date: date
    source: str
    search_score: float


@dataclass(frozen=True, slots=True)
class NearMemory:
    """A memory that was found and not injected: of too little relevance (`below`), in the prompt already (`known`), or
    too long for what was left of the section (`budget`)."""

    chunk_id: int
    score: float
    relevance: float
    why: Literal["below", "known", "budget"]


@dataclass(frozen=True, slots=True)
class Injection:
    """The memory section for the prompt; it is "" when nothing is injected, and `skipped` says why.

    `match_count` is the number of memories that were relevant enough and not in the prompt yet. `top_score` is the
    highest relevance of any memory found, injected or not. `tokens` is the size of the section. `near` are the best of
    what was found and not injected.
    """

    section: str
    injected: int
    match_count: int
    top_score: float
    tokens: int
    skipped: Skipped | None
    memories: Sequence[InjectedMemory]
    warnings: Sequence[str]
    near: Sequence[NearMemory] = ()


@dataclass(frozen=True, slots=True)
class _Queries:
    """The queries of a message: itself, by itself and by the vector of `with_recent`, and its salient sentences.

    `with_recent` is the message after the messages before it; None where it is understood by itself.
    """

    message: str
    with_recent: str | None
    sentences: Sequence[str]


@dataclass(frozen=True, slots=True)
class _FoundResults:
    """The results of all queries, each passage once, and the warnings of the searches."""

    results: Sequence[SearchResult]
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Selection:
    """The memories that are relevant enough and new to the prompt, and those of them that fit into the section."""

    matches: Sequence[Entry]
    fitting: Sequence[Entry]
    near: Sequence[NearMemory] = ()


def no_injection(
    skipped: Skipped,
    *,
    top_score: float = 0.0,
    match_count: int = 0,
    warnings: Iterable[str] = (),
    near: Sequence[NearMemory] = (),
) -> Injection:
    """An injection without a section, and the reason."""
    return Injection("", 0, match_count, top_score, 0, skipped, (), tuple(warnings), near)


class Injector:
    """Looks for memory before each turn. `outcomes` counts the injections by outcome, which is one of OUTCOMES."""

    def __init__(self, search: Search, count: CountTokens, recall_log: RecallLog) -> None:
        self._search = search
        self._count = count
        self._recall_log = recall_log
        # The files that every agent starts with say nothing of anybody.
        self._seeds = tuple(seed_files().values())
        self.outcomes: Counter[str] = Counter()

    def begin(self, grant: Grant, message: str) -> None:
        """Begin to embed a message that memory is searched for soon. A long one is not looked through for it here."""
        if grant.settings.auto_inject_enabled and len(message) <= _BEGUN_CHARS:
            query = shortened(strip_injected(message))
            if not is_small_talk(query, grant.settings.language):
                self._search.begin(query, role="message")

    async def inject(self, grant: Grant, request: InjectRequest) -> Injection:
        """The memory section for a message.

        A failing model or database is no error: the section is empty and a warning says why. NotFound for an agent that
        is gone.
        """
        with span("inject"):
            try:
                injection = await self._inject(grant, request)
            except NotFound:
                raise
            except ReverieError as error:
                log.warning("injection_failed", code=error.code, detail=error.detail)
                failed = no_injection("no_match", warnings=[f"memory could not be searched ({error.code})"])
                return self._counted(grant, "failed", failed)
        return self._counted(grant, injection.skipped or "injected", injection)

    async def _inject(self, grant: Grant, request: InjectRequest) -> Injection:
        settings = grant.settings
        if not settings.auto_inject_enabled:
            return no_injection("disabled")
        # Pasted text may be long: looking through it must not hold up other requests.
        queries = await asyncio.to_thread(_queries, request, settings.language)
        if queries is None:
            return no_injection("trivial")
        found = await self._search_all(grant, queries)
        top_score = max((result.relevance for result in found.results), default=0.0)
        selection = await asyncio.to_thread(self._select, settings, request, found.results)
        match_count, warnings = len(selection.matches), found.warnings
        if not selection.matches:
            return no_injection("no_match", top_score=top_score, warnings=warnings, near=selection.near)
        if not selection.fitting:
            return no_injection(
                "budget", top_score=top_score, match_count=match_count, warnings=warnings, near=selection.near
            )
        relevances = [(entry.memory.chunk_id, entry.memory.relevance) for entry in selection.fitting]
        self._recall_log.note(grant.principal.tenant_id, queries.message, relevances, "inject")
        text = section(selection.fitting, memory_notice())
        return Injection(
            section=text,
            injected=len(selection.fitting),
            match_count=match_count,
            top_score=top_score,
            tokens=self._count(text),
            skipped=None,
            memories=[_injected_memory(entry) for entry in selection.fitting],
            warnings=tuple(warnings),
            near=selection.near,
        )

    async def _search_all(self, grant: Grant, queries: _Queries) -> _FoundResults:
        """The results of all queries, each passage with its highest relevance; in the order in which they came."""
        asked: list[tuple[str, str | None]] = [(queries.message, None)]
        if queries.with_recent is not None:
            asked.append((queries.message, queries.with_recent))
        asked += [(sentence, None) for sentence in queries.sentences]
        requests = [
            request_for(grant, query, max_results=MAX_RESULTS, vector_query=vector_query, is_unasked=True)
            for query, vector_query in asked
        ]
        outcomes = await self._search.search_together(requests, rules_for(grant, self._search.rules))
        if queries.with_recent is not None and outcomes[0].mode == "text":
            # By words it is the same search.
            del outcomes[1]
        best: dict[int, SearchResult] = {}
        for result in (result for outcome in outcomes for result in outcome.results):
            known = best.get(result.chunk_id)
            if known is None or result.relevance > known.relevance:
                best[result.chunk_id] = result
        warnings = dict.fromkeys(warning for outcome in outcomes for warning in outcome.warnings)
        return _FoundResults(list(best.values()), list(warnings))

    def _select(self, settings: AgentSettings, request: InjectRequest, results: Sequence[SearchResult]) -> _Selection:
        threshold = settings.auto_inject_threshold if request.threshold is None else request.threshold
        max_tokens = settings.auto_inject_max_tokens if request.max_tokens is None else request.max_tokens
        texts = [request.message, *request.recent_user_messages, *request.prompt_texts, *self._seeds]
        prompt = PromptContents(texts, frozenset((*request.in_prompt, *INSTRUCTIONS)), request.message)
        # The diary and the archives repeat what others say, or said.
        relevant = [
            result
            for result in results
            if result.relevance >= threshold
            and not only_repeats(result.path)
            and not _is_of_session(result, request.in_session)
        ]
        if threshold > 0:
            least = max((_sure(result) for result in relevant), default=0.0) - _FARTHEST
            relevant = [result for result in relevant if _sure(result) >= least]
        marked = asks_about_past(request.message)
        memories = [_found_memory(result, settings, marked=marked) for result in relevant]
        matches = select(memories, threshold, prompt)
        fitting = fit(matches, memory_notice(), max_tokens, self._count)
        return _Selection(matches, fitting, _near(results, matches, fitting, threshold))

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


def _queries(request: InjectRequest, language: str) -> _Queries | None:
    """The queries of a message, from which injected memory is stripped; None for a trivial message."""
    message = shortened(strip_injected(request.message))
    if is_small_talk(message, language):
        return None
    recent = [strip_injected(text) for text in request.recent_user_messages]
    return _Queries(message, with_recent_messages(message, recent, language), salient_sentences(message, language))


def memory_notice() -> str:
    """What a section says of the memories below it."""
    return notice_of(read_resource(_NOTICE_FILE))


def _found_memory(result: SearchResult, settings: AgentSettings, *, marked: bool) -> FoundMemory:
    """The memory of a result, without what does not hold any more, or with it `marked`.

    Where nothing but small talk stood beside that, the text is "".
    """
    whole = result.text if result.episode is None else episode_text(result.text, result.episode.abstract)
    text = current_text(whole, result.superseded, marked=marked)
    holding = [statement for fact in result.superseded.values() for statement in fact.holding]
    if not marked and text != whole and not holding and is_small_talk(text, settings.language):
        text = ""
    return FoundMemory(
        chunk_id=result.chunk_id,
        tier=result.tier,
        path=result.path,
        day=_day(result.path, result.tier, result.updated_at, settings.time_zone),
        text=text,
        headings=result.headings,
        score=result.score,
        relevance=result.relevance,
        precedence=_precedence(result),
    )


def _precedence(result: SearchResult) -> float:
    """In which order a memory enters the section: by how sure it helps, what stands around it, and who said it."""
    around = _MEANING * result.vector_evidence + _COVERAGE * result.coverage
    return _sure(result) + around - _OF_ASSISTANT * result.of_assistant


def _sure(result: SearchResult) -> float:
    """How sure a result helps, in log-odds."""
    return log_odds(min(max(result.relevance, _SURE), 1 - _SURE))


def _near(
    results: Sequence[SearchResult], matches: Sequence[Entry], fitting: Sequence[Entry], threshold: float
) -> list[NearMemory]:
    """The best of the results that are not in the section, each with the reason."""
    matching, injected = ({entry.memory.chunk_id for entry in entries} for entries in (matches, fitting))
    left = [result for result in results if result.chunk_id not in injected]
    left.sort(key=lambda result: (-result.relevance, -result.chunk_id))

    def why(result: SearchResult) -> Literal["below", "known", "budget"]:
        if result.chunk_id in matching:
            return "budget"
        return "below" if result.relevance < threshold else "known"

    return [NearMemory(result.chunk_id, result.score, result.relevance, why(result)) for result in left[:_NEAR]]


def _is_of_session(result: SearchResult, in_session: tuple[str, int] | None) -> bool:
    """Whether a passage belongs to an episode whose messages are all in the prompt."""
    if result.episode is None or in_session is None:
        return False
    session_id, first_seq = in_session
    return result.episode.session_id == session_id and result.episode.from_seq >= first_seq


def _day(path: str, tier: Tier, at: datetime, time_zone: str) -> date:
    """The day of a daily note; of any other passage the day of `at` in the agent's time zone."""
    note_day = note_date(path) if tier == "document" else None
    return note_day if note_day is not None else at.astimezone(ZoneInfo(time_zone)).date()


def _injected_memory(entry: Entry) -> InjectedMemory:
    memory = entry.memory
    return InjectedMemory(
        str(memory.chunk_id), memory.tier, entry.text, memory.relevance, memory.day, memory.path, memory.score
    )
