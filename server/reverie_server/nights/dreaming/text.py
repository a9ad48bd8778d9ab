"""The lines that follow from several conversations: found by cues, or proposed by a model and checked; merged. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Literal

from reverie_server.heuristics.cues import Cues
from reverie_server.heuristics.entries import (
    NOTEWORTHY_KINDS,
    cues_in,
    dated,
    fact_of,
    kinds_of,
    scored_statements,
    undated,
)
from reverie_server.heuristics.orders import why_order
from reverie_server.heuristics.salience import NOTABLE
from reverie_server.heuristics.statement_index import FrameIndex, TermIndex
from reverie_server.heuristics.statements import GROUNDED_SHARE, Ground, Statement, contradicts, is_duplicate, statement
from reverie_server.nights.dreaming.batch import Batch
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.markdown_blocks import Block, blocks_of, bullet, escaped, text_of
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.tokens import CountTokens

Kind = Literal["preference", "fact", "pattern", "decision"]
# In the order of the sections in the file.
HEADINGS: dict[Kind, str] = {
    "preference": "Preferences",
    "fact": "Facts",
    "pattern": "Patterns",
    "decision": "Decisions",
}
MAX_LINE_CHARS = 500
# A day's file takes no line beyond this: a file has a limit in bytes, and each run reads and writes it whole.
MAX_FILE_CHARS = 100_000
# At most this many of a model's lines are read, the first ones.
MAX_LINES = 500
# The salience from which a recurring statement is no small talk.
MIN_SALIENCE = 1.0
_SPEAKER = re.compile(r"(?:[-*+]\s+)?(?:(?P<who>User|Assistant): )?")


@dataclass(frozen=True, slots=True)
class Summary:
    """An episode as dreaming reads it, without forgotten texts. `day` is the local day on which it ended."""

    episode_id: int
    session_id: str
    day: date
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file: its statement, the kind of it, and the episodes from which it follows, at least one."""

    kind: Kind
    statement: Statement
    episodes: tuple[Summary, ...]

    @property
    def written(self) -> str:
        """The line as the file has it: with the days on which it was said."""
        return dated(self.statement.text, [episode.day for episode in self.episodes])


def as_data(episodes: Sequence[Summary]) -> str:
    """The episodes as a model reads them, numbered from 1."""
    return "\n\n".join(
        f"[{number}] {episode.day.isoformat()} {episode.session_id}\n{episode.text}"
        for number, episode in enumerate(episodes, start=1)
    )


def proposed(
    lines: Sequence[tuple[Kind, str, Sequence[int]]], episodes: Sequence[Summary], language: str
) -> list[Line] | None:
    """Those lines of a model (kind, text, numbers of episodes) that follow from the episodes they name, in order, once.

    Lines that name no episode, or do not follow from those they name, are left out; so are orders to the agent, and
    lines that a single conversation mentions in passing. None: no line follows at all, though there are some.
    """
    follows = not lines
    supported: list[Line] = []
    evidence = [_Evidence(episode, language) for episode in episodes]
    for kind, text, numbers in islice(lines, MAX_LINES):
        plain, _ = undated(" ".join(neutralise(strip_injected(text)).split()))
        speaker = _SPEAKER.match(plain)
        if speaker and speaker["who"] == "Assistant":
            continue
        plain = plain[speaker.end() :] if speaker else plain
        named = [number - 1 for number in dict.fromkeys(numbers) if 1 <= number <= len(episodes)]
        line = statement(plain, language)
        of_named = [evidence[number] for number in named]
        if not named or not line.essence or not Ground.joined([each.ground for each in of_named]).supports(line):
            continue
        if why_order(plain) is not None:
            continue
        follows = True
        sources = tuple(episodes[number] for number in sorted(named))
        recurs = len({episode.session_id for episode in sources}) > 1
        if recurs or kind in ("preference", "decision") or any(each.stresses(line) for each in of_named):
            supported.append(Line(kind, line, sources))
    return _distinct(supported) if follows else None


@dataclass(slots=True)
class _Finding:
    """A statement of one or more episodes: by the kinds of all its wordings, the highest salience, and its episodes."""

    statement: Statement
    kinds: frozenset[str]
    salience: float
    episodes: list[Summary]
    is_about_user: bool

    @property
    def session_count(self) -> int:
        return len({episode.session_id for episode in self.episodes})

    @property
    def is_worth_keeping(self) -> bool:
        is_noteworthy = bool(self.kinds & NOTEWORTHY_KINDS) and self.salience >= NOTABLE
        return self.session_count > 1 or (is_noteworthy and self.is_about_user)


def heuristic_lines(episodes: Sequence[Summary], language: str) -> list[Line]:
    """The lines of statements that recur in several conversations, or are important, best first.

    Important is something to remember, or a decision or a preference of the user, or of somebody with a name, that a
    person would note. Statements of the assistant are left out: its "I decided" would become the owner's. Of two that
    contradict each other the later one is kept, and what a later remark corrects is left out.
    """
    findings = _findings(episodes, language)
    frames = FrameIndex(finding.statement for finding in findings)
    uncontradicted = [
        finding
        for number, finding in enumerate(findings)
        if not any(
            later > number
            and contradicts(findings[later].statement, finding.statement)
            and findings[later].episodes[-1].day >= finding.episodes[-1].day
            for later in frames.opposed(finding.statement)
        )
    ]
    best = sorted(
        (finding for finding in uncontradicted if finding.is_worth_keeping),
        key=lambda finding: (-finding.session_count, -finding.salience),
    )
    return [
        Line(_kind_of(finding.kinds, finding.session_count), finding.statement, _each_once(finding.episodes))
        for finding in best
    ]


def _findings(episodes: Sequence[Summary], language: str) -> list[_Finding]:
    """The statements of the episodes, those of one meaning as one finding, in the order of their first wording.

    What a later sentence takes back is left out.
    """
    findings: list[_Finding] = []
    # Every wording is found by the index, and `finding_of` has the number of its finding.
    index, finding_of = TermIndex(), list[int]()
    expected = cues_in("\n".join(episode.text for episode in episodes), language)
    stated = [(episode, text, salience) for episode in episodes for text, salience in _stated(episode, expected)]
    batch = Batch([(text, episode.day) for episode, text, _ in stated], language)
    for number, (episode, text, salience) in enumerate(stated):
        if salience < MIN_SALIENCE or why_order(text) is not None or batch.is_taken_back(number):
            continue
        wording = statement(fact_of(text, expected), language)
        kinds = kinds_of(text, expected)
        similar = sorted({finding_of[each] for each in index.alike(wording)})
        known = next((each for each in similar if is_duplicate(findings[each].statement, wording)), None)
        finding_of.append(len(findings) if known is None else known)
        index.add(wording)
        is_about_user = batch.is_about_user(number)
        if known is None:
            findings.append(_Finding(wording, kinds, salience, [episode], is_about_user))
            continue
        finding = findings[known]
        finding.statement = wording
        finding.kinds |= kinds
        finding.salience = max(finding.salience, salience)
        finding.episodes.append(episode)
        finding.is_about_user |= is_about_user
    return findings


def merged(text: str | None, day: date, lines: Sequence[Line], language: str) -> tuple[str, list[Line]]:
    """The file of a day with the lines that it lacks, below their headings; and those lines.

    A line of it that a later one contradicts gives way; no other is lost. A line is left out where one that the file
    has was said later and contradicts it, or where the file has no room for it.
    """
    present = text or f"# Consolidated {day.isoformat()}\n"
    items = _items(present)
    known = [undated(item) for _, item in items]
    statements = [statement(plain, language) for plain, _ in known]
    frames = FrameIndex(statements)
    gone: set[int] = set()
    added: list[Line] = []
    left = MAX_FILE_CHARS - len(present) - sum(len(f"\n## {heading}\n\n") for heading in HEADINGS.values())
    for line in _distinct(lines, statements):
        said = max(episode.day for episode in line.episodes)
        opposed = [at for at in frames.opposed(line.statement) if contradicts(statements[at], line.statement)]
        # Without days a line is nobody's of the server.
        older = {at for at in opposed if known[at][1] and max(known[at][1]) <= said}
        size = len(f"- {line.written}\n")
        if size <= left and all(at in older for at in opposed if known[at][1]):
            gone |= older
            added.append(line)
            left -= size
    present = _without(present, [items[at][0] for at in gone])
    for kind, heading in HEADINGS.items():
        new = ["\n".join(bullet(escaped([line.written]))) for line in added if line.kind == kind]
        if new:
            present = _below(present, heading, new)
    return present, added


def is_full(text: str) -> bool:
    """Whether the file of a day may have no room for a line."""
    return len(text) > MAX_FILE_CHARS - MAX_LINE_CHARS


def within_tokens(lines: Sequence[Line], max_tokens: int, count: CountTokens) -> list[Line]:
    """The first lines that fit into `max_tokens`. A line that does not fit is left out, not cut."""
    kept: list[Line] = []
    left = max_tokens
    for line in lines:
        size = count(f"- {line.written}\n")
        if size <= left:
            kept.append(line)
            left -= size
    return kept


def without_forgotten(episodes: Sequence[Summary], clean: Callable[[str], str]) -> list[Summary]:
    """The episodes without injected memory and without forgotten texts, which `clean` removes."""
    return [Summary(e.episode_id, e.session_id, e.day, clean(strip_injected(e.text)).strip()) for e in episodes]


def _header(episode: Summary) -> str:
    return f"{episode.day.isoformat()} {episode.session_id}"


def _stated(episode: Summary, expected: Cues | None) -> Iterable[tuple[str, float]]:
    """The statements of an episode, without the assistant's, each with its salience."""
    for line in episode.text.splitlines():
        speaker = _SPEAKER.match(line)
        if speaker and speaker["who"] == "Assistant":
            continue
        rest = line[speaker.end() :] if speaker else line
        for text, salience in scored_statements(rest, expected):
            plain, _ = undated(text)
            if plain and len(plain) <= MAX_LINE_CHARS and not plain.endswith("…"):
                yield plain, salience


def _kind_of(kinds: frozenset[str], sessions: int) -> Kind:
    if "preference" in kinds:
        return "preference"
    if "decision" in kinds:
        return "decision"
    return "fact" if kinds & {"fact", "remember"} or sessions < 2 else "pattern"


class _Evidence:
    """An episode as evidence for lines: the ground that lines may follow from, and its noteworthy statements."""

    def __init__(self, episode: Summary, language: str) -> None:
        parts = [statement(part, language) for part in [_header(episode), *episode.text.splitlines()]]
        expected = cues_in(episode.text, language)
        self.ground = Ground(parts)
        self._notable = [part for part in parts if kinds_of(part.text, expected) & NOTEWORTHY_KINDS]

    def stresses(self, line: Statement) -> bool:
        """Whether one of the noteworthy statements has most terms of a line."""
        return any(len(part.terms & line.terms) >= GROUNDED_SHARE * len(line.terms) for part in self._notable)


def _distinct(lines: Sequence[Line], present: Sequence[Statement] = ()) -> list[Line]:
    """The lines that repeat neither a statement that is present nor an earlier line."""
    known = list(present)
    index = TermIndex(present)
    kept: list[Line] = []
    for line in lines:
        if not any(is_duplicate(line.statement, known[number]) for number in index.alike(line.statement)):
            kept.append(line)
            known.append(line.statement)
            index.add(line.statement)
    return kept


def _each_once(episodes: Sequence[Summary]) -> tuple[Summary, ...]:
    return tuple({episode.episode_id: episode for episode in episodes}.values())


def _items(text: str) -> list[tuple[Block, str]]:
    lines = lines_of(text)
    found = [block for block in blocks_of(text) if block.kind in ("item", "paragraph")]
    return [(block, " ".join(text_of(block, lines))) for block in found]


def _without(text: str, blocks: Sequence[Block]) -> str:
    lines = lines_of(text)
    # The last block comes first, so that earlier line numbers stay valid.
    for block in sorted(blocks, key=lambda block: -block.start):
        del lines[block.start : block.end]
    return "".join(lines)


def _below(text: str, heading: str, items: Sequence[str]) -> str:
    """The text with items at the end of a section, which is made at the end where it is missing."""
    lines = [line.rstrip("\r\n") for line in lines_of(text)]
    blocks = blocks_of(text)
    section = next((b for b in blocks if b.kind == "heading" and b.level == 2 and b.title == heading), None)
    if section is None:
        return "\n".join([*lines, "", f"## {heading}", "", *items]).lstrip("\n") + "\n"
    end = next((b.start for b in blocks if b.kind == "heading" and b.start > section.start), len(lines))
    last = [block for block in blocks if section.start <= block.start < end][-1]
    gap = [] if last.kind == "item" else [""]
    return "\n".join([*lines[: last.end], *gap, *items, *lines[last.end :]]) + "\n"
