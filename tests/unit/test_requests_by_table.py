"""How people ask to remember and to forget in four languages, in the tables beside this, and what only sounds like it.

+ message         asks to remember the number 88, which it tells
- message         has the number and asks for nothing
forget message    asks to forget something; what it names is what is to be forgotten
x message         asks to forget nothing
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.heuristics.stated_fact import Utterance

AT = datetime(2026, 10, 1, tzinfo=UTC)
# What was said before it, which nobody asks to remember.
BEFORE = {
    "english": "My shoes are in the hall.",
    "german": "Meine Schuhe stehen im Flur.",
    "spanish": "Mis zapatos están en el pasillo.",
    "chinese": "我的鞋在门口。",
}
NAMED = {"english": "loan", "german": "kredit", "spanish": "préstamo", "chinese": "贷款"}
# Of these the words before the request name it, and the request is about what was said before.
ABOUT_BEFORE = ("I regret", "I take back", "我刚说的贷款")


def rows() -> Iterator[tuple[str, str]]:
    for path in sorted(Path(__file__).with_name("requests").glob("*.txt")):
        for line in path.read_text().splitlines():
            yield path.stem, line


@pytest.mark.parametrize(("language", "line"), list(rows()))
def test_a_line_of_a_table(language: str, line: str) -> None:
    kind, _, message = line.partition(" ")
    if kind in ("forget", "x"):
        requests = forget_requests(message)
        assert bool(requests) is (kind == "forget")
        if kind == "forget" and NAMED[language] in message.lower() and not message.startswith(ABOUT_BEFORE):
            assert NAMED[language] in requests[-1].topic.lower()
        return
    facts = read_facts([Utterance(BEFORE[language], AT), Utterance(message, AT)], language)
    asked = [f"{fact.text} {fact.object}" for fact in facts if fact.is_request]
    assert any("88" in each for each in asked) is (kind == "+")
    assert kind == "+" or not asked
