"""The patterns of `fact_requests.toml`, compiled. Pure but for reading it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reverie_server.heuristics.cues import all_cues

SAYS_SOMETHING = re.compile(
    r"\d|'[ms](?!\w)|(?<!\w)(?:am|im|is|are|was|has|have|had|live|work|got|lives|works|hate|love|likes?|can't|never|won't)(?!\w)"
)
"""A word or a number of what states something."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """What the file describes, of all languages."""

    lead: re.Pattern[str]
    tail: re.Pattern[str]
    alone: re.Pattern[str]
    that_thing: re.Pattern[str]
    named: tuple[re.Pattern[str], ...]
    it_is: tuple[tuple[re.Pattern[str], str], ...]
    pointing: re.Pattern[str]
    because: re.Pattern[str]
    reason: re.Pattern[str]


@cache
def patterns() -> Patterns:
    """The patterns."""
    source = Path(__file__).with_name("fact_requests.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(source).values()
    # The languages without a table of their own have the leads of their cues.
    of_cues = [cues.lead.pattern for cues in all_cues().values() if cues.lead is not None]

    def joined(kind: str, more: list[str]) -> str:
        parts = [part.replace(" ", r"\s") for table in tables for part in table[kind]]
        return "|".join(f"(?:{part})" for part in [*parts, *more])

    return Patterns(
        re.compile(joined("lead", of_cues)),
        re.compile(f"(?:{joined('tail', [])})$"),
        re.compile(joined("alone", [])),
        re.compile(joined("that_thing", [])),
        tuple(re.compile(part.replace(" ", r"\s")) for table in tables for part in table["named"]),
        tuple((re.compile(table["it_is"].replace(" ", r"\s")), table["copula"]) for table in tables),
        *(re.compile(joined(kind, [])) for kind in ("pointing", "because", "reason")),
    )
