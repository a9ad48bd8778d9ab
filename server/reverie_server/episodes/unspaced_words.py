"""The words of a run of a script without spaces that may be topics. Pure but for reading `unspaced_words.toml`.

There is no dictionary of these languages here: a run is parted at its most frequent words, and what is left between
them is a word only if it is as short as words are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reverie_server.heuristics.small_talk import bare, content_runs

_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa]")
_HAN_KANA = re.compile("[\u30a1-\u30fa\u30fc]{3,}|[\u3400-\u4dbf\u4e00-\u9fff]{2,8}")
_THAI = re.compile("[\u0e00-\u0e7f]")
# No word begins with a mark or with a vowel that stands behind a consonant, and none ends with one that stands before.
_NO_THAI_WORD = re.compile("[\u0e30-\u0e3a\u0e45-\u0e4e\u0e2f]|.*[\u0e40-\u0e44\u0e31]$")
_LONGEST_HAN, _LONGEST_OTHER = 4, 12
_SHORTEST_OTHER = 4


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a language by their first character, the longest first, each with whether it is a noun."""

    by_first: Mapping[str, list[tuple[str, bool]]]


def words_of_run(run: str) -> Iterator[str]:
    """The words of a run that may be topics, in order."""
    text = bare(run)
    if _KANA.search(text):
        empty = _language("japanese").by_first
        for piece in _japanese(text):
            if not any(piece == word for word, _ in empty.get(piece[0], ())):
                yield piece
        return
    is_thai = _THAI.search(text) is not None
    for piece, is_noun in _parted(text, _language("thai" if is_thai else "chinese")):
        if is_noun:
            yield piece
        elif is_thai:
            if _SHORTEST_OTHER <= len(piece) <= _LONGEST_OTHER and not _NO_THAI_WORD.match(piece):
                yield piece
        else:
            yield from _content(piece)


def _content(piece: str) -> Iterator[str]:
    longest = _LONGEST_HAN if re.match("[\u3400-\u9fff]", piece) else _LONGEST_OTHER
    for word in content_runs(piece):
        if 2 <= len(word) <= longest and not word.isnumeric():
            yield word


def _japanese(text: str) -> Iterator[str]:
    for piece in content_runs(text):
        yield from _HAN_KANA.findall(piece)


def _parted(text: str, words: _Words) -> Iterator[tuple[str, bool]]:
    """The pieces of a text between its empty words; nouns of the table are pieces of their own."""
    start = at = 0
    while at < len(text):
        found = next((word for word in words.by_first.get(text[at], ()) if text.startswith(word[0], at)), None)
        if found is None:
            at += 1
            continue
        if start < at:
            yield text[start:at], False
        if found[1]:
            yield found[0], True
        at += len(found[0])
        start = at
    if start < len(text):
        yield text[start:], False


@cache
def _language(name: str) -> _Words:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[name]
    by_first: dict[str, list[tuple[str, bool]]] = {}
    for key in ("empty", "nouns"):
        for word in dict.fromkeys(map(bare, table.get(key, "").split())):
            by_first.setdefault(word[0], []).append((word, key == "nouns"))
    for found in by_first.values():
        found.sort(key=lambda word: (-len(word[0]), not word[1], word[0]))
    return _Words(by_first)
