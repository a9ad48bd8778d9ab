"""The memory section of a turn's prompt: which memories enter it, within a budget, and how they read. Pure.

<memory-context>
## Memory Context
(one sentence, from prompts/sections/memory_context.md)
- (2026-04-03, memory/2026-04-03.md) Ada moved the review to Thursday.
</memory-context>
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from reverie_indexer.model import Tier
from reverie_indexer.text.analyse import CJK, SOUTH_EAST, fold
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.inject.headings import KnownSentences, Passage, is_same, needed_titles, passages_of, telling
from reverie_server.search.superseded_text import without_said
from reverie_server.sessions.daily_log import parts_of, repeats
from reverie_server.text.fences import CLOSE_FENCE, HEADER, OPEN_FENCE, for_prompt
from reverie_server.text.tokens import CountTokens

_HEADING = re.compile(r"[ \t]*(?P<level>#{1,6})[ \t]+(?P<title>[^\n]*)")
_SPACE = re.compile(r"\s*")
# Scripts in which the neighbours of a character do not show where a word ends.
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")
# So many words of content say something: "The alarm code is 7731", but not "Ha! Night" or "Please remember that".
_FEWEST_LEFT = 3
# In so many places a text is looked for as whole words.
_MAX_PLACES = 50
_MARKER = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A passage that search found: its `score`, 0..1.2, and its `relevance`, which is absolute, 0..1.

    Memories enter a section by their `precedence`. `headings` are those above it, the highest first; without any they
    are those that its text begins with.
    """

    chunk_id: int
    tier: Tier
    path: str
    day: date
    text: str
    score: float
    relevance: float
    precedence: float
    headings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory with its text as the section has it: on one line, without a mark of markdown before it."""

    memory: FoundMemory
    text: str

    @property
    def line(self) -> str:
        """The memory's line in the section: its day, its path and its text."""
        return line_of(self.memory.day, self.memory.path, self.text)


@dataclass(frozen=True, slots=True)
class PromptContents:
    """What a prompt has already: texts, and passages and files by id or path. `message` is what is answered with it."""

    texts: Sequence[str] = ()
    ids_and_paths: Collection[str] = ()
    message: str = ""


def select(memories: Iterable[FoundMemory], threshold: float, prompt: PromptContents) -> list[Entry]:
    """The memories of at least this relevance that are new to the prompt, by their precedence; the order is total.

    Left out: the sentences that the prompt has, or a memory before; a memory that one of their texts contains (white
    space and case folded); a line of the daily log a part of which is a text of the prompt; a memory that
    `ids_and_paths` names. What says nothing without the heading above it is known below the same heading only. What is
    left of a memory beside known sentences is more than a word or two, or has a word of the message.
    """
    asked = content_terms(prompt.message)
    ordered = sorted(memories, key=lambda memory: (-memory.precedence, -memory.relevance, -memory.chunk_id))
    relevant = [memory for memory in ordered if memory.relevance >= threshold]
    known = KnownSentences()
    texts: list[Passage] = []
    for passage in (each for text in prompt.texts if relevant for each in passages_of(text)):
        known.add(passage)
        texts.append(replace(passage, text=folded(passage.text)))
    entries: list[Entry] = []
    for memory in relevant:
        titles, body = _without_marks(memory.text)
        if memory.path in prompt.ids_and_paths or str(memory.chunk_id) in prompt.ids_and_paths:
            continue
        passage = Passage(telling(memory.headings or titles), body)
        folded_body = folded(body)
        if not folded_body or _is_in(passage, folded_body, texts) or _is_logged(memory.text, prompt.texts):
            continue
        rest = without_said(body, known.keys_in(passage))
        text = _on_one_line(needed_titles(rest, memory.headings) or titles, rest, memory.day)
        if not rest or not text or (rest != body and asked and _is_remnant(rest, asked)):
            continue
        entries.append(Entry(memory, text))
        known.add(passage)
        texts.append(replace(passage, text=folded_body))
    return entries


def _is_remnant(rest: str, asked: frozenset[str]) -> bool:
    """Whether what is left of a memory is too little to say something, and has no word that was asked for."""
    terms = content_terms(rest)
    return len(terms) < _FEWEST_LEFT and not terms & asked


def fit(entries: Sequence[Entry], notice: str, max_tokens: int, count: CountTokens) -> list[Entry]:
    """The entries that fit together into a section of at most `max_tokens`, in order.

    An entry that does not fit is skipped, and shorter ones after it may still fit.
    """
    fitting = fit_lines([entry.line for entry in entries], notice, max_tokens, count)
    return [entries[number] for number in fitting]


def fit_lines(lines: Sequence[str], notice: str, max_tokens: int, count: CountTokens) -> list[int]:
    """The numbers of the lines that fit together into a section of at most `max_tokens`, in order."""
    fitting: list[int] = []
    for number, line in enumerate(lines):
        if count(_section([*(lines[each] for each in fitting), line], notice)) <= max_tokens:
            fitting.append(number)
    return fitting


def line_of(day: date, path: str, text: str) -> str:
    """A memory's line in the section."""
    return f"- ({day.isoformat()}, {_one_line(path)}) {text}"


def section(entries: Sequence[Entry], notice: str) -> str:
    """The section with these entries; "" without any."""
    return _section([entry.line for entry in entries], notice) if entries else ""


def _section(lines: Sequence[str], notice: str) -> str:
    return "\n".join([OPEN_FENCE, HEADER, notice, *lines, CLOSE_FENCE])


def one_line_text(text: str, day: date) -> str:
    """A passage on one line and without fences, after its headings; a heading that is only the day is left out."""
    return _on_one_line(*_without_marks(text), day)


def _on_one_line(titles: Sequence[str], body: str, day: date) -> str:
    other_titles = [title for title in titles if title and title != day.isoformat()]
    return _one_line(": ".join([*other_titles, body] if body else other_titles))


def notice_of(source: str) -> str:
    """The sentence in the text of a file of `prompts/sections/`, which follows the front matter."""
    return _one_line(source.rpartition("\n---\n")[2])


def _without_marks(text: str) -> tuple[list[str], str]:
    """The titles of the headings that a passage begins with, and the rest without a list marker before it.

    A heading that another one of its level follows has an empty section, and is left out. Of a passage of headings
    alone nothing is left.
    """
    open_sections: list[tuple[int, str]] = []
    rest = text.lstrip()
    start = 0
    while match := _HEADING.match(rest, start):
        level = len(match["level"])
        while open_sections and open_sections[-1][0] >= level:
            open_sections.pop()
        open_sections.append((level, match["title"].rstrip(" \t#")))
        space = _SPACE.match(rest, match.end())
        assert space is not None
        start = space.end()
    rest = rest[start:]
    marker = _MARKER.match(rest)
    body = rest[marker.end() :] if marker else rest
    return ([title for _, title in open_sections], body.strip()) if body.strip() else ([], "")


def _one_line(text: str) -> str:
    return " ".join(for_prompt(" ".join(text.split())).split())


def folded(text: str) -> str:
    """A text as it is compared with others: as prompts have it, case-folded, with single spaces."""
    return " ".join(fold(for_prompt(text)).split())


def contains_words(text: str, part: str) -> bool:
    """Whether a text has another as whole words: "code: 12" is no part of "code: 1234"."""
    start, tried = text.find(part), 0
    while start >= 0 and tried < _MAX_PLACES:
        end = start + len(part)
        if not (_goes_on(text[start - 1 : start], part[:1]) or _goes_on(part[-1:], text[end : end + 1])):
            return True
        start, tried = text.find(part, start + 1), tried + 1
    return False


def _goes_on(left: str, right: str) -> bool:
    """Whether two characters beside each other are of one word."""
    return left.isalnum() and right.isalnum() and _UNSPACED.search(left + right) is None


def _is_in(passage: Passage, folded_body: str, texts: Iterable[Passage]) -> bool:
    """Whether one of some folded texts contains a passage, and the headings above it are no others."""
    return any(
        contains_words(text.text, folded_body) and is_same(passage.text, passage.titles, text.titles) for text in texts
    )


def _is_logged(text: str, prompt_texts: Sequence[str]) -> bool:
    """Whether a text is a line of the daily log, and a text of the prompt is a part of it."""
    passage = text.strip()
    return parts_of(passage) is not None and any(repeats(passage, prompt_text) for prompt_text in prompt_texts)
