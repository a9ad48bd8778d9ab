"""Chooses the results among the scored candidates: no copies, and what no longer holds after what replaced it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from reverie_indexer.database.database import Connection
from reverie_server.files.well_known import PROFILE
from reverie_server.heuristics.past import asks_about_past
from reverie_server.search.candidates import Booleans, Candidates, files_with, message_of
from reverie_server.search.derived_files import is_diary, only_repeats
from reverie_server.search.hot.answer import need_texts
from reverie_server.search.known_facts import KnownFacts
from reverie_server.search.log_lines import is_of_note, log_rows, rows_of_facts, rows_of_messages
from reverie_server.search.rank import Scores, select
from reverie_server.search.request import SearchRequest
from reverie_server.search.store import Corpus
from reverie_server.search.succession import (
    Ended,
    KeyedPassage,
    is_matched_by_superseded,
    with_predecessors,
    with_succession,
)
from reverie_server.search.superseded import preceding_sentences
from reverie_server.search.superseded_text import places_of, tells_of_others
from reverie_server.text.spans import span

# How often a list is looked through again, because what replaces a result, or a passage after it, entered it.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rows of the results, best first, all scores, and the sentences of the results that do not hold, by keys.

    `replaced` are pairs of rows: a passage that a superseded sentence matched, and that of the fact that replaced it.
    """

    rows: list[int]
    scores: Scores
    ended: Mapping[bytes, Ended]
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
    facts: KnownFacts

    async def best(self, scores: Scores, is_exact: Booleans, copied: Collection[int]) -> Chosen:
        """The best candidates without the `copied` rows.

        A line of the daily log whose message is no candidate is no result either, if the message is in the index and
        passes the filters, nor is the diary of the nights, which repeats what others say, unless its folder is asked
        for; nor, where nobody asked, what has left MEMORY.md. A passage that a superseded sentence matched comes after
        the passage of the fact that replaced it, which enters the list in its place.
        """
        excluded = set(copied)
        if self.request.path_prefix is None:
            only_kept = only_repeats if self.request.is_unasked else is_diary
            excluded.update(files_with(self.candidates, only_kept))
        rows = await self._select(scores, is_exact, excluded)
        if not await self.facts.may_have_ended():
            return Chosen(rows, scores, {}, ())
        if asks_about_past(self.request.query) and (pairs := await self._predecessors(rows, excluded)):
            scores = with_predecessors(scores, pairs)
            rows = await self._select(scores, is_exact, excluded)
        ended: dict[bytes, Ended] = {}
        in_order: list[tuple[int, int]] = []
        for _ in range(_ROUNDS):
            keys = dict(zip(rows, await self.facts.keys_of(rows), strict=True))
            found = await self.facts.ended({key for of_row in keys.values() for key in of_row})
            if found.keys() <= ended.keys():
                break
            ended |= found
            old = [row for row, of_row in keys.items() if not found.keys().isdisjoint(of_row)]
            passages = dict(zip(old, await self.facts.keyed(old, self.terms, self.language), strict=True))
            passages = await self._without_others(passages, ended)
            replaced = await self._replaced(passages, ended, scores, excluded)
            if not replaced:
                break
            in_order += replaced
            scores = with_succession(scores, replaced)
            rows = await self._select(scores, is_exact, excluded)
        return Chosen(rows, scores, ended, in_order)

    async def _need(self, rows: Iterable[int]) -> None:
        await need_texts(self.connection, self.request, self.candidates, rows)

    async def _select(self, scores: Scores, is_exact: Booleans, excluded: set[int]) -> list[int]:
        """The best rows; lines that say again what messages say join `excluded`."""
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
            log_lines = await self._log_rows(rows)
            logged = await rows_of_messages(self.connection, self.request, self.corpus, self.candidates, log_lines)
            await self._need(row for row in rows if self.candidates.path[row] == PROFILE)
            logged |= await rows_of_facts(self.connection, self.request, self.candidates, rows)
            if not logged:
                return rows
            excluded |= logged

    async def _log_rows(self, rows: Sequence[int]) -> list[int]:
        """Those of the rows that are lines of the daily log."""
        notes = [row for row in rows if is_of_note(self.candidates, row)]
        await self._need(notes)
        return log_rows(self.candidates, notes)

    async def _predecessors(self, rows: Sequence[int], excluded: Collection[int]) -> list[tuple[int, int]]:
        """Pairs of rows: what held before what a result states, and that result."""
        results_of: dict[bytes, int] = {}
        for row, keys in zip(rows, await self.facts.keys_of(rows), strict=True):
            for key in keys:
                results_of.setdefault(key, row)
        found = await preceding_sentences(self.connection, self.request.tenant_id, self.corpus.slice_ids, results_of)
        if not found:
            return []
        replaced_by = dict(reversed(found))
        return [
            (row, results_of[new])
            for row, keys in await self._having(replaced_by.keys(), excluded)
            for key in keys
            if (new := replaced_by.get(key)) is not None and results_of[new] != row
        ]

    async def _without_others(
        self, passages: Mapping[int, KeyedPassage], ended: Mapping[bytes, Ended]
    ) -> dict[int, KeyedPassage]:
        """The passages, each without the keys of sentences that there tell of somebody else and hold."""
        elsewhere = {key: each.elsewhere for key, each in ended.items() if each.elsewhere}
        shared = [row for row, passage in passages.items() if not elsewhere.keys().isdisjoint(passage.keys)]
        await self._need(shared)
        found = dict(passages)
        for row in shared:
            document_id, text = int(self.candidates.document_id[row]), self.candidates.text[row]
            places = places_of(document_id, text, message_of(self.candidates, row))
            here = {key for key, of_others in elsewhere.items() if tells_of_others(of_others, places)}
            keys = tuple(b"" if key in here else key for key in passages[row].keys)
            found[row] = replace(passages[row], keys=keys)
        return found

    async def _replaced(
        self,
        passages: Mapping[int, KeyedPassage],
        ended: Mapping[bytes, Ended],
        scores: Scores,
        excluded: Collection[int],
    ) -> list[tuple[int, int]]:
        """Pairs of rows: a result that a superseded sentence matched, and the best passage of what replaced it."""
        successors: dict[int, set[int]] = {}
        for row, passage in passages.items():
            if is_matched_by_superseded(passage, ended):
                facts = {ended[key].superseded_by for key in passage.keys if key in ended}
                successors[row] = {fact_id for fact_id in facts if fact_id is not None}
        fact_of = await self.facts.stating({fact_id for facts in successors.values() for fact_id in facts})
        if not fact_of:
            return []
        rows_of: dict[int, list[int]] = {}
        for row, keys in await self._having(fact_of.keys(), excluded):
            for key in keys:
                if (fact_id := fact_of.get(key)) is not None:
                    rows_of.setdefault(fact_id, []).append(row)
        return [
            (old, new)
            for old, facts in successors.items()
            for fact_id in sorted(facts)
            if (new := max(rows_of.get(fact_id, ()), key=lambda row: (scores.score[row], -row), default=old)) != old
        ]

    async def _having(self, keys: Set[bytes], excluded: Collection[int]) -> list[tuple[int, tuple[bytes, ...]]]:
        """The rows that may be results and have one of some sentences, with the keys of all their sentences."""
        rows = [row for row in range(self.candidates.proposed_count) if row not in excluded]
        of_rows = zip(rows, await self.facts.keys_of(rows), strict=True)
        return [(row, of_row) for row, of_row in of_rows if not keys.isdisjoint(of_row)]
