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


def test_neither_a_date_nor_a_line_of_a_conversation_is_what_a_heading_states() -> None:
    assert _facts("# 2026-11-06\nQuiet Friday, thus a list of loose threads.") == []
    assert _facts("## Billing\n[17:10] User: Is sepa_v8 on for anyone yet? | Assistant: For nobody.") == []


def test_the_colon_of_a_time_ends_no_key() -> None:
    assert ("We rehearse on Mondays at 19", "30 in the parish hall") not in _facts(
        "We rehearse on Mondays at 19:30 in the parish hall."
    )
    assert _facts("Depot call: 08:45") == [("Depot call", "08:45")]


def test_one_decision_takes_no_other_ones_place() -> None:
    decided = read_facts(
        [
            Utterance("Decided: KORB-1502 goes live on 5 November", AT, "file"),
            Utterance("Decided: minced meat only on vans with a running compressor, as of 6 November", AT, "file"),
        ]
    )
    assert [fact.is_functional for fact in decided] == [False, False]
