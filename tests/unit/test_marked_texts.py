"""The messages in which spans are marked: they are those of the tagged lives, and no label is written otherwise."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from reverie_bench import marks
from reverie_bench.marks import MarkedText, kind_of, marked_text, marked_texts, relations
from reverie_bench.tagged import tagged_lives
from reverie_indexer.embed.marks import BEINGS, NO_RELATION, NOBODY, SPEAKER

KIND = re.compile(
    r"over_(?:home|job|other|partner|pet)"
    r"|age|allergy|avoids|birthday|dead|diet|dislikes|drives|employer|field|from|has|hobby|home"
    r"|illness|job|kids|kind|learns|likes|lives_with|marital|medicine|name|nick|person|pet|petname|rel|religion"
    r"|schedule|school|speaks|studies"
)


def test_what_is_marked_of_a_life_is_what_was_said_there() -> None:
    said = {line.text for life in tagged_lives() for line in life.lines}
    lives = {life.name for life in tagged_lives()}
    of_lives = [text for text in marked_texts() if text.life in lives]
    assert len(of_lives) > 7_000
    assert [text.text for text in of_lives if text.text not in said] == []


def test_every_label_is_one_of_those_and_marks_something() -> None:
    spans = [(text.text[span.start : span.end], span.label) for text in marked_texts() for span in text.spans]
    assert {label for _, label in spans if KIND.fullmatch(label) is None} == set()
    assert [label for marked, label in spans if not marked.strip()] == []


def test_no_brace_is_left_of_a_mark() -> None:
    assert [text.text for text in marked_texts() if re.search("[{}]", text.text)] == []


def test_a_sixth_of_the_messages_is_held_back() -> None:
    held = Counter(text.is_held for text in marked_texts())
    assert 0.1 < held[True] / held.total() < 0.25


def test_a_label_says_when_and_of_whom() -> None:
    assert kind_of("home") == ("home", "holds", False)
    assert kind_of("ex_o_job") == ("job", "over", True)
    assert kind_of("next_home") == ("home", "next", False)
    assert kind_of("over_pet") == ("over_pet", "over", False)


def whose(marked: str) -> list[set[int]]:
    return [set(span.of) for span in marked_text(marked).spans]


def test_behind_a_label_stands_whose_a_span_is() -> None:
    assert whose("I'm {name:Ada}, {rel:wife} {person=2:Ann} is {o_age@3:9}") == [{SPEAKER}, {SPEAKER}, {1}, {1, 2}]
    assert whose("{person:Al} and {o_job:a cook}, {rel@x:son} of a {o_job@x:nun}") == [{NOBODY}] * 4
    # Each of several names of a group is another.
    assert whose("{rel:boys} {person=1:Al} and {person=1:Bo}, {o_age@3:9}, {o_home@1:in Rye}")[3:] == [{2}, {0}]


def test_what_a_span_is_of_says_of_whom_it_is() -> None:
    def is_plain(text: MarkedText) -> bool:
        return all(
            to < 0 or (to != at and text.spans[to].label in BEINGS)
            for at, span in enumerate(text.spans)
            for to in span.of
        )

    assert [text.text for text in marked_texts() if not is_plain(text)] == []
    to_beings = [span for text in marked_texts() for span in text.spans if max(span.of) >= 0]
    assert len(to_beings) > 4_000


def test_the_words_for_who_somebody_is_are_written_once_and_say_it_in_english() -> None:
    rows = (Path(marks.__file__).parent / "relations.txt").read_text(encoding="utf-8").splitlines()
    assert len(relations()) == len(rows) > 1_500
    assert {NO_RELATION, "mother", "wife", "boss", "friend"} <= set(relations().values())
    words = [
        text.text[span.start : span.end].lower()
        for text in marked_texts()
        for span in text.spans
        if span.label == "rel"
    ]
    assert sum(word in relations() for word in words) > 0.98 * len(words)
