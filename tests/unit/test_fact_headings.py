"""Tests of what a heading states with the line below it."""

from datetime import UTC, datetime

from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import Utterance

AT = datetime(2026, 5, 4, tzinfo=UTC)


def _facts(text: str) -> list[tuple[str, str]]:
    return [(fact.subject, fact.object) for fact in read_facts([Utterance(text, AT, "file")])]


def test_a_heading_names_what_the_line_below_it_is_about() -> None:
    assert _facts("# Deployment window\nFriday evening, after the backups.") == [
        ("Deployment window", "Friday evening, after the backups")
    ]


def test_a_line_that_states_a_fact_by_itself_needs_no_heading() -> None:
    assert _facts("# Profile\nMy name is Bo.") == [("user", "Bo")]


def test_a_heading_is_no_sentence_that_a_request_is_about() -> None:
    assert _facts("# Notes\nPlease remember that.") == []
