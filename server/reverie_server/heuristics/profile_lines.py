"""Who somebody is, as lines of PROFILE.md that are made of facts: "Home: Malmö". Pure but for its table of labels.

A line leaves when its fact ends, and another of its kind takes its place. What another line of the file says already is
no line; nor is one that a person took out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from reverie_indexer.file_rules import is_unedited_seed
from reverie_server.files.well_known import PROFILE
from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.entries import dated, undated
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.orders import why_order
from reverie_server.provenance.line_identity import entry_lines
from reverie_server.text.markdown_edit import lines_of

MAX_LINES = 30
"""So many lines are made of facts, the first of them in the order of the labels."""
_MAX_OF_KIND, _MAX_CHARS = 6, 60
_MARITAL = "marital"
# One loved one, whatever they are called by now; and in the order in which their words are more than the others.
_LOVED = ("wife", "husband", "fiancée", "fiancé", "partner")


@dataclass(frozen=True, slots=True)
class KnownOfSelf:
    """A fact of the user that holds. `said` are the words that state it; `is_sure` where it may take the place of
    others, `is_marked` where a model marked it."""

    fact_id: int
    predicate: str
    object: str
    said: str
    said_at: datetime
    is_sure: bool
    is_marked: bool


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """A line and the fact that it is made of."""

    text: str
    fact_id: int


@dataclass(frozen=True, slots=True)
class NewProfile:
    """The text of the file; the lines that are `new` in it, and those that `left` it."""

    text: str
    new: Sequence[ProfileLine]
    left: Sequence[str]


@cache
def _labels() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("profile_labels.toml").read_text(encoding="utf-8"))


def predicates() -> list[str]:
    """The predicates of which lines are made; `is` stands for what a model marks as a marital status."""
    return [*(each for each in _labels()["english"] if each != _MARITAL), "is"]


def profile_lines(facts: Sequence[KnownOfSelf], dead: Collection[str], language: str) -> list[ProfileLine]:
    """The lines that facts make, in the order of the labels, in the language of what was said (most likely `language`).

    `dead` are the names of those who died.
    """
    cues = cues_of(folded("\n".join(fact.said for fact in facts)), all_cues().get(language))
    labels = _labels().get(cues.language if cues else language, _labels()["english"])
    gone = {folded(name) for name in dead}
    of_kind: dict[str, list[KnownOfSelf]] = {}
    for fact in sorted(facts, key=lambda fact: (not fact.is_sure, -fact.said_at.timestamp(), fact.fact_id)):
        kind = fact.predicate if fact.predicate != "is" else _MARITAL if fact.is_marked else ""
        value = _value(fact.object)
        if kind in labels and value and folded(value) not in gone and why_order(f"{labels[kind]}: {value}") is None:
            of_kind.setdefault(kind, []).append(fact)
    for weaker in _LOVED[1:]:
        stronger = {folded(fact.object) for kind in _LOVED[: _LOVED.index(weaker)] for fact in of_kind.get(kind, ())}
        of_kind[weaker] = [fact for fact in of_kind.get(weaker, ()) if folded(fact.object) not in stronger]
    found: dict[str, ProfileLine] = {}
    for kind in labels:
        most = 1 if kind in _labels()["one"] else _MAX_OF_KIND
        for fact in _distinct(of_kind.get(kind, ()))[:most]:
            text = f"{labels[kind]}: {_value(fact.object)}"
            text = dated(text, [fact.said_at.date()]) if kind == "age" else text
            found.setdefault(folded(text), ProfileLine(text, fact.fact_id))
    return list(found.values())[:MAX_LINES]


def _value(object_: str) -> str:
    """What a fact says in one line; "" for what is too long to be a value."""
    plain = " ".join(object_.split()).strip(" .,;:!?。，；")
    return plain if len(plain) <= _MAX_CHARS else ""


def _distinct(facts: Sequence[KnownOfSelf]) -> list[KnownOfSelf]:
    """The facts but those whose words another has, too: "Danny" beside "Danny Wray"."""
    terms = {fact.fact_id: _terms(fact.object) for fact in facts}
    found: list[KnownOfSelf] = []
    for at, fact in enumerate(facts):
        own = terms[fact.fact_id]
        others = [terms[other.fact_id] for other in facts[:at]]
        longer = [terms[other.fact_id] for other in facts[at + 1 :]]
        if not any(own <= other for other in others) and not any(own < other for other in longer):
            found.append(fact)
    return found


def with_profile_lines(
    before: str | None, wanted: Sequence[ProfileLine], ours: Collection[str], taken_out: Collection[str]
) -> NewProfile:
    """PROFILE.md with the lines that are `wanted` in place of those that are `ours` by now.

    `taken_out` are lines that stood there and that somebody took out. The seed gives way to the lines.
    """
    text = "" if before is None or is_unedited_seed(PROFILE, before) else before
    lines = [line.rstrip("\r\n") for line in lines_of(text)]
    own = {f"- {line}" for line in ours}
    others = [_terms(line) for line in entry_lines(text) if line not in own]
    left_out = {folded(line) for line in taken_out}
    kept = [line for line in wanted if folded(line.text) not in left_out and not _is_said(_value_of(line.text), others)]
    by_text = {f"- {line.text}": line for line in kept}
    new = [line for text_, line in by_text.items() if text_ not in lines]
    waiting = list(new)
    result: list[str] = []
    for line in lines:
        if line not in own or line in by_text:
            result.append(line)
        elif (successor := next((each for each in waiting if _kind(each.text) == _kind(line[2:])), None)) is not None:
            waiting.remove(successor)
            result.append(f"- {successor.text}")
    left = [line[2:] for line in lines if line in own and line not in by_text]
    if not new and not left:
        return NewProfile(before or "", [], [])
    result = _with_new(result, [f"- {line.text}" for line in waiting], own | by_text.keys())
    return NewProfile("\n".join(result).rstrip() + "\n", new, left)


def _with_new(lines: list[str], new: Sequence[str], own: Collection[str]) -> list[str]:
    """Lines with further ones behind the last of their own, or at the end."""
    while lines and not lines[-1].strip():
        lines.pop()
    if not new:
        return lines
    if not lines:
        return ["# Profile", "", *new]
    at = max((at for at, line in enumerate(lines) if line in own), default=None)
    if at is not None:
        return [*lines[: at + 1], *new, *lines[at + 1 :]]
    return [*lines, *([] if lines[-1].startswith("- ") else [""]), *new]


def _terms(text: str) -> frozenset[str]:
    """The content words of a text, or all of it where it has none: Mia is a name, too."""
    return content_terms(text) or frozenset({folded(text)})


def _is_said(value: str, others: Sequence[frozenset[str]]) -> bool:
    terms = _terms(value)
    return any(terms <= other for other in others)


def _kind(line: str) -> str:
    return line.partition(": ")[0]


def _value_of(line: str) -> str:
    return undated(line.partition(": ")[2])[0]
