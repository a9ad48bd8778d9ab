"""The lines and files that extraction proposes to write: a model's answer, checked and guarded, or heuristics. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from reverie_server.extraction.basis import LATE, Basis, FileSnapshot
from reverie_server.extraction.referents import UNNAMED
from reverie_server.extraction.superseded import (
    Successor,
    supersede,
    without_lines,
)
from reverie_server.extraction.text import (
    ExtractionRules,
    cleaned,
    entry_lines_of,
    title_of,
    with_introduction,
    with_statements,
    without_repeats,
)
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.entries import dated, undated
from reverie_server.heuristics.extract import UserStatement, notes_of
from reverie_server.heuristics.grounding import refusal, without_refused
from reverie_server.heuristics.memorable import Heard, Memorable
from reverie_server.heuristics.notes import note_lines
from reverie_server.heuristics.orders import why_order
from reverie_server.heuristics.profile_labels import has_words_of, says_labels_alone, stated_by_labels, value_of
from reverie_server.heuristics.requests.requested_lines import ended
from reverie_server.heuristics.said_in import SaidIn
from reverie_server.heuristics.spoken_sentences import without_leading
from reverie_server.heuristics.statements import Ground, statement
from reverie_server.jobs.model import Stage
from reverie_server.llm.answers import Extraction
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.long_term.guard import GuardRules, check
from reverie_server.provenance.line_identity import Derived, added_lines, entry_lines, line_sha256
from reverie_server.sessions.daily_log import local_day
from reverie_server.text.markdown_blocks import without_marker
from reverie_server.text.redact import essence

STAGE: Stage = "extraction"
UNGROUNDED = "ungrounded"
# How many refused lines a model is shown, and how much of each.
_SHOWN_LINES, _SHOWN_CHARS = 10, 200

# "yo, im kofi btw": so many words of an introduction say nothing.
_FILLERS = 2
# A longer statement takes no line's place.
_MAX_SUCCESSOR_CHARS = 300


@dataclass(frozen=True, slots=True)
class NewFile:
    """The new text of a whole file, the provenance of its new lines, and the entries that leave it (`dropped`)."""

    path: str
    before: str | None
    text: str
    derived: Sequence[Derived]
    dropped: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line for the daily note of `day`, how it was generated, and its source."""

    text: str
    generation: Generation
    source: Mapping[str, Any]
    day: date


@dataclass(frozen=True, slots=True)
class DroppedLine:
    """A line that a model proposed and may not add, and why not."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """The lines to add to the daily notes, and whole files to write.

    With `lines_inside` a line is not added either where the note has it inside another line. `fallback` says why a
    configured model was not used. `refused` has by path why the model's text of a file was not used. `dropped` are the
    lines that the model may not add.
    """

    generation: Generation
    lines: Sequence[NoteLine] = ()
    files: Sequence[NewFile] = ()
    lines_inside: bool = False
    fallback: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    dropped: Sequence[DroppedLine] = ()

    @property
    def is_all_refused(self) -> bool:
        """Whether a model proposed lines, and none of them may be written."""
        return bool(self.dropped) and not self.lines and not self.files


def from_answer(answer: Extraction, generation: Generation, basis: Basis, rules: ExtractionRules) -> Proposal:
    """The part of a model's answer that is grounded and that the guard allows.

    Where the model may not write MEMORY.md or PROFILE.md, they get what is found without it. What the user asked to
    remember is in MEMORY.md, whether the model put it there or not.
    """
    proposal = _grounded_proposal(answer, generation, basis, rules)
    if proposal.is_all_refused:
        return proposal
    refused = {basis.memory.path, basis.profile.path} & proposal.refused.keys()
    if answer.should_update and basis.memory.path not in basis.replaceable:
        refused.add(basis.memory.path)
    written = {file.path for file in proposal.files}
    heard = basis.memorable
    requests = replace(heard, facts=(), lines=[line for line in heard.lines if line.is_request])
    found = _with_memorable(basis, heard if refused else requests, rules)[0]
    files = list(proposal.files)
    files += [
        file for file in found if file.path in refused or (file.path == basis.memory.path and file.path not in written)
    ]
    files = [_with_requests(file, requests, basis, rules) for file in files]
    return replace(proposal, files=files)


def _with_requests(file: NewFile, requests: Heard, basis: Basis, rules: ExtractionRules) -> NewFile:
    """A model's MEMORY.md with what the user asked to remember and the model left out."""
    if file.path != basis.memory.path or not requests.lines:
        return file
    entries = _Entries(entry_lines(file.text), basis.language)
    missing = [
        line.statement
        for line in requests.lines
        if _is_allowed(line.statement, basis) and not entries.support(line.statement.text)
    ]
    text, added, _ = with_statements(file.text, missing, rules.max_chars)
    if text is None or not added:
        return file
    derived = [Derived(file.path, s.text.splitlines(), EXTRACTIVE, STAGE, [basis.source([s.message])]) for s in added]
    return replace(file, text=text, derived=[*file.derived, *derived])


def problem_of(answer: Extraction, basis: Basis, rules: ExtractionRules) -> str | None:
    """What a model is to correct in its answer: None where some of it, and a first PROFILE.md, may be written."""
    proposal = _grounded_proposal(answer, EXTRACTIVE, basis, rules)
    refused = proposal.refused.get(basis.profile.path) if not (basis.profile.text or "").strip() else None
    if refused is None and not proposal.is_all_refused:
        return None
    dropped_lines = [f"- {line.text[:_SHOWN_CHARS]}: {line.reason}" for line in proposal.dropped[:_SHOWN_LINES]]
    profile_line = [f"profile_update: {refused}"] if refused is not None else []
    return "\n".join(
        [
            "These lines may not be kept: write only what the user said, in the words of the conversation.",
            *profile_line,
            *dropped_lines,
        ]
    )


def _grounded_proposal(answer: Extraction, generation: Generation, basis: Basis, rules: ExtractionRules) -> Proposal:
    """The lines and files of an answer that may be written, and why others may not."""
    if not answer.should_update:
        return Proposal(generation)
    source = basis.source(basis.heard)
    saved = basis.saved_lines()
    lines: list[str] = []
    dropped: list[DroppedLine] = []
    for line in entry_lines_of(answer.daily_entry, basis.clean):
        if (reason := refusal(line, basis.grounds, about_user=False)) is not None:
            dropped.append(DroppedLine(line, reason))
        elif (named := basis.referents.named(line)) is None:
            dropped.append(DroppedLine(line, UNNAMED))
        elif named not in lines and not saved.has(named):
            lines.append(named)
    files: list[NewFile] = []
    refused: dict[str, str] = {}
    updates = {basis.memory.path: answer.memory_update, basis.profile.path: answer.profile_update}
    for file in (basis.memory, basis.profile):
        update = updates[file.path]
        if not update.strip():
            continue
        if file.path not in basis.replaceable:
            refused[file.path] = "it is too long to be written anew in one answer"
            continue
        text = cleaned(update, basis.clean)
        if file is basis.memory:
            text, unnamed = basis.referents.named_in(text, file.text or "")
            dropped += [DroppedLine(line, UNNAMED) for line in unnamed]
        text = without_repeats(text, file.text or "", basis.saved, basis.language)
        text, ungrounded = without_refused(text, file.text or "", basis.grounds, about_user=True)
        dropped += [DroppedLine(line, reason) for line, reason in ungrounded]
        new, reason = _guarded(file, text, generation, source, basis, rules)
        if new is None:
            refused[file.path] = reason
        elif new.text != file.text:
            files.append(new)
    said_in = SaidIn(basis.heard, basis.language)
    lines_of_note = [
        NoteLine(line, generation, source, local_day(said_in.message_of(line).at, basis.time_zone)) for line in lines
    ]
    return Proposal(generation, lines_of_note, files, refused=refused, dropped=dropped)


def heuristic_proposal(
    basis: Basis, rules: ExtractionRules, fallback: str | None, heard: Heard | None = None
) -> Proposal:
    """The proposal without a model: what is worth keeping for MEMORY.md and PROFILE.md, other notable lines for the
    daily notes. Lines that the server wrote there and that no longer hold leave these files.

    `heard` is what is worth keeping; None: all that the basis has.
    """
    heard = basis.memorable if heard is None else heard
    files, settled = _with_memorable(basis, heard, rules)
    saved = basis.saved_lines()
    lines = [
        NoteLine(line, EXTRACTIVE, basis.source([note.message]), local_day(note.message.at, basis.time_zone))
        for note in notes_of(basis.heard, without=settled, resolved=heard.resolved)
        for line in note_lines(basis.clean(f"- {note.line}").splitlines())
        if not saved.has(line) and why_order(line) is None
    ]
    return Proposal(EXTRACTIVE, lines, files, lines_inside=True, fallback=fallback)


def _guarded(
    file: FileSnapshot,
    text: str,
    generation: Generation,
    source: Mapping[str, Any],
    basis: Basis,
    rules: ExtractionRules,
) -> tuple[NewFile | None, str]:
    """The file with a new text; without one, why the guard refuses it."""
    before = file.text or ""
    is_memory = file.path == basis.memory.path
    # How much a memory may grow in a night is no matter of a conversation.
    guard = GuardRules(rules.max_chars, None, rules.max_loss)
    if not is_memory:
        guard = GuardRules(rules.max_chars, None, rules.max_loss, title=title_of(file.text))
    guarded = check(before, text, guard, lambda line: line_sha256(line) in file.machine)
    if guarded.text is None:
        return None, guarded.reason
    derived = Derived(file.path, added_lines(before, guarded.text), generation, STAGE, [source])
    # The archive is of MEMORY.md, but what leaves a profile is not to be lost either.
    return NewFile(file.path, file.text, guarded.text, [derived], guarded.dropped), ""


def _with_memorable(basis: Basis, heard: Heard, rules: ExtractionRules) -> tuple[list[NewFile], frozenset[str]]:
    """MEMORY.md and PROFILE.md with what is worth keeping and without what no longer holds, where that changes them,
    and the sentences that need no other place."""
    saved = basis.saved_lines()
    allowed = [line for line in heard.lines if _is_allowed(line.statement, basis)]
    changed = supersede(basis.known, basis.known_facts, heard.facts, allowed)
    entries = _Entries([*basis.saved, *(line.text for line in basis.known)], basis.language)
    new = [
        line
        for line in changed.new
        if _is_allowed(line.statement, basis)
        and not (
            entries.support(line.statement.text)
            if line.is_request or line.is_introduction
            else saved.has(line.statement.text)
        )
    ]
    homeless: set[str] = set()
    files: list[NewFile] = []
    for file in (basis.memory, basis.profile):
        target = "memory" if file.path == basis.memory.path else "profile"
        worth = (line for line in new if line.target == target and not _is_in_labels(line, file))
        statements = [_with_day(line, file, basis.time_zone) for line in worth]
        outdated = changed.outdated.get(file.path, frozenset())
        successors = _successors(file, outdated, [line.statement.text for line in new], basis)
        before, dropped = without_lines(
            file.text or "",
            outdated | (file.outdated.keys() - successors.keys()),
            changed.partly.get(file.path, {}),
            {line: _entry_with(line, successor.text) for line, successor in successors.items()},
        )
        add = with_statements if target == "memory" else with_introduction
        text, added, without_room = add(before if file.text else None, statements, rules.max_chars)
        homeless |= {statement.sentence for statement in without_room}
        text = before if text is None else text
        if text == (file.text or ""):
            continue
        derived = [
            Derived(file.path, s.text.splitlines(), EXTRACTIVE, STAGE, [basis.source([s.message])]) for s in added
        ]
        by_successor = {_entry_with(line, successor.text): successor for line, successor in successors.items()}
        derived += [Derived(file.path, [line], EXTRACTIVE, STAGE, [s.source]) for line, s in by_successor.items()]
        marked = [line for line in added_lines(file.text or "", before) if line not in by_successor]
        derived += [Derived(file.path, marked, EXTRACTIVE, STAGE, [basis.source(basis.heard)])] if marked else []
        files.append(NewFile(file.path, file.text, text, derived, dropped))
    return files, frozenset(line.statement.sentence for line in heard.lines) - homeless


def _is_in_labels(line: Memorable, file: FileSnapshot) -> bool:
    """Whether PROFILE.md has what a line says in lines that facts made before (`profile_lines`)."""
    if line.target != "profile" or line.is_request:
        return False
    text, profile = undated(line.statement.text)[0], file.text or ""
    if line.is_introduction and has_words_of(profile, text, other_words=_FILLERS):
        return True
    return says_labels_alone(text, line.facts) and stated_by_labels(profile) >= {
        (fact.predicate, folded(value_of(fact.object))) for fact in line.facts
    }


def _with_day(line: Memorable, file: FileSnapshot, time_zone: str) -> UserStatement:
    """The statement of a line; with its day where it was said before what the file is made of, as in an import: it may
    be over, which nobody said since. What was to be remembered is as true as on that day.
    """
    statement, latest = line.statement, max(file.said_at.values(), default=None)
    is_late = latest is not None and statement.message.at < latest - LATE
    text, days = undated(statement.text)
    if line.is_request or not is_late or days:
        return statement
    return replace(statement, text=dated(text, [local_day(statement.message.at, time_zone)]))


def _successors(file: FileSnapshot, outdated: frozenset[str], new: Sequence[str], basis: Basis) -> dict[str, Successor]:
    """The lines of a file, beside the `outdated` ones, that give way to another statement, which no file has yet."""
    holding = [line.text for line in basis.known if line.text not in file.outdated]
    known = {essence(undated(text)[0]) for text in [*new, *holding]}
    found: dict[str, Successor] = {}
    for line, successor in file.outdated.items():
        if successor is None or line in outdated or len(successor.text) > _MAX_SUCCESSOR_CHARS:
            continue
        said = without_leading(successor.text)
        is_allowed = why_order(said) is None and basis.clean(f"- {said}").strip() == f"- {said}"
        core = essence(undated(said)[0])
        # A line that was asked for may say the same without the words that ask for it, or with what it is of before it.
        if is_allowed and not any(text in core or core in text for text in known if text):
            known.add(core)
            found[line] = replace(successor, text=f"{ended(said)} {successor.rest}" if successor.rest else said)
        elif successor.rest:
            found[line] = replace(successor, text=successor.rest)
    return found


def _entry_with(line: str, text: str) -> str:
    """A line of a list with another text."""
    return line.removesuffix(without_marker(line)) + text


class _Entries:
    """Entries of a file, of which one may say what the user asked to remember, in these or other words."""

    def __init__(self, lines: Sequence[str], language: str) -> None:
        self._language = language
        self._grounds = [Ground([statement(line, language)]) for line in lines]

    def support(self, text: str) -> bool:
        """Whether an entry has all values of a text, and most of its words."""
        plain, _ = undated(text)
        claim = statement(plain, self._language)
        return any(ground.supports(claim) for ground in self._grounds)


def _is_allowed(statement: UserStatement, basis: Basis) -> bool:
    """Whether a statement holds no forgotten text and is no order to the agent."""
    if why_order(statement.text) is not None:
        return False
    return basis.clean(f"- {statement.text}").strip() == f"- {statement.text}"
