"""From notes to candidates: entries that say the same become one candidate, with its evidence. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from reverie_indexer.text.analyse import language_name
from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.entries import NOTEWORTHY_KINDS, Entry, cues_in
from reverie_server.heuristics.lasting import lasts, speaks_for_itself
from reverie_server.heuristics.line_worth import Passing, is_passing
from reverie_server.heuristics.statement_index import FrameIndex, TermIndex
from reverie_server.heuristics.statements import Statement, contradicts, entails, restates
from reverie_server.nights.emergence.candidates import Evidence, Gate, Rules, Scored, Weight, judge, weigh
from reverie_server.nights.emergence.entry_groups import (
    EntryGroup,
    age_key,
    group_entries,
    is_logged,
    match_passages,
    statement,
)
from reverie_server.nights.emergence.fair_share import fair_share
from reverie_server.nights.emergence.model import MAX_LINES, EmergenceInput, MessageKey, Passage
from reverie_server.nights.emergence.topic import Topic
from reverie_server.nights.emergence.uptake import Exchange, exchanges_of, noted_again, taken_up
from reverie_server.text.markdown_blocks import without_marker


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


def collect(
    inputs: EmergenceInput,
    context: ScoringContext,
    *,
    clean: Callable[[str], str] = lambda text: text,
    topic: AskedTopic | None = None,
) -> list[Candidate]:
    """The candidates among the entries, best first. `clean` removes what was forgotten from a text.

    With a topic that a person asks for only entries about it are candidates, and count as asked for.
    """
    return collect_best(inputs, context, clean=clean, topic=topic).candidates


def collect_best(
    inputs: EmergenceInput,
    context: ScoringContext,
    *,
    clean: Callable[[str], str] = lambda text: text,
    topic: AskedTopic | None = None,
    limit: int | None = None,
) -> Collected:
    """The candidates as `collect` finds them, at most `limit`: of those alone it is asked which gates they pass."""
    chosen = fair_share(inputs.entries, context.language)
    entries = [entry for entry in chosen if clean(f"- {entry.text}\n").strip() == f"- {entry.text}"]
    if not entries:
        return Collected([], 0)
    groups = all_groups = group_entries(entries, context.language)
    spoken = _spoken_language(entries, context.language)
    if topic is not None:
        groups = _about(topic, groups, inputs, spoken)
    recalled = match_passages(groups, inputs.recalled, inputs)
    taken = taken_up([group.noted(spoken, context.language) for group in groups], _exchanges(inputs, spoken))
    # A group off the topic may still contradict one on it.
    builder = _CandidateBuilder(inputs, context, all_groups)
    is_asked = topic is not None
    weighed = [
        builder.weighed(group, recalled[id(group)], taken.get(number, {}), is_asked=is_asked)
        for number, group in enumerate(groups)
    ]
    weighed.sort(key=lambda each: (-each.weight.score, each.group.source))
    return Collected([builder.candidate(each) for each in weighed[:limit]], len(weighed))


def without_passing(candidates: Sequence[Candidate], passing: Mapping[str, Passing]) -> list[Candidate]:
    """The candidates; those that a model says are of no use in a month do not pass the gate `lasting`.

    What a person asked to remember passes whatever it says, and a decision unless it surely is of none.
    """
    gate = Gate(False, True, False)
    return [
        replace(each, scored=replace(each.scored, gates={**each.scored.gates, "lasting": gate}))
        if _is_of_no_use(each, passing.get(each.text, "no"))
        else each
        for each in candidates
    ]


def _is_of_no_use(candidate: Candidate, passing: Passing) -> bool:
    if "remember" in candidate.kinds:
        return False
    return passing == "surely" if "decision" in candidate.kinds else is_passing(candidate.text, passing)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A group with what its score is made of, and its score; `days` are those on which it was noted, in order."""

    group: EntryGroup
    days: Sequence[date]
    evidence: Evidence
    weight: Weight


class _CandidateBuilder:
    """Makes candidates of groups, each with its evidence."""

    def __init__(self, inputs: EmergenceInput, context: ScoringContext, groups: Sequence[EntryGroup]) -> None:
        self._context = context
        self._consolidated = {file.path for file in inputs.files if file.is_consolidated}
        self._origins = inputs.origins
        self._superseded = inputs.superseded
        self._stated = inputs.stated
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
        self, group: EntryGroup, recalled: Sequence[Passage], taken: Mapping[date, Exchange], *, is_asked: bool
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
            is_noteworthy=self._is_noteworthy(entries, wording, is_lasting=is_lasting),
            is_known=wording.text in self._stated
            or any(restates(self._known[number], wording) for number in self._known_index.alike(wording)),
            is_corrected=any(
                day >= last_noted and entails(wording, removed)
                for day, removed in map(self._corrections.__getitem__, self._corrections_index.alike(wording))
            ),
            is_contradicted=wording.text in self._superseded or self._is_contradicted(group, wording),
        )
        return Candidate(wording, entries, evidence, judge(evidence, weighed.weight, self._context.rules))

    def _is_noteworthy(self, entries: Sequence[Entry], wording: Statement, *, is_lasting: bool) -> bool:
        """Whether an entry is noteworthy: by its cues, as a topic of several conversations, or as a lasting fact, which
        may name somebody or something."""
        if is_lasting and wording.values:
            return True
        noteworthy = NOTEWORTHY_KINDS | {"fact"} if is_lasting else NOTEWORTHY_KINDS
        return any(
            entry.kinds & noteworthy or (entry.path in self._consolidated and len(entry.days) > 1) for entry in entries
        )

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
        for entry in sorted(notes, key=lambda entry: (not is_logged(entry), age_key(entry))):
            messages = self._origins.get((entry.path, entry.raw), frozenset())
            if not messages & counted:
                days.update(entry.days)
            counted |= messages
        # A conversation may end on the next day, which is then the day of dreaming's copy.
        near = {day + timedelta(days=away) for day in days for away in (-1, 0, 1)}
        copies = (day for entry in entries if entry not in notes for day in entry.days)
        return sorted(days | {day for day in copies if day not in near})

    def _is_contradicted(self, group: EntryGroup, wording: Statement) -> bool:
        """Whether a later entry, or a person's line in the memory (which no stage may correct), contradicts a group."""
        latest = group.latest
        of_person = (self._by_person[number] for number in self._by_person_index.opposed(wording))
        of_groups = (self._groups[number] for number in self._groups_index.opposed(wording))
        return any(contradicts(known, wording) for known in of_person) or any(
            at > latest and contradicts(other, wording) for at, other in of_groups
        )


def _about(topic: AskedTopic, groups: Sequence[EntryGroup], inputs: EmergenceInput, language: str) -> list[EntryGroup]:
    """The groups about a topic: found by a search for it, and themselves about it."""
    found = match_passages(groups, topic.passages, inputs)
    matcher = Topic(topic.text, [group.statement for group in groups], language)
    # A passage that several groups share says of none that it is about the topic.
    groups_of = Counter(id(passage) for passages in found.values() for passage in passages)
    return [
        group
        for group in groups
        if (passages := found[id(group)])
        and matcher.covers(group.statement, [each.relevance for each in passages if groups_of[id(each)] == 1])
    ]


def _spoken_language(entries: Sequence[Entry], language: str) -> str:
    """The language of the entries, whose stop words no entry is about; the agent's where it cannot be told."""
    cues = cues_in("\n".join(entry.text for entry in entries), language)
    known = language_name(cues.language) if cues else None
    return known or language


def _exchanges(inputs: EmergenceInput, language: str) -> list[Exchange]:
    """The exchanges in the logs of the daily notes."""
    notes = [file for file in inputs.files if not file.is_consolidated]
    return [exchange for file in notes for exchange in exchanges_of(file.text, file.day, language)]
