"""From notes to candidates: entries that say the same become one candidate, with its evidence. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from reverie_indexer.text.analyse import analyse, language_name
from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.entries import MAX_ENTRY_CHARS, NOTEWORTHY_KINDS, Entry, cues_in
from reverie_server.heuristics.lasting import lasts, speaks_for_itself
from reverie_server.heuristics.line_worth import Passing, is_passing
from reverie_server.heuristics.statement_index import FrameIndex, TermIndex
from reverie_server.heuristics.statements import (
    MIN_ENTAILED_TERMS,
    Statement,
    contradicts,
    entails,
    is_duplicate,
    restates,
)
from reverie_server.heuristics.statements import statement as read_statement
from reverie_server.nights.emergence.candidates import Evidence, Gate, Recall, Rules, Scored, Weight, judge, weigh
from reverie_server.nights.emergence.topic import Topic
from reverie_server.nights.emergence.uptake import Exchange, Noted, exchanges_of, noted_again, taken_up
from reverie_server.text.markdown_blocks import without_marker
from reverie_server.text.redact import essence

# Of entries the newest are read, of the memory the first lines, of its corrections the newest.
MAX_ENTRIES = 600
MAX_LINES = 2000
# Somebody who looks at the candidates looks again. Some 4 kB each.
_KEPT_STATEMENTS = 2048
_known_statement = lru_cache(maxsize=_KEPT_STATEMENTS)(read_statement)
# A message: its session's id and its number there.
MessageKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A file with entries: a daily note, or a day's file of dreaming (`is_consolidated`)."""

    document_id: int
    path: str
    version: int
    day: date
    text: str
    is_consolidated: bool = False


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """The long-term memory as it was read. `lines` are those with content, `machine` the essences of the server's."""

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
    """A passage of a file, at lines of it, or of a `message`; with the recalls of it, or its relevance to a topic."""

    path: str
    start_line: int
    end_line: int
    terms: frozenset[str]
    message: MessageKey | None = None
    recalls: tuple[Recall, ...] = ()
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class EmergenceInput:
    """The input of a run of emergence, read in one snapshot.

    `origins` are the messages that entries come from, by the entry's path and raw text, and `message_ids` the
    callers' own ids of these messages. `profile` are the lines of PROFILE.md. `superseded` are texts of entries
    that state what no longer holds, `corrections` lines that a person took out of the memory, with the day.
    `tombstone_mark` differs when something was forgotten since.
    """

    files: Sequence[NoteFile] = ()
    entries: Sequence[Entry] = ()
    memory: MemoryFile | None = None
    profile: Sequence[str] = ()
    recalled: Sequence[Passage] = ()
    origins: Mapping[tuple[str, str], frozenset[MessageKey]] = field(default_factory=dict)
    message_ids: Mapping[MessageKey, str | None] = field(default_factory=dict)
    superseded: frozenset[str] = frozenset()
    corrections: Sequence[tuple[date, str]] = ()
    tombstone_mark: object = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may enter the long-term memory: the best wording, all entries with it, its score and gates."""

    statement: Statement
    entries: tuple[Entry, ...]
    evidence: Evidence
    scored: Scored

    @property
    def text(self) -> str:
        """The text that would enter the memory."""
        return self.statement.text

    @property
    def source(self) -> str:
        """The file and line of its wording."""
        return next(entry.source for entry in self.entries if entry.text == self.statement.text)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of cues in its entries."""
        return frozenset().union(*(entry.kinds for entry in self.entries))


@dataclass(frozen=True, slots=True)
class ScoringContext:
    """The rules and the moment by which candidates are scored."""

    rules: Rules
    now: datetime
    time_zone: str
    language: str


@dataclass(frozen=True, slots=True)
class AskedTopic:
    """The topic of a focused run, and the passages that a search for it found."""

    text: str
    passages: Sequence[Passage]


@dataclass(frozen=True, slots=True)
class Collected:
    """The candidates, best first, and how many there are: more where the best alone were asked for."""

    candidates: list[Candidate]
    count: int


def statement(text: str, language: str) -> Statement:
    """The statement of a text; of an entry or a line that was just read it is known."""
    return (_known_statement if len(text) <= MAX_ENTRY_CHARS else read_statement)(text, language)


def forget_statements() -> None:
    """Forget the statements that are known."""
    _known_statement.cache_clear()


class _Group:
    """Entries that say the same, the latest wording last."""

    def __init__(self, entry: Entry, wording: Statement) -> None:
        self.members = [(entry, wording)]

    @property
    def statement(self) -> Statement:
        """The wording of the newest entry: a note's own before one of the log."""
        return max(self.members, key=lambda member: (not _is_logged(member[0]), _age_key(member[0])))[1]

    @property
    def source(self) -> str:
        """The file and line of its statement."""
        wording = self.statement
        return next(entry.source for entry, _ in self.members if entry.text == wording.text)

    def noted(self, language: str, known: str) -> Noted:
        """Its terms in a language (`known`: that of its statement), and the first day on which it was noted."""
        first = min(day for entry, _ in self.members for day in entry.days)
        wording = self.statement
        return Noted(wording.terms if language == known else frozenset(analyse(wording.text, language)), first)

    @property
    def latest(self) -> tuple[date, bool, str, int]:
        return max(_age_key(entry) for entry, _ in self.members)


def collect(
    inputs: EmergenceInput,
    context: ScoringContext,
    *,
    clean: Callable[[str], str] = lambda text: text,
    asked: AskedTopic | None = None,
) -> list[Candidate]:
    """The candidates among the entries, best first. `clean` removes what was forgotten from a text.

    With a topic that a person asks for only entries about it are candidates, and count as asked for.
    """
    return collect_best(inputs, context, clean=clean, asked=asked).candidates


def collect_best(
    inputs: EmergenceInput,
    context: ScoringContext,
    *,
    clean: Callable[[str], str] = lambda text: text,
    asked: AskedTopic | None = None,
    limit: int | None = None,
) -> Collected:
    """The candidates as `collect` finds them, at most `limit`: of those alone it is asked which gates they pass."""
    newest = sorted(inputs.entries, key=_age_key)[-MAX_ENTRIES:]
    entries = [entry for entry in newest if clean(f"- {entry.text}\n").strip() == f"- {entry.text}"]
    if not entries:
        return Collected([], 0)
    groups = all_groups = _grouped(entries, context.language)
    spoken = _spoken_language(entries, context.language)
    if asked is not None:
        groups = _about(asked, groups, inputs, spoken)
    recalled = _match_passages(groups, inputs.recalled, inputs)
    taken = taken_up([group.noted(spoken, context.language) for group in groups], _exchanges(inputs, spoken))
    # A group off the topic may still contradict one on it.
    builder = _CandidateBuilder(inputs, context, all_groups)
    is_asked = asked is not None
    weighed = [
        builder.weighed(group, recalled[id(group)], taken.get(number, {}), is_asked=is_asked)
        for number, group in enumerate(groups)
    ]
    weighed.sort(key=lambda each: (-each.weight.score, each.group.source))
    return Collected([builder.candidate(each) for each in weighed[:limit]], len(weighed))


def without_passing(candidates: Sequence[Candidate], passing: Mapping[str, Passing]) -> list[Candidate]:
    """The candidates; those that a model says are of no use in a month do not pass the gate `lasting`.

    What a person asked to remember and decisions pass whatever it says.
    """
    gate = Gate(False, True, False)
    return [
        replace(each, scored=replace(each.scored, gates={**each.scored.gates, "lasting": gate}))
        if is_passing(each.text, passing.get(each.text, "no")) and not each.kinds & {"remember", "decision"}
        else each
        for each in candidates
    ]


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A group with what its score is made of, and its score; `days` are those on which it was noted, in order."""

    group: _Group
    days: Sequence[date]
    evidence: Evidence
    weight: Weight


class _CandidateBuilder:
    """Makes candidates of groups, each with its evidence."""

    def __init__(self, inputs: EmergenceInput, context: ScoringContext, groups: Sequence[_Group]) -> None:
        self._context = context
        self._consolidated = {file.path for file in inputs.files if file.is_consolidated}
        self._origins = inputs.origins
        self._superseded = inputs.superseded
        memory = inputs.memory
        lines = memory.lines[:MAX_LINES] if memory else ()
        of_memory = [statement(without_marker(line), context.language) for line in lines]
        of_profile = [statement(without_marker(line), context.language) for line in inputs.profile[:MAX_LINES]]
        self._known = [*of_memory, *of_profile]
        self._known_index = TermIndex(self._known)
        self._by_person = [
            known for line, known in zip(lines, of_memory, strict=True) if memory and not memory.is_machine(line)
        ]
        self._by_person_index = FrameIndex(self._by_person)
        newest = sorted(inputs.corrections, reverse=True)[:MAX_LINES]
        self._corrections = [(day, statement(without_marker(line), context.language)) for day, line in newest]
        self._corrections_index = TermIndex(removed for _, removed in self._corrections)
        self._groups = [(group.latest, group.statement) for group in groups]
        self._groups_index = FrameIndex(wording for _, wording in self._groups)

    def weighed(
        self, group: _Group, recalled: Sequence[Passage], taken: Mapping[date, Exchange], *, is_asked: bool
    ) -> _Weighed:
        """A group with its score.

        `recalled` are the passages of it that searches showed, `taken` the exchanges that took it up, by day.
        """
        context = self._context
        days = self._days([entry for entry, _ in group.members])
        evidence = Evidence(
            days=sorted({*days, *taken}),
            recalls=[
                *(recall for passage in recalled for recall in passage.recalls),
                *(exchange.recall(context.time_zone) for exchange in taken.values()),
                *(noted_again(day, context.time_zone) for day in days[1:] if day not in taken),
            ],
            is_asked=is_asked,
        )
        return _Weighed(group, days, evidence, weigh(evidence, context.rules, context.now, context.time_zone))

    def candidate(self, weighed: _Weighed) -> Candidate:
        """The candidate that a group makes: it is looked up what is known of what it says."""
        group, last_noted = weighed.group, weighed.days[-1]
        wording = group.statement
        entries = tuple(entry for entry, _ in group.members)
        is_lasting = self._is_lasting(wording, entries, is_asked=weighed.evidence.is_asked)
        evidence = replace(
            weighed.evidence,
            is_lasting=is_lasting,
            is_telling=self._is_telling(entries, wording, is_lasting=is_lasting),
            is_known=any(restates(self._known[number], wording) for number in self._known_index.alike(wording)),
            is_corrected=any(
                day >= last_noted and entails(wording, removed)
                for day, removed in map(self._corrections.__getitem__, self._corrections_index.alike(wording))
            ),
            is_contradicted=wording.text in self._superseded or self._is_contradicted(group, wording),
        )
        return Candidate(wording, entries, evidence, judge(evidence, weighed.weight, self._context.rules))

    def _is_telling(self, entries: Sequence[Entry], wording: Statement, *, is_lasting: bool) -> bool:
        """Whether an entry is noteworthy: by its cues, as a topic of several conversations, or as a lasting fact, which
        may name somebody or something."""
        if is_lasting and wording.values:
            return True
        noteworthy = NOTEWORTHY_KINDS | {"fact"} if is_lasting else NOTEWORTHY_KINDS
        return any(entry.kinds & noteworthy or entry.path in self._consolidated for entry in entries)

    def _is_lasting(self, wording: Statement, entries: Sequence[Entry], *, is_asked: bool) -> bool:
        """Whether a stranger could use it in a month. What a person asks for needs to speak for itself alone."""
        kinds = frozenset().union(*(entry.kinds for entry in entries))
        cues = cues_of(folded(wording.text), all_cues().get(self._context.language))
        return (speaks_for_itself if is_asked else lasts)(wording.text, kinds, cues)

    def _days(self, entries: Sequence[Entry]) -> list[date]:
        """The days on which the entries were said, in order. Several entries from one message count once."""
        counted: set[MessageKey] = set()
        days: set[date] = set()
        notes = [entry for entry in entries if entry.path not in self._consolidated]
        for entry in sorted(notes, key=lambda entry: (not _is_logged(entry), _age_key(entry))):
            messages = self._origins.get((entry.path, entry.raw), frozenset())
            if not messages & counted:
                days.update(entry.days)
            counted |= messages
        # A conversation may end on the next day, which is then the day of dreaming's copy.
        near = {day + timedelta(days=away) for day in days for away in (-1, 0, 1)}
        copies = (day for entry in entries if entry not in notes for day in entry.days)
        return sorted(days | {day for day in copies if day not in near})

    def _is_contradicted(self, group: _Group, wording: Statement) -> bool:
        """Whether a later entry, or a person's line in the memory (which no stage may correct), contradicts a group."""
        latest = group.latest
        of_person = (self._by_person[number] for number in self._by_person_index.opposed(wording))
        of_groups = (self._groups[number] for number in self._groups_index.opposed(wording))
        return any(contradicts(known, wording) for known in of_person) or any(
            at > latest and contradicts(other, wording) for at, other in of_groups
        )


def _grouped(entries: Sequence[Entry], language: str) -> list[_Group]:
    """The entries, oldest first, in groups of the same meaning."""
    groups: list[_Group] = []
    index = TermIndex()
    for entry in entries:
        wording = statement(entry.text, language)
        similar = (groups[number] for number in index.alike(wording))
        group = next((group for group in similar if is_duplicate(group.members[-1][1], wording)), None)
        if group is not None:
            group.members.append((entry, wording))
            continue
        groups.append(_Group(entry, wording))
        index.add(wording)
    return groups


def _about(asked: AskedTopic, groups: Sequence[_Group], inputs: EmergenceInput, language: str) -> list[_Group]:
    """The groups about a topic: found by a search for it, and themselves about it."""
    found = _match_passages(groups, asked.passages, inputs)
    topic = Topic(asked.text, [group.statement for group in groups], language)
    # A passage that several groups share says of none that it is about the topic.
    groups_of = Counter(id(passage) for passages in found.values() for passage in passages)
    return [
        group
        for group in groups
        if (passages := found[id(group)])
        and topic.covers(group.statement, [each.relevance for each in passages if groups_of[id(each)] == 1])
    ]


def _match_passages(
    groups: Sequence[_Group], passages: Iterable[Passage], inputs: EmergenceInput
) -> dict[int, list[Passage]]:
    """The passages that say the same as a group, by the group's `id`.

    A passage of a file matches by the lines of the group's entries; one of a message by the messages that these come
    from, and by having all terms of an entry.
    """
    by_path: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    by_message: dict[MessageKey, list[int]] = defaultdict(list)
    # Each under one of its terms, without which a passage does not have them all.
    by_term: dict[str, list[tuple[int, frozenset[str]]]] = defaultdict(list)
    matches: dict[int, list[Passage]] = {id(group): [] for group in groups}
    for group in groups:
        for entry, wording in group.members:
            by_path[entry.path].append((entry.start_line, entry.end_line, id(group)))
            for message in inputs.origins.get((entry.path, entry.raw), ()):
                by_message[message].append(id(group))
            if len(wording.terms) >= MIN_ENTAILED_TERMS:
                longest = max(wording.terms, key=lambda term: (len(term), term))
                by_term[longest].append((id(group), wording.terms))
    for passage in passages:
        if passage.message is None:
            spans = by_path.get(passage.path, ())
            ids = {g for start, end, g in spans if start <= passage.end_line and passage.start_line <= end}
        else:
            ids = set(by_message.get(passage.message, ()))
            by_terms = (group_terms for term in passage.terms for group_terms in by_term.get(term, ()))
            ids |= {group_id for group_id, terms in by_terms if terms <= passage.terms}
        for group_id in ids:
            matches[group_id].append(passage)
    return matches


def _spoken_language(entries: Sequence[Entry], language: str) -> str:
    """The language of the entries, whose stop words no entry is about; the agent's where it cannot be told."""
    cues = cues_in("\n".join(entry.text for entry in entries), language)
    known = language_name(cues.language) if cues else None
    return known or language


def _exchanges(inputs: EmergenceInput, language: str) -> list[Exchange]:
    """The exchanges in the logs of the daily notes."""
    notes = [file for file in inputs.files if not file.is_consolidated]
    return [exchange for file in notes for exchange in exchanges_of(file.text, file.day, language)]


def _is_logged(entry: Entry) -> bool:
    return " | Assistant: " in entry.raw


def _age_key(entry: Entry) -> tuple[date, bool, str, int]:
    """The sort key of an entry by when it was said; on the same day the entries of notes come last."""
    return max(entry.days), not entry.path.startswith("_system/"), entry.path, entry.start_line
