"""Takes what is forgotten out of a text of which no other text is known: its parts are asked about. Pure.

What is forgotten is known by its essence alone (`provenance.tombstones`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from reverie_indexer.text.analyse import CJK, SOUTH_EAST
from reverie_indexer.text.chunk import chunk
from reverie_server.text.redact import EDGES, Targets, body_of, essence, is_sentence, remove
from reverie_server.text.remove_spans import LEAD, Span, merged
from reverie_server.text.statement_spans import statement_spans, without_stumps

_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")
_LINE_LEAD = re.compile(LEAD)
# A longer text is recognised by its lines and passages only.
MAX_WORDS = 12
# With more forgotten parts in one text, each is removed where it was found, and is not looked for elsewhere.
MAX_PARTS = 32
_WORD = re.compile(r"\S+")
# What may be around a text within a line.
_AROUND = f"{EDGES}()[]{{}}（）「」『』《》【】<\"'“”„‘’‚«»‹›_~`"
_CLAUSE = re.compile(r"[^\n.,;:!?。、，；：！？]+")


def without_forgotten(text: str, is_forgotten: Callable[[str], bool]) -> str:
    """Markdown without the passages and lines whose essence is forgotten."""
    forgotten = _ForgottenParts(is_forgotten)
    for start, end in _parts(text):
        forgotten.check(text[start:end], (start, end))
    return forgotten.removed_from(text, by_line=True)


def word_count(text: str) -> int:
    """The number of words of an essence; 0 when it has more than `MAX_WORDS`, and is not searched for by words."""
    count = len(text.split())
    return count if count <= MAX_WORDS else 0


def is_telling(kept: str) -> bool:
    """Whether a text says enough to be known within a longer line: a sentence, or a number that is more than a year."""
    return is_sentence(kept) or (len(kept) > 4 and sum(map(str.isdigit, kept)) >= 4)


def without_forgotten_words(
    text: str, counts: Collection[int], is_forgotten: Callable[[str], bool], *, by_line: bool = False
) -> str:
    """A text without the runs of words whose essence is forgotten, anywhere in a line; `by_line` as for `erase`.

    `counts` are the lengths of the runs, in words; of a script without spaces a clause is one. Longer runs go first.
    """
    words = [word.span() for word in _WORD.finditer(text)]
    forgotten = _ForgottenParts(is_forgotten)
    forgotten.check_runs(text, (span.span() for span in _CLAUSE.finditer(text) if _UNSPACED.search(span.group())))
    for count in sorted(counts, reverse=True):
        starts = range(len(words) - count + 1)
        forgotten.check_runs(text, ((words[first][0], words[first + count - 1][1]) for first in starts))
        forgotten.drop_answers()
    return forgotten.removed_from(text, by_line=by_line)


class _ForgottenParts:
    """The forgotten parts of a text, each with its spans."""

    def __init__(self, is_forgotten: Callable[[str], bool]) -> None:
        self._is_forgotten = is_forgotten
        self._answers: dict[str, bool] = {}
        self._spans: dict[str, list[Span]] = {}

    def check(self, part: str, span: Span) -> None:
        """Add the part and its span if its essence is forgotten."""
        if part not in self._answers:
            core = essence(part)
            self._answers[part] = bool(core) and self._is_forgotten(core)
        if self._answers[part]:
            self._spans.setdefault(part, []).append(span)

    def check_runs(self, text: str, runs: Iterable[Span]) -> None:
        """Check runs of words of a text, each without the marks around it."""
        for start, end in runs:
            run = text[start:end]
            for part in {run.strip(EDGES), run.strip(_AROUND)}:
                self.check(part, (at := start + run.find(part), at + len(part)))

    def drop_answers(self) -> None:
        """Free the answers for the texts so far: none of these texts comes again."""
        self._answers.clear()

    def removed_from(self, text: str, *, by_line: bool) -> str:
        """The text without the parts. Up to `MAX_PARTS` parts are removed everywhere, the longest first; more parts
        only where they were found.
        """
        if len(self._spans) > MAX_PARTS:
            spans = merged(span for spans in self._spans.values() for span in spans)
            return remove(text, without_stumps(text, spans), by_line=by_line)
        parts = sorted(self._spans, key=len, reverse=True) if not by_line else self._spans
        return Targets(parts).erase_from(text, by_line=by_line).text if self._spans else text


def _parts(text: str) -> Iterator[Span]:
    """The spans of the bodies of passages, of lines without their leading marks, and of statements."""
    for passage in chunk(text):
        yield _tail_span(passage.char_start, passage.text, body_of(passage.text))
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            yield _tail_span(start, line, _LINE_LEAD.sub("", line, count=1).strip() or line.strip())
        start += len(line)
    yield from statement_spans(text)


def _tail_span(start: int, text: str, tail: str) -> Span:
    """The span of the last part of a text that begins at `start`, trailing white space left out."""
    end = start + len(text.rstrip())
    return end - len(tail), end
