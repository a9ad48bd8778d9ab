"""Whole marks, and of whom they speak: who somebody is to the speaker, by the spans that say so. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from reverie_indexer.embed.marks import Mark
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.people import People, role_name
from reverie_server.heuristics.fact_grammar.phrases import all_phrases, all_roles
from reverie_server.heuristics.fact_grammar.terms import PETS
from reverie_server.heuristics.stated_fact import SELF

# From here on four of five marks of held lives are right, of the doubtful labels as many from `SURE` on.
LEAST_SURE = 0.6
# What ends something takes away what was said.
_SURE_OF_ENDS = 0.8
# What becomes a line of a profile has to be surer.
SURE = 0.8
OF_OTHER, OVER = "o_", "ex_"
_DOUBTFUL = frozenset({"drives", "has", "hobby", "schedule", "studies"})
NAMES, _KINDS = ("person", "petname"), ("rel", "pet", "kids")
# What is no value at its ends.
_EMPTY = " \t.,;:!?'\"“”„«»()[]\u200b\u200c\u200e\u200f\u2060\ufeff\ufffd"
# Nor are these words.
_LITTLE_WORDS = (
    "a an the in at on of and my our with ein eine einen einem einer der die das den dem im am bei und mein meine un"
    " una el la los las en de del y mi mis o um uma no na le les du des une et à il lo di"
)
_LITTLE = frozenset(_LITTLE_WORDS.split())
# So many characters may stand between a name and who that is, and none of these words: "lunch with Priya and my boss".
_MOST_BETWEEN, _MOST_HAN_BETWEEN = 16, 4
_APART = re.compile(
    r"(?<!\w)(?:and|or|with|und|oder|mit|bei|y|e|o|u|con|et|ou|avec|of|from|for|von|für|para|por|than|als|que)(?!\w)|[&/;:]"
    r"|[和跟与與同及或给給、；：]|[!?。！？\n]|(?<!\b[A-Z][a-z])\.\s",
    re.IGNORECASE,
)
# A letter of a script in which spaces part words.
_LETTER = re.compile(r"[^\W\d_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
# Who somebody is to somebody else: "my boss's son", "der Sohn meiner Chefin", "el hijo de mi jefa", 老板的儿子.
_OWNER = re.compile(
    r"(?:['’]s|s['’]) (?:\w+ )?|的| (?:von )?(?:meine|unsere)[mrs] | de (?:mi|la|el|mis) | del | of (?:my|our) ",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Somebody:
    """Somebody of whom a sentence speaks: what they are to the speaker, and their name. One who `is_of_other` is that
    to somebody else."""

    relation: Mark | None = None
    name: Mark | None = None
    is_of_other: bool = False


def is_of_end(mark: Mark) -> bool:
    """Whether a mark says that something is over."""
    return mark.label.startswith((OVER, "over_"))


def is_sure(mark: Mark) -> bool:
    """Whether a mark is believed: by its label, from a probability on."""
    least = _SURE_OF_ENDS if is_of_end(mark) else LEAST_SURE
    return mark.probability >= (SURE if mark.label.removeprefix(OF_OTHER) in _DOUBTFUL else least)


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
    return replace(mark, start=start, end=end)


def _in_one(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """Marks of one label with no more than a space between them as one."""
    found: list[Mark] = []
    for mark in marks:
        last = found[-1] if found else None
        if last is not None and last.label == mark.label and text[last.end : mark.start] in ("", " "):
            share = min(last.probability, mark.probability)
            found[-1] = replace(last, end=mark.end, probability=share)
        else:
            found.append(mark)
    return found


def value_of(marked: str) -> str:
    """What is marked without what is no part of a value at its ends."""
    words = marked.strip(_EMPTY).split(" ")
    kept = [at for at, word in enumerate(words) if word.casefold() not in _LITTLE]
    return " ".join(words[kept[0] : kept[-1] + 1]).strip(_EMPTY) if kept else ""


def people_in(text: str, marks: Sequence[Mark]) -> dict[int, Somebody]:
    """Of whom each mark of others speaks, by its start. One that is not sure is of somebody unknown."""
    found: dict[int, Somebody] = {}
    last: Somebody | None = None
    before: Mark | None = None
    for mark in marks:
        label = mark.label.removeprefix(OVER)
        if label not in _KINDS and label not in NAMES:
            if last is not None:
                found[mark.start] = last
            continue
        gap = text[before.end : mark.start] if before is not None else None
        is_near = gap is not None and _is_near(gap)
        if label in _KINDS:
            is_owned = gap is not None and _OWNER.fullmatch(gap) is not None
            if is_owned and last is not None:
                last.is_of_other = last.is_of_other or label == "rel"
            if label != "rel" or last is None or last.relation is not None or not is_near:
                last = Somebody(is_of_other=is_owned)
            last.relation = mark
        else:
            relation = last.relation if last is not None else None
            is_next = relation is not None and relation.label != "rel" and gap is not None and len(gap) <= _MOST_BETWEEN
            if last is None or last.name is not None or not is_near:
                last = Somebody(relation if is_next else None)
            last.name = mark
        if not is_sure(mark):
            last = Somebody(is_of_other=True)
        if last.is_of_other:
            last.relation = None
        found[mark.start] = last
        before = mark
    return found


def _is_near(gap: str) -> bool:
    """Whether what stands between two marks does not part a name from who that is."""
    most = _MOST_HAN_BETWEEN if any("\u3400" <= letter <= "\u9fff" for letter in gap) else _MOST_BETWEEN
    return len(gap) <= most and _APART.search(gap) is None


def subject_of_mark(text: str, whose: Somebody | None, people: People) -> str | None:
    """The subject of what is said of somebody; None where nobody tells who that is."""
    if whose is None:
        return None
    if whose.name is not None:
        name = value_of(text[whose.name.start : whose.name.end])
        return people.named(name) if name else None
    if whose.relation is None or whose.relation.label == "kids":
        return None
    word = relation_of(text, whose.relation)
    return (people.of_role(word) or f"{SELF}'s {word}") if word else None


def relation_of(text: str, mark: Mark) -> str:
    """What somebody is to the speaker, as a predicate: the one name of the words, or of the last; "" without a word."""
    words = folded(value_of(text[mark.start : mark.end]))
    if not any(map(str.isalpha, words)):
        return ""
    roles, last = _roles(), words.split(" ")[-1]
    for word in (words, last, last.removesuffix("s")):
        if (name := role_name(word)) in roles:
            return "child" if name in ("kids", "children") else name
    # Of words without spaces between them: 两只猫.
    of_han = [role for role in roles if len(role) > 1 or not role.isascii() if words.endswith(role)]
    if of_han and not words.isascii():
        return role_name(max(of_han, key=len))
    return {"kids": "child", "pet": "pet"}.get(mark.label.removeprefix(OVER), words)


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
