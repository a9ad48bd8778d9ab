"""The system prompt of a turn, most stable first: what never changes, what changes with files, with days, with turns.

    the caller's own
    <memory-files>
    --- AGENTS.md ---               shared files, the same bytes for every owner
    # Memory
    ## Profile                      the owner's own files
    ## Long-term Memory
    ## Today's Notes
    ## Recent Context
    ### 2026-04-02                  the days before, newest first
    ## Morning Card                 what entered the memory, in the first conversation of a day
    </memory-files>
    <memory-context> … </memory-context>

Pure. Every text stands there once; what is empty leaves no heading. No file can hold a fence or controls.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from reverie_server.text.fences import CLOSE_FILES, OPEN_FILES, for_prompt, neutralise, strip_injected
from reverie_server.text.markdown_blocks import fenced
from reverie_server.text.tokens import CountTokens

PROFILE = "PROFILE.md"
# Where there is no MEMORY.md, the other one is read.
LONG_TERM = ("MEMORY.md", "memory.md")
# Of a window, what the notes of today may take: the oldest of them give way.
TODAY_SHARE = 0.25
RECENT = "## Recent Context"
CARD = "## Morning Card"
# Data, and what it is for.
_CARD_INTRO = "New in long-term memory since the last conversation; the user may confirm, correct or forget each:"
_CARD_MAX_TOKENS = 200
_SEPARATOR = "\n\n"
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
# A line of nothing else says nothing.
_MARKS = re.compile(r"[\s>*+_=#|-]*")
_BLANK_START = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LOG_TIME = re.compile(r"(?:[-*+][ \t]+)?\[\d\d:\d\d\] (?=User: )")


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A file as it is stored, at its path."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """What of an agent's files a turn's prompt is made of.

    `shared` and `personal` are in their order; `personal` has PROFILE.md and MEMORY.md wherever they stand in it.
    `notes` are the daily notes by day; `today` is the day it is.
    """

    shared: Sequence[PromptFile] = ()
    personal: Sequence[PromptFile] = ()
    notes: Mapping[date, str] = field(default_factory=dict)
    today: date = date.min


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of a prompt, and what it takes in tokens."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the system prompt, as it stands there."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What notes may take, in tokens: those of today, and those of the days before together."""

    today_max_tokens: int
    recent_max_tokens: int


def caller_prompt(system_prompt: str) -> str:
    """The caller's own system prompt: without what an earlier turn's answer had added to it."""
    own = strip_injected(system_prompt)
    return neutralise(own if own == system_prompt else own.rstrip())


def stable_parts(caller: str, files: PromptFiles) -> list[Part]:
    """What stays the same between turns while the files do: `caller` (of `caller_prompt`), shared files, memory.

    A file whose text stands in the caller's prompt or in a file before it is left out, as is one that says nothing.
    """
    parts = [Part("system_prompt", caller)] if caller.strip() else []
    seen = _Seen(caller)
    shared = [_file(file.path, text) for file in files.shared if (text := seen.new(file.text))]
    if shared:
        parts.append(Part("shared_files", _SEPARATOR.join(shared)))
    by_path = {file.path: file for file in files.personal}
    profile = by_path.pop(PROFILE, None)
    memory = next((by_path[path] for path in LONG_TERM if path in by_path), None)
    if profile is not None and (text := seen.new(profile.text)):
        parts.append(Part("profile", f"## Profile\n\n{text}"))
    long_term = [text] if memory is not None and (text := seen.new(memory.text)) else []
    for path, file in by_path.items():
        if path not in LONG_TERM and (text := seen.new(file.text)):
            long_term.append(_file(path, text))
    if long_term:
        parts.append(Part("long_term_memory", _SEPARATOR.join(["## Long-term Memory", *long_term])))
    return parts


def note_parts(files: PromptFiles, limits: Limits, count: CountTokens, visible: Iterable[str] = ()) -> list[Part]:
    """The notes of today and of the days before. `visible` are the log texts of exchanges that the prompt holds
    verbatim: their lines are left out, one for each.

    A day that does not fit whole is taken by its newest paragraphs that do, and no day before it.
    """
    shown = Counter(visible)
    days = {day: _paragraphs(text, day, shown) for day, text in sorted(files.notes.items(), reverse=True)}
    parts = []
    todays, _ = _newest(days.pop(files.today, []), limits.today_max_tokens, count)
    if todays:
        parts.append(Part("todays_notes", _SEPARATOR.join(["## Today's Notes", *todays])))
    recent: list[str] = []
    left = limits.recent_max_tokens - count(f"{RECENT}{_SEPARATOR}")
    for day, paragraphs in days.items():
        if not paragraphs:
            continue
        heading = f"### {day.isoformat()}"
        left -= count(f"{heading}{_SEPARATOR}")
        taken, left = _newest(paragraphs, left, count)
        recent += [heading, *taken] if taken else []
        if len(taken) < len(paragraphs):
            break
    if recent:
        parts.append(Part("recent_context", _SEPARATOR.join([RECENT, *recent])))
    return parts


def card_parts(entries: Sequence[str], count: CountTokens) -> list[Part]:
    """The morning card, as far as it stays small: the first entries that fit; none for no entries."""
    lines = [CARD, "", _CARD_INTRO]
    for entry in entries:
        line = f"- {' '.join(for_prompt(entry).split())}"
        if count("\n".join([*lines, line])) <= _CARD_MAX_TOKENS:
            lines.append(line)
    return [Part("morning_card", "\n".join(lines))] if len(lines) > 3 else []


def log_lines(files: PromptFiles) -> list[str]:
    """The lines of the daily log in the notes."""
    return [line for text in files.notes.values() for line in text.splitlines() if _LOG_TIME.match(line)]


def system_prompt(parts: Sequence[Part], section: str = "") -> str:
    """The parts as one text, with the memory section of the turn as the last."""
    caller = [part.text for part in parts if part.name == "system_prompt"]
    shared = [part.text for part in parts if part.name == "shared_files"]
    memory = [part.text for part in parts if part.name not in ("system_prompt", "shared_files")]
    files = [*shared, *(["# Memory", *memory] if memory else [])]
    # The marks by which all this is recognised where it comes back.
    block = [f"{OPEN_FILES}\n{_SEPARATOR.join(files)}\n{CLOSE_FILES}"] if files else []
    return _SEPARATOR.join([*caller, *block, *([section] if section else [])])


def sections(parts: Sequence[Part], count: CountTokens) -> list[Section]:
    """The parts with what they take."""
    return [Section(part.name, count(part.text)) for part in parts]


def says_nothing(text: str) -> bool:
    """Whether a markdown text is empty, or nothing but headings and marks.

    A line that another underlines counts as text: mostly it is, with a rule below it.
    """
    return all(_MARKS.fullmatch(line) or _HEADING.match(line) for line in text.removeprefix("\ufeff").splitlines())


class _Seen:
    """The texts that a prompt holds already."""

    def __init__(self, caller: str) -> None:
        self._caller = caller
        self._texts: set[str] = set()

    def new(self, text: str) -> str:
        """The text as it goes into a prompt; "" where it says nothing or is there already."""
        own = _trimmed(text)
        if says_nothing(own) or own in self._texts or own in self._caller:
            return ""
        self._texts.add(own)
        return own


def _trimmed(text: str) -> str:
    """The text as prompts have it, without blank lines at its edges."""
    own = for_prompt(text).rstrip()
    blank = _BLANK_START.match(own)
    return own[blank.end() :] if blank else own


def _file(path: str, text: str) -> str:
    return f"--- {for_prompt(path)} ---\n\n{text}"


def _paragraphs(note: str, day: date, shown: Counter[str]) -> list[str]:
    """The paragraphs of a note in order, without its heading and without the log lines of what is shown.

    A paragraph ends at a blank line that is in no fence. Takes from `shown` what it leaves out, the newest first.
    """
    lines = _LINE_END.split(_trimmed(note))
    if lines and lines[0].strip() == f"# {day.isoformat()}":
        lines = lines[1:]
    kept: list[str] = []
    for line in reversed(lines):
        logged = _LOG_TIME.match(line)
        if logged and shown[line[logged.end() :].strip()] > 0:
            shown[line[logged.end() :].strip()] -= 1
        else:
            kept.append(line)
    kept.reverse()
    paragraphs: list[list[str]] = [[]]
    for line, closing in zip(kept, fenced(kept), strict=True):
        if line.strip() or closing is not None:
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    found = ["\n".join(paragraph).rstrip() for paragraph in paragraphs if paragraph]
    return [] if says_nothing("\n".join(found)) else found


def _newest(paragraphs: Sequence[str], max_tokens: int, count: CountTokens) -> tuple[list[str], int]:
    """The newest paragraphs that fit, in order, and what is left; one that does not is skipped, not cut."""
    taken: list[str] = []
    left = max_tokens
    for paragraph in reversed(paragraphs):
        size = count(f"{paragraph}{_SEPARATOR}")
        if size <= left:
            taken.append(paragraph)
            left -= size
    return taken[::-1], left
