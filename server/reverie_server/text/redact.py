"""Finds texts in other texts and erases them. Pure.

Case, white space and Unicode form do not matter. In scripts that have words, a text is found as whole words.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, fold
from reverie_server.text.remove_spans import LEAD, Span, merged, without_spans, without_spans_by_line
from reverie_server.text.statement_spans import is_statement, with_what_goes_along, without_stumps

# Scripts in which the neighbours of a character do not show where a word ends.
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")
# Invisible characters that may be inside a word: soft hyphen, zero-width marks, byte order mark.
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_OF_WORD = "[\\w\u0300-\u036f]"
# Of a folded text: a character that a text to find may begin with, and that is not inside a word.
_BEGINNING = re.compile(f"(?:[{CJK}{SOUTH_EAST}]|[\\W_]|(?<!{_OF_WORD}).)(?<! )", re.DOTALL)
_LINE_LEAD = re.compile(LEAD)
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
# A shorter line ("yes", "Monday") is forgotten with its passage only. A character of an unspaced script counts three.
MIN_LINE_CHARS = 15
# The next character that is no space; a new line is one.
_NOT_SPACE = re.compile(r"[^ \t]")
STOPS = ".!?;。！？；～〜"
"""The marks that end a statement."""
# The end of a statement with what closes it behind the mark, and a remark.
_ENDED = re.compile(rf"[…{re.escape(STOPS)}][\"'”’»)\]*_`」』）]*(?:\s?[(\[][^()\[\]\n]{{0,60}}[)\]][.*_]*)?$")
_ENDED_CHARS = 80
EDGES = " \t\r\n.,;:!?。、，；：！？-*+>#|"
"""What stands around an essence."""


class _Folds(dict[int, str]):
    """The form in which a character is compared. White space stays; `Folded.of` makes one space of a run."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = "" if _INVISIBLE.match(character) else unicodedata.normalize("NFKD", character).casefold()
        self[code] = folded
        return folded


_FOLDS = _Folds()


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in the form in which texts are compared: NFKD, case-folded, no invisible characters, single spaces.

    `source` is the original text.
    """

    text: str
    source: str

    @classmethod
    def of(cls, text: str) -> Folded:
        """Fold a text."""
        return cls(" ".join((text.lower() if text.isascii() else text.translate(_FOLDS)).split()), text)

    def spans_of(self, pattern: re.Pattern[str]) -> list[Span]:
        """The matches of a pattern of `pattern_of`, as spans of the source, from left to right; none overlap."""
        folded_spans = [match.span() for match in pattern.finditer(self.text)]
        if not folded_spans:
            return []
        source_index = self._source_indices()
        return [(source_index[start], source_index[end]) for start, end in folded_spans]

    def sources_of(self, spans: Iterable[Span]) -> list[str]:
        """The parts of the source that some spans of the folded text were made of."""
        source_index = self._source_indices()
        return [self.source[source_index[start] : source_index[end]] for start, end in spans]

    def _source_indices(self) -> list[int]:
        """The index in the source of each character of the folded text, and last the length of the source."""
        indices: list[int] = []
        is_inside = False
        gap: int | None = None  # where the white space before this character begins
        for position, character in enumerate(self.source):
            for folded in _FOLDS[ord(character)]:
                if folded.isspace():
                    gap = position if gap is None else gap
                    continue
                if gap is not None and is_inside:
                    indices.append(gap)
                indices.append(position)
                is_inside, gap = True, None
        return [*indices, len(self.source) if gap is None else gap]


def pattern_of(target: str) -> re.Pattern[str]:
    """The pattern that finds `target` in folded texts. It matches nothing where folding leaves nothing of the target.

    The words come first in the pattern: the search is then linear however they repeat. The character before them is
    checked by a look-behind at their end.
    """
    words = Folded.of(target).text
    if not words:
        return re.compile(r"(?!)")
    before = "" if _UNSPACED.match(words[0]) or not words[0].isalnum() else f"(?<!{_OF_WORD}.{{{len(words)}}})"
    after = "" if _UNSPACED.match(words[-1]) or not words[-1].isalnum() else f"(?!{_OF_WORD})"
    return re.compile(re.escape(words) + after + before, re.DOTALL)


def anchor_of(target: str) -> str:
    """The longest word of a text, folded as PostgreSQL can: a file without this word does not contain the text.

    It is "", which every file contains, where only Python's case folding finds the words (ß and ss).
    """
    words = [bare for word in target.split() if (bare := word.strip(EDGES))] or target.split()
    same_in_sql = [folded for word in words if (folded := Folded.of(word).text) == _lowered(word)]
    return max(same_in_sql, key=len, default="")


def beginnings(folded: str) -> Iterator[int]:
    """The indices of a folded text at which `pattern_of` may find a text: all but those inside a word."""
    return (match.start() for match in _BEGINNING.finditer(folded))


def is_in(text: str, target: str) -> bool:
    """Whether `text` contains `target`, whatever the case, white space and Unicode form."""
    return bool(Targets([target]).found_in(text))


@dataclass(frozen=True, slots=True)
class Erased:
    """`text` is the remaining text, `found` are the targets that were in it."""

    text: str
    found: list[str]


@dataclass(frozen=True, slots=True)
class _Target:
    """A text to find. A sentence is found without its full stop, too, but not as the beginning of a longer one."""

    text: str
    pattern: re.Pattern[str]
    is_sentence: bool

    @classmethod
    def of(cls, text: str) -> _Target:
        bare, is_sentence = sought(text)
        return cls(text, pattern_of(bare), is_sentence)

    def spans_in(self, folded: Folded) -> list[Span]:
        spans = folded.spans_of(self.pattern)
        return [span for span in spans if _ends_at(folded.source, span[1])] if self.is_sentence else spans

    def is_in(self, folded: Folded) -> bool:
        if not self.is_sentence:
            return self.pattern.search(folded.text) is not None
        return bool(self.spans_in(folded))


def sought(text: str) -> tuple[str, bool]:
    """The form in which a text is looked for: itself, or a sentence without its last mark; and whether it is one."""
    bare = text.rstrip().rstrip(STOPS)
    is_whole = bare != text.rstrip() and is_sentence(bare)
    return (bare if is_whole else text), is_whole


def is_sentence(bare: str) -> bool:
    """Whether words without a full stop say enough to be found as a sentence, also where it has none."""
    return is_distinctive(bare) or is_statement(bare)


def whole_sentence(bare: str) -> str:
    """A statement as it is found whole alone: with a full stop, where it says enough to be one."""
    return bare if bare[-1:] in f"{STOPS}…" or not is_sentence(bare) else f"{bare}."


def _ends_at(text: str, end: int) -> bool:
    """Whether a statement ends there, or no word follows on the same line."""
    following = _NOT_SPACE.search(text, end)
    if following is None or not following.group().isalnum():
        return True
    return _ENDED.search(text[max(0, end - _ENDED_CHARS) : end]) is not None


class Targets:
    """Texts to find in, or to erase from, many other texts. Their patterns are made once.

    Where `kept_in` says which spans of a text are kept, in order, only those `everywhere` are found there.
    """

    def __init__(
        self,
        texts: Iterable[str],
        *,
        everywhere: Collection[str] = (),
        kept_in: Callable[[str], Sequence[Span]] | None = None,
    ) -> None:
        self._targets = [_Target.of(text) for text in texts]
        self._everywhere = everywhere
        self._kept_in = kept_in

    def among(self, texts: Collection[str]) -> Targets:
        """Those of the targets that are among some texts, as they are found."""
        return Targets(
            (target.text for target in self._targets if target.text in texts),
            everywhere=self._everywhere,
            kept_in=self._kept_in,
        )

    def found_in(self, *contents: str) -> list[str]:
        """The targets that at least one of the contents contains, in their order."""
        folded = [Folded.of(content) for content in contents]
        return [target.text for target in self._targets if any(self._is_in(target, content) for content in folded)]

    def stretches_in(self, content: str, goes_along: Callable[[str], bool] | None = None) -> list[str]:
        """The parts of a text that erasing takes: each target with what would be a stump without it, and with the
        statements after it of which `goes_along` says that they mean nothing without it."""
        folded = Folded.of(content)
        spans = [span for target in self._targets for span in self._spans_in(target, folded)]
        found = without_stumps(content, merged(spans)) if spans else []
        if goes_along is not None:
            found = with_what_goes_along(content, found, goes_along)
        return [stretch for start, end in found if (stretch := content[start:end].strip())]

    def erase_from(self, content: str, *, by_line: bool = True) -> Erased:
        """Erase the targets one after the other, the longest first, each with what would be a stump; `by_line` as for
        `erase`."""
        found: list[str] = []
        folded = Folded.of(content)
        for target in sorted(self._targets, key=lambda target: -len(target.text)):
            if spans := self._spans_in(target, folded):
                content = remove(content, without_stumps(content, spans), by_line=by_line)
                folded = Folded.of(content)
                found.append(target.text)
        return Erased(content, found)

    def _is_in(self, target: _Target, folded: Folded) -> bool:
        return target.is_in(folded) and (self._kept_in is None or bool(self._spans_in(target, folded)))

    def _spans_in(self, target: _Target, folded: Folded) -> list[Span]:
        spans = target.spans_in(folded)
        if not spans or self._kept_in is None or target.text in self._everywhere:
            return spans
        kept = self._kept_in(folded.source)
        ends = [end for _, end in kept]
        before = [bisect_right(ends, start) for start, _ in spans]
        # The first kept span that ends behind the beginning of this one.
        return [span for span, at in zip(spans, before, strict=True) if at == len(kept) or span[1] <= kept[at][0]]


def erase(text: str, target: str, *, by_line: bool) -> tuple[str, int]:
    """The text without `target`, and the number of places where it was.

    `by_line` is for markdown: a line of which only marks would remain is removed, and so is a blank line that then
    follows another.
    """
    spans = Folded.of(text).spans_of(pattern_of(target))
    return remove(text, spans, by_line=by_line), len(spans)


def _lowered(word: str) -> str:
    return _INVISIBLE.sub("", unicodedata.normalize("NFKD", word)).lower()


def body_of(passage: str) -> str:
    """The passage without its opening headings; the whole passage when it has nothing else."""
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
    """The form by which forgotten texts are recognised: folded, single spaces, without marks at the edges."""
    return " ".join(fold(_LINE_LEAD.sub("", text, count=1)).split()).strip(EDGES)


def essences(text: str) -> set[str]:
    """The essence of a text and of each of its lines that is distinctive."""
    whole = essence(text)
    lines = {essence(line) for line in text.splitlines()}
    return {whole, *filter(is_distinctive, lines)} - {""}


def is_distinctive(line: str) -> bool:
    """Whether a line is long enough to identify a statement by itself."""
    return spoken_length(line) >= MIN_LINE_CHARS


def spoken_length(text: str) -> int:
    """The length of a text in letters; a character of a script without spaces says as much as three."""
    return len(text) + 2 * len(_UNSPACED.findall(text))


def remove(text: str, spans: Sequence[Span], *, by_line: bool) -> str:
    """A text without some spans; `by_line` as for `erase`."""
    return without_spans_by_line(text, spans) if by_line else without_spans(text, spans)
