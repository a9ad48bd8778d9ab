"""Whole marks, and of whom they speak: who somebody is to the speaker, by the spans that say so. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from reverie_indexer.embed.marks import BEINGS, NAMES, SPEAKER, Mark
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.people import People, role_name
from reverie_server.heuristics.fact_grammar.phrases import all_phrases, all_roles
from reverie_server.heuristics.fact_grammar.terms import PETS
from reverie_server.heuristics.stated_fact import SELF

LEAST_SURE = 0.4
"""From here on a mark is believed. Of all that are, three of four are right."""
# What ends something takes away what was said.
_SURE_OF_ENDS = 0.55
# Whose the word for somebody is, or their name, is believed from here on.
_SURE_OF_WHOSE = 0.6
_KINDS = BEINGS - NAMES
# Who one of a name can be: "my neighbour and his Rex" says of no neighbour that he is Rex.
_NAMED = {"person": ("rel", "kids", "person"), "petname": ("pet", "petname")}
# What is no value at its ends.
_EMPTY = " \t.,;:!?'\"“”„«»()[]\u200b\u200c\u200e\u200f\u2060\ufeff\ufffd"
# Nor are these words.
_LITTLE_WORDS = (
    "a an the in at on of and my our with ein eine einen einem einer der die das den dem im am bei und mein meine un"
    " una el la los las en de del y mi mis o um uma no na le les du des une et à il lo di"
)
_LITTLE = frozenset(_LITTLE_WORDS.split())
# Words in no list are taken for somebody of whom one has one, such as a wife, only where they are the speaker's.
_MINE = re.compile(
    r"(?<!\w)(?:my|our|mein\w*|unser\w*|mi|nuestr\w+|mi[ao]|nostr[ao]|m[aeo]n|notre|minha|meu|noss[ao])(?: \w+)? $"
    r"|(?:我|咱|我们|我家)的?$"
)
_MINE_CHARS = 24
# "Meine beste Freundin" is a friend.
_OF_FRIEND = re.compile(r"(?:(?:aller)?best|engst|eng|gut|alt|ältest|langjährig)\w* (freundin|freund)")
# What a code is written with: a mark of a part of one is of all of it.
_OF_CODE = re.compile(r"\d")
# A letter of a script in which spaces part words.
_LETTER = re.compile(r"[^\W\d_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
# Behind a name of two characters what they do: `林艾来玩了`.
_VERB_BEHIND = re.compile(r"[来來去要也都又还還刚剛在说說](?=[\u3400-\u9fff])")
_FEWEST_OF_NAME_AND_VERB = 3


@dataclass(slots=True)
class Somebody:
    """Somebody of whom a sentence speaks: what they are to the speaker, and their name; several who are that may be
    named without that it is known which. One who `is_of_other` is that to somebody else."""

    relation: Mark | None = None
    name: Mark | None = None
    is_of_other: bool = False
    is_named: bool = False


def is_of_end(mark: Mark) -> bool:
    """Whether a mark says that something is over."""
    return mark.state == "over" or mark.label.startswith("over_")


def is_sure(mark: Mark) -> bool:
    """Whether a mark is believed."""
    return mark.confidence >= (_SURE_OF_ENDS if is_of_end(mark) else LEAST_SURE)


def whole_marks(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """Marks of whole words; those of one label side by side as one."""
    return _in_one(text, [_of_whole_words(text, mark) for mark in marks])


def _of_whole_words(text: str, mark: Mark) -> Mark:
    """The mark with the whole of the words at its ends: tokens are parts of words."""
    start, end = mark.start, mark.end
    while start > 0 and _LETTER.match(text, start - 1) and _LETTER.match(text, start):
        start -= 1
    while end < len(text) and _LETTER.match(text, end) and _LETTER.match(text, end - 1):
        end += 1
    while end < len(text) and _OF_CODE.match(text, end) and _OF_CODE.match(text, end - 1):
        end += 1
    if mark.label in NAMES and end - start >= _FEWEST_OF_NAME_AND_VERB and _VERB_BEHIND.match(text, end - 1):
        end -= 1
    return replace(mark, start=start, end=end)


def _in_one(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """Marks of one label with no more than a space between them as one; not those of which one is of the other."""
    found: list[Mark] = []
    places: list[int] = []
    for at, mark in enumerate(marks):
        last = found[-1] if found else None
        is_alike = last is not None and (last.label, last.state) == (mark.label, mark.state)
        is_beside = last is not None and text[last.end : mark.start] in ("", " ")
        if last is not None and is_alike and is_beside and mark.of != at - 1 and last.of != at:
            surer = max(last, mark, key=lambda each: each.of_probability)
            share = min(last.confidence, mark.confidence)
            found[-1] = replace(surer, start=last.start, end=mark.end, confidence=share)
        else:
            found.append(mark)
        places.append(len(found) - 1)
    return [replace(mark, of=places[mark.of]) if mark.of >= 0 else mark for mark in found]


def value_of(marked: str) -> str:
    """What is marked without what is no part of a value at its ends."""
    words = marked.strip(_EMPTY).split(" ")
    kept = [at for at, word in enumerate(words) if word.casefold() not in _LITTLE]
    return " ".join(words[kept[0] : kept[-1] + 1]).strip(_EMPTY) if kept else ""


def people_in(marks: Sequence[Mark]) -> dict[int, Somebody]:
    """Who the marks of beings are, by their number.

    A name and the word that says who that is are one person, where only one name stands for it.
    """
    names: dict[int, list[int]] = {}
    for at, mark in enumerate(marks):
        if mark.label in NAMES and is_sure(mark) and _is_of_mark(mark) and marks[mark.of].label in _NAMED[mark.label]:
            names.setdefault(mark.of, []).append(at)
    beings: dict[int, Somebody] = {}
    for at, mark in enumerate(marks):
        if mark.label in _KINDS:
            is_believed = is_own(mark) and is_sure(mark) and mark.state != "next"
            of_kind = names.get(at, [])
            name = marks[of_kind[0]] if len(of_kind) == 1 else None
            beings[at] = Somebody(mark if is_believed else None, name, not is_believed, is_named=bool(of_kind))
    kinds = {name: beings[kind] for kind, of_kind in names.items() if kind in beings for name in of_kind}
    for at, mark in enumerate(marks):
        if mark.label in NAMES:
            of_other = Somebody(
                name=mark if is_sure(mark) else None, is_of_other=_is_of_mark(mark) or not is_sure(mark)
            )
            beings[at] = replace(kinds[at], name=mark) if at in kinds else of_other
    return beings


def farther_names(text: str, marks: Sequence[Mark]) -> frozenset[int]:
    """Of several names for one of whom one has one at a time, all but the nearest: "My team lead is Kathi Polz. That is
    not my Kathi, she's a midwife"."""
    names: dict[int, list[int]] = {}
    for at, mark in enumerate(marks):
        if mark.label in NAMES and _is_of_mark(mark) and marks[mark.of].label in BEINGS - NAMES:
            names.setdefault(mark.of, []).append(at)
    found: set[int] = set()
    for of, of_kind in names.items():
        if len(of_kind) > 1 and relation_of(text, marks[of]) in single_roles():
            by_distance = sorted(of_kind, key=lambda at: abs(marks[at].start - marks[of].start))
            found.update(by_distance[1:])
    return frozenset(found)


def being_of(mark: Mark, beings: Mapping[int, Somebody]) -> Somebody | None:
    """Of whom a mark is said; None where that is the speaker, or nobody knows."""
    return beings.get(mark.of) if _is_of_mark(mark) else None


def _is_of_mark(mark: Mark) -> bool:
    return mark.of >= 0 and mark.of_probability >= _SURE_OF_WHOSE


def is_own(mark: Mark) -> bool:
    """Whether what a mark says is said of the speaker."""
    return mark.of == SPEAKER and mark.of_probability >= _SURE_OF_WHOSE


def subject_of_mark(text: str, whose: Somebody | None, people: People) -> str | None:
    """The subject of what is said of somebody; None where nobody tells who that is."""
    if whose is None:
        return None
    if whose.name is not None:
        name = value_of(text[whose.name.start : whose.name.end])
        return people.named(name) if name else None
    if whose.relation is None or whose.relation.label == "kids" or is_of_end(whose.relation):
        return None
    word = relation_of(text, whose.relation)
    return (people.of_role(word) or f"{SELF}'s {word}") if word else None


def relation_of(text: str, mark: Mark) -> str:
    """What somebody is to the speaker, as a predicate: the one name of the words, or of the last; "" without a word."""
    words = folded(value_of(text[mark.start : mark.end]))
    if not any(map(str.isalpha, words)):
        return ""
    # Of characters one alone is a part of a word: 牙 of 牙医.
    own = "" if len(words) == 1 and not words.isascii() else words
    known = known_relation(words) or {"kids": "child", "pet": "pet"}.get(mark.label)
    if known:
        return known
    before = folded(text[max(0, mark.start - _MINE_CHARS) : mark.start])
    is_likely = mark.relation not in single_roles() or _MINE.search(before) is not None
    return (mark.relation if is_likely else "") or own


def known_relation(marked: str) -> str:
    """The one name of words for who somebody is, or of the last of them; "" where they are in no list."""
    words = folded(value_of(marked))
    if _OF_FRIEND.fullmatch(words) is not None:
        return "friend"
    roles, last = _roles(), words.split(" ")[-1]
    for word in (words, last, last.removesuffix("s")):
        if (name := role_name(word)) in roles:
            return "child" if name in ("kids", "children") else name
    # Of words without spaces between them: 两只猫.
    of_han = [role for role in roles if len(role) > 1 or not role.isascii() if words.endswith(role)]
    return role_name(max(of_han, key=len)) if of_han and not words.isascii() else ""


@cache
def _roles() -> frozenset[str]:
    """The words for people and animals, and their one name in all languages."""
    words = {*all_roles(), *PETS}
    return frozenset({*words, *map(role_name, words)})


@cache
def single_roles() -> frozenset[str]:
    """The words for people of whom one has one at a time, in all languages."""
    return frozenset(word for phrases in all_phrases().values() for word in phrases.relations.single)


def prepare_to_mark() -> None:
    """Compile what reading marks needs in this process: what a fork of it compiles is lost with the fork."""
    single_roles()
    _roles()
