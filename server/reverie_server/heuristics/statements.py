"""Whether two statements say the same or contradict each other, and whether one follows from others. Pure.

Their words alone decide, in any language, and rather too seldom than too often.

A value is what a statement may be about: a name (a capital inside a sentence, where a language does not give every noun
one), a number, an identifier. Two statements that name different values never say the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, analyse, fold
from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.text.redact import essence

# Terms of both by terms of either, from which on two statements say the same.
SAME_SHARE = 0.75
# The share of a statement's terms that must stand in what it follows from.
GROUNDED_SHARE = 0.6
# A statement of fewer terms stands in another one by chance.
MIN_ENTAILED_TERMS = 3
# How many words, and which share of all, two statements must have in common around the one spot where they differ; how
# many words the spot may have.
FRAME_WORDS, _FRAME_SHARE, SPOT_WORDS = 3, 0.5, 4
# A word of a script with spaces has marks in it, and none at its end.
_INNER_MARKS = "'’.@/-"
_WORD = re.compile(rf"[{CJK}{SOUTH_EAST}]|(?:(?![{CJK}{SOUTH_EAST}])[\w{_INNER_MARKS}])++")
# Between two words: the end of a sentence.
_SENTENCE_END = re.compile(r"[.!?…:。！？]['\"”’»)]*+\s")
# Whoever is spoken of needs no source.
_ROLES = frozenset({"user", "assistant", "i"})
# What there is one of, so that whatever else is named takes its place.
_SINGULAR = re.compile(
    r"favou?rit|prefer|lieblings|bevorzug|préf|prefier|preferid|preferit|предпоч|любим|ulubion|lieveling|最喜|一番"
    r"|住在|住んで|叫做|名字|名前"
)
# What says how things are rather than what happened: there, another name or number takes the place.
_STATE = re.compile(
    r"\b(?:is|are|am|i'm|live[sd]?|living|works?|working|located|based|called|named|due|deadline|uses?|using|runs|leads"
    r"|ist|sind|wohn\w*|arbeit\w*|heiß\w*|nutz\w*|verwend\w*|es|está|viv\w*|trabaj\w*|llam\w*|us[ao]"
    r"|est|habit\w*|travaill\w*|appel\w*|utilis\w*|è|abit\w*|lavor\w*|chiam\w*|é|mor\w*|trabalh\w*|cham\w*"
    r"|woon\w*|werk\w*|heet|jest|mieszk\w*|prac\w*|жив\w*|работа\w*|зовут)\b|[=:]"
)
# Few on purpose: words that mean something else in another language are left out.
_NEGATIONS = frozenset(
    {
        *("not", "no", "never", "cannot", "don't", "doesn't", "isn't", "aren't", "won't", "can't", "didn't", "anymore"),
        *("nicht", "kein", "keine", "nie", "nunca", "pas", "jamais", "non", "não", "niet", "geen", "nooit", "nigdy"),
        *("не", "нет", "никогда", "不", "没", "沒", "無"),
    }
)
# Words that come with a negation, and go when it is taken away.
_WITH_NEGATIONS = frozenset(
    ("do", "does", "did", "any", "longer", "more", "mehr", "ya", "ne", "plus", "più", "mais", "meer", "już", "больше")
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as it is compared: its words in order, its search terms, its values (folded), and what it denies."""

    text: str
    essence: str
    words: tuple[str, ...]
    terms: frozenset[str]
    values: frozenset[str]
    denials: frozenset[str]


def statement(text: str, language: str) -> Statement:
    """A text as it is compared; `language` is the one that its terms are analysed in, and most likely its own."""
    composed = unicodedata.normalize("NFKC", text)
    cues = cues_of(folded(composed), all_cues().get(language))
    has_capital_nouns = cues is not None and cues.nouns_capitalised
    words: list[str] = []
    values: set[str] = set()
    for written, is_first in _words(composed):
        word = written.casefold().replace("’", "'")
        words.append(word)
        is_named = written[0].isupper() and not has_capital_nouns and not is_first
        if is_named or any(character.isdigit() for character in word):
            values.add(word)
    return Statement(
        text,
        essence(composed),
        tuple(words),
        frozenset(analyse(composed, language)),
        frozenset(values - _ROLES),
        frozenset(words) & _NEGATIONS,
    )


def is_duplicate(a: Statement, b: Statement) -> bool:
    """Whether two statements say the same: equal, or of about the same terms and no different values or denials."""
    if a.essence == b.essence:
        return True
    if (a.values - b.values and b.values - a.values) or bool(a.denials) != bool(b.denials):
        return False
    either = len(a.terms | b.terms)
    is_alike = either > 0 and len(a.terms & b.terms) >= SAME_SHARE * either
    return is_alike and _is_in_order(a, b) and not contradicts(a, b)


def entails(a: Statement, b: Statement) -> bool:
    """Whether statement `a` says what `b` does, and maybe more."""
    if is_duplicate(a, b):
        return True
    is_part = len(b.terms) >= MIN_ENTAILED_TERMS and b.terms <= a.terms and b.values <= a.values
    return is_part and bool(a.denials) == bool(b.denials) and _is_in_order(a, b) and not contradicts(a, b)


def contradicts(a: Statement, b: Statement) -> bool:
    """Whether two statements cannot both hold: one denies the other, or they differ in one value alone.

    `I live in Oslo` and `I live in Bergen` do; `I like tea` and `I like coffee` do not. What only knowledge of the
    world tells is not seen.
    """
    if bool(a.denials) != bool(b.denials):
        return undenied(a) == undenied(b)
    if a.words == b.words:
        return False
    start = _common(a.words, b.words)
    end = _common(a.words[start:][::-1], b.words[start:][::-1])
    spots = [words[start : len(words) - end] for words in (a.words, b.words)]
    if len(spots[0]) == len(spots[1]) and sorted(spots[0]) == sorted(spots[1]):
        return [x != y for x, y in zip(spots[0], spots[1], strict=True)].count(True) == 2
    frame = start + end
    if not all(0 < len(spot) <= SPOT_WORDS for spot in spots) or set(spots[0]) & set(spots[1]):
        return False
    if frame < FRAME_WORDS or frame < _FRAME_SHARE * max(len(a.words), len(b.words)):
        return False
    around = [*a.words[:start], *a.words[len(a.words) - end :]]
    are_values = bool(a.values & set(spots[0])) and bool(b.values & set(spots[1]))
    # In scripts without spaces a word is several of these.
    if _SINGULAR.search("".join(around)):
        return True
    return are_values and _STATE.search(" ".join(around)) is not None


class Ground:
    """What statements may follow from: the terms and words of others. Made once for many questions."""

    def __init__(self, sources: Iterable[Statement]) -> None:
        terms: set[str] = set()
        words: set[str] = set()
        for source in sources:
            terms |= source.terms
            words.update(source.words)
        # A set for each part of what was joined.
        self._terms: list[set[str]] = [terms]
        self._words: list[set[str]] = [words]

    @classmethod
    def joined(cls, parts: Iterable[Ground]) -> Ground:
        """All of several, without a copy of them."""
        whole = cls(())
        for part in parts:
            whole._terms += part._terms
            whole._words += part._words
        return whole

    def supports(self, claim: Statement) -> bool:
        """Whether a statement follows as far as words tell: its values stand here, and most of its terms."""
        if not claim.terms or not all(self._has(value) for value in claim.values):
            return False
        known_terms = sum(any(term in terms for terms in self._terms) for term in claim.terms)
        return known_terms >= GROUNDED_SHARE * len(claim.terms)

    def _has(self, value: str) -> bool:
        return any(value in words or value.strip(".") in words for words in self._words)


def terms_of(text: str, language: str) -> frozenset[str]:
    """The distinct search terms of a text."""
    return frozenset(analyse(fold(text), language))


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a text as written, each with whether a sentence begins with it."""
    end: int | None = None
    for found in _WORD.finditer(text):
        if word := found[0].rstrip(_INNER_MARKS):
            yield word, end is None or _SENTENCE_END.search(text, end, found.start()) is not None
            end = found.start() + len(word)


def _is_in_order(a: Statement, b: Statement) -> bool:
    """Whether two statements name what they both name in the same order, where the order says what is preferred."""
    if not _SINGULAR.search(a.essence) or len(a.terms & b.terms) < MIN_ENTAILED_TERMS:
        return True
    shared = set(a.words) & set(b.words)
    order_of_a, order_of_b = ([word for word in dict.fromkeys(each.words) if word in shared] for each in (a, b))
    return order_of_a == order_of_b


def undenied(denial: Statement) -> list[str]:
    """The words of a statement without those that deny it."""
    return [word for word in denial.words if word not in _NEGATIONS and word not in _WITH_NEGATIONS]


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
