"""Names of entities: when two are the same, how alike they are, and which occur in a text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rapidfuzz.distance import JaroWinkler

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, fold

MAX_NAME_CHARS = 200
MAX_EXTERNAL_ID_CHARS = 200
# Each word of a text gives six runs, which are kept at once.
MAX_WINDOWS_CHARS = 200_000
# A name of more words is looked for in no text.
_WINDOW_WORDS = 6
_WINDOW_CHARS = 10
_EDGES = " \t\r\n.,;:!?\"'“”‘’«»()[]{}<>`*_。、，；：！？「」『』（）"
_POSSESSIVE = re.compile(r"['’]s$")
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]+")
_NOT_OF_ID = re.compile(r"[^\w.:+#/@-]+")
_NUMBER = re.compile(r"\d+")


def name_key(name: str) -> str:
    """The key of a name, equal for two spellings of it: folded, one space between words, no punctuation at word edges.

    "" for a name that is nothing but marks.
    """
    return " ".join(word for part in fold(name).split() if (word := _word(part)))


def external_id_of(text: str) -> str:
    """A text as an external id: folded, hyphens for white space and other marks, at most MAX_EXTERNAL_ID_CHARS."""
    return _NOT_OF_ID.sub("-", fold(text)).strip("-")[:MAX_EXTERNAL_ID_CHARS]


def windows(text: str) -> set[str]:
    """The name keys that a text may hold: its runs of up to 6 words, and of up to 10 characters in scripts without
    spaces. Of a very long text the first MAX_WINDOWS_CHARS characters count."""
    text = text[:MAX_WINDOWS_CHARS]
    words = [word for part in fold(text).split() if (word := _word(part)) and len(word) <= MAX_NAME_CHARS]
    found = {
        " ".join(words[start : start + length])
        for start in range(len(words))
        for length in range(1, min(_WINDOW_WORDS, len(words) - start) + 1)
    }
    for run in _UNSPACED.findall(fold(text)):
        found.update(_pieces(run))
    return found


def holds_name(text_windows: set[str], *names: str) -> bool:
    """Whether a text with these windows has one of the names, as whole words where the script has words."""
    return any(key in text_windows for name in names if (key := name_key(name)))


def name_similarity(one: str, other: str) -> float:
    """The Jaro-Winkler similarity of two names, 0 to 1, by their keys (Winkler 1990: prefix of up to 4, weight 0.1).

    Of very long names the beginnings are compared, since time grows with the product of both lengths.
    """
    keys = (name_key(name[: 2 * MAX_NAME_CHARS])[:MAX_NAME_CHARS] for name in (one, other))
    return float(JaroWinkler.similarity(*keys))


def differ_in_number(one: str, other: str) -> bool:
    """Whether two names have different numbers: the similarity of Sprint 12 and Sprint 13 is high all the same."""
    return _NUMBER.findall(name_key(one)) != _NUMBER.findall(name_key(other))


def _word(part: str) -> str:
    return _POSSESSIVE.sub("", part.strip(_EDGES))


def _pieces(run: str) -> Iterator[str]:
    for start in range(len(run)):
        for length in range(2, min(_WINDOW_CHARS, len(run) - start) + 1):
            yield run[start : start + length]
