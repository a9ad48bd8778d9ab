"""Which passages say what messages say, and what competes in their place."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from tests.unit.search_candidates import candidates_of

from reverie_server.search.candidates import Candidates
from reverie_server.search.copies import compared_rows, equal_lines, scored_by

QUESTION = "Who inspects the gantry crane?"
ANSWER = "Marguerite does, every second Wednesday."
LINE = f"[09:30] User: {QUESTION} | Assistant: {ANSWER}"


def passage(chunk_id: int, text: str, tier: str = "message", path: str = "sessions/web:1") -> dict[str, Any]:
    return {
        **{"chunk_id": chunk_id, "document_id": chunk_id, "ordinal": 0, "bm25": 0.0, "similarity": None, "terms": ()},
        **{"tier": tier, "path": path, "start_line": 1, "end_line": 1, "text": text, "scope": "personal"},
        **{"owner_key": "user:1", "updated_at": datetime(2026, 4, 3, tzinfo=UTC)},
    }


def copied(*passages: dict[str, Any], candidates: Candidates | None = None) -> dict[int, list[int]]:
    candidates = candidates or candidates_of(passages, (), {})
    compared = compared_rows(candidates, np.ones(candidates.proposed_count), 6)
    equal = equal_lines(candidates, compared)
    return {row: [source for each in lines for source in each.sources] for row, lines in equal.items()}


NOTE = passage(1, LINE, "document", "memory/2026-04-03.md")
SAID = passage(2, ANSWER)


def test_a_line_of_the_log_is_a_copy_of_either_message() -> None:
    assert copied(NOTE, SAID) == {0: [1]}
    assert copied(passage(2, QUESTION), NOTE, SAID) == {1: [0, 2]}


def test_a_line_of_the_log_that_is_cut_is_a_copy_of_the_whole_message() -> None:
    long = f"{ANSWER} And whoever replaces her signs the sheet that hangs beside the door of the northern shed."
    line = f"[09:30] User: And who? | Assistant: {long[:90]}…"
    assert copied(passage(1, line, "document", "memory/2026-04-03.md"), passage(2, long)) == {0: [1]}


def test_a_line_of_the_log_is_a_copy_of_a_message_in_several_passages() -> None:
    line = f"[09:30] User: {QUESTION} | Assistant: {ANSWER} Ask at the gate."
    assert copied(passage(1, line, "document", "memory/2026-04-03.md"), SAID) == {0: [1]}


def test_what_no_message_has_is_no_copy() -> None:
    assert copied(NOTE, passage(2, "Something else altogether was said.")) == {}
    assert copied(NOTE) == {}


@pytest.mark.parametrize(
    "path",
    ["memory/2026-04-03.md", "MEMORY.md", "PROFILE.md", "_system/dreaming/20260403-consolidated.md"],
)
@pytest.mark.parametrize("mark", ["- ", "* ", ""])
def test_an_entry_that_says_what_a_message_says_is_a_copy(path: str, mark: str) -> None:
    assert copied(passage(1, f"{mark}{ANSWER} (2026-04-03)", "document", path), SAID) == {0: [1]}


def test_a_sentence_of_a_longer_message_is_a_copy_of_it() -> None:
    entry = passage(1, "- my sister **Ada** cannot eat gluten", "document", "MEMORY.md")
    said = passage(2, "Good morning! My sister Ada cannot eat gluten, so no pasta. Any ideas?")
    assert copied(entry, said) == {0: [1]}


def test_a_part_of_a_word_is_no_copy() -> None:
    entry = passage(1, "- I really like tea", "document", "MEMORY.md")
    assert copied(entry, passage(2, "I really like teapots.")) == {}


def test_a_file_of_a_person_is_no_copy() -> None:
    assert copied(passage(1, LINE, "document", "notes/log.md"), SAID) == {}
    assert copied(passage(1, ANSWER, "document", "notes/crane.md"), SAID) == {}


def test_what_another_memory_says_is_no_copy() -> None:
    apart = replace(candidates_of([NOTE, SAID], (), {}), slice_id=np.array([1, 2], np.int64))
    assert copied(candidates=apart) == {}


EPISODE = passage(7, f"- Assistant: {ANSWER}", "episodic", "episodes/web:1/2")


def test_a_passage_of_an_episode_is_a_copy_of_what_it_quotes() -> None:
    assert copied(EPISODE, SAID) == {0: [1]}
    assert copied(NOTE, EPISODE) == {1: [0]}
    assert copied(NOTE, EPISODE, SAID) == {0: [2], 1: [2]}
    both = passage(7, f"- User: {QUESTION}\n- Assistant: {ANSWER}", "episodic", "episodes/web:1/2")
    assert copied(both, SAID, passage(3, QUESTION)) == {0: [2, 1]}


def test_a_passage_of_an_episode_that_says_more_is_none() -> None:
    more = passage(7, f"{ANSWER} Bo writes it down.\nBo has the book.", "episodic", "episodes/web:1/2")
    assert copied(more, NOTE, SAID) == {1: [2]}


def test_the_best_copy_lends_its_scores_to_the_message() -> None:
    by = scored_by(4, {0: [2, 3], 1: [3]}, np.array([0.9, 0.6, 0.5, 0.7]))
    assert by.tolist() == [0, 1, 2, 0]


def test_a_message_that_is_better_than_its_copies_keeps_its_scores() -> None:
    assert scored_by(3, {0: [2], 1: [2]}, np.array([0.4, 0.3, 0.5])).tolist() == [0, 1, 2]
