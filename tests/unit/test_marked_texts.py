"""The messages in which spans are marked: they are those of the tagged lives, and no label is written otherwise."""

from __future__ import annotations

import re
from collections import Counter

from reverie_bench.marks import marked_texts
from reverie_bench.tagged import tagged_lives

LABEL = re.compile(
    r"over_(?:home|job|other|partner|pet)"
    r"|(?:ex_|next_)?(?:o_)?(?:age|allergy|avoids|birthday|dead|diet|dislikes|drives|employer|field|from|has|hobby|home"
    r"|illness|job|kids|kind|learns|likes|lives_with|marital|medicine|name|nick|person|pet|petname|rel|religion"
    r"|schedule|school|speaks|studies)"
)


def test_what_is_marked_of_a_life_is_what_was_said_there() -> None:
    said = {line.text for life in tagged_lives() for line in life.lines}
    lives = {life.name for life in tagged_lives()}
    of_lives = [text for text in marked_texts() if text.of in lives]
    assert len(of_lives) > 7_000
    assert [text.text for text in of_lives if text.text not in said] == []


def test_every_label_is_one_of_those_and_marks_something() -> None:
    spans = [(text.text[span.start : span.end], span.label) for text in marked_texts() for span in text.spans]
    assert {label for _, label in spans if LABEL.fullmatch(label) is None} == set()
    assert [label for marked, label in spans if not marked.strip()] == []


def test_no_brace_is_left_of_a_mark() -> None:
    assert [text.text for text in marked_texts() if re.search("[{}]", text.text)] == []


def test_a_sixth_of_the_messages_is_held_back() -> None:
    held = Counter(text.is_held for text in marked_texts())
    assert 0.1 < held[True] / held.total() < 0.25
