"""Tests of what a later statement makes of a line of MEMORY.md or PROFILE.md that says more than one thing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reverie_server.extraction.superseded import (
    KnownLine,
    facts_of,
    outdated_lines,
    partly_outdated_lines,
    rest_of,
    supersede,
    without_lines,
)
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.fact_sentences import sentence_key
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.search.superseded_text import Superseded
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


WORK, HOME = "I work as a vet at Teme Clinic.", "The key is in the shed."
OVER = Superseded(1, AFTER, 2, ("I work as a vet.",))


@pytest.mark.parametrize(
    ("line", "end", "left"),
    [
        (f"- {WORK}", OVER, {f"- {WORK}": "I work as a vet."}),
        (f"- {WORK} {HOME}", OVER, {f"- {WORK} {HOME}": f"I work as a vet. {HOME}"}),
        (f"- {WORK} {HOME}", Superseded(1, AFTER, 2), {f"- {WORK} {HOME}": HOME}),
        # Of all of it nothing is left, it only likely ended, or it has its day.
        (f"- {WORK}", Superseded(1, AFTER, 2), {}),
        (f"- {WORK} {HOME}", Superseded(1, AFTER, 2, is_likely=True), {}),
        (f"- {WORK} {HOME} (until 2026-01-03)", OVER, {}),
        (f"- {HOME}", OVER, {}),
    ],
)
def test_a_line_of_the_server_is_left_with_what_facts_say_holds(
    line: str, end: Superseded, left: dict[str, str]
) -> None:
    text, superseded = f"# Profile\n\n{line}\n", {sentence_key(WORK): end}
    assert partly_outdated_lines(text, frozenset({line_sha256(line)}), superseded) == left
    assert partly_outdated_lines(text, frozenset(), superseded) == {}


def test_a_guess_takes_no_line_away() -> None:
    line = f"- {WORK}"
    text, machine = f"# Profile\n\n{line}\n", frozenset({line_sha256(line)})
    over = Superseded(7, AFTER, 9, is_likely=True)
    assert outdated_lines(text, machine, {sentence_key(WORK): over}) == {line: 9}
    assert outdated_lines(text, machine, {sentence_key(WORK): replace(over, is_guessed=True)}) == {}


def lines_for_profile(known: str, said: str, language: str = "german") -> list[str]:
    """What a message leaves for PROFILE.md where a line of it is known, and the lines that are over."""
    lines = [KnownLine("PROFILE.md", known, BEFORE, is_machine=True)]
    message = Message(seq=1, role="user", content=said, at=AFTER, tokens=9, message_id="1", extra={})
    old = facts_of(lines, language)
    heard = memorable_of([message], language, "UTC", [fact for _, fact in old])
    changed = supersede(lines, old, heard.facts, heard.lines)
    return [line.statement.text for line in changed.new]


def test_a_part_of_a_known_name_is_no_new_name() -> None:
    assert lines_for_profile("- Ich heiße Felix Arndt.", "Ich bin Felix.") == []
    assert lines_for_profile("- Ich bin Felix.", "Ich heiße Felix Arndt.") == ["Ich heiße Felix Arndt."]


def test_a_sentence_that_replaces_a_line_makes_one_line() -> None:
    said = "Seit gestern bin ich bei der Tischlerei Ahlers, meine neue Chefin heißt Renate Ahlers."
    [line] = lines_for_profile("- Ich arbeite bei Holz und Deichmann.", said)
    assert line.startswith(said)


@pytest.mark.parametrize(
    ("line", "by", "left"),
    [
        (
            "- Lieferanteneingang is 4471 und die Alarmanlage kriegt die 7713.",
            "9026 is die Nummer für den Lieferanteneingang.",
            "Die Alarmanlage kriegt die 7713.",
        ),
        ("- The gate code is 4471, the alarm has 7713.", "The gate code is 9026 now.", "the alarm has 7713."),
        ("- The gate code is 4471, set up in 2024.", "The gate code is 9026 now.", ""),
        ("- The gate code is 4471.", "The gate code is 9026 now.", ""),
    ],
)
def test_a_line_of_two_codes_loses_the_one_that_is_replaced(line: str, by: str, left: str) -> None:
    assert rest_of(line, by) == left
