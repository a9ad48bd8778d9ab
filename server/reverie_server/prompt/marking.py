"""Marks for the lines of a prompt's files that no longer hold, and removal of those that stand there twice. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from reverie_server.files.well_known import LONG_TERM
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.inject.headings import KnownSentences, Passage, speaks_of_oneself, titles_above
from reverie_server.prompt.context import Part, says_nothing
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.search.superseded_text import Superseded, current_text, without_said
from reverie_server.sessions.daily_log import parts_of
from reverie_server.text.entry_tree import Entry, entries_of, walk
from reverie_server.text.markdown_blocks import fenced

# An entry of a list, or a line of the daily log: what may be left out of a file without breaking it.
_ENTRY = re.compile(r"(?:[-*+•][ \t]|\[\d\d:\d\d\][ \t])")
# Where a shared file begins in a prompt.
_FILE = re.compile(r"--- ([^\n]{1,1000}) ---")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]|$)")
_DAY = re.compile(r"### \d{4}-\d\d-\d\d")
# The levels of a part's own heading, of a day's, and of a text, which is deeper than any heading.
_PART, _OF_DAY, _TEXT = 1, 2, 9
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
    lines = text.splitlines(keepends=True)
    bodies = [line.rstrip("\r\n") for line in lines]
    ends = _ends_of_entries(bodies)
    left: list[str] = []
    # From the last one on: a line below which something stays does not go, since that would be told of the line above.
    stays_from = len(lines)
    for number in range(len(lines) - 1, -1, -1):
        body, superseded = bodies[number], ended_in(bodies[number])
        rest = body
        if has_superseded(body, superseded):
            rest = _current(body, superseded, is_machine=line_sha256(body) in machine_made)
            if not rest and stays_from < ends.get(number, 0):
                rest = current_text(body, superseded, marked=True)
        if rest or not body:
            left.append(rest + lines[number][len(body) :])
        if rest.strip():
            stays_from = number
    return "".join(reversed(left))


def _current(line: str, superseded: Mapping[bytes, Superseded], *, is_machine: bool) -> str:
    """A line with marks behind what does not hold any more, or, of the server's lines, without it; "" where it goes."""
    if not is_machine and parts_of(line) is None:
        return current_text(line, superseded, marked=True)
    rest = current_text(line, superseded, marked=False)
    logged = parts_of(rest)
    return rest if parts_of(line) is None or (logged is not None and logged[0].strip(" .!?")) else ""


def _ends_of_entries(lines: Sequence[str]) -> dict[int, int]:
    """Where the entries of a text end, by their first lines."""
    return {entry.start: entry.end for entry in walk(entries_of(lines)) if entry.kind not in ("heading", "text")}


def without_repeats(parts: Sequence[Part]) -> list[Part]:
    """The parts in their order, where a sentence of an entry that an entry of another part has stands once.

    The shared files keep theirs, which are the same bytes for every owner; then the morning card has its entries before
    the long-term memory, and this before the notes. What says nothing without the heading above it is another sentence
    below another one. A heading that loses all of its entries goes with them, and so does a line that leads up to them.
    """
    by_name = {part.name: part for part in parts}
    known = KnownSentences()
    if (shared := by_name.get("shared_files")) is not None:
        _add(_shared_passages(shared.text.split("\n")), known)
    kept: dict[str, Part] = {}
    for name in _COMPARED:
        if (part := by_name.get(name)) is None:
            continue
        lines = _without_known(part.text.split("\n"), known)
        is_shorter = "\n".join(lines) != part.text
        text = _without_empty_sections(lines, has_days=name == "recent_context") if is_shorter else part.text
        kept[name] = replace(part, text=text)
    return [part for part in (kept.get(part.name, part) for part in parts) if part.text]


def _shared_passages(lines: Sequence[str]) -> Iterator[Passage]:
    """The entries of shared files that say the same where an owner has them.

    What somebody says there of themselves is not of the owner. Any file but a MEMORY.md is a heading of its entries:
    `- Language: German` in AGENTS.md is the agent's.
    """
    files, path = [], ""
    for line, closing in zip(lines, fenced(lines), strict=True):
        path = named[1] if closing is None and (named := _FILE.fullmatch(line)) else path
        files.append((path,) if path and path not in LONG_TERM else ())
    for entry, passage in _passages(lines, entries_of(lines)):
        if not speaks_of_oneself(passage.text):
            yield replace(passage, titles=(*files[entry.start], *passage.titles))


def _without_known(lines: Sequence[str], known: KnownSentences) -> list[str]:
    """The lines without what is known of their entries. What the entries say is known from then on.

    An entry with something below it goes with all of it, or stays: what is below says nothing without it, and would be
    told of the entry above. Code stays as it is.
    """
    left = dict(enumerate(lines))
    entries = entries_of(lines)
    passages = list(_passages(lines, entries))
    for entry, passage in passages:
        rest = _new_of(passage, known)
        if rest != passage.text:
            for number in range(entry.start, entry.end):
                del left[number]
            if rest:
                left[entry.start] = rest
    _add((passage for _, passage in passages), known)
    for entry in walk(entries) if len(left) < len(lines) else ():
        below = range(entry.head_end, entry.end)
        if entry.inner and _only_leads_up(entry, lines) and not any(left.get(number, "").strip() for number in below):
            del left[entry.start]
    return [left[number] for number in sorted(left)]


def _add(passages: Iterable[Passage], known: KnownSentences) -> None:
    for passage in passages:
        (known.add_whole if "\n" in passage.text else known.add)(passage)


def _passages(lines: Sequence[str], entries: Sequence[Entry]) -> Iterator[tuple[Entry, Passage]]:
    """The entries that are compared, each with its text below its titles."""
    titles = list(titles_above(lines))
    for entry in _listed(entries):
        is_one_line = entry.end == entry.start + 1
        if _ENTRY.match(lines[entry.start]) and (is_one_line or _is_without_code(entry)):
            yield entry, Passage(titles[entry.start], "\n".join(lines[entry.start : entry.end]))


def _listed(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The items and lines of the log that are in no other."""
    for entry in entries:
        if entry.kind in ("item", "logged"):
            yield entry
        else:
            yield from _listed(entry.inner)


def _only_leads_up(entry: Entry, lines: Sequence[str]) -> bool:
    is_one_line = entry.head_end == entry.start + 1
    return entry.leads_up and is_one_line and len(keyed_sentences(lines[entry.start])) == 1


def _is_without_code(entry: Entry) -> bool:
    return not any(part.has_code for part in walk([entry]))


def _new_of(passage: Passage, known: KnownSentences) -> str:
    """What of an entry is not known; of one of several lines all or nothing."""
    if "\n" in passage.text:
        return "" if known.has_whole(passage) else passage.text
    known_keys = known.keys_in(passage)
    if known_keys and all(sentence.key in known_keys for sentence in keyed_sentences(passage.text)):
        return ""
    return without_said(passage.text, known_keys)


def _without_empty_sections(lines: Sequence[str], *, has_days: bool) -> str:
    """The lines of a part without the headings below which nothing is left; "" where nothing is left at all.

    Whatever their levels, the first heading is the part's, and where it `has_days` those of days are above the notes'.
    """
    kept: list[str] = []
    # The level of what stands below, so that a heading of a higher level has a text.
    needed = 0
    codes = list(fenced(lines))
    for number in range(len(lines) - 1, -1, -1):
        line, closing = lines[number], codes[number]
        heading = _HEADING.match(line) if closing is None else None
        if heading is None:
            # What is left out leaves one blank line.
            if line.strip() or closing is not None or (kept and kept[-1].strip()):
                kept.append(line)
            needed = _TEXT if line.strip() else needed
            continue
        is_day = has_days and _DAY.fullmatch(line) is not None
        level = _PART if number == 0 else _OF_DAY if is_day else _OF_DAY + len(heading[1])
        if needed > level:
            kept.append(line)
            needed = level
    text = "\n".join(reversed(kept)).strip("\n")
    return "" if says_nothing(text) else text
