"""The labels of the lines of PROFILE.md, in all languages, and what a line with one of them states. Pure but for their
table."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.entries import undated
from reverie_server.heuristics.fact_grammar.phrases import all_roles
from reverie_server.heuristics.fact_grammar.terms import content_terms, is_unspaced
from reverie_server.heuristics.orders import why_order
from reverie_server.heuristics.salience import has_secret
from reverie_server.heuristics.stated_fact import SELF, StatedFact
from reverie_server.provenance.line_identity import entry_lines
from reverie_server.text.markdown_blocks import without_marker

MARITAL = "marital"
"""The kind of what one is by law: its fact is one of what one `is`."""
_MAX_CHARS = 60
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
# What such sentences have besides their values.
_CARRYING = content_terms(
    "live lives living work works working job name names called years year old home heisse heiße name wohne leben lebe"
    " arbeite arbeiten beruf jahre jahr alt llamo llama nombre vivo vive trabajo trabaja tengo años año casa allergic"
    " allergisch alérgico alérgica"
)
_HAN_CARRYING = re.compile(r"[我叫是今年岁歲了住在家的名字工作，。！\s]*")
_NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_MAX_DIGITS, _MAX_LINE_CHARS = 6, 500


@cache
def labels() -> Mapping[str, Any]:
    """The table: by language the label of each kind, in the order of the lines; `one` the kinds of which one has one;
    `marital_words` what one may be by law."""
    return tomllib.loads(Path(__file__).with_name("profile_labels.toml").read_text(encoding="utf-8"))


@cache
def labels_by_language() -> Mapping[str, Mapping[str, str]]:
    """The label of each kind, by language."""
    return {name: table for name, table in labels().items() if name not in ("one", "marital_words")}


def stated_by_line(line: str, utterance: int, said_at: datetime) -> list[StatedFact]:
    """What a line of PROFILE.md with one of the labels states of its owner, in any of their languages: "Tochter: Orla",
    also where a person wrote it, or another memory. Of what one has several of, each."""
    plain = without_marker(line)
    found = _LABELLED.match(plain.replace("*", ""))
    kind = _kinds().get(folded(found["label"].strip())) if found is not None else None
    if found is None or kind is None:
        return []
    value = undated(" ".join(found["value"][:_MAX_LINE_CHARS].split()))[0]
    is_one = kind in labels()["one"]
    values = [_APPOSITION.split(value)[0]] if is_one else _AND.split(value)
    return [
        StatedFact(
            utterance,
            plain,
            plain,
            SELF,
            "is" if kind == MARITAL else kind,
            object_,
            "profile",
            said_at,
            said_at,
            is_functional=is_one,
        )
        for each in values
        if (object_ := value_of(_APPOSITION.split(each)[0])) and _says_something(kind, each.strip())
    ]


def stated_by_labels(profile: str) -> frozenset[tuple[str, str]]:
    """The predicates and the values, folded, of the lines of PROFILE.md that have one of the labels."""
    stated = (fact for line in entry_lines(profile) for fact in stated_by_line(line, 0, _NO_TIME))
    return frozenset((fact.predicate, folded(fact.object)) for fact in stated)


def has_words_of(profile: str, text: str, *, other_words: int) -> bool:
    """Whether a sentence has hardly a word that PROFILE.md has not: at most so many."""
    said = content_terms(text) - _CARRYING - frozenset(all_roles())
    return not is_unspaced(text) and len(said - content_terms(profile)) <= other_words


def says_labels_alone(text: str, facts: Sequence[StatedFact]) -> bool:
    """Whether a sentence says of its user only what lines with labels say: "I am fifty-two", "My wife is Ana"."""
    kinds = labels_by_language()["english"]
    if not all(fact.subject == SELF and fact.predicate in kinds and value_of(fact.object) for fact in facts):
        return False
    if is_unspaced(text):
        for fact in facts:
            text = text.replace(fact.object, "")
        return bool(facts) and _HAN_CARRYING.fullmatch(text) is not None
    said = content_terms(text) - _CARRYING - frozenset(all_roles())
    return bool(facts) and said <= content_terms(" ".join(fact.object for fact in facts))


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
    return {folded(label): kind for table in labels_by_language().values() for kind, label in table.items()}


def value_of(object_: str) -> str:
    """What a fact says in one line; "" for what is too long, hidden, markup, a secret, or an order to the agent."""
    plain = " ".join(object_.split()).strip(" .,;:!?。，；")
    is_hidden = any(unicodedata.category(character) in _HIDDEN for character in plain)
    if len(plain) > _MAX_CHARS or is_hidden or _NO_VALUE.search(plain) is not None or has_secret(plain):
        return ""
    return plain if why_order(plain) is None and why_order(f"Work: {plain}") is None else ""
