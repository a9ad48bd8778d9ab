"""Which lines are known no more, and which otherwise, once texts are taken out of a file; and at what cost."""

from __future__ import annotations

import re

import pytest

from reverie_server.provenance.line_identity import line_sha256
from reverie_server.provenance.record import lines_without
from reverie_server.text import redact
from reverie_server.text.redact import Targets

NOTE = "# Day\n\n- Ada likes tea in spring, and Eve plays some jazz.\n- The lantern is green.\n- Ben left.\n"


def test_a_line_that_goes_is_gone_and_one_that_is_shortened_is_known_by_what_is_left() -> None:
    gone, moved = lines_without(NOTE, Targets(["The lantern is green.", "Eve plays some jazz"]))
    assert gone == [line_sha256("The lantern is green.")]
    assert moved == [
        (line_sha256("Ada likes tea in spring, and Eve plays some jazz."), line_sha256("Ada likes tea in spring."))
    ]


def test_a_line_of_which_a_word_is_forgotten_is_gone() -> None:
    """A stump ("The is green.") says nothing."""
    assert lines_without(NOTE, Targets(["lantern"])) == ([line_sha256("The lantern is green.")], [])


def test_a_text_over_several_lines_leaves_none_of_their_hashes() -> None:
    gone, moved = lines_without(NOTE, Targets(["The lantern is green.\n- Ben left."]))
    assert (gone, moved) == ([line_sha256("The lantern is green."), line_sha256("Ben left.")], [])


def test_a_text_that_is_not_there_changes_nothing() -> None:
    assert lines_without(NOTE, Targets(["Zoe"])) == ([], [])


def test_patterns_are_made_for_each_text_and_not_for_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 lines with a text of 1,000 lines made the same pattern 20,000 times: the server stood still for 20 s."""
    made: list[str] = []
    pattern_of = redact.pattern_of

    def counted(target: str) -> re.Pattern[str]:
        made.append(target)
        return pattern_of(target)

    monkeypatch.setattr(redact, "pattern_of", counted)
    lines_without("".join(f"- line {number}\n" for number in range(2000)), Targets(["line 7\n- line 8", "line 1999"]))
    assert len(made) <= 4
