"""Forgetting and clearing of facts, and what becomes of the facts of a session that is deleted or emptied."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_indexer.text.passages import Rules
from reverie_server.facts.model import public_id
from reverie_server.facts.settle import Indexing, settle
from reverie_server.facts.store import FactSlice, remove
from reverie_server.forgettable import Findings, Forgettable, Forgotten, Item, Removed, Selection
from reverie_server.heuristics.fact_sentences import keyed_sentences, sentence_key
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Work
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.fences import strip_injected
from reverie_server.text.redact import INVISIBLE, Targets, anchor_of

SQL = Queries(__file__)


class ForgettableFacts(Forgettable):
    """The facts, with their passages. `now` gives the time, with its zone."""

    tables = frozenset({"facts", "fact_sources", "fact_sentences", "fact_votes", "contradictions"})
    cleared_with = "fact"

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """The facts that hold one of the texts, or that one of its sentences states."""
        rows = await facts_holding(connection, tenant_id, slice_ids, forgotten)
        return _findings(rows, len(rows))

    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Remove the facts that hold one of the texts, or that one of its sentences states.

        Facts of messages that were changed go, too, and are read anew in what is left of these; what was read in a line
        that repeats a sentence of them stays with that sentence. What a removed fact had superseded holds again. A fact
        that names one of the texts as what it replaces stays, without the name.
        """
        facts = FactSlice(connection, place.tenant_id, slice_.slice_id, self._now())
        rows = await facts_holding(connection, place.tenant_id, [slice_.slice_id], forgotten)
        removed = await remove(facts, [row["fact_id"] for row in rows])
        await _unname(facts, forgotten.texts, [row["object"] for row in rows])
        if forgotten.messages:
            messages = {
                "session_keys": [session_key for session_key, _ in forgotten.messages],
                "seqs": [seq for _, seq in forgotten.messages],
            }
            sources = await (await connection.execute(SQL["read_in_lines"], {**facts.key, **messages})).fetchall()
            kept = await asyncio.to_thread(_sources_left, sources)
            await connection.execute(SQL["drop_sources"], {**facts.key, **messages, "kept": kept})
            await connection.execute(SQL["read_again"], {**facts.key, **messages})
            await defer(connection, Work("facts", place.tenant_id, place.agent_id, place.owner_key))
        if removed or forgotten.messages:
            await settle(facts, place, slice_, Indexing(Rules(language=settings.language), None))
        return _findings(rows, removed)

    async def clear(
        self, connection: Connection, place: Place, slice_: Slice, selection: Selection, *, dry_run: bool
    ) -> int:
        """Remove facts by the time at which they were last said, and by the path of all their sources.

        They are read again only when facts are made anew from the files and conversations that still state them. What
        a removed fact had superseded holds again. Raises what `settle` does.
        """
        facts = FactSlice(connection, place.tenant_id, slice_.slice_id, self._now())
        params = {**facts.key, "days": selection.older_than_days, "prefix": selection.path_prefix}
        rows = await (await connection.execute(SQL["selected"], params)).fetchall()
        if dry_run or not rows:
            return len(rows)
        removed = await remove(facts, [row["fact_id"] for row in rows])
        await _settle(facts, place, slice_)
        return removed


async def forget_cleared(connection: Connection, place: Place, slice_: Slice) -> None:
    """Remove what only messages or files stated that are gone by now, in the transaction that cleared them.

    Raises what `settle` does.
    """
    await _settle(FactSlice(connection, place.tenant_id, slice_.slice_id, datetime.now(UTC)), place, slice_)


async def forget_session(
    now: Callable[[], datetime], connection: Connection, place: Place, slice_: Slice, session_key: int
) -> None:
    """Remove what a session states alone, in the transaction that deletes or empties it, under the slice's lock.

    Raises what `settle` does.
    """
    facts = FactSlice(connection, place.tenant_id, slice_.slice_id, now())
    cursor = await connection.execute(SQL["of_session"], {**facts.key, "session_key": session_key})
    if cursor.rowcount:
        await _settle(facts, place, slice_)


async def _settle(facts: FactSlice, place: Place, slice_: Slice) -> None:
    """Say what holds without what was removed, and have PROFILE.md follow."""
    await settle(facts, place, slice_, Indexing(Rules(), None))
    if place.scope != "global":
        await defer(facts.connection, Work("facts", place.tenant_id, place.agent_id, place.owner_key))


async def facts_of_session(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], session_key: int
) -> list[int]:
    """The facts of some slices that a session states alone; by id."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), "session_key": session_key}
    rows = await (await connection.execute(SQL["of_session_alone"], params)).fetchall()
    return [row["fact_id"] for row in rows]


async def facts_holding(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> list[DictRow]:
    """The facts of some slices that hold one of the texts, or that one of its sentences states; by id.

    A fact stays that is stated by one sentence of several in a text, and by a message that does not lose the text.
    """
    found = await _holding(connection, tenant_id, slice_ids, forgotten, forgotten.texts)
    if spared := forgotten.spared.fact_ids & found.keys():
        spared = spared.difference(await _holding(connection, tenant_id, slice_ids, forgotten, forgotten.everywhere))
    return [found[fact_id] for fact_id in sorted(found.keys() - spared)]


async def _holding(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten, texts: Sequence[str]
) -> dict[int, DictRow]:
    keys = await asyncio.to_thread(_keys_of, texts)
    params: dict[str, Any] = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "anchors": [anchor_of(text) for text in texts],
        "invisible": INVISIBLE,
        "hashes": keys,
        "whole": [sentence_key(text) for text in texts],
        "session_keys": [session_key for session_key, _ in forgotten.messages],
        "seqs": [seq for _, seq in forgotten.messages],
    }
    rows = await (await connection.execute(SQL["holding"], params)).fetchall()
    found = await asyncio.to_thread(_with_texts, rows, texts)
    for row in await (await connection.execute(SQL["stated_by"], params)).fetchall():
        found[row["fact_id"]] = row
    return found


async def _unname(facts: FactSlice, texts: Sequence[str], objects: Sequence[str]) -> None:
    """Remove the texts, each sentence of them, and the objects of removed facts from what facts say they replace."""
    sentences = [text[span.start : span.end] for text in texts for span in keyed_sentences(text)]
    anchors = sorted({anchor_of(text) for text in (*texts, *sentences, *objects)})
    params = {**facts.key, "slice_ids": [facts.slice_id], "anchors": anchors, "invisible": INVISIBLE}
    rows = await (await facts.connection.execute(SQL["naming"], params)).fetchall()
    if rows and (found := await asyncio.to_thread(_naming, rows, texts, objects)):
        await facts.connection.execute(SQL["unname"], {**facts.key, "fact_ids": found})


def _naming(rows: Sequence[DictRow], texts: Sequence[str], objects: Sequence[str]) -> list[int]:
    targets, keys = Targets(texts), set(_keys_of([*texts, *objects]))
    return [
        row["fact_id"]
        for row in rows
        if targets.found_in(row["replaced"]) or not keys.isdisjoint(_keys_of([row["replaced"]]))
    ]


def _sources_left(rows: Sequence[DictRow]) -> list[int]:
    """The sources whose fact is recognised by a sentence that is left in the message."""
    left = {row["content"]: {span.key for span in keyed_sentences(strip_injected(row["content"]))} for row in rows}
    return [row["source_id"] for row in rows if not left[row["content"]].isdisjoint(map(bytes, row["keys"]))]


def _keys_of(texts: Sequence[str]) -> list[bytes]:
    return sorted({sentence_key(text) for text in texts} | {s.key for text in texts for s in keyed_sentences(text)})


def _with_texts(rows: Sequence[DictRow], texts: Sequence[str]) -> dict[int, DictRow]:
    """The rows that hold one of the texts, by the id of the fact."""
    targets = Targets(texts)
    parts = ("text", "object", "subject", "predicate")
    return {row["fact_id"]: row for row in rows if targets.found_in(*(row[part] for part in parts))}


def _findings(rows: Sequence[DictRow], count: int) -> Findings:
    items = [Item("fact", f"facts/{public_id('fact', row['fact_id'])}", row["text"], True, 1) for row in rows]
    return Findings("fact", items, Removed(count, count, 0, 0) if count else None)
