"""Whether two statements say the same or contradict each other, and whether one follows from others. Pure.

Their words alone decide, in any language. A doubtful pair counts as neither the same nor contradictory.

A value is a name (a word with a capital inside a sentence, unless the language capitalises every noun), a number or an
identifier. Two statements that name different values never say the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, analyse, fold
from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.text.redact import essence

# Two statements say the same from this share of common terms on: terms of both by terms of either.
SAME_SHARE = 0.75
# The share of a statement's terms that its sources must have.
GROUNDED_SHARE = 0.6
# The share of a statement's terms that a known one must have to say the same in other words, with values and without.
_RESTATED_SHARE, _RESTATED_PLAIN_SHARE = 0.85, 0.85
# A statement of fewer terms may be part of another one by chance.
MIN_ENTAILED_TERMS = 3
# Two statements contradict each other in one spot of at most SPOT_WORDS words. Around it at least FRAME_WORDS words
# must be equal, and this share of the longer statement's.
FRAME_WORDS, _FRAME_SHARE, SPOT_WORDS = 3, 0.5, 4
# A longer statement is found by one half of the words around a spot.
_MAX_FRAMED_WORDS = 32
# Marks that a word of a script with spaces may have inside, but not at its end.
_INNER_MARKS = "'’.@/-"
_WORD = re.compile(rf"[{CJK}{SOUTH_EAST}]|(?:(?![{CJK}{SOUTH_EAST}])[\w{_INNER_MARKS}])++")
# The end of a sentence, looked for between two words.
_SENTENCE_END = re.compile(r"[.!?…:。！？]['\"”’»)]*+\s")
# The speakers are no values: a statement about them needs no source for the name.
_ROLES = frozenset({"user", "assistant", "i"})
# Words for a thing that a person has one of (a favourite, a home, a name): another one replaces it.
_SINGULAR = re.compile(
    r"favou?rit|prefer|lieblings|bevorzug|préf|prefier|preferid|preferit|предпоч|любим|ulubion|lieveling|最喜|一番"
    r"|住在|住んで|叫做|名字|名前"
)
# Words for a state rather than an event: in a state, another name or number replaces the first.
_STATE = re.compile(
    r"\b(?:is|are|am|i'm|live[sd]?|living|works?|working|located|based|called|named|due|deadline|uses?|using|runs|leads"
    r"|ist|sind|wohn\w*|arbeit\w*|heiß\w*|nutz\w*|verwend\w*|es|está|viv\w*|trabaj\w*|llam\w*|us[ao]"
    r"|est|habit\w*|travaill\w*|appel\w*|utilis\w*|è|abit\w*|lavor\w*|chiam\w*|é|mor\w*|trabalh\w*|cham\w*"
    r"|woon\w*|werk\w*|heet|jest|mieszk\w*|prac\w*|жив\w*|работа\w*|зовут)\b|[=:]"
)
# A short list on purpose: it leaves out words that mean something else in another language.
_NEGATIONS = frozenset(
    {
        *("not", "no", "never", "cannot", "don't", "doesn't", "isn't", "aren't", "won't", "can't", "didn't", "anymore"),
        *("nicht", "kein", "keine", "nie", "nunca", "pas", "jamais", "non", "não", "niet", "geen", "nooit", "nigdy"),
        *("не", "нет", "никогда", "不", "没", "沒", "無"),
    }
)
_BEFORE_NAMES = frozenset(("in", "aus", "nach", "bei", "heiße"))
# Words that accompany a negation: without it they go too.
_WITH_NEGATIONS = frozenset(
    ("do", "does", "did", "any", "longer", "more", "mehr", "ya", "ne", "plus", "più", "mais", "meer", "już", "больше")
)


@dataclass(frozen=True)
class Statement:
    """A statement as it is compared: its words in order, search terms, values (folded) and negation words."""

    text: str
    essence: str
    words: tuple[str, ...]
    terms: frozenset[str]
    values: frozenset[str]
    denials: frozenset[str]

    @cached_property
    def frames(self) -> frozenset[int]:
        """Hashes, of which two statements share one that contradict each other in one spot or in the order of words."""
        can_differ = _SINGULAR.search("".join(self.words)) or (self.values and _STATE.search(" ".join(self.words)))
        return frozenset((hash(("order", *sorted(self.words))), *(_frames(self.words) if can_differ else ())))


def statement(text: str, language: str) -> Statement:
    """The statement of a text. `language` is the one to analyse its terms in, and most likely the text's own."""
    composed = unicodedata.normalize("NFKC", text)
    cues = cues_of(folded(composed), all_cues().get(language))
    has_capital_nouns = cues is not None and cues.nouns_capitalised
    words: list[str] = []
    values: set[str] = set()
    for written, is_first in _words(composed):
        word = written.casefold().replace("’", "'")
        words.append(word)
        # Where each noun has a capital, one without an article behind these is a name: "in Bonn", "bei Klotz".
        may_name = not has_capital_nouns or (len(words) > 1 and words[-2] in _BEFORE_NAMES)
        is_named = written[0].isupper() and may_name and not is_first
        if is_named or (not word.isalpha() and any(map(str.isdigit, word))):
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
    """Whether two statements say the same: equal, or about the same terms, without different values or denials."""
    if a.essence == b.essence:
        return True
    if (a.values - b.values and b.values - a.values) or bool(a.denials) != bool(b.denials):
        return False
    either = len(a.terms | b.terms)
    is_alike = either > 0 and len(a.terms & b.terms) >= SAME_SHARE * either
    return is_alike and _is_in_order(a, b) and not contradicts(a, b)


def entails(a: Statement, b: Statement) -> bool:
    """Whether statement `a` says all that `b` says, and maybe more."""
    if is_duplicate(a, b):
        return True
    is_part = len(b.terms) >= MIN_ENTAILED_TERMS and b.terms <= a.terms and b.values <= a.values
    return is_part and bool(a.denials) == bool(b.denials) and _is_in_order(a, b) and not contradicts(a, b)


def restates(known: Statement, other: Statement) -> bool:
    """Whether a known statement says the same as another one, maybe in other words: all its values and most terms.

    Without values the terms have to be nearly all: "I like strong tea" does not repeat "I like strong coffee".
    """
    if entails(known, other):
        return True
    shared = len(known.terms & other.terms)
    share = _RESTATED_SHARE if other.values else _RESTATED_PLAIN_SHARE
    has_values = other.values <= {*known.values, *known.words}
    is_most = shared >= max(MIN_ENTAILED_TERMS, share * len(other.terms))
    return has_values and is_most and bool(known.denials) == bool(other.denials) and not contradicts(known, other)


def contradicts(a: Statement, b: Statement) -> bool:
    """Whether two statements cannot both be true: one denies the other, or they differ in one value alone.

    `I live in Oslo` contradicts `I live in Bergen`; `I like tea` does not contradict `I like coffee`. A contradiction
    that takes knowledge of the world is not found.
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
    # In scripts without spaces each character is a word here, so they are joined without spaces.
    if _SINGULAR.search("".join(around)):
        return True
    return are_values and _STATE.search(" ".join(around)) is not None


class Ground:
    """The terms and words of the source statements that a claim may follow from. Made once for many claims."""

    def __init__(self, sources: Iterable[Statement]) -> None:
        terms: set[str] = set()
        words: set[str] = set()
        for source in sources:
            terms |= source.terms
            words.update(source.words)
        # One set for each of the grounds that were joined.
        self._terms: list[set[str]] = [terms]
        self._words: list[set[str]] = [words]

    @classmethod
    def joined(cls, parts: Iterable[Ground]) -> Ground:
        """One ground of several, which shares their sets."""
        whole = cls(())
        for part in parts:
            whole._terms += part._terms
            whole._words += part._words
        return whole

    def supports(self, claim: Statement) -> bool:
        """Whether a claim follows, as far as words tell: the sources have all its values and most of its terms."""
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
            # A sentence ends with a mark and a space.
            is_first = end is None or (
                found.start() - end > 1 and _SENTENCE_END.search(text, end, found.start()) is not None
            )
            yield word, is_first
            end = found.start() + len(word)


def _is_in_order(a: Statement, b: Statement) -> bool:
    """Whether two statements have their common words in the same order; True where neither states a preference."""
    if not _SINGULAR.search(a.essence) or len(a.terms & b.terms) < MIN_ENTAILED_TERMS:
        return True
    shared = set(a.words) & set(b.words)
    order_of_a, order_of_b = ([word for word in dict.fromkeys(each.words) if word in shared] for each in (a, b))
    return order_of_a == order_of_b


def undenied(denial: Statement) -> list[str]:
    """The words of a statement without its negation words."""
    return [word for word in denial.words if word not in _NEGATIONS and word not in _WITH_NEGATIONS]


def _frames(words: Sequence[str]) -> Iterator[int]:
    """Hashes of what may stand around a spot: see `contradicts`."""
    if len(words) <= _MAX_FRAMED_WORDS:
        # A frame is known by what stands before its spot and what stands behind it, each hashed word by word.
        before = list(accumulate(words, _hashed, initial=0))
        behind = list(accumulate(reversed(words), _hashed, initial=0))[::-1]
        for length in range(1, min(SPOT_WORDS, len(words) - FRAME_WORDS) + 1):
            yield from map(_hashed, before[: len(words) - length + 1], behind[length:])
    if len(words) + SPOT_WORDS > _MAX_FRAMED_WORDS:
        # The longer one of both has up to three words more; the longer part around the spot has half of the rest.
        for half in {-(-(len(words) + more - SPOT_WORDS) // 2) for more in range(SPOT_WORDS)}:
            yield hash(("head", tuple(words[:half])))
            yield hash(("tail", tuple(words[-half:])))


def _hashed(known: int, word: object) -> int:
    return hash((known, word))


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many words both begin with."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
