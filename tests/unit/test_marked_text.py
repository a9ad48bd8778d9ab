"""A file of the prompt with what does not hold any more marked or left out, and nothing told of another entry."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.prompt.marking import marked_text
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.search.superseded_text import Superseded

VEGA, ORION = "- The Vega project is led by Tom\n", "- The Orion project is led by Petra\n"
UNTIL = "- The Orion project is led by Petra (until 2026-03-04)\n"
OVER = {
    span.key: Superseded(1, datetime(2026, 3, 4, tzinfo=UTC), 2)
    for span in keyed_sentences(f"{ORION}- Its budget is 40,000 Euro")
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{VEGA}{ORION}- Rain.\n", f"{VEGA}- Rain.\n"),
        (f"{VEGA}{ORION}  - budget 40,000\n", f"{VEGA}{UNTIL}  - budget 40,000\n"),
        (f"{VEGA}{ORION}\n  Cancelled.\n\nRain.\n", f"{VEGA}{UNTIL}\n  Cancelled.\n\nRain.\n"),
        (f"{VEGA}\n{ORION}It was cancelled.\n", f"{VEGA}\n{UNTIL}It was cancelled.\n"),
        # What is below goes too.
        (f"{VEGA}{ORION}  - Its budget is 40,000 Euro\n- Rain.\n", f"{VEGA}- Rain.\n"),
    ],
)
def test_what_stands_below_a_line_of_the_server_keeps_it(before: str, after: str) -> None:
    machine_made = {line_sha256(line) for line in (ORION.strip(), "  - Its budget is 40,000 Euro")}
    assert marked_text(before, lambda _: OVER, machine_made) == after
