"""The phrases of `phrases.toml` as patterns. Pure but for reading that file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from reverie_server.graph.claims import Role, Scope
from reverie_server.graph.vocabulary import entity_type, relation_name
from reverie_server.text.graph_terms import EntityType, RelationName
from reverie_server.text.lazy_pattern import LazyPattern

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĖĘĚĞĢĪĮİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŴŶŸŹŻŽ"
# Of bounded length: a longer run of letters is no name, and would be matched again from each of its letters.
_NAME_WORD = rf"[{_UPPER}][\w&+#-]{{0,60}}+(?:['’.][\w+#]{{1,60}}+){{0,4}}"
_PARTICLE = r"(?:of|de|da|van|von|der|den|del|la|di|bin|al)"
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\. )?"
NAME = rf"{_TITLE}{_NAME_WORD}(?: (?:{_PARTICLE} )?{_NAME_WORD}){{0,3}}"
_START = r"(?<![\w'’-])"
_MENTIONS: tuple[tuple[str, EntityType], ...] = (("places", "location"), ("firms", "organization"))
Form = Literal["third", "first", "plural", "any"]
VerbKind = Literal["relation", "leaves", "succeeds", "takes_over"]


@dataclass(frozen=True, slots=True)
class Verb:
    """A wording of a relation, of leaving, or of succeeding.

    `pattern` has the groups pre (words before the verb) and, as far as the wording has them, inverted, objects, before,
    after, role, role_name, from and as_role. `anchor` is a word of it in small letters; without it nothing is found.
    `only_over`: it counts only where it is said to be over.
    """

    kind: VerbKind
    form: Form
    anchor: str
    pattern: LazyPattern
    name: RelationName | None = None
    source: EntityType | None = None
    target: EntityType = "concept"
    needs_source: bool = False
    needs_target: bool = False
    scope: Scope = "company"
    only_over: bool = False


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of one language. `hedges` is looked for in folded text, the others in text as written.

    `roles` has each word for what somebody is to the speaker, `role_groups` the first of words that one person may have
    together, `plural_roles` those words that name several.
    """

    language: str
    expand: Sequence[tuple[str, str]]
    verbs: Sequence[Verb]
    names_first: bool
    pro_drop: bool
    hedges: re.Pattern[str]
    negations: re.Pattern[str]
    over: re.Pattern[str]
    over_after: re.Pattern[str]
    not_names: frozenset[str]
    named: re.Pattern[str]
    am: re.Pattern[str]
    former: re.Pattern[str]
    roles: Mapping[str, Role]
    of_user: str
    role_groups: Mapping[str, str]
    plural_roles: frozenset[str]
    role_then_name: re.Pattern[str]
    name_then_role: re.Pattern[str]
    beside_role: re.Pattern[str]
    subjects_at_end: re.Pattern[str]
    subject: re.Pattern[str]
    boundary_at_end: re.Pattern[str]
    last_boundary: re.Pattern[str]
    who_at_end: re.Pattern[str]
    typed: re.Pattern[str]
    exists: re.Pattern[str]
    mentions: Sequence[tuple[re.Pattern[str], EntityType]]
    type_words: Mapping[str, EntityType]
    teams: frozenset[str]


@cache
def all_phrases() -> Mapping[str, Phrases]:
    """The phrases by language, as `heuristics.cues` names them."""
    source = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {language: _compiled(language, table) for language, table in tomllib.loads(source).items()}


class _Parts:
    """The pieces of which the patterns of a language are made."""

    def __init__(
        self, table: Mapping[str, Any], roles: Mapping[str, Role], type_words: Mapping[str, EntityType]
    ) -> None:
        self.table = table
        self.mine = _either(_both_cases(table["possessive"]))
        self.others = _either(_both_cases(table["of_others"]))
        adjectives = _either([*table["adjectives"], *table["former"]])
        self.adjectives = rf"(?:{adjectives}[ -]){{0,2}}"
        self.former = _either(table["former"])
        self.behind = adjectives
        self.role = rf"{_either(roles)}(?![\w’'-])"
        self.my_role = (
            rf"{self.mine} (?P<adjectives>{self.adjectives})(?P<role>{self.role})(?: (?P<behind>{self.behind}))?"
        )
        self.is_ = _either(table["is"])
        self.and_ = rf"(?:, (?:{_either(table['and'])} )?| {_either(table['and'])} )"
        self.types = _either(type_words)
        words = _either([*table["between"], *table["negations"], *table["over"]])
        self.gap = rf"(?:{words}|(?:since|seit|desde|depuis) [\w-]+(?: \d{{4}})?)"
        self.articles = _either(table["articles"])
        # The last of several names is followed by the end of a clause: "at Acme and Bo lives in" is no second employer.
        begins = _either([*table["and"], *table["begins"]])
        end = rf"(?=(?: {self.types}\b)?(?:[.,;:!?)]|$| {begins} | {_either(table['over_after'])}))"
        self.names = rf"{NAME}(?:{self.and_}{NAME}{end}){{0,6}}"
        speaker, pronoun = _either(table["self"]), _either(table["pronouns"])
        of_role = rf"(?:{self.mine}|{self.others}) {self.adjectives}{self.role}(?:,? {NAME})?"
        self.unit = rf"(?:{speaker}\b|{pronoun}\b|{of_role}|{NAME})"
        apposition = rf"{NAME}, {self.mine} {self.adjectives}{self.role},"
        and_ = rf",? {_either(table['and'])} "
        self.units = rf"(?:{self.unit}(?:(?:, {self.unit}){{0,3}}{and_}{self.unit})?|{apposition})"
        article = (
            rf"(?:(?:{self.articles} )?(?P<before>{self.types}) )?"
            if table["names_first"]
            else (rf"(?:{self.articles} )?(?:(?P<before>{self.types}) )?")
        )
        self.objects = (
            rf"(?:(?:(?P<role>{self.mine} {self.adjectives}{self.role})(?:,? (?P<role_name>{NAME}))?)"
            rf"|{article}(?P<objects>{self.names})(?:[ -](?P<after>{self.types})\b)?)"
        )


def _compiled(language: str, table: Mapping[str, Any]) -> Phrases:
    type_words = {word: _type(name) for name, words in table["type_words"].items() for word in words}
    roles = _roles(table)
    parts = _Parts(table, roles, type_words)
    gap = rf"(?: {parts.gap}){{0,2}}"
    begins = [*table["and"], *table["begins"]]
    called = rf"(?: {_either(table['called'])})?"
    typed = rf"(?P<name>{NAME})[ -](?P<after>{parts.types})\b|\b(?P<before>{parts.types}){called} (?P<named>{NAME})"
    return Phrases(
        language=language,
        expand=[(short, long) for short, long in table["expand"]],
        verbs=[*_relation_verbs(table, parts), *_other_verbs(table, parts)],
        names_first=table["names_first"],
        pro_drop=table["pro_drop"],
        hedges=re.compile(rf"(?<!\w){_either(table['hedges'])}(?!\w)"),
        negations=re.compile(rf"(?<!\w){_either(_both_cases(table['negations']))}(?!\w)"),
        over=re.compile(rf"(?<!\w){_either(table['over'])}(?!\w)"),
        over_after=re.compile(rf",? {_either(table['over_after'])}(?!\w)"),
        not_names=frozenset(table["not_names"]),
        named=re.compile(rf"{_START}{_either(_both_cases(table['named']))} (?P<name>{NAME})"),
        former=re.compile(rf"(?<!\w){parts.former}(?!\w)"),
        am=re.compile(rf"^(?:{_either(table['greetings'])},? )?{_either(table['am'])} (?P<name>{NAME})(?=[,.!]|$)"),
        roles=roles,
        of_user=table["of_user"],
        role_groups={word: words[0] for words in table["same_role"] for word in words},
        plural_roles=frozenset(word for words in table["kin_plural"].values() for word in words),
        role_then_name=re.compile(
            rf"{_START}{parts.my_role}(?P<link>{gap} {parts.is_}{gap} |,? )(?:{parts.articles} )?"
            rf"(?P<names>{NAME}(?:{parts.and_}{NAME}){{0,6}})"
        ),
        name_then_role=re.compile(
            rf"{_START}(?P<names>{NAME}(?:{parts.and_}{NAME}){{0,3}})(?P<link>{gap} {parts.is_}{gap}) {parts.mine} "
            rf"(?P<adjectives>{parts.adjectives})(?P<role>{parts.role})(?: (?P<behind>{parts.behind}))?"
        ),
        beside_role=re.compile(
            rf"(?<!\bin )(?<!\bat )(?<!\bto )(?<!\bfrom )(?<!\bnach )(?<!\ben ){_START}(?P<names>{NAME})"
            rf"(?P<link>,? \(|, ){parts.my_role}(?=[.;!)]|$|,(?! {_either(table['and'])} ))"
        ),
        subjects_at_end=re.compile(rf"(?:^|(?<=[\s(\"'„“«¿¡,;:—–]))(?P<list>{parts.units})$"),
        subject=re.compile(
            rf"(?P<speaker>{_either(table['self'])})\b|(?P<pronoun>{_either(table['pronouns'])})\b"
            rf"|(?:(?P<mine>{parts.mine})|(?P<others>{parts.others})) {parts.adjectives}(?P<role>{parts.role})"
            rf"(?:,? (?P<role_name>{NAME}))?|(?P<name>{NAME})"
        ),
        boundary_at_end=re.compile(rf"(?:^|[,;:.!?()—–-]|(?:^|\s){_either(begins)})$", re.IGNORECASE),
        last_boundary=re.compile(rf".*(?:[,;:()—–]|(?<=\s){_either(begins)}(?=\s))", re.DOTALL),
        who_at_end=re.compile(rf"(?P<comma>,?) {_either(table['who'])}$"),
        typed=re.compile(typed),
        exists=re.compile(rf"{_START}{_either(_both_cases(table['determiners']))} (?:[\w-]+ ){{0,2}}?(?:{typed})"),
        mentions=[
            (re.compile(rf"(?<!\w){_either(_both_cases(table[key]))} (?P<name>{NAME})(?!['’]s)"), kind)
            for key, kind in _MENTIONS
        ],
        type_words=type_words,
        teams=frozenset(table["teams"]),
    )


def _roles(table: Mapping[str, Any]) -> dict[str, Role]:
    of_kin = {word: Role("kin", word) for word in table["kin"]}
    plural = {word: Role("kin", one) for one, words in table["kin_plural"].items() for word in words}
    superiors = {word: Role("superior", word) for word in table["superiors"]}
    colleagues = {word: Role("colleague", word) for word in table["colleagues"]}
    several = {word: Role("colleague", role.word) for word, role in plural.items() if role.word in colleagues}
    return {**of_kin, **plural, **several, **superiors, **colleagues}


def _relation_verbs(table: Mapping[str, Any], parts: _Parts) -> Iterator[Verb]:
    for relation in table["relation"]:
        name = relation_name(relation["name"])
        if name is None:
            raise ValueError(f"there is no relation {relation['name']!r}")
        source = _type(relation["source"]) if "source" in relation else None
        forms: tuple[tuple[str, Form], ...] = (
            ("third", "third"), ("first", "first"), ("plural", "plural"), ("any", "any"), ("told", "any"),
        )  # fmt: skip
        for key, form in forms:
            phrases = relation.get("plural", relation.get("first", [])) if key == "plural" else relation.get(key, [])
            for phrase in phrases:
                yield Verb(
                    "relation", form, _anchor(phrase), _verb(phrase, parts), name, source, _type(relation["target"]),
                    needs_source=key == "told" or source is None,
                    needs_target=not relation.get("tells", True),
                )  # fmt: skip


def _other_verbs(table: Mapping[str, Any], parts: _Parts) -> Iterator[Verb]:
    scopes: tuple[tuple[str, Scope], ...] = (
        ("left_company", "company"),
        ("left_team", "team"),
        ("left_named", "named"),
    )
    for key, scope in scopes:
        for phrase in table[key]:
            plain = phrase.replace(" ~over", "")
            pattern = _verb(plain, parts, objects=scope == "named")
            yield Verb("leaves", "any", _anchor(plain), pattern, scope=scope, only_over=plain != phrase)
    as_role = rf"(?: {_either(table['in_role'])} (?P<as_role>{parts.mine} {parts.adjectives}{parts.role}))?"
    from_ = rf"(?: {_either(table['from'])} (?P<from>{NAME}|{parts.mine} {parts.adjectives}{parts.role}))?"
    for phrase in table["succeeds"]:
        yield Verb("succeeds", "any", _anchor(phrase), _verb(phrase, parts, behind=as_role), target="person")
    for phrase in table["takes_over"]:
        yield Verb("takes_over", "any", _anchor(phrase), _verb(phrase, parts, behind=from_), target="project")


def _verb(phrase: str, parts: _Parts, *, objects: bool = True, behind: str = "") -> LazyPattern:
    """A verb with the words that may stand before and within it, and its objects."""
    words = phrase.split()
    if objects and "~" not in words:
        words.append("~")
    gap = rf"(?: {parts.gap}){{0,3}} "
    written: list[str] = []
    for index, word in enumerate(words):
        if index:
            inverted = rf"(?: (?P<inverted>{parts.unit}))?" if index == 1 and parts.table["inverts"] else ""
            written.append(inverted + gap)
        if word == "~":
            written.append(parts.objects)
        elif word == "{name}":
            written.append(rf"(?P<was>{NAME})")
        elif word == "{words}":
            written.append(r"(?:[\w'-]+ ){0,4}?[\w'-]+")
        else:
            both = f"[{word[0].lower()}{word[0].upper()}]" if index == 0 else re.escape(word[0])
            written.append(both + re.escape(word[1:]))
    ending = "" if words[-1] == "~" else r"(?!\w)"
    return LazyPattern(rf"{_START}(?P<pre>(?:{parts.gap} ){{0,4}}){''.join(written)}{ending}{behind}")


def _anchor(phrase: str) -> str:
    return max((word for word in phrase.split() if word not in ("~", "{name}", "{words}")), key=len).lower()


def _type(word: str) -> EntityType:
    found = entity_type(word)
    if found is None:
        raise ValueError(f"there is no type {word!r}")
    return found


def _both_cases(words: Sequence[str]) -> list[str]:
    return [*words, *(word[0].upper() + word[1:] for word in words)]


def _either(words: Sequence[str] | Mapping[str, Any]) -> str:
    if not words:
        return "(?!)"
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))})"
