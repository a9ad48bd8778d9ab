"""Marks for the lines of a prompt's files that no longer hold, and removal of those that stand there twice. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.inject.headings import KnownSentences, Passage, titles_above
from reverie_server.prompt.context import Part, says_nothing
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.search.superseded_text import Superseded, current_text, without_said
from reverie_server.sessions.daily_log import parts_of
from reverie_server.text.markdown_blocks import fenced

# An entry of a list, or a line of the daily log: what may be left out of a file without breaking it.
_ENTRY = re.compile(r"(?:[-*+•][ \t]|\[\d\d:\d\d\][ \t])")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]|$)")
# Deeper than any heading.
_TEXT = 7
# The parts of a prompt in which entries are compared, in the order in which an entry stays; the card says more of one.
_COMPARED = ("morning_card", "profile", "long_term_memory", "todays_notes", "recent_context")


def has_superseded(line: str, superseded: Mapping[bytes, Superseded]) -> bool:
    """Whether a sentence of the line does not hold any more."""
    return any(sentence.key in superseded for sentence in keyed_sentences(line))


def marked_text(
    text: str, ended_in: Callable[[str], Mapping[bytes, Superseded]], machine_made: Collection[bytes]
) -> str:
    """A text with ` (until 2026-11-10)` behind each statement that does not hold any more.

    Lines in `machine_made` (`line_sha256`) lose such statements instead; a line of the daily log of whose user nothing
    is left goes whole. `ended_in` gives the sentences of a line that do not hold.
    """
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        superseded = ended_in(body)
        if not has_superseded(line, superseded):
            lines.append(line)
            continue
        end = line[len(body) :]
        if line_sha256(body) not in machine_made and parts_of(body) is None:
            lines.append(current_text(body, superseded, marked=True) + end)
            continue
        rest = current_text(body, superseded, marked=False)
        logged = parts_of(rest)
        if rest and (parts_of(body) is None or (logged is not None and logged[0].strip(" .!?"))):
            lines.append(rest + end)
    return "".join(lines)


def without_repeats(parts: Sequence[Part]) -> list[Part]:
    """The parts in their order, where a sentence of an entry that an entry of another part has stands once.

    The morning card has its entries before the long-term memory, and this before the notes. What says nothing without
    the heading above it is another sentence below another one. A heading that loses all of its entries goes with them.
    """
    by_name = {part.name: part for part in parts}
    known = KnownSentences()
    kept: dict[str, Part] = {}
    for name in _COMPARED:
        if (part := by_name.get(name)) is None:
            continue
        entries, lines = _new_lines(part.text, known)
        for entry in entries:
            known.add(entry)
        is_shorter = "\n".join(lines) != part.text
        kept[name] = replace(part, text=_without_empty_sections(lines)) if is_shorter else part
    return [part for part in (kept.get(part.name, part) for part in parts) if part.text]


def _new_lines(text: str, known: KnownSentences) -> tuple[list[Passage], list[str]]:
    """The entries of a text of which something is new, and all of its lines without what is known."""
    entries: list[Passage] = []
    left: list[str] = []
    lines = text.split("\n")
    for line, following, titles in zip(lines, [*lines[1:], ""], titles_above(lines), strict=True):
        # What is indented below an entry says nothing without it.
        if not _ENTRY.match(line) or (following[:1].isspace() and following.strip()):
            left.append(line)
            continue
        entry = Passage(titles, line)
        known_keys = known.keys_in(entry)
        if known_keys and all(sentence.key in known_keys for sentence in keyed_sentences(line)):
            continue
        entries.append(entry)
        if rest := without_said(line, known_keys):
            left.append(rest)
    return entries, left


def _without_empty_sections(lines: Sequence[str]) -> str:
    """The lines without the headings below which nothing is left; "" where nothing is left at all."""
    kept: list[str] = []
    # The level of what stands below, so that a heading of a higher level has a text.
    needed = 0
    for line, closing in zip(reversed(lines), reversed(list(fenced(lines))), strict=True):
        heading = _HEADING.match(line) if closing is None else None
        if heading is None:
            # What is left out leaves one blank line.
            if line.strip() or closing is not None or (kept and kept[-1].strip()):
                kept.append(line)
            needed = _TEXT if line.strip() else needed
        elif needed > len(heading[1]):
            kept.append(line)
            needed = len(heading[1])
    text = "\n".join(reversed(kept)).strip("\n")
    return "" if says_nothing(text) else text
