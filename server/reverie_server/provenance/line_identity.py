"""The identity of the lines of files, by which their provenance is recorded. Pure.

A line is identified by the hash of its essence, so that it keeps its origin when the file is sorted anew. Headings and
blank lines are no lines here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie_server.llm.generation import Generation
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence
from reverie_server.text.remove_spans import Span, without_spans_by_line

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Derived:
    """Lines that a stage adds to a file, their generation, and their sources (`model.message_source` and its like)."""

    path: str
    lines: Sequence[str]
    generation: Generation
    stage: str
    sources: Sequence[Mapping[str, Any]]


def line_sha256(line: str) -> bytes:
    """The identity of a line: a hash that ignores case, white space, the bullet and marks at the line's edges."""
    return hashlib.sha256(essence(line).encode()).digest()


def entry_lines(text: str) -> list[str]:
    """The lines of a markdown text with content: no headings, blank lines or rules."""
    lines = (line.rstrip("\r\n") for line in lines_of(text))
    return [line for line in lines if essence(line) and not _HEADING.match(line)]


def lines_among(text: str, hashes: Collection[bytes]) -> dict[bytes, str]:
    """The lines of a markdown text that have one of some identities, by these; the first of each."""
    found: dict[bytes, str] = {}
    for line in entry_lines(text) if hashes else ():
        if (sha256 := line_sha256(line)) in hashes:
            found.setdefault(sha256, line)
    return found


def without_lines(text: str, hashes: Collection[bytes]) -> str:
    """A markdown text without the lines that have one of some identities."""
    return without_spans_by_line(text, line_spans(text, hashes))


def line_spans(text: str, hashes: Collection[bytes]) -> list[Span]:
    """Where the lines of a markdown text stand that have one of some identities, in order."""
    spans: list[Span] = []
    end = 0
    for line in lines_of(text):
        start, end = end, end + len(line)
        if lines_among(bare := line.rstrip("\r\n"), hashes):
            spans.append((start, start + len(bare)))
    return spans


def added_lines(before: str, after: str) -> list[str]:
    """The lines of `after` that `before` lacks; case, white space and bullets do not count."""
    known = {essence(line) for line in entry_lines(before)}
    return [line for line in entry_lines(after) if essence(line) not in known]
