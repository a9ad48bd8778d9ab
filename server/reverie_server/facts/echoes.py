"""Answers and summaries that repeat what holds no more: what they say of it is marked with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reverie_indexer.database.queries import Queries
from reverie_server.facts.store import FactSlice, add_sentences
from reverie_server.heuristics.echoes import echoes_of, retold_in
from reverie_server.heuristics.fact_sentences import sentence_key

SQL = Queries(__file__)
# Of a message, of its answer and of an episode's summary so much is looked at.
_MAX_CHARS = 4_000
Row = Mapping[str, Any]
_SENTENCES: Mapping[str, Callable[[Row], list[str]]] = {
    "answered": lambda row: echoes_of(row["object"], row["said"], row["told"]),
    "summarised": lambda row: retold_in(row["object"], row["text"], row["said"], row["told"]),
}


async def add_echoes(facts: FactSlice, fact_ids: Sequence[int]) -> None:
    """Recognise some facts by the sentences of the next answer, and of the episode, that repeat their values, too.

    It is called for facts that hold no more: an echo of one that holds is not to be found in its place.
    """
    if not fact_ids:
        return
    params = {**facts.key, "fact_ids": sorted(fact_ids), "chars": _MAX_CHARS}
    for statement, sentences_of in _SENTENCES.items():
        rows = await (await facts.connection.execute(SQL[statement], params)).fetchall()
        await add_sentences(facts, await asyncio.to_thread(_keys_of, rows, sentences_of))


def _keys_of(rows: Sequence[Row], sentences_of: Callable[[Row], list[str]]) -> set[tuple[bytes, int]]:
    return {(sentence_key(sentence), row["fact_id"]) for row in rows for sentence in sentences_of(row)}
