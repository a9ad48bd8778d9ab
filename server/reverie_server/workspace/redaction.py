"""Taking a text out of a file: where it stands, and what is left. Pure.

A text is found whatever its case, white space and Unicode form, as whole words in scripts that have words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from reverie_indexer.analyse import CJK, SOUTH_EAST, fold
from reverie_indexer.chunk import chunk

# Scripts in which what stands beside a word says nothing about where it ends.
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")
# What stands in a word and is not seen: soft hyphen, zero-width marks, byte order mark.
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_OF_WORD = "[\\w\u0300-\u036f]"
# Quotation marks, a bullet or a number, a box: what stands before the text of a line.
_LEAD = r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?"
_NOTHING_LEFT = re.compile(rf"{_LEAD}[\W_]*")
_LINE_LEAD = re.compile(_LEAD)
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
# A shorter line ("yes", "Monday") is forgotten with its passage only. A character of an unspaced script counts three.
MIN_LINE_CHARS = 15
# A longer text is known by its lines and passages only.
MAX_SOUGHT_WORDS = 12
_WORD = re.compile(r"\S+")
_EDGES = " \t\r\n.,;:!?。、，；：！？-*+>#|"


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as two are compared: NFKD, case-folded, without invisible characters. `at` are the places in the text
    that its characters come from, and the text's length."""

    text: str
    at: Sequence[int]

    @classmethod
    def of(cls, text: str) -> Folded:
        """Fold a text."""
        if text.isascii():
            return cls(text.lower(), range(len(text) + 1))
        folded: list[str] = []
        at: list[int] = []
        for position, character in enumerate(text):
            if not _INVISIBLE.match(character):
                kept = unicodedata.normalize("NFKD", character).casefold()
                folded.append(kept)
                at += [position] * len(kept)
        return cls("".join(folded), [*at, len(text)])


def pattern_of(target: str) -> re.Pattern[str]:
    """What finds a text, that holds at least one character that is not white space, in folded ones."""
    words = Folded.of(target).text.split()
    before = "" if _UNSPACED.match(words[0][0]) or not words[0][0].isalnum() else rf"(?<!{_OF_WORD})"
    after = "" if _UNSPACED.match(words[-1][-1]) or not words[-1][-1].isalnum() else rf"(?!{_OF_WORD})"
    return re.compile(before + r"\s+".join(map(re.escape, words)) + after)


def anchor_of(target: str) -> str:
    """The longest word of a text, folded as PostgreSQL can: a file without it cannot hold the text.

    "" (which every file holds) where only Python's case folding would find the words (ß and ss).
    """
    words = target.split()
    alike = [folded for word in words if (folded := Folded.of(word).text) == _lowered(word)]
    return max(alike, key=len, default="")


def is_in(text: str, target: str) -> bool:
    """Whether a text stands in another, whatever its case, white space and Unicode form."""
    return pattern_of(target).search(Folded.of(text).text) is not None


def erase(text: str, target: str, *, by_line: bool) -> tuple[str, int]:
    """The text without what the target stands for, and how often it was found.

    `by_line`, as in markdown: a line of which only marks would be left goes with it, and so does a blank line that
    then follows another.
    """
    folded = Folded.of(text)
    spans = [(folded.at[match.start()], folded.at[match.end()]) for match in pattern_of(target).finditer(folded.text)]
    for start, end in reversed(spans):
        text = _cut_line(text, start, end) if by_line else text[:start] + text[end:]
    return text, len(spans)


def _lowered(word: str) -> str:
    return _INVISIBLE.sub("", unicodedata.normalize("NFKD", word)).lower()


def body_of(passage: str) -> str:
    """A passage without the headings it opens with; all of it when it is nothing but headings."""
    lines = passage.splitlines(keepends=True)
    first = 0
    while first < len(lines):
        if not lines[first].strip() or _ATX.match(lines[first]):
            first += 1
        elif first + 1 < len(lines) and _UNDERLINE.match(lines[first + 1].rstrip("\r\n")):
            first += 2
        else:
            break
    return "".join(lines[first:]).strip() or passage.strip()


def essence(text: str) -> str:
    """What of a text counts when two are compared: folded, white space as one space, without marks at its edges."""
    return " ".join(fold(_LINE_LEAD.sub("", text, count=1)).split()).strip(_EDGES)


def essences(text: str) -> set[str]:
    """The essence of a text and, where it has several lines, of each that says something by itself."""
    whole = essence(text)
    lines = {essence(line) for line in text.splitlines()}
    return {whole, *filter(is_telling, lines)} - {""}


def is_telling(line: str) -> bool:
    """Whether a line says something by itself."""
    return len(line) + 2 * len(_UNSPACED.findall(line)) >= MIN_LINE_CHARS


def without(text: str, is_forgotten: Callable[[str], bool]) -> str:
    """Markdown without the passages and lines whose essence is forgotten."""
    for part in _parts(text):
        kept = essence(part)
        if kept and is_forgotten(kept):
            text, _ = erase(text, part, by_line=True)
    return text


def word_count(text: str) -> int:
    """How many words an essence has; 0 where it is too long to be looked for word by word."""
    count = len(text.split())
    return count if count <= MAX_SOUGHT_WORDS else 0


def without_words(text: str, counts: Collection[int], is_forgotten: Callable[[str], bool]) -> str:
    """A text without the runs of so many words each whose essence is forgotten, wherever in a line they stand."""
    words = list(_WORD.finditer(text))
    sought = {
        text[words[first].start() : words[first + count - 1].end()]
        for count in counts
        for first in range(len(words) - count + 1)
    }
    for run in sorted(sought, key=len, reverse=True):
        kept = essence(run)
        if kept and is_forgotten(kept):
            text, _ = erase(text, run.strip(_EDGES), by_line=False)
    return text


def _parts(text: str) -> Iterator[str]:
    for passage in chunk(text):
        yield body_of(passage.text)
    for line in text.splitlines():
        if line.strip():
            yield _LINE_LEAD.sub("", line, count=1).strip() or line.strip()


def _cut_line(text: str, start: int, end: int) -> str:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    if not _NOTHING_LEFT.fullmatch(text[line_start:start] + text[end:line_end]):
        head, tail = text[:start], text[end:]
        # One of the two spaces that were around it, or the one before the end of its line.
        if head.endswith((" ", "\t")) and (not tail or tail[0].isspace()):
            head = head.rstrip(" \t") if not tail or tail[0] in "\r\n" else head[:-1]
        return head + tail
    head, tail = text[:line_start], text[line_end + 1 :]
    if not head or re.search(r"(?:^|\n)[ \t]*\r?\n\Z", head):
        tail = re.sub(r"\A(?:[ \t]*\r?\n)+", "", tail)
    return head + tail
