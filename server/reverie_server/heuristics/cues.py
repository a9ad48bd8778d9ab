"""The words that make a sentence worth remembering, in twelve languages, and those by which a language is known.

Pure but for reading `cues.toml` and `language_words.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reverie_indexer.text.analyse import fold

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'"})
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_KANA = re.compile("[\u3041-\u30fa\u31f0-\u31ff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
# The kinds of cues by whose single words a language is known, too.
_LANGUAGE_WORDS = ("self", "other", "question")
_FEWEST_KNOWN = 2
# How many more known words another language must have than the one that is expected.
_MORE_THAN_EXPECTED = 2
_LEAST_SHARE = 0.12
_WORD_BEGINS = r"(?<!\w)"


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of one language: a pattern for each kind, over text from `folded`.

    At the beginning of a sentence only: `opening` finds chatter, `question` a question, `lead` the words that ask to
    remember the rest (None in a language without leads).
    """

    language: str
    unspaced: bool
    nouns_capitalised: bool
    words: frozenset[str]
    kinds: Mapping[str, re.Pattern[str]]
    opening: re.Pattern[str]
    filler: re.Pattern[str]
    question: re.Pattern[str]
    lead: re.Pattern[str] | None = None


def folded(text: str) -> str:
    """The text in the form in which cues are written: folded, with one kind of apostrophe."""
    return fold(text).translate(_APOSTROPHES)


@cache
def all_cues() -> Mapping[str, Cues]:
    """The cues by language."""
    tables, words = _tables("cues.toml"), _tables("language_words.toml")
    return {
        language: _compiled(language, table, words[language]["words"].split() if language in words else ())
        for language, table in tables.items()
    }


def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def cues_of(text: str, expected: Cues | None = None) -> Cues | None:
    """The cues of a folded text's language; `expected` (None: not known) where the language cannot be told.

    The script decides where it can, else the number of known words of each language; of equals the first.
    """
    known = all_cues()
    if _KANA.search(text):
        return known["japanese"]
    words = _WORD.findall(text)
    if not text.isascii():
        hangul, han = len(_HANGUL.findall(text)), len(_HAN.findall(text))
        if max(hangul, han) > sum(map(len, words)) / 3:
            return known["korean"] if hangul >= han else known["chinese"]
    counts: dict[str, int] = {}
    languages_of = _languages_of_words()
    for word in words:
        for language in languages_of.get(word, ()):
            counts[language] = counts.get(language, 0) + 1
    most = max(counts.values(), default=0)
    if expected is not None and most < counts.get(expected.language, 0) + _MORE_THAN_EXPECTED:
        return expected
    if most < max(_FEWEST_KNOWN, _LEAST_SHARE * len(words)):
        return expected
    return next(cues for language, cues in known.items() if counts.get(language) == most)


@cache
def _languages_of_words() -> Mapping[str, Sequence[str]]:
    """The languages that each known word is one of."""
    found: dict[str, list[str]] = {}
    for language, cues in all_cues().items():
        for word in cues.words:
            found.setdefault(word, []).append(language)
    return found


def _compiled(language: str, table: Mapping[str, object], words: Sequence[str]) -> Cues:
    unspaced = table.get("unspaced") is True

    def phrases(kind: str) -> list[str]:
        found = table[kind]
        assert isinstance(found, list)
        return sorted(found, key=len, reverse=True)

    def pattern(kind: str) -> str:
        return "|".join(_phrase(folded(phrase), unspaced) for phrase in phrases(kind))

    def anywhere(kind: str) -> str:
        # Whether a word begins is looked at once for each place, and not once for each phrase.
        patterns = [_phrase(folded(phrase), unspaced) for phrase in phrases(kind)]
        words = [each.removeprefix(_WORD_BEGINS) for each in patterns if each.startswith(_WORD_BEGINS)]
        others = [each for each in patterns if not each.startswith(_WORD_BEGINS)]
        return "|".join([*([rf"{_WORD_BEGINS}(?:{'|'.join(words)})"] if words else []), *others])

    def remember() -> str:
        if "recall" not in table:
            return anywhere("remember")
        return f"{anywhere('remember')}|{table['recalled']}(?:{pattern('recall')})"

    kinds = ("self", "other", "remember", "decision", "preference", "fact", "action", "time", "chatter")
    # Possessive: no phrase begins with what stands between them.
    gap = r"[\s,，、.!！:：;-]*+"
    return Cues(
        language,
        unspaced,
        table.get("nouns_capitalised") is True,
        frozenset(words).union(
            phrase for kind in _LANGUAGE_WORDS for phrase in map(folded, phrases(kind)) if _WORD.fullmatch(phrase)
        ),
        {kind: re.compile(remember() if kind == "remember" else anywhere(kind)) for kind in kinds},
        re.compile(rf"{gap}(?:{pattern('chatter')})"),
        # Filler is a word of its own also where others are not: 那 begins many.
        re.compile(rf"(?:{gap}(?:{pattern('filler')})(?:[,，、.!！:：~〜…]++\s*+|\s++))++"),
        re.compile(rf"(?:{pattern('question')})"),
        re.compile(rf"(?:{pattern('lead')}){gap}") if "lead" in table else None,
    )


def _phrase(phrase: str, unspaced: bool) -> str:
    """A phrase as a pattern: whole words with gaps and open ends, or letters wherever they stand."""
    if unspaced:
        return re.escape(phrase)
    parts = [r"\s++".join(map(_word, part.split())) for part in phrase.split(" .. ")]
    joined = r"\s++(?:[^\s.!?]++\s++){0,4}?".join(parts)
    # A phrase that may begin with any letters is tried at the beginning of words only, and finds itself from there.
    begin = _WORD_BEGINS if phrase[0].isalnum() or phrase[0] == "*" else ""
    end = r"(?!\w)" if phrase[-1].isalnum() else ""
    return f"{begin}{joined}{end}"


def _word(word: str) -> str:
    return re.escape(word).replace(r"\*", r"\w*")
