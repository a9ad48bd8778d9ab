"""The phrases of `graph_phrases.toml` as patterns. Pure but for reading that file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reverie_server.graph.vocabulary import entity_type, relation_name
from reverie_server.text.graph_terms import EntityType, RelationName

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĖĘĚĞĢĪĮİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŴŶŸŹŻŽ"
# Of bounded length: a longer run of letters is no name, and would be matched again from each of its letters.
_NAME_WORD = rf"[{_UPPER}][\w&+#-]{{0,60}}+(?:['’.][\w+#]{{1,60}}+){{0,4}}"
_PARTICLE = r"(?:of|de|da|van|von|der|den|del|la|di|bin|al)"
NAME = rf"{_NAME_WORD}(?:\s+(?:{_PARTICLE}\s+)?{_NAME_WORD}){{0,3}}"
# The last of several names is followed by the end of a clause: "at Acme and Bo lives in" names no second employer.
_AND = r"(?:\s*,\s*(?:and\s+)?|\s+(?:and|und|y|et)\s+)"
_NAMES = rf"{NAME}(?:{_AND}{NAME}(?=\s*(?:[.,;!?]|$)))*"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A wording of a relation. `pattern` has the groups subject (but after the speaker), objects, before, after.

    `needs_known_type`: the subject's type has to be known from elsewhere. `source` None: it may be any that is known.
    """

    name: RelationName
    pattern: re.Pattern[str]
    source: EntityType | None
    target: EntityType
    by_speaker: bool
    needs_known_type: bool
    ends: bool


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of one language. `hedges` is looked for in folded text, the others in text as written.

    `names_first`: other nouns are written like names, so that a name is known at the beginning of a sentence only.
    """

    phrases: Sequence[Phrase]
    names_first: bool
    hedges: re.Pattern[str]
    not_names: frozenset[str]
    named: re.Pattern[str]
    kin: re.Pattern[str]
    superiors: re.Pattern[str]
    colleagues: re.Pattern[str]
    typed: re.Pattern[str]
    type_words: Mapping[str, EntityType]


@cache
def all_phrases() -> Mapping[str, Phrases]:
    """The phrases by language, as `llm.cues` names them."""
    source = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {language: _compiled(table) for language, table in tomllib.loads(source).items()}


def _compiled(table: Mapping[str, Any]) -> Phrases:
    type_words = {word: _type(name) for name, words in table["type_words"].items() for word in words}
    possessive = _either([*table["possessive"], *(word.capitalize() for word in table["possessive"])])

    def of_mine(words: Sequence[str]) -> re.Pattern[str]:
        return re.compile(rf"\b{possessive}\s+(?P<word>{_either(words)})(?:\s+is|\s*,)?\s+(?P<name>{NAME})")

    named = _either([*table["named"], *(phrase[0].upper() + phrase[1:] for phrase in table["named"])])
    words = _either(type_words) if type_words else r"(?!)"
    return Phrases(
        phrases=[phrase for relation in table["relation"] for phrase in _phrases(relation, table, words)],
        names_first=table["names_first"],
        hedges=re.compile(rf"(?<!\w){_either(table['hedges'])}(?!\w)"),
        not_names=frozenset(table["not_names"]),
        named=re.compile(rf"\b{named}\s+(?P<name>{NAME})"),
        kin=of_mine(table["kin"]),
        superiors=of_mine(table["superiors"]),
        colleagues=of_mine(table["colleagues"]),
        typed=re.compile(rf"(?P<name>{NAME})\s+(?P<after>{words})\b|\b(?P<before>{words})\s+(?P<named>{NAME})"),
        type_words=type_words,
    )


def _phrases(relation: Mapping[str, Any], table: Mapping[str, Any], type_words: str) -> list[Phrase]:
    name = relation_name(relation["name"])
    if name is None:
        raise ValueError(f"there is no relation {relation['name']!r}")
    source = _type(relation["source"]) if "source" in relation else None
    between = rf"(?:\s+{_either(table['between'])})*" if table["between"] else ""
    articles = rf"(?:{_either(table['articles'])}\s+)?" if table["articles"] else ""
    objects = rf"\s+{articles}(?:(?P<before>{type_words})\s+)?(?P<objects>{_NAMES})(?:\s+(?P<after>{type_words})\b)?"
    found = []
    subject = rf"{'^' if table['names_first'] else ''}\b(?P<subject>{NAME})"
    speaker = rf"(?:{'|'.join(re.escape(word) if word else '^' for word in table['self'])})"
    for key, by_speaker in (("third", False), ("told", False), ("ends", False), ("first", True), ("ends", True)):
        verbs = relation.get(key, [])
        if verbs and (not by_speaker or source in (None, "person")):
            verb_pattern = "|".join(_verb(verb, at_start=by_speaker and "" in table["self"]) for verb in verbs)
            start = rf"(?<!\w){speaker}" if by_speaker else subject
            pattern = re.compile(rf"{start}{between}(?:{verb_pattern}){objects}")
            needs_known_type = key == "told" or source is None
            found.append(
                Phrase(name, pattern, source, _type(relation["target"]), by_speaker, needs_known_type, key == "ends")
            )
    return found


def _verb(verb: str, *, at_start: bool) -> str:
    """A verb behind its subject: with no space before a short form, or where the sentence may begin with it."""
    if verb.startswith("'"):
        return rf"['’]{re.escape(verb[1:])}"
    if at_start:
        return rf"\s*[{verb[0]}{verb[0].upper()}]{re.escape(verb[1:])}"
    return rf"(?:\s+|(?<=['’])){re.escape(verb)}"


def _type(word: str) -> EntityType:
    found = entity_type(word)
    if found is None:
        raise ValueError(f"there is no type {word!r}")
    return found


def _either(words: Sequence[str] | Mapping[str, Any]) -> str:
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))})"
