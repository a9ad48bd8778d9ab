"""From notes to candidates: entries that say the same become one, with all that speaks for and against it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from reverie_server.heuristics.entries import TELLING_KINDS, Entry
from reverie_server.heuristics.statement_index import FrameIndex, TermIndex
from reverie_server.heuristics.statements import TELLING_TERMS, Statement, contradicts, holds, same, statement
from reverie_server.nights.emergence.candidates import Evidence, Recall, Rules, Scored, score
from reverie_server.text.markdown_blocks import without_marker
from reverie_server.text.redact import essence

# The newest so many entries are looked at, and so many lines of the memory and corrections of it.
MAX_ENTRIES = 600
MAX_LINES = 2000
Told = tuple[str, int]


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A file that entries are taken from: a daily note, or what dreaming consolidated on a day (`is_consolidated`)."""

    document_id: int
    path: str
    version: int
    day: date
    text: str
    is_consolidated: bool = False


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """The long-term memory as it was read: its lines that say something, and the essences of those that the server
    wrote."""

    path: str
    version: int
    text: str
    lines: Sequence[str] = ()
    machine: frozenset[str] = frozenset()

    def is_machine(self, line: str) -> bool:
        """Whether the server wrote a line."""
        return essence(line) in self.machine


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a file, at lines of it, or of a message (`told`: its session and number)."""

    path: str
    start_line: int
    end_line: int
    terms: frozenset[str]
    told: Told | None = None
    recalls: tuple[Recall, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """All that a run of emergence goes by, as it was read in one snapshot.

    `told` are the messages that entries come from, by path and what stands there, and `message_ids` the callers' own
    ids of these. `corrections` are lines that a person took out of the memory, with the day. `standing` differs when
    something was forgotten since.
    """

    files: Sequence[NoteFile] = ()
    entries: Sequence[Entry] = ()
    memory: MemoryFile | None = None
    recalled: Sequence[Passage] = ()
    told: Mapping[tuple[str, str], frozenset[Told]] = field(default_factory=dict)
    message_ids: Mapping[Told, str | None] = field(default_factory=dict)
    corrections: Sequence[tuple[date, str]] = ()
    standing: object = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may enter the long-term memory: the best wording, all entries that say it, its score and its gates."""

    said: Statement
    entries: tuple[Entry, ...]
    evidence: Evidence
    scored: Scored

    @property
    def text(self) -> str:
        """As it would enter."""
        return self.said.text

    @property
    def source(self) -> str:
        """Where its wording stands."""
        return next(entry.source for entry in self.entries if entry.text == self.said.text)

    @property
    def kinds(self) -> frozenset[str]:
        """The cues of its entries."""
        return frozenset().union(*(entry.kinds for entry in self.entries))


@dataclass(frozen=True, slots=True)
class Setting:
    """By what candidates are judged."""

    rules: Rules
    now: datetime
    time_zone: str
    language: str


class _Group:
    """Entries that say the same, the latest wording last."""

    def __init__(self, entry: Entry, said: Statement) -> None:
        self.members = [(entry, said)]

    @property
    def said(self) -> Statement:
        """The wording of the newest entry: a note's own before one of the log."""
        return max(self.members, key=lambda member: (not _is_logged(member[0]), _age_key(member[0])))[1]

    @property
    def latest(self) -> tuple[date, bool, str, int]:
        return max(_age_key(entry) for entry, _ in self.members)


def gather(
    view: View,
    setting: Setting,
    *,
    clean: Callable[[str], str] = lambda text: text,
    wanted: Sequence[Passage] | None = None,
) -> list[Candidate]:
    """The candidates of a view, best first. `clean` takes out what was forgotten.

    `wanted` are the passages that a person's topic found: with them it is asked for, and nothing else is a candidate.
    """
    newest = sorted(view.entries, key=_age_key)[-MAX_ENTRIES:]
    entries = [entry for entry in newest if clean(f"- {entry.text}\n").strip() == f"- {entry.text}"]
    groups = _grouped(entries, setting.language)
    if wanted is not None:
        asked = _matched(groups, wanted, view)
        groups = [group for group in groups if asked[id(group)]]
    recalled = _matched(groups, view.recalled, view)
    # What is not asked for may still contradict what is.
    others = _grouped(entries, setting.language) if wanted is not None else groups
    judge = _Judge(view, setting, others)
    candidates = [judge.candidate(group, recalled[id(group)], is_asked=wanted is not None) for group in groups]
    return sorted(candidates, key=lambda candidate: (-candidate.scored.score, candidate.source))


class _Judge:
    """Knows what speaks against a candidate."""

    def __init__(self, view: View, setting: Setting, groups: Sequence[_Group]) -> None:
        self._setting = setting
        self._consolidated = {file.path for file in view.files if file.is_consolidated}
        self._told = view.told
        memory = view.memory
        lines = memory.lines[:MAX_LINES] if memory else ()
        self._known = [statement(without_marker(line), setting.language) for line in lines]
        self._known_index = TermIndex(self._known)
        self._own = [
            said for line, said in zip(lines, self._known, strict=True) if memory and not memory.is_machine(line)
        ]
        self._own_index = FrameIndex(self._own)
        newest = sorted(view.corrections, reverse=True)[:MAX_LINES]
        self._corrections = [(day, statement(without_marker(line), setting.language)) for day, line in newest]
        self._corrections_index = TermIndex(gone for _, gone in self._corrections)
        self._groups = [(group.latest, group.said) for group in groups]
        self._groups_index = FrameIndex(said for _, said in self._groups)

    def candidate(self, group: _Group, recalled: Sequence[Passage], *, is_asked: bool) -> Candidate:
        said = group.said
        entries = tuple(entry for entry, _ in group.members)
        days = self._days(entries)
        evidence = Evidence(
            days=days,
            recalls=[recall for passage in recalled for recall in passage.recalls],
            is_asked=is_asked,
            is_telling=any(entry.kinds & TELLING_KINDS or entry.path in self._consolidated for entry in entries),
            is_known=any(holds(self._known[number], said) for number in self._known_index.alike(said)),
            is_corrected=any(
                day >= days[-1] and holds(said, gone)
                for day, gone in map(self._corrections.__getitem__, self._corrections_index.alike(said))
            ),
            is_contradicted=self._is_contradicted(group, said),
        )
        setting = self._setting
        return Candidate(said, entries, evidence, score(evidence, setting.rules, setting.now, setting.time_zone))

    def _days(self, entries: Sequence[Entry]) -> list[date]:
        """The days on which it was said, in order. What the server wrote of a message is not said again by it."""
        seen: set[Told] = set()
        days: set[date] = set()
        own = [entry for entry in entries if entry.path not in self._consolidated]
        for entry in sorted(own, key=lambda entry: (not _is_logged(entry), _age_key(entry))):
            told = self._told.get((entry.path, entry.raw), frozenset())
            if not told & seen:
                days.update(entry.days)
            seen |= told
        # A conversation may end on the day after, and what it came to has that one.
        near = {day + timedelta(days=away) for day in days for away in (-1, 0, 1)}
        copies = (day for entry in entries if entry not in own for day in entry.days)
        return sorted(days | {day for day in copies if day not in near})

    def _is_contradicted(self, group: _Group, said: Statement) -> bool:
        """By what was noted later, or by what a person wrote into the memory, which is not for a stage to correct."""
        latest = group.latest
        return any(contradicts(self._own[number], said) for number in self._own_index.opposed(said)) or any(
            at > latest and contradicts(other, said)
            for at, other in map(self._groups.__getitem__, self._groups_index.opposed(said))
        )


def _grouped(entries: Sequence[Entry], language: str) -> list[_Group]:
    """The entries, oldest first, in groups of the same meaning."""
    groups: list[_Group] = []
    index = TermIndex()
    for entry in entries:
        said = statement(entry.text, language)
        alike = (groups[number] for number in index.alike(said))
        home = next((group for group in alike if same(group.members[-1][1], said)), None)
        if home is not None:
            home.members.append((entry, said))
            continue
        groups.append(_Group(entry, said))
        index.add(said)
    return groups


def _matched(groups: Sequence[_Group], passages: Iterable[Passage], view: View) -> dict[int, list[Passage]]:
    """The passages that are, or tell, what a group says: by the place of its entries, by the messages these come from,
    and messages by their words."""
    by_place: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    by_told: dict[Told, list[int]] = defaultdict(list)
    # Each under one of its terms, without which a passage does not have them all.
    by_term: dict[str, list[tuple[int, frozenset[str]]]] = defaultdict(list)
    found: dict[int, list[Passage]] = {id(group): [] for group in groups}
    for group in groups:
        for entry, said in group.members:
            by_place[entry.path].append((entry.start_line, entry.end_line, id(group)))
            for told in view.told.get((entry.path, entry.raw), ()):
                by_told[told].append(id(group))
            if len(said.terms) >= TELLING_TERMS:
                by_term[max(said.terms, key=lambda term: (len(term), term))].append((id(group), said.terms))
    for passage in passages:
        if passage.told is None:
            spans = by_place.get(passage.path, ())
            numbers = {n for start, end, n in spans if start <= passage.end_line and passage.start_line <= end}
        else:
            numbers = set(by_told.get(passage.told, ()))
            near = (found_by for term in passage.terms for found_by in by_term.get(term, ()))
            numbers |= {number for number, terms in near if terms <= passage.terms}
        for number in numbers:
            found[number].append(passage)
    return found


def _is_logged(entry: Entry) -> bool:
    return " | Assistant: " in entry.raw


def _age_key(entry: Entry) -> tuple[date, bool, str, int]:
    """The order in which things were said, as far as files tell: of the same day what notes say comes last."""
    return max(entry.days), not entry.path.startswith("_system/"), entry.path, entry.start_line
