"""The system prompt of a turn, its most stable parts first: those that never change, or with files, days and turns.

    the caller's system prompt
    <memory-files>
    --- AGENTS.md ---               shared files, the same bytes for every owner
    # Memory
    ## Profile                      the owner's files
    ## Long-term Memory
    ## Today's Notes
    ## Recent Context
    ### 2026-04-02                  the days before, newest first
    ## Morning Card                 new entries of the memory, in the first conversation of a day
    </memory-files>
    <memory-context> … </memory-context>

Pure. Every text stands there once. An empty part has no heading. The text of a file has no fence and no controls.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from reverie_server.files.well_known import LONG_TERM
from reverie_server.inject.section import contains_words, folded
from reverie_server.prompt.fitting import newest_fitting, shortened
from reverie_server.text.fences import CLOSE_FILES, OPEN_FILES, for_prompt, neutralise, strip_injected
from reverie_server.text.tokens import CountTokens

PROFILE = "PROFILE.md"
# The share of the window that today's notes may take: the oldest of them give way.
TODAY_SHARE = 0.25
# The shares of the window that files may take: the shared ones, whosever prompt it is, and the owner's.
SHARED_SHARE, OWN_SHARE = 0.25, 0.35
RECENT = "## Recent Context"
CARD = "## Morning Card"
_CARD_INTRO = (
    "New in long-term memory since the last conversation; the user may confirm each, or have it corrected "
    "(update_memory) or forgotten (forget_memory):"
)
_CARD_MAX_TOKENS = 200
_SEPARATOR = "\n\n"
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
# A line of marks alone has no content.
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
    """The files of an agent that a turn's prompt is made of.

    `shared` and `personal` are in the order of the prompt, but for PROFILE.md and MEMORY.md, which may be anywhere in
    `personal`. `notes` are the daily notes by day.
    """

    shared: Sequence[PromptFile] = ()
    personal: Sequence[PromptFile] = ()
    notes: Mapping[date, str] = field(default_factory=dict)
    today: date = date.min


@dataclass(frozen=True, slots=True)
class Section:
    """The name of a part of a prompt, and its size in tokens. `span` is where it stands in the system prompt, in
    characters; None for what stands in the messages."""

    name: str
    tokens: int
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the system prompt, with its text in it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of notes, in tokens: of today's, and of those of all days before together."""

    today_max_tokens: int
    recent_max_tokens: int


def caller_prompt(system_prompt: str) -> str:
    """The caller's own system prompt, without the memory that an earlier turn had added to it."""
    stripped = strip_injected(system_prompt)
    return neutralise(stripped if stripped == system_prompt else stripped.rstrip())


def stable_parts(caller: str, files: PromptFiles, max_tokens: int, count: CountTokens) -> tuple[list[Part], list[str]]:
    """The parts that change with the files only: `caller` (of `caller_prompt`), shared files, profile, memory.

    A file without content is left out, and one whose text stands in the caller's prompt or in a file before it. Files
    take their share of what the caller's prompt leaves of a window of `max_tokens`; the paths of those that are cut for
    that come second.
    """
    texts = _PromptTexts(caller)
    shared = [PromptFile(file.path, text) for file in files.shared if (text := texts.enter(file.text))]
    by_path = {file.path: file for file in files.personal}
    names = [PROFILE, next((path for path in LONG_TERM if path in by_path), "")]
    names += [path for path in by_path if path not in (PROFILE, *LONG_TERM)]
    own = [PromptFile(name, text) for name in names if name in by_path and (text := texts.enter(by_path[name].text))]
    room = max(0, max_tokens - count(caller))
    short_shared = _shortened(shared, int(room * SHARED_SHARE), count)
    short_own = _shortened(own, int(room * OWN_SHARE), count)
    short = [*short_shared, *short_own]
    cut = [file.path for file, kept in zip([*shared, *own], short, strict=True) if file != kept]
    parts = [Part("system_prompt", caller)] if caller.strip() else []
    if of_team := [_file(file.path, file.text) for file in short_shared if file.text]:
        parts.append(Part("shared_files", _SEPARATOR.join(of_team)))
    profile = [file.text for file in short_own if file.path == PROFILE and file.text]
    if profile:
        parts.append(Part("profile", _SEPARATOR.join(["## Profile", *profile])))
    memory = [
        file.text if file.path in LONG_TERM else _file(file.path, file.text)
        for file in short_own
        if file.path != PROFILE and file.text
    ]
    if memory:
        parts.append(Part("long_term_memory", _SEPARATOR.join(["## Long-term Memory", *memory])))
    return parts, cut


def _shortened(files: Sequence[PromptFile], max_tokens: int, count: CountTokens) -> list[PromptFile]:
    texts = shortened([file.text for file in files], max_tokens, count)
    return [PromptFile(file.path, text) for file, text in zip(files, texts, strict=True)]


def note_parts(files: PromptFiles, limits: Limits, count: CountTokens, visible: Iterable[str] = ()) -> list[Part]:
    """The notes of today and of the days before. `visible` are the log texts of exchanges that the prompt has verbatim:
    one line of the notes is left out for each.

    Of a day that does not fit whole the newest entries that fit are taken, and no day before it. A day of which none
    fits is left out.
    """
    unlisted = Counter(visible)
    days = {day: _note_lines(text, day, unlisted) for day, text in sorted(files.notes.items(), reverse=True)}
    parts = []
    todays = newest_fitting(days.pop(files.today, []), limits.today_max_tokens, count)
    if not says_nothing(todays.text):
        parts.append(Part("todays_notes", _SEPARATOR.join(["## Today's Notes", todays.text])))
    recent: list[str] = []
    room = limits.recent_max_tokens - count(f"{RECENT}{_SEPARATOR}")
    for day, lines in days.items():
        heading = f"### {day.isoformat()}"
        fitting = newest_fitting(lines, room - count(f"{heading}{_SEPARATOR}"), count)
        # What somebody pasted on one day takes no room from the others.
        if says_nothing(fitting.text):
            continue
        recent += [heading, fitting.text]
        room = fitting.room
        if not fitting.is_whole:
            break
    if recent:
        parts.append(Part("recent_context", _SEPARATOR.join([RECENT, *recent])))
    return parts


def card_parts(entries: Sequence[str], count: CountTokens) -> list[Part]:
    """The morning card with the entries that fit, in their order; no part where there is none."""
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
    # The marks by which an echo of the files is recognised.
    block = [f"{OPEN_FILES}\n{_SEPARATOR.join(files)}\n{CLOSE_FILES}"] if files else []
    return _SEPARATOR.join([*caller, *block, *([section] if section else [])])


def sections(parts: Sequence[Part], prompt: str, count: CountTokens) -> list[Section]:
    """The names and sizes of the parts, and where they stand in the prompt that was made of them."""
    found, position = [], 0
    for part in parts:
        start = prompt.index(part.text, position)
        position = start + len(part.text)
        found.append(Section(part.name, count(part.text), (start, position)))
    return found


def says_nothing(text: str) -> bool:
    """Whether a markdown text has headings and marks only, or nothing.

    A heading by underline counts as text: mostly such a line is text with a rule below it.
    """
    return all(_MARKS.fullmatch(line) or _HEADING.match(line) for line in text.removeprefix("\ufeff").splitlines())


class _PromptTexts:
    """The texts that a prompt has already."""

    def __init__(self, caller: str) -> None:
        self._caller = folded(caller)
        self._texts: set[str] = set()

    def enter(self, text: str) -> str:
        """The text as it enters the prompt; "" where it has no content or is in the prompt already."""
        trimmed = _trimmed(text)
        if says_nothing(trimmed) or trimmed in self._texts:
            return ""
        # As whole words: a profile `Ada` does not stand in "You help Adam".
        if self._caller and contains_words(self._caller, folded(trimmed)):
            return ""
        self._texts.add(trimmed)
        return trimmed


def _trimmed(text: str) -> str:
    """The text as prompts have it, without blank lines at its edges."""
    stripped = for_prompt(text).rstrip()
    blank = _BLANK_START.match(stripped)
    return stripped[blank.end() :] if blank else stripped


def _file(path: str, text: str) -> str:
    return f"--- {for_prompt(path)} ---\n\n{text}"


def _note_lines(note: str, day: date, unlisted: Counter[str]) -> list[str]:
    """The lines of a note without its heading and without the log lines whose text is in `unlisted`.

    Each line that is left out, the newest first, is taken off the counts of `unlisted`.
    """
    lines = _LINE_END.split(_trimmed(note))
    if lines and lines[0].strip() == f"# {day.isoformat()}":
        lines = lines[1:]
    kept: list[str] = []
    for line in reversed(lines):
        logged = _LOG_TIME.match(line)
        if logged and unlisted[line[logged.end() :].strip()] > 0:
            unlisted[line[logged.end() :].strip()] -= 1
        else:
            kept.append(line)
    return kept[::-1]
