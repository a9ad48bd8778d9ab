"""How facts are said in each language: `facts.toml` and `spoken.toml`, compiled. Pure but for its data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from reverie_server.heuristics.stated_fact import Category

# Who writes without accents is understood, too.
_ACCENTED = {"á": "a", "é": "e", "í": "i", "ó": "o", "ú": "u", "ñ": "n"}
_MACRO = re.compile(r"\{([a-z_]+)\}")
_MAX_OBJECT_CHARS = 160
_OBJECT = re.compile(r"(?<!\?P)<o>")
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate: `pattern` is what stands behind a subject; `condition` what its object must be ("" is anything).

    The groups `o…` of the pattern are the object, `old…` what held before, `than` what is less than the object.
    """

    name: str
    pattern: re.Pattern[str]
    category: Category
    is_functional: bool
    subjects: frozenset[str]
    change: Literal["replaces", "ends"] | None
    condition: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Another way to say what the predicates know: what `pattern` finds, said as `to`, with its groups as `<group>`.

    A group `name…` must be written like a name, a group `value…` be a code or a number.
    """

    pattern: re.Pattern[str]
    to: str


@dataclass(frozen=True, slots=True)
class Relations:
    """Words for people. `single`: one has one of them at a time. `pattern` finds one, with adjectives before it."""

    single: frozenset[str]
    many: frozenset[str]
    female: frozenset[str]
    male: frozenset[str]
    pattern: re.Pattern[str]
    new: re.Pattern[str]
    gone: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of one language. A pattern that a language has no use for matches nothing."""

    language: str
    unspaced: bool
    patterns: Mapping[str, re.Pattern[str]]
    relations: Relations
    predicates: tuple[Predicate, ...]
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    words_of_self: str = ""
    words_of_us: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    rewrites: tuple[Rewrite, ...] = ()
    elided: tuple[Rewrite, ...] = ()
    ordered: tuple[Rewrite, ...] = ()

    def __getitem__(self, name: str) -> re.Pattern[str]:
        return self.patterns.get(name, _NEVER)


class _ByLanguage(Mapping[str, Phrases]):
    """The phrases of each language, compiled when they are first asked for."""

    def __getitem__(self, language: str) -> Phrases:
        return _phrases(language)

    def __contains__(self, language: object) -> bool:
        return language in _table("facts.toml")

    def __iter__(self) -> Iterator[str]:
        return iter(_table("facts.toml"))

    def __len__(self) -> int:
        return len(_table("facts.toml"))


@cache
def all_phrases() -> Mapping[str, Phrases]:
    """The phrases by language."""
    return _ByLanguage()


@cache
def all_roles() -> frozenset[str]:
    """The words, in any language, for what somebody is to the user."""
    relations = [table["relations"] for table in _table("facts.toml").values()]
    return frozenset(role for each in relations for role in (*each["single"], *each["many"]))


@cache
def _phrases(language: str) -> Phrases:
    spoken = _table("spoken.toml")
    return _compiled(language, _table("facts.toml")[language], spoken.get(language, {}), spoken["any"]["macros"])


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _compiled(language: str, table: Mapping[str, Any], spoken: Mapping[str, Any], of_any: Mapping[str, str]) -> Phrases:
    relations = table["relations"]
    roles = sorted([*relations["single"], *relations["many"]], key=len, reverse=True)
    macros: Mapping[str, str] = {"role": f"(?P<role>{'|'.join(roles)})", **table.get("macros", {})}
    spoken_macros = {**of_any, **macros, **spoken.get("macros", {})}

    def pattern(text: str, macros: Mapping[str, str] = macros) -> re.Pattern[str]:
        expanded = _expanded(text, macros)
        return re.compile(_without_accents(expanded) if language == "spanish" else expanded)

    unspaced = table.get("unspaced") is True
    typed: Mapping[str, str] = spoken.get("typed", {})
    return Phrases(
        language,
        unspaced,
        {name: pattern(value) for name, value in table.items() if isinstance(value, str) and name not in ("i", "we")}
        | ({"typed": _typed(typed, unspaced)} if typed else {}),
        _relations(relations, unspaced),
        tuple(
            Predicate(
                each["p"],
                pattern(each["re"]),
                cast(Category, each["c"]),
                each.get("f", False),
                frozenset(each.get("who", "self person thing").split()),
                each.get("change"),
                each.get("is", ""),
            )
            for each in table["predicates"]
        ),
        {name: frozenset(value) for name, value in table.items() if isinstance(value, list) and name != "predicates"},
        table.get("i", ""),
        table.get("we", ""),
        typed,
        *(
            tuple(Rewrite(pattern(each["re"], spoken_macros), each["to"]) for each in spoken.get(kind, ()))
            for kind in ("rules", "elided", "ordered")
        ),
    )


def _typed(words: Iterable[str], unspaced: bool) -> re.Pattern[str]:
    """Words that are typed in haste, in small letters or with a capital first: `IM` is another word than `im`.

    A word of two Chinese characters begins none that stands before it: 日本人 is not 本人.
    """
    either = sorted((form for word in words for form in {word, word.capitalize()}), key=len, reverse=True)
    if unspaced:
        return re.compile("|".join(f"(?<![\u4e00-\u9fff]){each}" if len(each) > 1 else each for each in either))
    return re.compile(rf"(?<![\w@#./'’-])['’]?(?:{'|'.join(map(re.escape, either))})(?![\w@/'’-]|\.\w)")


def _relations(table: Mapping[str, Any], unspaced: bool) -> Relations:
    words = sorted([*table["single"], *table["many"]], key=len, reverse=True)
    adjectives = table.get("adjectives", "").replace(" ", r"\s") or ""
    end = "" if unspaced else r"(?!\w)"
    return Relations(
        frozenset(table["single"]),
        frozenset(table["many"]),
        frozenset(table.get("female", ())),
        frozenset(table.get("male", ())),
        re.compile(f"(?P<adjectives>{adjectives})(?P<role>{'|'.join(map(re.escape, words))}){end}"),
        re.compile(table.get("now", "(?!)").replace(" ", r"\s")),
        re.compile(table.get("gone", "(?!)").replace(" ", r"\s")),
    )


def _without_accents(pattern: str) -> str:
    """A pattern that finds its letters with their accents and without; an accent in no letter of it finds none."""
    found: list[str] = []
    is_class = False
    for at, letter in enumerate(pattern):
        if letter in "[]" and pattern[at - 1 : at] != "\\":
            is_class = letter == "["
        plain = _ACCENTED.get(letter)
        found.append(letter if plain is None else f"{letter}{plain}" if is_class else f"[{letter}{plain}]")
    return "".join(found)


def _expanded(text: str, macros: Mapping[str, str]) -> str:
    for _ in range(4):
        text = _MACRO.sub(lambda found: macros.get(found[1], found[0]), text)
    pieces = _OBJECT.split(text)
    expanded = pieces[0]
    for number, piece in enumerate(pieces[1:]):
        expanded += f"(?P<o_{number}>[^;!?\\n]{{1,{_MAX_OBJECT_CHARS}}}?){piece}"
    return expanded.replace(" ", r"\s")
