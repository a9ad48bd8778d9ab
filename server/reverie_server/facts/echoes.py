"""Answers and summaries that repeat what holds no more: what they say of it is marked with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from reverie_indexer.database.queries import Queries
from reverie_server.facts.store import FactSlice, add_sentences
from reverie_server.heuristics.echoes import echoes_of, retold_in
from reverie_server.heuristics.fact_sentences import sentence_key

SQL = Queries(__file__)
# Of a message, of its answer and of an episode's summary so much is looked at.
_MAX_CHARS = 4_000


async def add_echoes(facts: FactSlice, fact_ids: Sequence[int]) -> None:
    """Recognise some facts by the sentences of the next answer, and of the episode, that repeat their values, too.

    It is called for facts that hold no more: an echo of one that holds is not to be found in its place.
    """
    if not fact_ids:
        return
    params = {**facts.key, "fact_ids": sorted(fact_ids), "chars": _MAX_CHARS}
    rows = await (await facts.connection.execute(SQL["repeated"], params)).fetchall()
    await add_sentences(facts, await asyncio.to_thread(_keys_of, rows))


async def add_echoes_of_episode(facts: FactSlice, episode_id: int) -> None:
    """The same for an episode that is made, or made again, of what has ended before: in the conversation itself, as "on
    Thursday, no, on Friday" has."""
    rows = await (await facts.connection.execute(SQL["over_in"], {**facts.key, "episode_id": episode_id})).fetchall()
    await add_echoes(facts, [row["fact_id"] for row in rows])


def _keys_of(rows: Sequence[Mapping[str, Any]]) -> set[tuple[bytes, int]]:
    return {(sentence_key(sentence), row["fact_id"]) for row in rows for sentence in _repetitions(row)}


def _repetitions(row: Mapping[str, Any]) -> list[str]:
    of_answer = echoes_of(row["object"], row["message"], row["answer"])
    return [*of_answer, *retold_in(row["object"], row["text"], row["message"], row["summary"])]
