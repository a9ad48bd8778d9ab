"""What a user said before in messages that are near in meaning, and the facts that were read in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_server.facts.unread import MAX_BYTES, MAX_MESSAGES, Round, Unread, statements_of
from reverie_server.heuristics.changes.change_sentences import OpenFact
from reverie_server.heuristics.fact_sentences import sentence_key

SQL = Queries(__file__)
# Of the messages that are nearest to a sentence, as many are read.
MAX_NEAR = 24
# Of what they say so many sentences are compared, those of the nearest messages first.
MAX_STATEMENTS = 240
# A message that is farther from each part of a sentence has nothing to do with it.
_LEAST_SIMILARITY = 0.2


@dataclass(frozen=True, slots=True)
class NearStatement:
    """A sentence of an earlier message, with the texts of the facts that it states, whether these hold or not, and what
    marks say of it that holds."""

    statement: Unread
    stated: frozenset[str]
    marked: Sequence[OpenFact] = ()


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """Messages of a slice, each with the vector of a passage of it: `matrix[row]`, `keys[row]`, `said_at[row]`."""

    database: Database
    given: Round
    keys: Sequence[tuple[int, int]]
    said_at: Sequence[datetime]
    matrix: NDArray[np.float32]

    async def near(
        self, vectors: NDArray[np.float32], *, before: datetime | None = None, after: datetime | None = None
    ) -> list[NearStatement]:
        """The statements in the messages that are nearest to some vectors, of those said before or after a time.

        Of what was said after it only what was read already: the rest is compared when it is read.
        """
        if not self.keys:
            return []
        similarities = (self.matrix @ vectors.T).max(axis=1)
        found: dict[tuple[int, int], None] = {}
        for row in np.argsort(-similarities, kind="stable"):
            if len(found) == MAX_NEAR or similarities[row] < _LEAST_SIMILARITY:
                break
            at = self.said_at[row]
            if (before is None or at <= before) and (after is None or at >= after):
                found[self.keys[row]] = None
        return await self._statements(list(found), only_read=after is not None)

    async def _statements(self, keys: Sequence[tuple[int, int]], *, only_read: bool) -> list[NearStatement]:
        if not keys:
            return []
        of_keys = {"session_keys": [key for key, _ in keys], "seqs": [seq for _, seq in keys]}
        place = self.given.place
        async with self.database.tenant(place.tenant_id) as connection:
            slice_ids = (await own_slices(connection, place))[:1]
            params: dict[str, Any] = {"tenant_id": place.tenant_id, "slice_ids": slice_ids}
            rows = await (await connection.execute(SQL["messages"], {**params, **of_keys})).fetchall()
        rows = [row for row in rows if row["is_read"] or not only_read]
        chars = sum(len(row["content"]) for row in rows)
        found = await isolated(statements_of, rows, self.given.language, chars=chars)
        place_of = {key: place for place, key in enumerate(keys)}
        found = sorted(found, key=lambda each: place_of[each.key[:2]])[:MAX_STATEMENTS]
        sentences = sorted({sentence_key(each.sentence) for each in found})
        async with self.database.tenant(place.tenant_id) as connection:
            await own_slices(connection, place)
            stated = await (await connection.execute(SQL["stated"], {**params, "keys": sentences})).fetchall()
            said = await (await connection.execute(SQL["marked"], {**params, "keys": sentences})).fetchall()
        facts: defaultdict[bytes, set[str]] = defaultdict(set)
        for row in stated:
            facts[bytes(row["sentence_sha256"])].add(row["text"])
        marked: defaultdict[bytes, list[OpenFact]] = defaultdict(list)
        for row in said:
            marked[bytes(row.pop("sentence_sha256"))].append(OpenFact(**row))
        keyed = [(each, sentence_key(each.sentence)) for each in found]
        return [NearStatement(each, frozenset(facts[key]), marked[key]) for each, key in keyed]


async def said_before(database: Database, given: Round, model_id: int) -> SaidBefore:
    """The newest messages of a place, as far as a model has their vectors."""
    async with database.tenant(given.place.tenant_id) as connection:
        slice_ids = (await own_slices(connection, given.place))[:1]
        params: dict[str, Any] = {
            "tenant_id": given.place.tenant_id,
            "slice_ids": slice_ids,
            "model_id": model_id,
            "messages": MAX_MESSAGES,
            "bytes": MAX_BYTES,
        }
        rows = await (await connection.execute(SQL["message_vectors"], params)).fetchall()
    vectors = [np.asarray(row["embedding"].to_numpy(), np.float32) for row in rows]
    return SaidBefore(
        database,
        given,
        [(row["session_key"], row["seq"]) for row in rows],
        [row["at"] for row in rows],
        np.stack(vectors) if vectors else np.zeros((0, 0), np.float32),
    )
