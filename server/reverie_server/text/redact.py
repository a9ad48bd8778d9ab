"""Taking a text out of a file: where it stands, and what is left. Pure.

A text is found whatever its case, white space and Unicode form, as whole words in scripts that have words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, fold
from reverie_indexer.text.chunk import chunk
from reverie_server.text.remove_spans import LEAD, Span, merged, without_spans, without_spans_by_line

# Scripts in which what stands beside a word says nothing about where it ends.
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")
# What stands in a word and is not seen: soft hyphen, zero-width marks, byte order mark.
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_OF_WORD = "[\\w\u0300-\u036f]"
_LINE_LEAD = re.compile(LEAD)
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
# A shorter line ("yes", "Monday") is forgotten with its passage only. A character of an unspaced script counts three.
MIN_LINE_CHARS = 15
# A longer text is known by its lines and passages only.
MAX_SOUGHT_WORDS = 12
# Of more forgotten parts in one text each goes where it was found, and is not looked for elsewhere.
MAX_SOUGHT_PARTS = 32
_WORD = re.compile(r"\S+")
_EDGES = " \t\r\n.,;:!?。、，；：！？-*+>#|"


class _Folds(dict[int, str]):
    """What each character is when two texts are compared; white space is a space, of which one is as good as many."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = "" if _INVISIBLE.match(character) else unicodedata.normalize("NFKD", character).casefold()
        self[code] = folded
        return folded


_FOLDS = _Folds()


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as two are compared: NFKD, case-folded, without invisible characters, white space as one space each.

    `source` is the text itself.
    """

    text: str
    source: str

    @classmethod
    def of(cls, text: str) -> Folded:
        """Fold a text."""
        return cls(" ".join((text.lower() if text.isascii() else text.translate(_FOLDS)).split()), text)

    def spans_of(self, pattern: re.Pattern[str]) -> list[Span]:
        """Where what `pattern_of` finds stands in the source, from left to right; none overlap."""
        found = [match.span() for match in pattern.finditer(self.text)]
        if not found:
            return []
        at = self._places()
        return [(at[start], at[end]) for start, end in found]

    def _places(self) -> list[int]:
        """For each character of the folded text its place in the source, and at last the source's length."""
        at: list[int] = []
        is_inside = False
        gap: int | None = None
        for position, character in enumerate(self.source):
            for folded in _FOLDS[ord(character)]:
                if folded.isspace():
                    gap = position if gap is None else gap
                    continue
                if gap is not None and is_inside:
                    at.append(gap)
                at.append(position)
                is_inside, gap = True, None
        return [*at, len(self.source) if gap is None else gap]


def pattern_of(target: str) -> re.Pattern[str]:
    """What finds a text in folded ones; nothing is found of a text of which folding leaves nothing.

    The words stand first and by themselves, so that the time to look for them is linear whatever they repeat; what may
    not stand before them is looked at from their end.
    """
    words = Folded.of(target).text
    if not words:
        return re.compile(r"(?!)")
    before = "" if _UNSPACED.match(words[0]) or not words[0].isalnum() else f"(?<!{_OF_WORD}.{{{len(words)}}})"
    after = "" if _UNSPACED.match(words[-1]) or not words[-1].isalnum() else f"(?!{_OF_WORD})"
    return re.compile(re.escape(words) + after + before, re.DOTALL)


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


class Sought:
    """Texts that are looked for in many others; what finds them is made once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._patterns = [(text, pattern_of(text)) for text in texts]

    def held_by(self, content: str) -> list[str]:
        """Those of the texts that stand in a content, in their order."""
        folded = Folded.of(content).text
        return [text for text, pattern in self._patterns if pattern.search(folded)]


class Eraser:
    """Takes texts out of many others, one after the other; what finds them is made once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._patterns = [(text, pattern_of(text)) for text in texts]

    def erase(self, content: str, *, by_line: bool = True) -> tuple[str, list[str]]:
        """A content without the texts, taken out one after the other as `erase` does it, and those that were found."""
        found: list[str] = []
        folded = Folded.of(content)
        for text, pattern in self._patterns:
            if spans := folded.spans_of(pattern):
                content = _remove(content, spans, by_line=by_line)
                folded = Folded.of(content)
                found.append(text)
        return content, found


def erase(text: str, target: str, *, by_line: bool) -> tuple[str, int]:
    """The text without what the target stands for, and how often it was found.

    `by_line`, as in markdown: a line of which only marks would be left goes with it, and so does a blank line that
    then follows another.
    """
    spans = Folded.of(text).spans_of(pattern_of(target))
    return _remove(text, spans, by_line=by_line), len(spans)


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
    forgotten = _Forgotten(is_forgotten)
    for start, end in _parts(text):
        forgotten.look_at(text[start:end], text[start:end], (start, end))
    return forgotten.taken_from(text, by_line=True)


def word_count(text: str) -> int:
    """How many words an essence has; 0 where it is too long to be looked for word by word."""
    count = len(text.split())
    return count if count <= MAX_SOUGHT_WORDS else 0


def without_words(text: str, counts: Collection[int], is_forgotten: Callable[[str], bool]) -> str:
    """A text without the runs of so many words each whose essence is forgotten, wherever in a line they stand."""
    words = [word.span() for word in _WORD.finditer(text)]
    forgotten = _Forgotten(is_forgotten)
    for count in sorted(counts, reverse=True):
        for first in range(len(words) - count + 1):
            start, end = words[first][0], words[first + count - 1][1]
            run = text[start:end]
            behind = len(run) - len(run.lstrip(_EDGES))
            part = run.strip(_EDGES)
            forgotten.look_at(run, part, (start + behind, start + behind + len(part)))
        forgotten.next_kind()
    return forgotten.taken_from(text, by_line=False)


class _Forgotten:
    """Which parts of a text are forgotten, and where they stand."""

    def __init__(self, is_forgotten: Callable[[str], bool]) -> None:
        self._is_forgotten = is_forgotten
        self._known: dict[str, bool] = {}
        self._spans: dict[str, list[Span]] = {}

    def look_at(self, text: str, part: str, span: Span) -> None:
        """Note the part where the text around it is forgotten."""
        known = self._known.get(text)
        if known is None:
            kept = essence(text)
            known = self._known[text] = bool(kept) and self._is_forgotten(kept)
        if known and part:
            self._spans.setdefault(part, []).append(span)

    def next_kind(self) -> None:
        """What comes is none of what was seen: let go of that."""
        self._known.clear()

    def taken_from(self, text: str, *, by_line: bool) -> str:
        """The text without the parts: a few wherever they stand, the longest first, many where they were found."""
        if len(self._spans) > MAX_SOUGHT_PARTS:
            return _remove(text, merged(span for spans in self._spans.values() for span in spans), by_line=by_line)
        for part in sorted(self._spans, key=len, reverse=True) if not by_line else self._spans:
            text, _ = erase(text, part, by_line=by_line)
        return text


def _remove(text: str, spans: Sequence[Span], *, by_line: bool) -> str:
    return without_spans_by_line(text, spans) if by_line else without_spans(text, spans)


def _parts(text: str) -> Iterator[Span]:
    """Where the bodies of passages stand, and lines without what leads them."""
    for passage in chunk(text):
        yield _tail_span(passage.char_start, passage.text, body_of(passage.text))
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            yield _tail_span(start, line, _LINE_LEAD.sub("", line, count=1).strip() or line.strip())
        start += len(line)


def _tail_span(start: int, text: str, tail: str) -> Span:
    """Where in the source a text's last part stands, white space aside; the text begins at `start`."""
    end = start + len(text.rstrip())
    return end - len(tail), end
