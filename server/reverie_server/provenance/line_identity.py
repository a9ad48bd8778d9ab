"""The lines of files: what counts as one, by what it is known, and where it is said to come from. Pure.

A line is known by the hash of its essence, so that it keeps its origin when the file is sorted anew. Headings and blank
lines are no lines here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie_server.llm.generation import Generation
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence

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
    """By what a line is known: whatever its case, white space, bullet and marks at its edges."""
    return hashlib.sha256(essence(line).encode()).digest()


def entry_lines(text: str) -> list[str]:
    """The lines of a markdown text that say something: no headings, nothing blank, no rules."""
    lines = (line.rstrip("\r\n") for line in lines_of(text))
    return [line for line in lines if essence(line) and not _HEADING.match(line)]


def added_lines(before: str, after: str) -> list[str]:
    """The lines that a text has and the one before it had not, however they are written there."""
    known = {essence(line) for line in entry_lines(before)}
    return [line for line in entry_lines(after) if essence(line) not in known]
