"""The entries of a note: what of it may become long-term memory. Pure.

An entry is a list item or a paragraph, without the words that ask to remember it; of a line of the daily log it is what
the user stated there that a person would note. Headings, questions, code, tables, quotations and secrets are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.extract import without_request
from reverie_server.heuristics.salience import NOTABLE, asks, rarity, salience, sentences
from reverie_server.sessions.daily_log import parts_of
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.markdown_blocks import blocks_of, text_of
from reverie_server.text.markdown_edit import lines_of

# What is longer is no entry but a text, of which the sentences are.
MAX_ENTRY_CHARS = 500
# Days at the end of a line: when it was said.
_DATED = re.compile(r"\((?P<days>\d{4}-\d\d-\d\d(?:, \d{4}-\d\d-\d\d)*)\)\W*$")
_ASSISTANT = "Assistant: "
# What makes an entry more than an observation.
NOTEWORTHY_KINDS = frozenset({"remember", "decision", "preference"})


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry at some lines (1-based, inclusive) of a file, said on some days.

    `kinds` are the cues that it has (`cues`); `raw` is the text of its lines.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    days: tuple[date, ...]
    kinds: frozenset[str]
    raw: str

    @property
    def source(self) -> str:
        """Where it stands."""
        return f"{self.path}:{self.start_line}"


def entries_of(path: str, text: str, day: date, language: str = "english") -> list[Entry]:
    """The entries of a note of a day, in order. What memory had put into the note is left out.

    A line that ends with days in brackets was said on these, any other on the day of the note. `language` is the one
    that the note is most likely in.
    """
    lines = lines_of(text)
    expected = cues_in(text, language)
    found: list[Entry] = []
    for block in blocks_of(text):
        if block.kind not in ("item", "paragraph"):
            continue
        block_lines = [line.rstrip("\r\n") for line in text_of(block, lines)]
        # Lines of a log may stand below each other, and each is one for itself.
        spans = _spans(block_lines) if block.kind == "paragraph" else [(0, len(block_lines))]
        for start, end in spans:
            raw = "".join(lines[block.start + start : block.start + end]).strip("\r\n")
            entry_text = " ".join(" ".join(block_lines[start:end]).split())
            for statement in _statements(neutralise(strip_injected(entry_text)), expected):
                plain, days = undated(statement)
                if plain:
                    first_line, last_line = block.start + start + 1, block.start + end
                    fact = fact_of(plain, expected)
                    found.append(
                        Entry(path, first_line, last_line, fact, days or (day,), kinds_of(plain, expected), raw)
                    )
    return found


def cues_in(text: str, language: str) -> Cues | None:
    """The cues of the language that a text is in: short ones of one have words that are common in another."""
    return cues_of(folded(text), all_cues().get(language))


def kinds_of(statement: str, expected: Cues | None = None) -> frozenset[str]:
    """The cues that a statement has, in its language, or the expected one; none where neither is known."""
    text = folded(statement)
    cues = cues_of(text, expected)
    return frozenset(kind for kind, pattern in cues.kinds.items() if pattern.search(text)) if cues else frozenset()


def fact_of(statement: str, expected: Cues | None = None) -> str:
    """A statement without the words that ask to remember it."""
    fact = without_request(statement, cues_of(folded(statement), expected))
    return fact if len(fact) < len(statement) else statement


def undated(statement: str) -> tuple[str, tuple[date, ...]]:
    """A statement without the days that it ends with, and these; days that never were are none."""
    found = _DATED.search(statement)
    if found is None:
        return statement.strip(), ()
    try:
        days = tuple(date.fromisoformat(day) for day in found["days"].split(", "))
    except ValueError:
        return statement.strip(), ()
    return statement[: found.start()].strip(), days


def dated(statement: str, days: Sequence[date]) -> str:
    """A statement with the days on which it was said at its end."""
    return f"{statement} ({', '.join(day.isoformat() for day in sorted(set(days)))})"


def scored_statements(text: str, expected: Cues | None = None) -> list[tuple[str, float]]:
    """The sentences of a text in order, without questions, each with its score (`salience`)."""
    pieces = sentences(text)
    cues, rare = cues_of(folded("\n".join(pieces)), expected), rarity(pieces)
    return [(piece, salience(piece, cues, rare)) for piece in pieces if not asks(piece, cues)]


def _spans(lines: Sequence[str]) -> list[tuple[int, int]]:
    if any(parts_of(line) for line in lines):
        return [(number, number + 1) for number in range(len(lines))]
    return [(0, len(lines))]


def _statements(text: str, expected: Cues | None) -> Iterator[str]:
    logged = parts_of(text)
    if logged is not None:
        # What the log cut in the middle says nothing whole.
        of_user = scored_statements(logged[0], expected)
        yield from (piece for piece, score in of_user if score >= NOTABLE and not piece.endswith("…"))
        return
    if text.startswith(_ASSISTANT):
        # Its "I" is not the owner's.
        return
    pieces = sentences(text)
    cues = cues_of(folded(text), expected)
    kept = [piece for piece in pieces if not asks(piece, cues)]
    if len(text) > MAX_ENTRY_CHARS:
        yield from kept
    elif pieces and len(kept) == len(pieces):
        yield text
    elif kept:
        yield " ".join(kept)
