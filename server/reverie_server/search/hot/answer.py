"""The candidates of a request from what is held of its slices, and their texts from the database as needed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import overload

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_server.search.candidates import Candidates, Integers
from reverie_server.search.hot.load import OFF_LOOP_FROM, term_key
from reverie_server.search.hot.propose import Asked, HeldPart, propose_held, wanted
from reverie_server.search.rank import idf
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.store import Corpus, QueryVector, channel_limits, producers_of, specificities

SQL = Queries(__file__)


class OutOfStepError(Exception):
    """What is held of a slice is not what the database has of it."""


@dataclass(slots=True)
class SharedTexts:
    """The texts that the requests of one snapshot have fetched, and the passages of which they may need them.

    Texts are by the ids of their passages, as are the slices in which these are held.
    """

    known: dict[int, str] = field(default_factory=dict)
    likely: dict[int, int] = field(default_factory=dict)


class HeldTexts(Sequence[str]):
    """The texts of candidates that come from memory: those that are fetched. Another one is a LookupError."""

    def __init__(self, chunk_id: Integers, slice_id: Integers, shared: SharedTexts) -> None:
        self._chunk_id: list[int] = chunk_id.tolist()
        self._slice_id: list[int] = slice_id.tolist()
        self._shared = shared

    def __len__(self) -> int:
        return len(self._chunk_id)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self._shared.known[chunk_id] for chunk_id in self._chunk_id[row]]
        return self._shared.known[self._chunk_id[row]]

    def expect(self, rows: Iterable[int]) -> None:
        """Fetch these rows, too, as soon as a text is fetched."""
        self._shared.likely.update(self._missing(rows))

    async def fetch(self, connection: Connection, tenant_id: str, rows: Iterable[int]) -> None:
        """Fetch the texts of some rows, as row-level security lets this transaction see them."""
        missing = self._missing(rows)
        if not missing:
            return
        missing |= self._shared.likely
        self._shared.likely.clear()
        params = {"tenant_id": tenant_id, "chunk_ids": list(missing)}
        [found] = await in_one_message(connection, [Statement(SQL["texts"], params)])
        for passage in found:
            if passage["slice_id"] != missing.pop(passage["chunk_id"]):
                raise OutOfStepError
            self._shared.known[passage["chunk_id"]] = passage["text"]
        if missing:
            raise OutOfStepError

    def _missing(self, rows: Iterable[int]) -> dict[int, int]:
        """The passages of some rows without a text, each with its slice."""
        known, chunk_id, slice_id = self._shared.known, self._chunk_id, self._slice_id
        return {chunk_id[row]: slice_id[row] for row in rows if chunk_id[row] not in known}


async def need_texts(
    connection: Connection, request: SearchRequest, candidates: Candidates, rows: Iterable[int]
) -> None:
    """Have the texts of some candidates at hand. OutOfStepError where one is not as it is held."""
    if isinstance(candidates.text, HeldTexts):
        await candidates.text.fetch(connection, request.tenant_id, rows)


def expect_texts(candidates: Candidates, rows: Iterable[int]) -> None:
    """Have the texts of some candidates fetched together with the first that is needed."""
    if isinstance(candidates.text, HeldTexts):
        candidates.text.expect(rows)


async def candidates_held(
    request: SearchRequest,
    rules: SearchRules,
    corpus: Corpus,
    vector: QueryVector | None,
    now: datetime,
    texts: SharedTexts,
) -> Candidates:
    """The candidates of a request from what is held of its slices; `texts` get theirs as they are needed."""
    held = corpus.held or ()
    specificity = specificities(corpus.slices)
    producers = set(producers_of(rules, corpus))
    text_limit, vector_limit = channel_limits(request, vector)
    asked = Asked(
        keys=[term_key(term) for term in corpus.frequencies],
        idfs=[idf(df, corpus.chunk_count) for df in corpus.frequencies.values()],
        produces=[term in producers for term in corpus.frequencies],
        in_order=[number for _, number in sorted((term.encode(), n) for n, term in enumerate(corpus.frequencies))],
        vector=vector.vector if vector is not None else None,
        mean_length=corpus.mean_length,
        k1=rules.bm25_k1,
        b=rules.bm25_b,
        text_limit=text_limit,
        vector_limit=vector_limit,
        with_context=rules.weights.context > 0,
    )

    def propose() -> Candidates:
        parts = [
            HeldPart(
                slice_.slice_id,
                each,
                specificity[slice_.slice_id],
                slice_.owner_key is not None and slice_.owner_key == request.owner_key,
                wanted(each, tiers=request.tiers, path_prefix=request.path_prefix, expired_at=now.timestamp()),
            )
            for slice_, each in zip(corpus.slices, held, strict=True)
        ]
        return propose_held(parts, asked)

    many = sum(len(each) for each in held) > OFF_LOOP_FROM
    found = await asyncio.to_thread(propose) if many else propose()
    count = found.proposed_count
    return replace(found, text=HeldTexts(found.chunk_id[:count], found.slice_id[:count], texts))


def check_passage(candidates: Candidates, row: int, passage: DictRow | None) -> None:
    """OutOfStepError where a candidate does not stand where the database has it."""
    held = (candidates.path[row], candidates.tier[row], candidates.start_line[row], candidates.end_line[row])
    names = ("path", "tier", "start_line", "end_line")
    if (
        passage is None
        or tuple(passage[name] for name in names) != held
        or passage["slice_id"] != candidates.slice_id[row]
    ):
        raise OutOfStepError
