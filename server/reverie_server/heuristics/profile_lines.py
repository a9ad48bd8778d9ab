"""Who somebody is, as lines of PROFILE.md that are made of facts: "Home: Malmö". Pure but for its table of labels.

A line leaves when its fact ends, and another of its kind takes its place. Nothing else of the file is touched: a line
that a person has changed, or put something below, is theirs; one that they took out does not come back.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
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
from reverie_server.heuristics.salience import has_secret
from reverie_server.heuristics.stated_fact import SELF, StatedFact
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.text.markdown_blocks import blocks_of, without_marker
from reverie_server.text.markdown_edit import lines_of

MAX_LINES = 40
"""So many lines are made of facts, the first of them in the order of the labels."""
_MAX_OF_KIND, _MAX_CHARS = 8, 60
_MARITAL = "marital"
# One loved one, whatever they are called by now; the words that say more go before the others.
_LOVED = ("wife", "husband", "fiancée", "fiancé", "partner")
# What is markup, an address or a path is no value.
_NO_VALUE = re.compile(r"[<>\[\]{}|`\\@]|://")
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs"})
# A line with a label, whoever wrote it; of several values each, without what stands in brackets or behind a comma.
_LABELLED = re.compile(r"(?P<label>[^:：]{1,40})[:：](?P<value>.*)")
_AND = re.compile(r"[,;，；、&和与與]| (?:and|und|y|e|et) ")
_APPOSITION = re.compile(r"[(（]|[,;，；] |(?<=\w)\. ")
_NOTHING = re.compile(
    r"(?:none|nobody|nothing|no|not|never|was|were|formerly|unknown|tbd|n/a|see|ask|until|kein\w*|nicht|nie|war|siehe"
    r"|unbekannt|ningun\w*|nada|nadie|ya no|era|ver|desconocid\w*)(?!\w)|[无無没沒不-]"
)
_MAX_DIGITS, _MAX_LINE_CHARS = 6, 500


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
    """The text of the file, and the lines that are `new` in it; `left` says how many lines left it."""

    text: str
    new: Sequence[ProfileLine]
    left: int


@cache
def _labels() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("profile_labels.toml").read_text(encoding="utf-8"))


def predicates() -> list[str]:
    """The predicates of which lines are made; `is` may say a marital status."""
    return [*(each for each in _labels()["english"] if each != _MARITAL), "is"]


def stated_by_line(line: str, utterance: int, said_at: datetime) -> list[StatedFact]:
    """What a line of PROFILE.md with one of the labels states of its owner, in any of their languages: "Tochter: Orla",
    also where a person wrote it, or another memory. Of what one has several of, each."""
    plain = without_marker(line)
    found = _LABELLED.match(plain.replace("*", ""))
    kind = _kinds().get(folded(found["label"].strip())) if found is not None else None
    if found is None or kind is None:
        return []
    value = undated(" ".join(found["value"][:_MAX_LINE_CHARS].split()))[0]
    is_one = kind in _labels()["one"]
    values = [_APPOSITION.split(value)[0]] if is_one else _AND.split(value)
    return [
        StatedFact(
            utterance,
            plain,
            plain,
            SELF,
            "is" if kind == _MARITAL else kind,
            object_,
            "profile",
            said_at,
            said_at,
            is_functional=is_one,
        )
        for each in values
        if (object_ := _value(_APPOSITION.split(each)[0])) and _says_something(kind, each.strip())
    ]


def _says_something(kind: str, value: str) -> bool:
    """Whether what stands behind a label is a value, and no "none", "not Rome any more" or "see below"."""
    if _NOTHING.match(folded(value)) is not None or value.endswith(("?", "？")):
        return False
    if kind == "age":
        return True
    if kind == "birthday":
        return any(map(str.isnumeric, value))
    return any(map(str.isalpha, value)) and sum(map(str.isdigit, value)) <= _MAX_DIGITS


@cache
def _kinds() -> Mapping[str, str]:
    """The kinds by their labels in all languages."""
    languages = [labels for name, labels in _labels().items() if name not in ("one", "marital_words")]
    return {folded(label): kind for labels in languages for kind, label in labels.items()}


def language_of_lines(lines: Sequence[str], facts: Sequence[KnownOfSelf], language: str) -> str:
    """The language of lines that facts made before; where there are none, of what was said (most likely `language`):
    what changes from day to day would write each line anew."""
    kinds = {_kind(line) for line in lines}
    tables = {name: set(labels.values()) for name, labels in _labels().items() if name not in ("one", "marital_words")}
    if kinds:
        return max(tables, key=lambda name: (len(kinds & tables[name]), name == language))
    cues = cues_of(folded("\n".join(fact.said for fact in facts)), all_cues().get(language))
    spoken = cues.language if cues else language
    return spoken if spoken in tables else "english"


def profile_lines(facts: Sequence[KnownOfSelf], dead: Collection[str], language: str) -> list[ProfileLine]:
    """The lines that facts make, in the order and the words of the labels of a language (`language_of_lines`).

    `dead` are the names of those who died.
    """
    labels = _labels()[language]
    gone = {folded(name) for name in dead}
    of_kind: dict[str, list[KnownOfSelf]] = {}
    for fact in sorted(facts, key=lambda fact: (not fact.is_sure, -fact.said_at.timestamp(), fact.fact_id)):
        kind, value = _kind_of(fact), _value(fact.object)
        if kind in labels and value and folded(value) not in gone:
            of_kind.setdefault(kind, []).append(fact)
    for weaker in _LOVED[1:]:
        stronger = {folded(fact.object) for kind in _LOVED[: _LOVED.index(weaker)] for fact in of_kind.get(kind, ())}
        of_kind[weaker] = [fact for fact in of_kind.get(weaker, ()) if folded(fact.object) not in stronger]
    found: dict[str, ProfileLine] = {}
    for kind in labels:
        chosen = of_kind.get(kind, [])
        chosen = _whole_names(chosen)[:1] if kind in _labels()["one"] else chosen[:_MAX_OF_KIND]
        for fact in chosen:
            text = f"{labels[kind]}: {_value(fact.object)}"
            text = dated(text, [fact.said_at.date()]) if kind == "age" else text
            found.setdefault(folded(text), ProfileLine(text, fact.fact_id))
    return list(found.values())[:MAX_LINES]


def _kind_of(fact: KnownOfSelf) -> str:
    if fact.predicate != "is":
        return fact.predicate
    is_status = fact.is_marked or folded(fact.object) in _labels()["marital_words"]
    return _MARITAL if is_status else ""


def _value(object_: str) -> str:
    """What a fact says in one line; "" for what is too long, hidden, markup, a secret, or an order to the agent."""
    plain = " ".join(object_.split()).strip(" .,;:!?。，；")
    is_hidden = any(unicodedata.category(character) in _HIDDEN for character in plain)
    if len(plain) > _MAX_CHARS or is_hidden or _NO_VALUE.search(plain) is not None or has_secret(plain):
        return ""
    return plain if why_order(plain) is None and why_order(f"Work: {plain}") is None else ""


def _whole_names(facts: Sequence[KnownOfSelf]) -> list[KnownOfSelf]:
    """The facts but those whose words are some of another's: "Danny" beside "Danny Wray"."""
    terms = [content_terms(fact.object) for fact in facts]
    return [fact for fact, own in zip(facts, terms, strict=True) if not any(own < other for other in terms)]


def present_lines(text: str, made: Collection[bytes]) -> list[str]:
    """The lines of a file that facts made, without their bullets: items of one line with nothing below them."""
    lines = lines_of(text)
    return [without_marker(lines[at]) for at in sorted(_own(text, lines, made))]


def with_profile_lines(
    before: str | None, wanted: Sequence[ProfileLine], made: Collection[bytes], taken_out: Collection[bytes]
) -> NewProfile:
    """PROFILE.md with the lines that are `wanted` in place of those that were `made` before, by their identity.

    `taken_out` are those that somebody took out. The seed gives way to the lines.
    """
    text = "" if before is None or is_unedited_seed(PROFILE, before) else before
    lines = lines_of(text)
    own = _own(text, lines, made)
    holding = {line_sha256(line.text) for line in wanted}
    present = {line_sha256(line) for line in entry_lines(text)}
    waiting = [line for line in wanted if line_sha256(line.text) not in present | set(taken_out)]
    new = list(waiting)
    left = 0
    last = None
    result: list[str] = []
    for at, line in enumerate(lines):
        if at in own:
            body = line.rstrip()
            plain = without_marker(body)
            if line_sha256(line) not in holding:
                left += 1
                successor = next((each for each in waiting if _kind(each.text) == _kind(plain)), None)
                if successor is None:
                    continue
                waiting.remove(successor)
                line = f"{body.removesuffix(plain)}{successor.text}{line[len(body) :]}"
            last = len(result) + 1
        result.append(line)
    if not new and not left:
        return NewProfile(before or "", [], 0)
    newline = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    bullets = [f"- {line.text}{newline}" for line in waiting]
    return NewProfile("".join(_inserted(result, bullets, last, newline)), new, left)


def _own(text: str, lines: Sequence[str], made: Collection[bytes]) -> frozenset[int]:
    items = (block.start for block in blocks_of(text) if block.kind == "item" and block.end == block.start + 1)
    return frozenset(at for at in items if line_sha256(lines[at]) in made)


def _inserted(lines: list[str], bullets: Sequence[str], last: int | None, newline: str) -> list[str]:
    """The lines with bullets behind the last one of their own; else below the title, or before everything."""
    if not bullets:
        return lines
    if last is not None:
        lines[last - 1] = _closed(lines[last - 1], newline)
        return [*lines[:last], *bullets, *lines[last:]]
    text = "".join(lines)
    first = next(iter(blocks_of(text)), None)
    if first is None:
        return [f"# Profile{newline}", newline, *bullets]
    if first.kind != "heading" and (text.startswith("---") or first.start > 0):
        # Of what stands before everything a program reads the first line.
        lines[-1] = _closed(lines[-1], newline)
        return [*lines, newline, *bullets]
    at = first.end if first.kind == "heading" else 0
    above = [_closed(line, newline) for line in lines[:at]]
    below = lines[at:]
    while below and not below[0].strip():
        below.pop(0)
    return [*above, *([newline] if above else []), *bullets, *([newline] if below else []), *below]


def _closed(line: str, newline: str) -> str:
    return line if line.endswith(("\n", "\r")) else line + newline


def _kind(line: str) -> str:
    return line.partition(": ")[0]
