"""Pure. Whether the statement of a line about a name was said anywhere near that name.

The words of a whole conversation can be combined to any claim: `My manager is Tom. The rotation is done by Luis.` has
all words of `Luis is my manager`. So for one name of a line at least, another word of the line must
stand in a sentence with that name, in the two before, in the three after it (which may go on with `he` or `she`), or in
one that speaks of the same relative or colleague. The user's own name may stand beside any word. Takes time
linear in the texts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.grounding_vocabulary import (
    concepts_of,
    forms_of,
    is_neutral,
    is_weekday,
    month_of,
    number_words,
)
from reverie_server.heuristics.grounding_words import Content, Word, content_of

_BEFORE, _AFTER = 2, 3
# A sentence that is longer than this counts as several.
_MAX_CHARS = 500
# With more sentences than this no line is refused; each takes some kilobytes.
_MAX_SENTENCES = 5000
# Limits: the names of a line that are looked at; the sentences of a name, and as many of the same relative.
_MAX_NAMES, _MAX_PLACES = 20, 50
# Where a sentence may end: behind the day of `3. April` none does.
_END = re.compile(r"\n|(?<!\d)[.!?](?=\s)|[。！？]")
# As many words of a line from one sentence are that sentence; a line of more is no sentence.
_FEWEST_TOGETHER, _MOST_TOGETHER = 4, 60
# The relatives and colleagues that a name may be of, so that `my brother` is about Ben where Ben is the brother.
_KIN = frozenset(
    {
        *("wife", "husband", "sister", "brother", "mother", "father", "daughter", "son", "children"),
        *("boss", "lead", "team", "doctor", "vet", "dog"),
    }
)
# In languages that capitalise every noun, a name is known by the word before it.
BEFORE_NAMES = frozenset(("herr", "herrn", "frau", "dr", "prof", "in", "bei", "namens", "heißt", "heisst", "familie"))
# The words before the name of the speaker.
_I_AM = frozenset(("i'm", "am", "name", "me", "bin", "heiße", "heisse", "soy", "llamo", "suis", "m'appelle", "sono"))
_IS = frozenset(("is", "ist", "es", "est", "è"))


class Neighbourhoods:
    """The sentences of the sources in order, and the contents near each name in them."""

    def __init__(self) -> None:
        self._sentences: list[Content] = []
        self._naming: Mapping[str, list[int]] = defaultdict(list)
        self._of_kin: Mapping[str, list[int]] = defaultdict(list)
        self._concepts: set[str] = set()
        self._is_full = False
        self._names: set[str] = set()
        self._speakers: set[str] = set()
        self._near: dict[str, Content] = {}

    def add(self, text: str, *, is_users: bool) -> None:
        """Add the next text. `is_users`: its `I` is the user."""
        has_nouns = capitalises_nouns(text)
        for piece in _pieces(text):
            number = len(self._sentences)
            if number == _MAX_SENTENCES:
                self._is_full = True
                return
            content = content_of(piece)
            if not _says_something(content):
                continue
            self._sentences.append(content)
            for form in content.forms:
                self._naming[form].append(number)
            self._concepts |= content.concepts
            for kin in content.concepts & _KIN:
                self._of_kin[kin].append(number)
            named = [word for word in content.words if not word.opens and word.written[:1].isupper()]
            self._names.update(word.folded for word in named if not has_nouns or word.previous in BEFORE_NAMES)
            if is_users:
                self._speakers |= _introduced(content.words)

    def add_speaker(self, name: str) -> None:
        """Add the name of a speaker."""
        self._speakers |= {word.folded for word in content_of(name).words}

    def are_strangers(self, line: Content) -> bool:
        """Whether a line has names, and near none of them stands any other known word of the line.

        A name is what somebody wrote with a capital inside a sentence; in a language where every noun has one, only
        a word behind a title or the like. Words without a meaning, or that stand nowhere, are left out: other words may
        say the same.
        """
        known_words = [word for word in line.words if self._is_known(word) and word.folded not in self._speakers]
        groups = _groups([word for word in line.words if self._is_name(word)])
        groups = [group for group in groups if not any(word.folded in self._speakers for word in group)]
        if self._is_full:
            return False
        for group in groups[:_MAX_NAMES]:
            name_words = {word.folded for word in group}
            others = [word for word in known_words if word.folded not in name_words]
            if not others or any(self._has_near(word.folded, others, line) for word in group):
                return False
        return bool(groups)

    def have_together(self, words: Sequence[Word]) -> bool:
        """Whether one sentence has all of the words, which are more than a few and as many as a sentence has."""
        distinct = {word.folded for word in words}
        if not _FEWEST_TOGETHER <= len(distinct) <= _MOST_TOGETHER:
            return False
        places = Counter(number for word in distinct for number in self._places(word))
        return max(places.values(), default=0) == len(distinct)

    def _places(self, word: str) -> set[int]:
        return {number for form in forms_of(word) for number in self._naming.get(form, ())}

    def _is_known(self, word: Word) -> bool:
        """Whether a word has a meaning and was said, of any name."""
        if concepts_of(word.folded) & self._concepts:
            return True
        return not is_neutral(word.folded) and any(form in self._naming for form in forms_of(word.folded))

    def _is_name(self, word: Word) -> bool:
        if word.folded not in self._names or not word.written[:1].isupper() or word.is_exact:
            return False
        is_other = is_neutral(word.folded) or is_weekday(word.folded) or month_of(word.folded) is not None
        return not is_other and not number_words(word.folded)

    def _has_near(self, name: str, others: Iterable[Word], line: Content) -> bool:
        near = self._around(name)
        if any(forms_of(word.folded) & near.forms or concepts_of(word.folded) & near.concepts for word in others):
            return True
        if any(number_words(word.folded) & near.numbers for word in others) or line.numbers & near.numbers:
            return True
        return bool(line.days & near.days or line.times & near.times or line.weekdays & near.weekdays)

    def _around(self, name: str) -> Content:
        """The contents near a name, gathered once for each."""
        if (known := self._near.get(name)) is not None:
            return known
        named = self._naming.get(name, ())[:_MAX_PLACES]
        kin = {concept for number in named for concept in self._sentences[number].concepts & _KIN}
        numbers = {number + off for number in named for off in range(-_BEFORE, _AFTER + 1)}
        numbers.update(number for concept in kin for number in self._of_kin[concept][-_MAX_PLACES:])
        found = Content()
        for number in numbers:
            if 0 <= number < len(self._sentences):
                found.add(self._sentences[number])
        self._near[name] = found
        return found


def capitalises_nouns(text: str, expected: str | None = None) -> bool:
    """Whether a text is in a language that writes every noun with a capital; `expected` where that cannot be told."""
    cues = cues_of(folded(text), all_cues().get(expected or ""))
    return cues is not None and cues.nouns_capitalised


def _pieces(text: str) -> list[str]:
    """The sentences of a text, with their ends."""
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    return [
        text[at : min(at + _MAX_CHARS, end)]
        for start, end in pairwise(ends)
        for at in range(start, end, _MAX_CHARS)
        if text[at : min(at + _MAX_CHARS, end)].strip()
    ]


def _says_something(content: Content) -> bool:
    """Whether a sentence has more than words without a meaning: points alone keep no two sentences apart."""
    has_number = content.numbers or content.days or content.times or content.weekdays
    return bool(has_number) or any(not is_neutral(word.folded) for word in content.words)


def _introduced(words: Sequence[Word]) -> set[str]:
    """The names behind `I'm`, `my name is` and the like."""
    found: set[str] = set()
    for at, word in enumerate(words):
        if not word.written[:1].isupper():
            continue
        is_named = word.previous in _I_AM or (word.previous in _IS and at > 1 and words[at - 2].folded == "name")
        if is_named or (at > 0 and words[at - 1].folded in found and word.previous == words[at - 1].folded):
            found.add(word.folded)
    return found


def _groups(names: Sequence[Word]) -> list[list[Word]]:
    """The names as groups of words: words that follow each other are one name, `Tom Hargreaves`."""
    groups: list[list[Word]] = []
    for word in names:
        if groups and word.previous == groups[-1][-1].folded:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups
