"""The entries of a note: the texts that may become long-term memory. Pure.

An entry is a list item or a paragraph, without the words that ask to remember it. A line of the daily log gives the
user's statements that a person would note. Headings, questions, code, tables, quotations and secrets are no entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.extract import without_request
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.heuristics.requests.fact_requests import split_request
from reverie_server.heuristics.salience import NOTABLE, asks, rarity, salience, sentences
from reverie_server.sessions.daily_log import parts_of
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.markdown_blocks import blocks_of, text_of
from reverie_server.text.markdown_edit import lines_of

# Of a longer text each sentence is an entry.
MAX_ENTRY_CHARS = 500
# Days in brackets at the end of a line: those on which it was said.
_DATED = re.compile(r"\((?P<days>\d{4}-\d\d-\d\d(?:, \d{4}-\d\d-\d\d)*)\)\W*$")
_ASSISTANT = "Assistant: "
# The kinds of cues that make an entry more than an observation.
NOTEWORTHY_KINDS = frozenset({"remember", "decision", "preference"})


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: its lines in a file (1-based, inclusive), and the days on which it was said.

    `kinds` are the kinds of cues in it (`cues`); `raw` is the text of its lines.
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
        """The file and first line, as `path:line`."""
        return f"{self.path}:{self.start_line}"


def entries_of(path: str, text: str, day: date, language: str = "english") -> list[Entry]:
    """The entries of a note, in order, without text that the memory had injected into it.

    An entry that ends with days in brackets has these as its days, any other has `day`, the day of the note. `language`
    is the most likely language of the note.
    """
    lines = lines_of(text)
    expected = cues_in(text, language)
    found: list[Entry] = []
    for block in blocks_of(text):
        if block.kind not in ("item", "paragraph"):
            continue
        block_lines = [line.rstrip("\r\n") for line in text_of(block, lines)]
        # In a log each line of a paragraph is an entry of its own.
        spans = _spans(block_lines) if block.kind == "paragraph" else [(0, len(block_lines))]
        for start, end in spans:
            raw = "".join(lines[block.start + start : block.start + end]).strip("\r\n")
            entry_text = " ".join(" ".join(block_lines[start:end]).split())
            for statement in _statements(neutralise(strip_injected(entry_text)), expected):
                plain, days = undated(statement)
                # "Please remember that." says nothing itself.
                if plain and split_request(plain).kind not in ("before", "next"):
                    first_line, last_line = block.start + start + 1, block.start + end
                    key = folded(plain)
                    cues = cues_of(key, expected)
                    fact, kinds = _without_request(plain, cues), _kinds(key, cues)
                    found.append(Entry(path, first_line, last_line, fact, days or (day,), kinds, raw))
    return found


def cues_in(text: str, language: str) -> Cues | None:
    """The cues of a text's language, for use with its sentences: a short one alone may look like another language."""
    return cues_of(folded(text), all_cues().get(language))


def kinds_of(statement: str, expected: Cues | None = None) -> frozenset[str]:
    """The kinds of cues in a statement, in its language or else the expected one; none where neither is known."""
    text = folded(statement)
    return _kinds(text, cues_of(text, expected))


def fact_of(statement: str, expected: Cues | None = None) -> str:
    """A statement without the words that ask to remember it."""
    return _without_request(statement, cues_of(folded(statement), expected))


def facts_asked_for(texts: Iterable[str], language: str) -> list[str]:
    """The sentences of texts that ask to remember what they state, without the words that ask; each once."""
    facts: dict[str, None] = {}
    for text in texts:
        expected = cues_in(text, language)
        said = [text[span.start : span.end] for span in keyed_sentences(text)]
        facts |= dict.fromkeys(fact for sentence in said if (fact := fact_of(sentence, expected)) != sentence)
    return list(facts)


def undated(statement: str) -> tuple[str, tuple[date, ...]]:
    """A statement without the days in brackets at its end, and these days. Days that do not exist stay in the text."""
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


def _without_request(statement: str, cues: Cues | None) -> str:
    """The fact in a statement; as it was written where nothing asks."""
    fact = without_request(statement, cues)
    return fact if len(fact) < len(statement) else statement


def _kinds(text: str, cues: Cues | None) -> frozenset[str]:
    return frozenset(kind for kind, pattern in cues.kinds.items() if pattern.search(text)) if cues else frozenset()


def _spans(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The ranges of lines that are one entry each: every line of a log, else all lines together."""
    if any(parts_of(line) for line in lines):
        return [(number, number + 1) for number in range(len(lines))]
    return [(0, len(lines))]


def _statements(text: str, expected: Cues | None) -> Iterator[str]:
    """The statements in a text of one entry; of a log's line those of the user, and none of the assistant's."""
    logged = parts_of(text)
    if logged is not None:
        # A sentence that the log cut off is not complete.
        of_user = scored_statements(logged[0], expected)
        yield from (piece for piece, score in of_user if score >= NOTABLE and not piece.endswith("…"))
        return
    if text.startswith(_ASSISTANT):
        # The "I" of the assistant is not the owner.
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
