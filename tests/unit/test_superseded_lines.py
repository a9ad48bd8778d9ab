"""Tests of what a later statement makes of a line of MEMORY.md or PROFILE.md that says more than one thing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.extraction.superseded import KnownLine, facts_of, supersede, without_lines
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.sessions.model import Message

BEFORE, AFTER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "said", "left"),
    [
        (
            "- I work as a vet at Teme Animal Clinic in Hereford.",
            "From today I work at Corve Veterinary Group in Ludlow.",
            "- I work as a vet.",
        ),
        (
            "- Ruby is nine, and she plays the cello in the school orchestra.",
            "Ruby turned ten.",
            "- Ruby plays the cello in the school orchestra.",
        ),
    ],
)
def test_a_line_of_which_a_part_is_over_gives_way_to_what_holds(line: str, said: str, left: str) -> None:
    known = [KnownLine("PROFILE.md", line, BEFORE, is_machine=True)]
    message = Message(seq=1, role="user", content=said, at=AFTER, tokens=9, message_id="1", extra={})
    stated = [(fact, message) for fact in read_facts([Utterance(said, AFTER)], "english")]
    changed = supersede(known, facts_of(known, "english"), stated, [])
    text, dropped = without_lines(f"# Profile\n\n{line}\n", frozenset(), changed.partly["PROFILE.md"], {})
    assert not changed.outdated
    assert text == f"# Profile\n\n{left}\n"
    assert dropped == []
