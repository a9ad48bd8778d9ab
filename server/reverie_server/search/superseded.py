"""Which sentences of a memory say what no longer holds, wherever they are copied to, and what replaced them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_server.heuristics.fact_labels import said_once, statement_without
from reverie_server.search.superseded_text import StatedAt, Superseded

SQL = Queries(__file__)


async def superseded_sentences(
    connection: Connection,
    tenant_id: str,
    slice_ids: Sequence[int],
    keys: Iterable[bytes],
    *,
    now: datetime,
    as_of: datetime | None = None,
) -> dict[bytes, Superseded]:
    """Those of the keys (`fact_sentences.sentence_key`) whose sentence states a fact that does not hold.

    That is `now`, or at `as_of`; what ends on a day is over from then on. Of several facts of one sentence the one that
    was said last counts. What else the sentence says and still holds is in `holding`, as statements.
    """
    if not (sought := set(keys)):
        return {}
    statement = superseded_statement(tenant_id, slice_ids, sought, now=now, as_of=as_of)
    [rows] = await in_one_message(connection, [statement])
    shared = {row["sentence_sha256"] for row in rows for fact in row["holding"] if fact["subject"] != row["subject"]}
    elsewhere = await stated_elsewhere(connection, tenant_id, slice_ids, shared, now=now, as_of=as_of)
    return superseded_of(rows, elsewhere)


async def stated_elsewhere(
    connection: Connection,
    tenant_id: str,
    slice_ids: Sequence[int],
    keys: Collection[bytes],
    *,
    now: datetime,
    as_of: datetime | None = None,
) -> dict[bytes, list[StatedAt]]:
    """Where some sentences, of facts that end, tell of somebody else what holds: the facts, each with its places."""
    if not keys:
        return {}
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), "keys": sorted(keys), "now": now, "as_of": as_of}
    found: dict[bytes, list[StatedAt]] = {}
    [rows] = await in_one_message(connection, [Statement(SQL["elsewhere"], params)])
    for row in rows:
        place = (row["document_id"], bytes(row["line_sha256"]) if row["seq"] is None else row["seq"])
        found.setdefault(bytes(row["sentence_sha256"]), []).append((row["fact_id"], place))
    return found


def superseded_statement(
    tenant_id: str, slice_ids: Sequence[int], keys: Collection[bytes], *, now: datetime, as_of: datetime | None = None
) -> Statement:
    """The statement of `superseded_sentences`, whose rows `superseded_of` takes."""
    params: dict[str, Any] = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "keys": sorted(keys),
        "now": now,
        "as_of": as_of,
    }
    return Statement(SQL["superseded"], params)


def superseded_of(rows: Iterable[DictRow], elsewhere: Mapping[bytes, Sequence[StatedAt]]) -> dict[bytes, Superseded]:
    """What the rows of `superseded_statement` say of each sentence; `elsewhere` is that of `stated_elsewhere`."""
    found: dict[bytes, Superseded] = {}
    for key, group in groupby(rows, key=lambda row: bytes(row["sentence_sha256"])):
        ended = list(group)
        first = ended[0]
        over = [row["object"] for row in ended]
        of_others = tuple(elsewhere.get(key, ()))
        other_ids = {fact_id for fact_id, _ in of_others}
        facts = [fact for fact in first["holding"] if fact["fact_id"] not in other_ids]
        statements = tuple(said_once(_without(fact, over) for fact in facts))
        is_likely, is_guessed = (all(row[name] for row in ended) for name in ("is_likely", "is_guessed"))
        found[key] = Superseded(
            first["fact_id"],
            first["valid_to"],
            first["superseded_by"],
            statements,
            is_likely,
            is_guessed,
            first["replacing"] or "",
            of_others,
        )
    return found


def _without(fact: Mapping[str, Any], ended: Sequence[str]) -> str:
    fields = (fact["subject"], fact["predicate"], fact["object"], fact["text"])
    return statement_without(*fields, ended=ended, is_end=fact["is_end"])


async def preceding_sentences(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], keys: Iterable[bytes]
) -> list[tuple[bytes, bytes]]:
    """Pairs of keys: a sentence of a fact that was replaced, and one of `keys`, which states the fact that did."""
    if not (sought := sorted(set(keys))):
        return []
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), "keys": sought}
    [rows] = await in_one_message(connection, [Statement(SQL["preceding"], params)])
    return [(bytes(row["old_sha256"]), bytes(row["new_sha256"])) for row in rows]


async def replacing_sentences(connection: Connection, tenant_id: str, fact_ids: Collection[int]) -> dict[bytes, int]:
    """The keys of the sentences that state some facts, each with its fact."""
    if not fact_ids:
        return {}
    params = {"tenant_id": tenant_id, "fact_ids": sorted(fact_ids)}
    [rows] = await in_one_message(connection, [Statement(SQL["replacing"], params)])
    return {bytes(row["sentence_sha256"]): row["fact_id"] for row in rows}
