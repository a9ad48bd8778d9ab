"""Which line of the daily log repeats a message that is shown as well."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from tests.unit.search_candidates import candidates_of

from reverie_server.search.candidates import Candidates
from reverie_server.search.duplicates import may_repeat, repeating_rows

LINE = "[09:30] User: Who inspects the gantry crane? | Assistant: Marguerite does, every second Wednesday."
ANSWER = "Marguerite does, every second Wednesday."


def passage(chunk_id: int, text: str, tier: str = "message", path: str = "sessions/web:1") -> dict[str, Any]:
    return {
        **{"chunk_id": chunk_id, "document_id": chunk_id, "ordinal": 0, "bm25": 0.0, "similarity": None, "terms": ()},
        **{"tier": tier, "path": path, "start_line": 1, "end_line": 1, "text": text, "scope": "personal"},
        **{"owner_key": "user:1", "updated_at": datetime(2026, 4, 3, tzinfo=UTC)},
    }


def repeating(
    *passages: dict[str, Any], rows: list[int] | None = None, candidates: Candidates | None = None
) -> set[int]:
    candidates = candidates or candidates_of(passages, (), {})
    return repeating_rows(candidates, rows or list(range(len(passages))), {p["chunk_id"]: p["text"] for p in passages})


NOTE = passage(1, LINE, "document", "memory/2026-04-03.md")


def test_the_line_of_a_message_that_is_shown_repeats_it() -> None:
    assert repeating(NOTE, passage(2, ANSWER)) == {0}
    assert repeating(passage(2, "who inspects?"), NOTE, passage(3, ANSWER)) == {1}


def test_a_line_stays_where_its_message_is_not_shown() -> None:
    assert repeating(NOTE, passage(2, "Something else altogether was said.")) == set()
    assert repeating(NOTE, passage(2, ANSWER), rows=[0]) == set()


def test_only_the_daily_log_repeats() -> None:
    assert repeating(passage(1, LINE, "document", "notes/log.md"), passage(2, ANSWER)) == set()
    assert repeating(passage(1, ANSWER, "document", "memory/2026-04-03.md"), passage(2, ANSWER)) == set()
    assert repeating(NOTE, passage(2, ANSWER, "document")) == set()


def test_a_line_of_another_memory_is_another_conversation() -> None:
    message = passage(2, ANSWER)
    apart = replace(candidates_of([NOTE, message], (), {}), slice_id=np.array([1, 2], np.int64))
    assert repeating(NOTE, message, candidates=apart) == set()


def test_texts_are_asked_for_only_where_both_are_shown() -> None:
    candidates = candidates_of([NOTE, passage(2, ANSWER), passage(3, "a file", "document", "MEMORY.md")], (), {})
    assert [may_repeat(candidates, rows) for rows in ([0, 1], [0, 2], [1, 2], [])] == [True, False, False, False]


EPISODE = passage(7, f"- Assistant: {ANSWER}", "episodic", "episodes/web:1/2")


def test_a_passage_of_an_episode_gives_way_to_what_it_repeats() -> None:
    assert repeating(EPISODE, passage(2, ANSWER)) == {0}
    assert repeating(NOTE, EPISODE) == {1}
    assert repeating(NOTE, EPISODE, passage(2, ANSWER)) == {0, 1}


def test_a_passage_of_an_episode_that_says_more_stays() -> None:
    more = passage(7, "Marguerite inspects the crane and Bo writes it down.", "episodic", "episodes/web:1/2")
    assert repeating(more, NOTE, passage(2, ANSWER), rows=[0, 1]) == set()
    assert repeating(EPISODE, passage(2, "Something else altogether was said.")) == set()
    candidates = candidates_of([EPISODE, passage(2, ANSWER), passage(3, "a file", "document", "MEMORY.md")], (), {})
    assert [may_repeat(candidates, rows) for rows in ([0, 1], [0, 2], [0])] == [True, False, False]
