"""What was learnt of models, and the nearness of slices, in the database."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, Slice, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.vectors import MAX_COVERED_DIMENSION
from reverie_server.search.calibration.scale import Learnt, Matrix
from reverie_server.search.labelled_messages import Direction, Label, labelled_messages

SQL = Queries(__file__)
SAMPLE_PASSAGES = 4000
"""A larger slice is measured by so many of its passages."""
_FLOAT, _HALF = "<f4", "<f2"


@dataclass(frozen=True, slots=True)
class Neutral:
    """A model's vectors of the neutral messages, `[messages, dimension]`, and its usual similarity."""

    vectors: Matrix
    usual_similarity: float


@dataclass(frozen=True, slots=True)
class DueSlice:
    """A slice that is to be measured, and whose it is."""

    tenant_id: str
    slice_id: int
    agent_id: str | None
    owner_key: str | None


@dataclass(frozen=True, slots=True)
class Sample:
    """Vectors of passages of a slice, at least one, and how many passages it has."""

    vectors: Matrix
    chunk_count: int


def messages_sha256() -> bytes:
    """The digest of all labelled messages: what was learnt by others is learnt again."""
    texts = (f"{label}\n{message}\n" for label in get_args(Label) for message in labelled_messages(label))
    return hashlib.sha256("".join(texts).encode()).digest()


async def learnt_of(connection: Connection, model_id: int) -> Learnt | None:
    """What was learnt of a model; None: nothing yet."""
    row = await (await connection.execute(SQL["learnt"], {"model_id": model_id})).fetchone()
    if row is None:
        return None
    weights = np.frombuffer(row["direction"], _FLOAT).astype(np.float32)
    return Learnt(Direction(weights, row["direction_offset"]), row["usual_similarity"])


async def neutral_of(database: Database, model_id: int, dimension: int) -> Neutral | None:
    """A model's vectors of the neutral messages; None where it has not embedded the present messages yet."""
    params = {"model_id": model_id, "messages_sha256": messages_sha256()}
    rows = await database.maintenance_query(SQL["neutral_vectors"], params)
    if not rows:
        return None
    vectors = np.frombuffer(rows[0]["neutral"], _HALF).reshape(-1, dimension)
    return Neutral(vectors.astype(np.float32), rows[0]["usual_similarity"])


async def keep_learnt(database: Database, model_id: int, learnt: Learnt, neutral: Matrix) -> None:
    """Keep what was learnt of a model. What was measured by other messages is measured again."""
    params = {
        "model_id": model_id,
        "messages_sha256": messages_sha256(),
        "usual_similarity": learnt.usual_similarity,
        "direction": learnt.direction.weights.astype(_FLOAT).tobytes(),
        "direction_offset": learnt.direction.offset,
        "neutral": neutral.astype(_HALF).tobytes(),
    }
    async with database.maintenance() as connection:
        if (await connection.execute(SQL["keep_learnt"], params)).rowcount:
            await connection.execute(SQL["forget_nearness"], params)


async def largest_nearness(
    connection: Connection, tenant_id: str, slices: Sequence[Slice], model_id: int
) -> float | None:
    """Of the slices that were measured with a model the largest nearness; None where none was."""
    params = {"tenant_id": tenant_id, "slice_ids": [s.slice_id for s in slices], "model_id": model_id}
    row = await (await connection.execute(SQL["nearness"], params)).fetchone()
    return None if row is None else row["nearness"]


async def due_slices(
    database: Database, model_id: int, *, after: DueSlice | None, limit: int
) -> tuple[list[DueSlice], bool]:
    """The next slices that are to be measured, in the order of their ids, and whether there may be more.

    What was measured of slices that are empty now is removed.
    """
    params = {
        "model_id": model_id,
        "tenant_id": after.tenant_id if after else "",
        "slice_id": after.slice_id if after else 0,
        "limit": limit,
    }
    async with database.maintenance() as connection:
        if after is None:
            await connection.execute(SQL["remove_empty"])
        rows = await (await connection.execute(SQL["due"], params)).fetchall()
    return [DueSlice(**row) for row in rows], len(rows) == limit


async def sample_of(database: Database, due: DueSlice, model_id: int, dimension: int) -> Sample | None:
    """Passages of a slice, as its owner sees it and with no other slice open.

    None where it is gone, is empty, or has passages that wait for their vectors.
    """
    async with database.tenant(due.tenant_id, snapshot=True) as connection:
        slices = await visible_slices(connection, due.tenant_id, due.agent_id or "", due.owner_key)
        slice_ = next((each for each in slices if each.slice_id == due.slice_id), None)
        if slice_ is None:
            return None
        params = {
            "tenant_id": due.tenant_id,
            "slice_id": due.slice_id,
            "model_id": model_id,
            "partition_id": slice_.partition_id,
            "covered": dimension <= MAX_COVERED_DIMENSION,
            "limit": SAMPLE_PASSAGES,
        }
        await connection.execute(SQL["open_one"], params)
        waits: DictRow | None = await (await connection.execute(SQL["waits"], params)).fetchone()
        if waits is None or waits["waits"]:
            return None
        rows = await (await connection.execute(SQL["sample"], params)).fetchall()
    if not rows:
        return None
    return Sample(np.stack([row["embedding"].to_numpy() for row in rows]).astype(np.float32), slice_.chunk_count)


async def keep_nearness(database: Database, due: DueSlice, model_id: int, nearness: float, chunk_count: int) -> None:
    """Keep what was measured of a slice, if it is still there, as its owner may."""
    params = {
        "tenant_id": due.tenant_id,
        "slice_id": due.slice_id,
        "model_id": model_id,
        "nearness": nearness,
        "chunk_count": chunk_count,
    }
    async with database.tenant(due.tenant_id) as connection:
        await visible_slices(connection, due.tenant_id, due.agent_id or "", due.owner_key)
        await connection.execute(SQL["open_one"], params)
        await connection.execute(SQL["keep_nearness"], params)


async def measured_slices(database: Database, model_id: int) -> tuple[int, int]:
    """How many memories have a nearness of a model, and how many have passages."""
    [row] = await database.maintenance_query(SQL["counts"], {"model_id": model_id})
    return row["measured"], row["slices"]
