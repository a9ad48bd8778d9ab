"""An exchange stands in the daily log, as messages, and in an episode: which of them takes the place. Pure.

The message does. It is whole where the line of the log is cut, is cited as it was said, has its own time and shows the
conversation around it; and what the other half of the line says is a message too, which competes with its own words.
The summary of a conversation that was made without a model has sentences as they were said: where the message or the
line of the log is among the results, or both, a passage of the episode that says nothing else gives way to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reverie_indexer.chunk import note_date
from reverie_server.search.candidates import Pool
from reverie_server.search.episode_passages import only_repeats
from reverie_server.sessions.daily_log import repeats


def may_repeat(pool: Pool, places: Sequence[int]) -> bool:
    """Whether there are both messages and passages of daily notes among these places of a pool, or of episodes beside
    either."""
    kinds = [
        any(pool.tier[place] == "message" for place in places),
        bool(_of_notes(pool, places)),
        any(pool.tier[place] == "episodic" for place in places),
    ]
    return sum(kinds) > 1


def repeated(pool: Pool, places: Sequence[int], texts: Mapping[int, str]) -> set[int]:
    """Of these places those of lines of the daily log that repeat a message among them, and those of passages of
    episodes that only repeat such messages and lines; of the same memory each.

    `texts` are by the id of the chunk.
    """
    text_of = {place: texts[int(pool.chunk_id[place])] for place in places}
    messages = [place for place in places if pool.tier[place] == "message"]
    notes = _of_notes(pool, places)

    def beside(place: int, others: Sequence[int]) -> list[str]:
        return [text_of[other] for other in others if pool.slice_id[other] == pool.slice_id[place]]

    lines = {line for line in notes if any(repeats(text_of[line], text) for text in beside(line, messages))}
    episodes = [place for place in places if pool.tier[place] == "episodic"]
    return lines | {
        place for place in episodes if only_repeats(text_of[place], beside(place, messages), beside(place, notes))
    }


def _of_notes(pool: Pool, places: Sequence[int]) -> list[int]:
    return [place for place in places if pool.tier[place] == "document" and note_date(pool.path[place]) is not None]
