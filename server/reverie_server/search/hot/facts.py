"""What a search asks about facts, of slices that are held: what nobody asked before is read in its transaction."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.search.candidates import Candidates
from reverie_server.search.fact_source import FactSource
from reverie_server.search.hot.answer import need_texts
from reverie_server.search.hot.load import term_key
from reverie_server.search.hot.remembered import MAX_SENTENCES, EndedFact, EndedFacts, Remembered
from reverie_server.search.known_facts import fact_sources
from reverie_server.search.request import SearchRequest
from reverie_server.search.succession import Ended, KeyedPassage, sentence_terms
from reverie_server.search.superseded import stated_elsewhere
from reverie_server.search.superseded_text import StatedAt

SQL = Queries(__file__)


@dataclass(slots=True)
class HeldFacts:
    """Answers `KnownFacts` for candidates that come from memory; `remembered` is what is known of each slice by id.
    What has ended has so `at` the time of the request."""

    connection: Connection
    request: SearchRequest
    candidates: Candidates
    remembered: Mapping[int, Remembered]
    at: datetime
    _keys: dict[int, tuple[bytes, ...]] = field(default_factory=dict)

    async def keys_of(self, rows: Sequence[int]) -> list[tuple[bytes, ...]]:
        """See `KnownFacts`."""
        if new := [row for row in rows if row not in self._keys]:
            await self._read_keys(new)
        return [self._keys[row] for row in rows]

    async def _read_keys(self, rows: Sequence[int]) -> None:
        chunk_id, slice_id = self.candidates.chunk_id.tolist(), self.candidates.slice_id.tolist()
        known = {each: remembered.sentences for each, remembered in self.remembered.items()}
        missing = []
        for row in rows:
            found = known[slice_id[row]].get(chunk_id[row])
            if found is None:
                missing.append(row)
            else:
                self._keys[row] = found
        await need_texts(self.connection, self.request, self.candidates, missing)
        for row in missing:
            keys = tuple(each.key for each in keyed_sentences(self.candidates.text[row]))
            if len(keys) <= MAX_SENTENCES:
                known[slice_id[row]][chunk_id[row]] = keys
            self._keys[row] = keys

    async def keyed(self, rows: Sequence[int], terms: Collection[str], language: str) -> list[KeyedPassage]:
        """See `KnownFacts`."""
        places = [(int(self.candidates.chunk_id[row]), int(self.candidates.slice_id[row])) for row in rows]
        known = {each: remembered.terms for each, remembered in self.remembered.items()}
        missing = [
            row
            for row, (chunk_id, slice_id) in zip(rows, places, strict=True)
            if (chunk_id, language) not in known[slice_id]
        ]
        await need_texts(self.connection, self.request, self.candidates, missing)
        sought = {term_key(term) for term in terms}
        found: list[KeyedPassage] = []
        for row, (chunk_id, slice_id), keys in zip(rows, places, await self.keys_of(rows), strict=True):
            of_passage = known[slice_id].get((chunk_id, language))
            if of_passage is None:
                of_sentences = sentence_terms(self.candidates.text[row], language)
                of_passage = tuple(array("Q", set(map(term_key, each))) for each in of_sentences)
                if len(keys) <= MAX_SENTENCES:
                    known[slice_id][chunk_id, language] = of_passage
            found.append(KeyedPassage(keys, tuple(len(sought.intersection(each)) for each in of_passage)))
        return found

    async def may_have_ended(self) -> bool:
        """See `KnownFacts`."""
        return any(each.by_sentence for each in await self._ended())

    async def ended(self, keys: Iterable[bytes]) -> Mapping[bytes, Ended]:
        """See `KnownFacts`."""
        every = await self._ended()
        known, shared = [each.by_sentence for each in every], [each.elsewhere for each in every]
        found: dict[bytes, Ended] = {}
        for key in keys:
            if facts := [fact for of_slice in known for fact in of_slice.get(key, ()) if fact.is_over(self.at)]:
                over = {fact.fact_id for fact in facts}
                elsewhere = [place for of_slice in shared for place in of_slice.get(key, ()) if place[0] not in over]
                found[key] = Ended(max(facts, key=_said_last).superseded_by, elsewhere)
        return found

    async def stating(self, fact_ids: Collection[int]) -> Mapping[bytes, int]:
        """See `KnownFacts`."""
        if not fact_ids:
            return {}
        known = [each.replacing for each in await self._ended()]
        return {key: fact_id for fact_id in sorted(fact_ids) for each in known for key in each.get(fact_id, ())}

    async def sources(self, rows: Sequence[int]) -> list[Sequence[FactSource]]:
        """See `KnownFacts`."""
        chunk_id, slice_id = self.candidates.chunk_id.tolist(), self.candidates.slice_id.tolist()
        known = {each: remembered.sources for each, remembered in self.remembered.items()}
        missing = {chunk_id[row]: slice_id[row] for row in rows if chunk_id[row] not in known[slice_id[row]]}
        found = await fact_sources(self.connection, self.request.tenant_id, list(missing))
        for passage, of_slice in missing.items():
            known[of_slice][passage] = found.get(passage, ())
        return [known[slice_id[row]][chunk_id[row]] for row in rows]

    async def _ended(self) -> list[EndedFacts]:
        """What does not hold in each slice."""
        missing = [slice_id for slice_id, each in self.remembered.items() if each.ended is None]
        if missing:
            params = {"tenant_id": self.request.tenant_id, "slice_ids": missing}
            rows = await (await self.connection.execute(SQL["ended"], params)).fetchall()
            of_slice: defaultdict[int, list[DictRow]] = defaultdict(list)
            for row in rows:
                of_slice[row["slice_id"]].append(row)
            for slice_id in missing:
                shared = {row["sentence_sha256"] for row in of_slice[slice_id] if row["is_shared"]}
                tenant_id = self.request.tenant_id
                elsewhere = await stated_elsewhere(self.connection, tenant_id, [slice_id], shared, now=self.at)
                self.remembered[slice_id].ended = _ended_facts(of_slice[slice_id], elsewhere)
        return [each.ended for each in self.remembered.values() if each.ended is not None]


def _said_last(fact: EndedFact) -> tuple[object, int]:
    return fact.said_at, fact.fact_id


def _ended_facts(rows: Sequence[DictRow], elsewhere: Mapping[bytes, Sequence[StatedAt]]) -> EndedFacts:
    """From the rows of a slice, those that were said last at the end."""
    by_sentence: defaultdict[bytes, list[EndedFact]] = defaultdict(list)
    for row in rows:
        fact = EndedFact(row["said_at"], row["fact_id"], row["superseded_by"], row["ended_at"])
        by_sentence[bytes(row["sentence_sha256"])].append(fact)
    replacing = {row["superseded_by"]: tuple(map(bytes, row["replacing"])) for row in rows if row["superseded_by"]}
    return EndedFacts(by_sentence, replacing, elsewhere)
