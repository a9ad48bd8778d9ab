"""What people say in four languages, in the tables beside this: what is read of it, and what it closes.

+ sentence => predicate|object & subject|predicate|object     each fact is read; an object holds the one here
! sentence => predicate|object & subject|predicate|object     none of these is read
= sentence => predicate|object & subject|predicate|object     exactly these are read
- sentence                                                    nothing is read; of several, nothing of the last
x first ; second                                              nothing that the first states is closed
first ; second                                                something that the first states is closed
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie_server.heuristics.changes import fact_ledger, superseding
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import StatedFact, Utterance

START = datetime(2026, 10, 1, tzinfo=UTC)


def rows() -> Iterator[tuple[str, str]]:
    for path in sorted(Path(__file__).with_name("voices").glob("*.txt")):
        for line in path.read_text().splitlines():
            if not line.startswith("#"):
                yield path.stem, line


def heard(language: str, said: Sequence[str]) -> tuple[list[StatedFact], list[fact_ledger.Closure]]:
    """The facts of sentences that were said ten days apart, and what closes what, by their indices."""
    utterances = [Utterance(text.strip(), START + timedelta(days=10 * day)) for day, text in enumerate(said)]
    facts = list(read_facts(utterances, language))
    timed = [
        fact_ledger.TimedFact(
            n, f.subject, f.predicate, f.object, f.text, f.said_at, f.is_functional, f.change, f.about_user
        )
        for n, f in enumerate(facts)
    ]
    return facts, list(superseding.resolve(timed).closures)


def is_read(facts: Sequence[StatedFact], wanted: str) -> bool:
    *subject, predicate, value = wanted.strip().split("|")
    return any(
        (not subject or fact.subject == subject[0])
        and fact.predicate.startswith(predicate)
        and value.lower() in fact.object.lower()
        for fact in facts
    )


@pytest.mark.parametrize(("language", "line"), list(rows()))
def test_a_line_of_a_table(language: str, line: str) -> None:
    kind, _, rest = line.partition(" ")
    if kind in "+=":
        sentence, _, wanted = rest.partition("=>")
        facts, _ = heard(language, [sentence])
        each_wanted = [each for each in wanted.split("&") if each.strip()]
        assert all(is_read(facts, each) for each in each_wanted), facts
        assert kind == "+" or len(facts) == len(each_wanted), facts
        return
    if kind == "!":
        sentence, _, wrong = rest.partition("=>")
        facts, _ = heard(language, [sentence])
        assert not any(is_read(facts, each) for each in wrong.split("&")), facts
        return
    if kind == "-":
        said = rest.split(" ; ")
        facts, _ = heard(language, said)
        assert [fact for fact in facts if fact.utterance == len(said) - 1] == []
        return
    said = (rest if kind == "x" else line).split(" ; ")
    facts, closures = heard(language, said)
    closed = {facts[closure.old].utterance for closure in closures}
    assert any(fact.utterance == 0 for fact in facts)
    assert (0 in closed) is (kind != "x"), facts
    assert len(said) - 1 not in closed
