"""Chooses the results among the scored candidates: no copies, and what no longer holds after what replaced it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reverie_indexer.database.database import Connection
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.heuristics.past import asks_about_past
from reverie_server.search.candidates import Booleans, Candidates
from reverie_server.search.derived_files import is_diary
from reverie_server.search.hot.answer import need_texts
from reverie_server.search.log_lines import log_rows, rows_of_messages
from reverie_server.search.rank import Scores, select
from reverie_server.search.request import SearchRequest
from reverie_server.search.store import Corpus
from reverie_server.search.succession import (
    KeyedPassage,
    is_matched_by_superseded,
    keyed,
    with_predecessors,
    with_succession,
)
from reverie_server.search.superseded import preceding_sentences, replacing_sentences, superseded_sentences
from reverie_server.search.superseded_text import Superseded
from reverie_server.text.spans import span

# How often a list is looked through again, because what replaces a result, or a passage after it, entered it.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rows of the results, best first, all scores, and the sentences of the results that do not hold.

    `replaced` are pairs of rows: a passage that a superseded sentence matched, and that of the fact that replaced it.
    """

    rows: list[int]
    scores: Scores
    superseded: Mapping[bytes, Superseded]
    replaced: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidates of a request, which `connection` reads in its transaction. `terms` are those of the query."""

    connection: Connection
    request: SearchRequest
    terms: Sequence[str]
    language: str
    corpus: Corpus
    candidates: Candidates

    async def best(self, scores: Scores, is_exact: Booleans, copied: Collection[int]) -> Chosen:
        """The best candidates without the `copied` rows.

        A line of the daily log whose message is no candidate is no result either, if the message is in the index, nor
        is the diary of the nights, which repeats what others say, unless its folder is asked for. A
        passage that a superseded sentence matched comes after the passage of the fact that replaced it, which enters
        the list in its place.
        """
        excluded = set(copied)
        if self.request.path_prefix is None:
            paths = self.candidates.path
            excluded.update(row for row in range(self.candidates.proposed_count) if is_diary(paths[row]))
        rows = await self._select(scores, is_exact, excluded)
        if asks_about_past(self.request.query) and (pairs := await self._predecessors(rows, excluded)):
            scores = with_predecessors(scores, pairs)
            rows = await self._select(scores, is_exact, excluded)
        superseded: dict[bytes, Superseded] = {}
        in_order: list[tuple[int, int]] = []
        for _ in range(_ROUNDS):
            await self._need(rows)
            keys = {row: [each.key for each in keyed_sentences(self.candidates.text[row])] for row in rows}
            found = await self._superseded(key for of_row in keys.values() for key in of_row)
            if found.keys() <= superseded.keys():
                break
            superseded |= found
            passages = {
                row: keyed(self.candidates.text[row], self.terms, self.language)
                for row, of_row in keys.items()
                if not found.keys().isdisjoint(of_row)
            }
            replaced = await self._replaced(passages, superseded, scores, excluded)
            if not replaced:
                break
            in_order += replaced
            scores = with_succession(scores, replaced)
            rows = await self._select(scores, is_exact, excluded)
        return Chosen(rows, scores, superseded, in_order)

    async def _need(self, rows: Iterable[int]) -> None:
        await need_texts(self.connection, self.request, self.candidates, rows)

    async def _select(self, scores: Scores, is_exact: Booleans, excluded: set[int]) -> list[int]:
        """The best rows; lines of the log whose messages are indexed join `excluded`."""
        while True:
            with span("select"):
                rows = select(
                    self.candidates,
                    scores,
                    is_exact,
                    min_score=self.request.min_score,
                    min_relevance=self.request.min_relevance,
                    limit=self.request.max_results,
                    excluded=excluded,
                )
            await self._need(rows)
            log_lines = log_rows(self.candidates, rows)
            logged = await rows_of_messages(self.connection, self.request, self.candidates, log_lines)
            if not logged:
                return rows
            excluded |= logged

    async def _predecessors(self, rows: Sequence[int], excluded: Collection[int]) -> list[tuple[int, int]]:
        """Pairs of rows: what held before what a result states, and that result."""
        results_of: dict[bytes, int] = {}
        for row in rows:
            for sentence in keyed_sentences(self.candidates.text[row]):
                results_of.setdefault(sentence.key, row)
        slice_ids = [slice_.slice_id for slice_ in self.corpus.slices]
        found = await preceding_sentences(self.connection, self.request.tenant_id, slice_ids, results_of)
        if not found:
            return []
        await self._need(range(self.candidates.proposed_count))
        replaced_by = dict(reversed(found))
        return [
            (row, results_of[replaced_by[sentence.key]])
            for row in range(self.candidates.proposed_count)
            if row not in excluded
            for sentence in keyed_sentences(self.candidates.text[row])
            if (key := replaced_by.get(sentence.key)) is not None and results_of[key] != row
        ]

    async def _superseded(self, keys: Iterable[bytes]) -> dict[bytes, Superseded]:
        slice_ids = [slice_.slice_id for slice_ in self.corpus.slices]
        return await superseded_sentences(self.connection, self.request.tenant_id, slice_ids, keys, self.request.as_of)

    async def _replaced(
        self,
        passages: Mapping[int, KeyedPassage],
        superseded: Mapping[bytes, Superseded],
        scores: Scores,
        excluded: Collection[int],
    ) -> list[tuple[int, int]]:
        """Pairs of rows: a result that a superseded sentence matched, and the best passage of what replaced it."""
        successors: dict[int, set[int]] = {}
        for row, passage in passages.items():
            if is_matched_by_superseded(passage, superseded):
                facts = {fact.superseded_by for key in passage.keys if (fact := superseded.get(key)) is not None}
                successors[row] = {fact_id for fact_id in facts if fact_id is not None}
        fact_ids = {fact_id for facts in successors.values() for fact_id in facts}
        fact_of = await replacing_sentences(self.connection, self.request.tenant_id, fact_ids)
        if not fact_of:
            return []
        await self._need(range(self.candidates.proposed_count))
        rows_of: dict[int, list[int]] = {}
        for row in range(self.candidates.proposed_count):
            if row not in excluded:
                for sentence in keyed_sentences(self.candidates.text[row]):
                    if (fact_id := fact_of.get(sentence.key)) is not None:
                        rows_of.setdefault(fact_id, []).append(row)
        return [
            (old, new)
            for old, facts in successors.items()
            for fact_id in sorted(facts)
            if (new := max(rows_of.get(fact_id, ()), key=lambda row: (scores.score[row], -row), default=old)) != old
        ]
