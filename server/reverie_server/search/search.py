"""Hybrid search: candidates of two channels from one snapshot, ranked into one list."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import structlog

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.embed.protocol import Role
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_indexer.retry import read_again
from reverie_indexer.text.analyse import analyse_query
from reverie_server.search.calibration.known import UNMEASURED, Measure, Measures
from reverie_server.search.finding import RankedResults, find
from reverie_server.search.hot.answer import OutOfStepError
from reverie_server.search.hot.cache import HotSlices
from reverie_server.search.owner_names import named_in, of_owner
from reverie_server.search.query_vector import query_vector
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.search.request import Mode, SearchOutcome, SearchRequest, SearchResult, SearchRules
from reverie_server.search.rerank.reranking import Reranking
from reverie_server.search.rerank.second_look import second_look, widened
from reverie_server.search.scoring_query import AnalysedRequest
from reverie_server.search.search_times import SearchTimes
from reverie_server.search.store import OpenSlices, QueryVector, namesakes, opened, opening
from reverie_server.text.query import check_query
from reverie_server.text.spans import span

log = structlog.get_logger()
# The vector of a less familiar query says nothing, and would outweigh its words. Scripts lie far to either side.
MIN_FAMILIARITY = 0.5
UNFAMILIAR_SCRIPT = "the embedding model does not know the script of the query: searched by words"
MODEL_MOVED = "the index has moved to another embedding model: restart this server; searched by words"


class _OwnerNamedError(Exception):
    """Queries name their owner by some `names`: they are to be asked as the owner would ask."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names


class Search:
    """Finds passages of the memory that an owner sees with an agent.

    `now` gives the time, by which episodes expire. Slices that `hot` holds are ranked in memory. `reranking` is the
    reranker of the requests that want one. `times` has the times of all searches.
    """

    def __init__(
        self,
        database: Database,
        models: ModelSlot,
        rules: SearchRules,
        *,
        hot: HotSlices | None = None,
        reranking: Reranking | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._models = models
        self.rules = rules
        self._hot = hot
        self._reranking = reranking
        self._now = now
        self._measures = Measures()
        self.times = SearchTimes()

    def begin(self, query: str, mode: Mode = "hybrid", role: Role = "question") -> None:
        """Begin to embed a query that is searched for soon: its embedding is half of what a search takes."""
        if (ready := self._models.ready) is not None and _has_vector(ready, query, mode):
            ready.queries.begin(query, role)

    async def search(self, request: SearchRequest, rules: SearchRules | None = None) -> SearchOutcome:
        """The best passages for a query, best first. `rules` None: the server's own.

        A team member without a relevant result gets what its leader shares. Without an embedding model, or when it
        fails, the search goes by words and a warning says so. Raises ValidationFailed for an empty or overlong query,
        NotFound for an unknown agent.
        """
        return (await self.search_together([request], rules))[0]

    async def search_together(
        self, requests: Sequence[SearchRequest], rules: SearchRules | None = None
    ) -> list[SearchOutcome]:
        """The outcome of each request, as `search` gives it, from one snapshot and one connection.

        The requests differ in what they ask for alone: in `query` and `vector_query`.
        """
        return await read_again(lambda: self._search_together(requests, rules or self.rules))

    async def _search_together(self, requests: Sequence[SearchRequest], rules: SearchRules) -> list[SearchOutcome]:
        with span("search"):
            outcomes = await self._search(requests, rules)
            lacking = [
                number
                for number, (request, outcome) in enumerate(zip(requests, outcomes, strict=True))
                if request.leader_agent_id is not None
                and not any(result.relevance >= MIN_RELEVANCE for result in outcome.results)
            ]
            # What the leader shares; never what is personal there.
            leaders = [_of_leader(requests[number]) for number in lacking]
            for number, shared in zip(lacking, await self._search(leaders, rules) if leaders else (), strict=True):
                if shared.results:
                    outcomes[number] = replace(shared, fallback="leader")
            return outcomes

    async def _search(self, requests: Sequence[SearchRequest], rules: SearchRules) -> list[SearchOutcome]:
        try:
            return await self._search_once(requests, rules)
        except _OwnerNamedError as named:
            asked = [of_owner(request, named.names, rules.language) for request in requests]
            return await self._search_once(asked, rules)

    async def _search_once(self, requests: Sequence[SearchRequest], rules: SearchRules) -> list[SearchOutcome]:
        started = time.perf_counter()
        queries = [check_query(request.query) for request in requests]
        with span("analyse"):
            terms = [analyse_query(query, rules.language) for query in queries]
        with span("embed"):
            vectors = await asyncio.gather(
                *(self._embed(request, query) for request, query in zip(requests, queries, strict=True))
            )
        embedded = time.perf_counter()
        now = self._now()
        analysed = [
            AnalysedRequest(widened(request, self._reranking), rules, query, of_query, vector, now, warnings)
            for request, query, of_query, (vector, warnings) in zip(requests, queries, terms, vectors, strict=True)
        ]
        try:
            ranked = await self._ranked(analysed, self._hot)
        except OutOfStepError:
            ranked = await self._ranked(analysed, None)
        ranked_at = time.perf_counter()
        ranked = [await self._reranked(request, each) for request, each in zip(requests, ranked, strict=True)]
        finished = time.perf_counter()
        scoring_seconds = sum(each.scoring_seconds for each in ranked)
        self.times.add(
            embed=embedded - started, score=scoring_seconds, rerank=finished - ranked_at, total=finished - started
        )
        return [
            SearchOutcome(
                results=each.results,
                mode=_effective_mode(request.mode, each),
                fallback=_fallback(each.results, request.owner_key),
                warnings=each.warnings,
                weights=each.weights,
                terms=of_query,
                personal=each.query.personal,
                has_unknown_name=each.query.has_unknown_name,
                embed_ms=(embedded - started) * 1000,
                database_ms=(ranked_at - embedded - scoring_seconds) * 1000,
                total_ms=(finished - started) * 1000,
            )
            for request, of_query, each in zip(requests, terms, ranked, strict=True)
        ]

    async def _ranked(self, requests: Sequence[AnalysedRequest], hot: HotSlices | None) -> list[RankedResults]:
        """The results of each, from one snapshot. OutOfStepError where `hot` has other ones; it holds them no more."""
        first = requests[0].request
        async with self._database.snapshot(first.tenant_id, opening(first)) as (connection, answers):
            with span("scope"):
                scope = await opened(connection, first, answers, hot=hot)
                await _check_owner_is_not_named(connection, requests, scope.owner_names)
            comparable = [_comparable(each, scope) for each in requests]
            # One model embeds all.
            vector = next((each.vector for each in comparable if each.vector is not None), None)
            measure = await self._measures.of(connection, first.tenant_id, scope.slices, vector)
            try:
                return await find(connection, [_judged_by(measure, each) for each in comparable], scope)
            except OutOfStepError:
                log.error("held_slice_out_of_step", tenant=first.tenant_id, agent=first.agent_id)
                if hot is not None:
                    hot.drop(first.tenant_id, [slice_.slice_id for slice_ in scope.slices])
                raise

    async def _reranked(self, request: SearchRequest, ranked: RankedResults) -> RankedResults:
        """The results in the order that the reranker makes of them, where the request wants one."""
        if self._reranking is None or not request.is_reranked or not ranked.results:
            return ranked
        results, warnings = await second_look(self._reranking, self._database, request, ranked.results, ranked.placing)
        return replace(ranked, results=results, warnings=[*ranked.warnings, *warnings])

    async def _embed(self, request: SearchRequest, query: str) -> tuple[QueryVector | None, list[str]]:
        """The vector of a request, and warnings; None, with a warning, where there is none."""
        if request.mode == "text":
            return None, []
        text, ready = request.vector_query or query, self._models.ready
        if ready is None:
            reason = {
                "loading": "the embedding model is still loading",
                "failed": f"the embedding model could not be loaded ({self._models.error})",
                "none": "no embedding model is configured",
            }[self._models.state]
            return None, [f"{reason}: searched by words"]
        try:
            if not _has_vector(ready, text, request.mode):
                return None, [UNFAMILIAR_SCRIPT]
            vector = await query_vector(ready, text, request.embedded_as)
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            return None, [f"the query could not be embedded ({error.detail}): searched by words"]
        return QueryVector(vector, ready.model_id, ready.embedder.identity), []


async def _check_owner_is_not_named(
    connection: Connection, requests: Sequence[AnalysedRequest], names: Sequence[str]
) -> None:
    """Raise _OwnerNamedError where queries name their owner, and nobody else is known by that name."""
    asked = [text for each in requests for text in (each.request.query, each.request.vector_query) if text]
    named = named_in("\n".join(asked), names)
    if not named:
        return
    first, language = requests[0].request, requests[0].rules.language
    others = await namesakes(connection, first, named)
    own = [name for name in names if name not in others]
    if any(of_owner(each.request, own, language) != each.request for each in requests):
        raise _OwnerNamedError(own)


def _has_vector(ready: Ready, text: str, mode: Mode) -> bool:
    """Whether a text is searched for by its vector: not by words alone, nor in a script that the model cannot read."""
    return mode == "vector" or (mode == "hybrid" and ready.embedder.familiarity(text) >= MIN_FAMILIARITY)


def _of_leader(request: SearchRequest) -> SearchRequest:
    """The same request of what an agent's leader shares."""
    assert request.leader_agent_id is not None
    return replace(request, agent_id=request.leader_agent_id, owner_key=None, leader_agent_id=None)


def _comparable(analysed: AnalysedRequest, scope: OpenSlices) -> AnalysedRequest:
    """The request, by words alone where the index has moved to another model."""
    if analysed.vector is None or analysed.vector.model_id == scope.active_model_id:
        return analysed
    return replace(analysed, vector=None, warnings=[*analysed.warnings, MODEL_MOVED])


def _judged_by(measure: Measure, analysed: AnalysedRequest) -> AnalysedRequest:
    """The request with what its passages are judged by, which is for those that have a vector."""
    return replace(analysed, measure=UNMEASURED if analysed.vector is None else measure)


def _effective_mode(requested: Mode, ranked: RankedResults) -> Mode:
    """`text` without an embedding; `vector` when requested, or where no word of the query occurs; else `hybrid`."""
    if not ranked.has_vector:
        return "text"
    return "hybrid" if ranked.has_text and requested == "hybrid" else "vector"


def _fallback(results: Sequence[SearchResult], owner_key: str | None) -> Literal["global"] | None:
    """`global` when an owner searches and no relevant result is the owner's; None without results."""
    if owner_key is None or not results:
        return None
    has_personal = any(r.owner_key == owner_key and r.relevance >= MIN_RELEVANCE for r in results)
    return None if has_personal else "global"
