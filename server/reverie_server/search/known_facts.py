"""What a search asks about the facts of its slices: which sentences do not hold, what replaced them, who said so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from reverie_indexer.database.database import Connection
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.search.candidates import Candidates
from reverie_server.search.fact_source import FactSource
from reverie_server.search.request import SearchRequest
from reverie_server.search.succession import Ended, KeyedPassage, keyed
from reverie_server.search.superseded import replacing_sentences, superseded_sentences

SQL = Queries(__file__)


class KnownFacts(Protocol):
    """Answers for the candidates of one request, in its transaction. Sentences are known by their keys."""

    async def keys_of(self, rows: Sequence[int]) -> list[tuple[bytes, ...]]:
        """The keys of the sentences of each of some candidates, in order."""

    async def keyed(self, rows: Sequence[int], terms: Collection[str], language: str) -> list[KeyedPassage]:
        """The sentences of each of some candidates, with the number of the query's terms in each."""

    async def may_have_ended(self) -> bool:
        """False where every fact of the slices holds until further notice: no sentence needs to be looked at."""

    async def ended(self, keys: Iterable[bytes]) -> Mapping[bytes, Ended]:
        """Those of the keys whose sentence states a fact that does not hold."""

    async def stating(self, fact_ids: Collection[int]) -> Mapping[bytes, int]:
        """The keys of the sentences that state some facts that replaced others, each with its fact."""

    async def sources(self, rows: Sequence[int]) -> list[Sequence[FactSource]]:
        """Where the fact of each of some candidates is stated, which all are passages of facts."""


class StoredFacts:
    """Asks PostgreSQL what holds at a time. The candidates have their texts."""

    def __init__(
        self,
        connection: Connection,
        request: SearchRequest,
        slice_ids: Sequence[int],
        candidates: Candidates,
        at: datetime,
    ) -> None:
        self._connection = connection
        self._request = request
        self._slice_ids = slice_ids
        self._candidates = candidates
        self._at = at

    async def keys_of(self, rows: Sequence[int]) -> list[tuple[bytes, ...]]:
        """See `KnownFacts`."""
        return [tuple(each.key for each in keyed_sentences(self._candidates.text[row])) for row in rows]

    async def keyed(self, rows: Sequence[int], terms: Collection[str], language: str) -> list[KeyedPassage]:
        """See `KnownFacts`."""
        return [keyed(self._candidates.text[row], terms, language) for row in rows]

    async def may_have_ended(self) -> bool:
        """See `KnownFacts`. It is not asked: the texts are there, and `ended` tells it in the same time."""
        return True

    async def ended(self, keys: Iterable[bytes]) -> Mapping[bytes, Ended]:
        """See `KnownFacts`."""
        tenant_id, as_of = self._request.tenant_id, self._request.as_of
        found = await superseded_sentences(
            self._connection, tenant_id, self._slice_ids, keys, now=self._at, as_of=as_of
        )
        return {key: Ended(fact.superseded_by, fact.elsewhere) for key, fact in found.items()}

    async def stating(self, fact_ids: Collection[int]) -> Mapping[bytes, int]:
        """See `KnownFacts`."""
        return await replacing_sentences(self._connection, self._request.tenant_id, fact_ids)

    async def sources(self, rows: Sequence[int]) -> list[Sequence[FactSource]]:
        """See `KnownFacts`."""
        chunk_ids = [int(self._candidates.chunk_id[row]) for row in rows]
        found = await fact_sources(self._connection, self._request.tenant_id, chunk_ids)
        return [found.get(chunk_id, ()) for chunk_id in chunk_ids]


async def fact_sources(
    connection: Connection, tenant_id: str, chunk_ids: Sequence[int]
) -> dict[int, tuple[FactSource, ...]]:
    """Where some facts, by their passages, are stated; a fact without a source that is seen is left out."""
    if not chunk_ids:
        return {}
    params = {"tenant_id": tenant_id, "chunk_ids": list(chunk_ids)}
    found: dict[int, tuple[FactSource, ...]] = {}
    [rows] = await in_one_message(connection, [Statement(SQL["sources"], params)])
    for row in rows:
        chunk_id = row.pop("chunk_id")
        found[chunk_id] = (*found.get(chunk_id, ()), FactSource(**row))
    return found
