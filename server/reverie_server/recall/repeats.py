"""An exchange stands in the daily log and as messages: which of them takes the place. Pure.

The message does. It is whole where the line of the log is cut, is cited as it was said, has its own time and shows the
conversation around it; and what the other half of the line says is a message too, which competes with its own words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reverie_indexer.chunk import note_date
from reverie_server.recall.pool import Pool
from reverie_server.turns.daily_log import repeats


def may_repeat(pool: Pool, places: Sequence[int]) -> bool:
    """Whether there are both messages and passages of daily notes among these places of a pool."""
    return any(pool.tier[place] == "message" for place in places) and bool(_of_notes(pool, places))


def repeated(pool: Pool, places: Sequence[int], texts: Mapping[int, str]) -> set[int]:
    """Of these places those of lines of the daily log that repeat a message among them, of the same memory.

    `texts` are by the id of the chunk.
    """
    text_of = {place: texts[int(pool.chunk_id[place])] for place in places}
    messages = [place for place in places if pool.tier[place] == "message"]
    return {
        line
        for line in _of_notes(pool, places)
        if any(
            pool.slice_id[line] == pool.slice_id[message] and repeats(text_of[line], text_of[message])
            for message in messages
        )
    }


def _of_notes(pool: Pool, places: Sequence[int]) -> list[int]:
    return [place for place in places if pool.tier[place] == "document" and note_date(pool.path[place]) is not None]
