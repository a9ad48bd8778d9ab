"""The key topics of a text: names where the script has capitals, else its most specific terms. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from babel.dates import get_day_names, get_month_names

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, fold, stop_words
from reverie_server.episodes.text import sayings
from reverie_server.episodes.unspaced_words import words_of_run
from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.small_talk import bare, meaningless_words, read

MAX_TOPICS = 10
MAX_TOPIC_CHARS = 60
_MAX_WORDS = 5
_HANGUL = "\u1100-\u11ff\u3131-\u318f\ua960-\ua97f\uac00-\ud7ff"
_RUN = f"(?:(?![{_HANGUL}])[{CJK}])+|[{SOUTH_EAST}]+"
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u0900-\u0963\u0966-\u0dff"
_WORD = f"(?:(?![{CJK}{SOUTH_EAST}])[\\w{_MARKS}]|[{_HANGUL}])"
_TOKEN = re.compile(f"(?P<run>{_RUN})|(?P<word>{_WORD}+(?:['’.\\-/@_&]{_WORD}+)*)")
# Matched against a whole word. Of a path or a snake-case name it takes the first separator that something follows:
# a second way to part the same word is one too many.
_IDENTIFIER = re.compile(
    r"[A-Z]{2,}+-\d++|[a-z]++(?:[A-Z][a-z0-9]++)++|[A-Z][a-z]++[A-Z]\w*+"
    r"|[\w-]++(?:/[\w.-]++)++|[\w-](?:(?!_)[\w-])*+_[\w.-]++(?:/[\w.-]++)*+"
)
# A longer word names nothing that could be a topic.
_MAX_WORD_CHARS = 200
_POSSESSIVE = re.compile(r"['’]s$")
# What stands inside a name in lower case.
_JOINS = frozenset(["of", "de", "da", "do", "dos", "das", "del", "della", "di", "du", "la", "le", "van", "von", "der"])
_LINKS = frozenset(["den", "y", "e", "&", "and", "und"])
_ARTICLES = frozenset(
    ["the", "a", "an", "der", "die", "das", "ein", "eine", "el", "la", "los", "las", "un", "una", "le"]
)
# Particles at the end of a Korean word, the longest first.
_PARTICLES = re.compile(
    "(?:에서는|에게서|으로는|이라고|에서|에게|으로|까지|부터|하고|이랑|처럼|보다|은|는|이|가|을|를|에|의|로|와|과|도|만)$"
)
# Polite forms of Korean verbs, which name nothing.
_VERB = re.compile("(?:니다|[아어해]요|니까|세요)$")
_LOCALES = ("en", "de", "es", "fr", "it", "pt", "nl", "ru", "pl", "tr")
_TERM_CHARS = 6
_PHATIC_CHARS = 40
_RUN_ONLY = re.compile(_RUN)
# The most frequent names, which alone are compared with each other.
_CANDIDATES = 200


@dataclass(slots=True)
class _Found:
    """How often each topic was found, in which spelling first; and words seen in small letters or within sentences."""

    counts: Counter[str] = field(default_factory=Counter)
    spelling: dict[str, str] = field(default_factory=dict)
    at_start: Counter[str] = field(default_factory=Counter)
    small: set[str] = field(default_factory=set)

    def note(self, phrase: str, times: int = 1) -> None:
        key = fold(phrase)
        self.spelling.setdefault(key, phrase)
        self.counts[key] += times


def key_topics(texts: Iterable[str], proposed: Sequence[str] = ()) -> list[str]:
    """At most MAX_TOPICS topics: those that a model proposed, then the most frequent ones, of equals the earlier.

    Where a script has capitals these are phrases of proper nouns, without the stop words that begin sentences, articles
    and names of days and months; a single word that begins a sentence comes last unless it is written so within one.
    Where it has none they are what stands between particles and other empty words.
    """
    found = _Found()
    everything = [sentence for text in texts for sentence in sayings(text) if _says_something(sentence)]
    common = cues_of(folded("\n".join(everything)))
    empty = _empty_words(" ".join(everything)[:20_000], common)
    for sentence in everything:
        _read(sentence, common, empty, found)
    _settle_starts(found)
    _join_names(found)
    # Of equals the one that was found first: a sort keeps their order.
    ranked = sorted(found.counts, key=lambda key: -(found.counts[key] + 0.1) * _weight(found.spelling[key]))
    topics = [topic for one in proposed if (topic := _clean(one))]
    topics += [found.spelling[key] for key in ranked]
    kept: dict[str, str] = {}
    for topic in topics:
        kept.setdefault(fold(topic), topic)
    return list(kept.values())[:MAX_TOPICS]


def _says_something(sentence: str) -> bool:
    """Whether a sentence is more than a greeting, thanks or the like, which are short."""
    return len(sentence) > _PHATIC_CHARS or read(sentence).words > 0


def _clean(topic: str) -> str:
    """A topic as a model gave it, on one line; "" for what is none."""
    text = " ".join(topic.split()).strip(" \t-*•#\"'“”«»`.,;:")
    is_one = len(text) <= MAX_TOPIC_CHARS and any(character.isalnum() for character in text)
    return text if is_one else ""


def _weight(topic: str) -> float:
    """A name of two words tells more than one; what is long and has no spaces is rather a clause than a term."""
    if _RUN_ONLY.fullmatch(topic):
        return 1.0 if len(topic) <= _TERM_CHARS else 0.7
    return 1.0 + 0.5 * min(len(topic.split()) - 1, 2)


def _read(sentence: str, cues: Cues | None, empty: frozenset[str], found: _Found) -> None:
    phrase: list[str] = []
    begins = False
    end = 0
    for place, token in enumerate(_TOKEN.finditer(sentence)):
        text = token[0]
        between, end = sentence[end : token.start()], token.end()
        if token["run"] is not None:
            _note_phrase(phrase, empty, found, begins=begins)
            phrase = []
            for piece in words_of_run(text):
                found.note(piece)
            continue
        word = _POSSESSIVE.sub("", text)
        if phrase and not _goes_on(between):
            _note_phrase(phrase, empty, found, begins=begins)
            phrase = []
        if _is_name(word) and not (cues and cues.nouns_capitalised and bare(word) in empty):
            if not phrase:
                begins = place == 0
            if begins and len(phrase) == 0 and (bare(word) in empty or _opens(word, cues)):
                continue
            if bare(word) not in empty or phrase:
                phrase.append(word)
            continue
        if phrase and word.lower() in _JOINS | _LINKS:
            phrase.append(word)
            continue
        _note_phrase(phrase, empty, found, begins=begins)
        phrase = []
        _note_word(word, empty, found)
    _note_phrase(phrase, empty, found, begins=begins)


def _note_word(word: str, empty: frozenset[str], found: _Found) -> None:
    """A word that is no name: of a script without capitals it may be a topic."""
    if word[:1].islower():
        found.small.add(fold(word))
    elif _has_no_case(word):
        is_hangul = re.match(f"[{_HANGUL}]", word) is not None
        stem = _PARTICLES.sub("", word) if is_hangul and len(word) > 2 else word
        if is_hangul and _VERB.search(word):
            return
        if len(stem) >= 2 and bare(stem) not in empty and bare(word) not in empty and not stem.isnumeric():
            found.note(stem)


def _note_phrase(phrase: Sequence[str], empty: frozenset[str], found: _Found, *, begins: bool) -> None:
    words = list(phrase)
    while words and (words[-1].lower() in _JOINS | _LINKS or bare(words[-1]) in empty):
        words.pop()
    while words and fold(words[0]) in _ARTICLES:
        words.pop(0)
        begins = False
    if not words or len(words) > _MAX_WORDS or all(fold(word) in _calendar() for word in words):
        return
    name = " ".join(words)
    if len(name) > MAX_TOPIC_CHARS or (len(name) < 2) or name.isnumeric():
        return
    if begins and len(words) == 1 and not _IDENTIFIER.fullmatch(name) and not name.isupper():
        found.spelling.setdefault(fold(name), name)
        found.at_start[fold(name)] += 1
    else:
        found.note(name)


def _settle_starts(found: _Found) -> None:
    """A word that begins sentences is a name where it is one elsewhere too, or begins several; else it may be one."""
    inside = {word for name in found.counts for word in name.split()}
    for key, times in found.at_start.items():
        if key in inside or (times > 1 and key not in found.small):
            found.counts[key] += times
        elif key not in found.small:
            # It may be one; those that certainly are come first.
            found.counts[key] = 0


def _join_names(found: _Found) -> None:
    """A name that one longer one begins with is that one. Only the most frequent names stay."""
    found.counts = Counter(dict(found.counts.most_common(_CANDIDATES)))
    words = {key: tuple(key.split()) for key in found.counts}
    longer: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, name in words.items():
        for length in range(1, len(name)):
            longer[name[:length]].append(key)
    for key in sorted(words, key=lambda key: len(words[key])):
        if len(longer[words[key]]) == 1:
            found.counts[longer[words[key]][0]] += found.counts.pop(key)


def _goes_on(between: str) -> bool:
    """Whether a word goes on with the phrase before it: nothing but a space stands between."""
    return between.endswith(" ") and not between.rstrip().endswith((",", ";", ":", ".", "!", "?", "("))


def _is_name(word: str) -> bool:
    if len(word) > _MAX_WORD_CHARS:
        return False
    return word[0].isupper() or _IDENTIFIER.fullmatch(word) is not None


def _opens(word: str, cues: Cues | None) -> bool:
    """Whether a word that begins a sentence says when, thanks, or what is to be done: no part of a name."""
    text = folded(word)
    if not read(word).words:
        return True
    return cues is not None and any(
        pattern.fullmatch(text) is not None
        for kind, pattern in cues.kinds.items()
        if kind not in ("fact", "preference")
    )


def _has_no_case(word: str) -> bool:
    return any(unicodedata.category(character) == "Lo" for character in word)


def _empty_words(text: str, cues: Cues | None) -> frozenset[str]:
    """Words without a meaning of their own in the language of a text, bare."""
    language = cues.language if cues is not None and stop_words(cues.language) else "english"
    meaningless = meaningless_words(text, language)
    common = frozenset(bare(word) for word in cues.words) if cues is not None else frozenset[str]()
    return meaningless.anywhere | meaningless.at_start | common | _stop_words_everywhere()


@cache
def _stop_words_everywhere() -> frozenset[str]:
    """The stop words of the languages whose cues are known: a conversation may be in two of them."""
    return frozenset(bare(word) for language in all_cues() for word in stop_words(language) if len(word) > 1)


@cache
def _calendar() -> frozenset[str]:
    """Names of days and months, folded."""
    names: set[str] = set()
    for locale in _LOCALES:
        for width in ("wide", "abbreviated"):
            names |= {fold(name).strip(".") for name in get_day_names(width, locale=locale).values()}
            names |= {fold(name).strip(".") for name in get_month_names(width, locale=locale).values()}
    return frozenset(names)
