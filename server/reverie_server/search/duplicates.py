"""Which results only repeat another one. Pure.

One exchange is stored as messages, as a line of the daily log and in an episode. The message wins: a line of the log
may be cut, while the message is whole, has its own time and shows the conversation around it. The other half of the
line is a message as well, and competes with its own words. A summary that was made without a model quotes sentences: a
passage of an episode gives way where a message or a line of the log among the results has each of its sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reverie_indexer.text.chunk import note_date
from reverie_server.search.candidates import Candidates
from reverie_server.search.episode_passages import only_repeats
from reverie_server.sessions.daily_log import repeats


def may_repeat(candidates: Candidates, rows: Sequence[int]) -> bool:
    """Whether the candidates at `rows` are of two or more kinds: messages, passages of daily notes, and of episodes."""
    kinds = [
        any(candidates.tier[row] == "message" for row in rows),
        bool(_note_rows(candidates, rows)),
        any(candidates.tier[row] == "episodic" for row in rows),
    ]
    return sum(kinds) > 1


def repeating_rows(candidates: Candidates, rows: Sequence[int], texts: Mapping[int, str]) -> set[int]:
    """Those of `rows` that only repeat another one of the same memory.

    A line of the daily log repeats a message; a passage of an episode repeats messages and lines of the log. `texts`
    has the text of each candidate by the id of its chunk.
    """
    text_of = {row: texts[int(candidates.chunk_id[row])] for row in rows}
    message_rows = [row for row in rows if candidates.tier[row] == "message"]
    note_rows = _note_rows(candidates, rows)
    episode_rows = [row for row in rows if candidates.tier[row] == "episodic"]

    def texts_in_slice_of(row: int, others: Sequence[int]) -> list[str]:
        return [text_of[other] for other in others if candidates.slice_id[other] == candidates.slice_id[row]]

    repeating_notes = {
        row for row in note_rows if any(repeats(text_of[row], text) for text in texts_in_slice_of(row, message_rows))
    }
    return repeating_notes | {
        row
        for row in episode_rows
        if only_repeats(text_of[row], texts_in_slice_of(row, message_rows), texts_in_slice_of(row, note_rows))
    }


def _note_rows(candidates: Candidates, rows: Sequence[int]) -> list[int]:
    """Those of `rows` that are passages of daily notes."""
    return [row for row in rows if candidates.tier[row] == "document" and note_date(candidates.path[row]) is not None]
