"""The lines and files that extraction proposes to write: a model's answer, checked and guarded, or heuristics. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from reverie_server.extraction.text import (
    ExtractionRules,
    SavedLines,
    cleaned,
    entry_lines_of,
    lines_not_in,
    title_of,
    with_statements,
    without_repeats,
)
from reverie_server.heuristics.extract import UserStatement, notes_of, profile_of, statements_of
from reverie_server.heuristics.grounding import Sources, refusal, without_refused
from reverie_server.heuristics.notes import bullets, note_lines
from reverie_server.heuristics.orders import why_order
from reverie_server.jobs.model import Stage, message_source
from reverie_server.llm.answers import Extraction
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.long_term.guard import GuardRules, check
from reverie_server.provenance.line_identity import Derived, added_lines, line_sha256
from reverie_server.sessions.model import Message

STAGE: Stage = "extraction"
UNGROUNDED = "ungrounded"
# How many refused lines a model is shown, and how much of each.
_SHOWN_LINES, _SHOWN_CHARS = 10, 200
PROFILE = "PROFILE.md"


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as it was read (`text` None: there is none); `machine` are the hashes of lines the server wrote."""

    path: str
    text: str | None
    machine: frozenset[bytes] = frozenset()


@dataclass(frozen=True)
class Basis:
    """The inputs of a proposal: the messages heard in a session, the files, and the lines that tools saved meanwhile.

    `clean` removes forgotten texts from a text. A model may rewrite the paths in `replaceable`. `names` are the
    speakers' names.
    """

    session_id: str
    heard: Sequence[Message]
    memory: FileSnapshot
    profile: FileSnapshot
    saved: Sequence[str]
    replaceable: frozenset[str]
    clean: Callable[[str], str]
    language: str
    names: Sequence[str] = ()

    @cached_property
    def grounds(self) -> Sources:
        """The sources of a model's lines. A daily note is no source: it repeats what the assistant said."""
        files = [self.memory.text or "", self.profile.text or ""]
        return Sources(self.heard, [*files, *self.saved], self.names)

    def source(self, messages: Sequence[Message]) -> dict[str, Any]:
        """The provenance of a line that is made of these messages."""
        return message_source(self.session_id, [(m.seq, m.message_id) for m in messages])

    def saved_lines(self) -> SavedLines:
        """The lines that tools saved in the same conversation, to compare new lines with."""
        return SavedLines(self.saved, self.language)


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
    """A line for the daily note, how it was generated, and its source."""

    text: str
    generation: Generation
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DroppedLine:
    """A line that a model proposed and may not add, and why not."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """The lines to add to the daily note, and whole files to write.

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

    Where the model may not write MEMORY.md, the user's statements are added to it; where it may not write PROFILE.md,
    the sentences in which users introduce themselves.
    """
    proposal = _grounded_proposal(answer, generation, basis, rules)
    files = list(proposal.files)
    if basis.memory.path in proposal.refused or (answer.should_update and basis.memory.path not in basis.replaceable):
        files += _with_statements(basis, rules)[0]
    if basis.profile.path in proposal.refused:
        files += _with_introduction(basis, rules)
    return replace(proposal, files=files)


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
        elif not saved.has(line):
            lines.append(line)
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
        text = without_repeats(cleaned(update, basis.clean), file.text or "", basis.saved, basis.language)
        text, ungrounded = without_refused(text, file.text or "", basis.grounds, about_user=True)
        dropped += [DroppedLine(line, reason) for line, reason in ungrounded]
        new, reason = _guarded(file, text, generation, source, basis, rules)
        if new is None:
            refused[file.path] = reason
        elif new.text != file.text:
            files.append(new)
    lines_of_note = [NoteLine(line, generation, source) for line in lines]
    return Proposal(generation, lines_of_note, files, refused=refused, dropped=dropped)


def heuristic_proposal(basis: Basis, rules: ExtractionRules, fallback: str | None) -> Proposal:
    """The proposal without a model: the user's statements for MEMORY.md, other notable lines for the daily note."""
    files, settled = _with_statements(basis, rules)
    saved = basis.saved_lines()
    lines = [
        NoteLine(line, EXTRACTIVE, basis.source([note.message]))
        for note in notes_of(basis.heard, without=settled)
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


def _with_statements(basis: Basis, rules: ExtractionRules) -> tuple[list[NewFile], frozenset[str]]:
    """MEMORY.md with the user's statements, where they change it, and the sentences that need no other place."""
    found = statements_of(basis.heard)
    file = basis.memory
    saved = basis.saved_lines()
    statements = [s for s in found if not saved.has(s.text) and _is_allowed(s, basis)]
    text, added, homeless = with_statements(file.text, statements, rules.max_chars)
    settled = frozenset(s.sentence for s in found) - {s.sentence for s in homeless}
    if text is None or not added:
        return [], settled
    derived = [Derived(file.path, s.text.splitlines(), EXTRACTIVE, STAGE, [basis.source([s.message])]) for s in added]
    return [NewFile(file.path, file.text, text, derived)], settled


def _with_introduction(basis: Basis, rules: ExtractionRules) -> list[NewFile]:
    """PROFILE.md with the sentences in which the user introduces themselves at its end, where that changes it."""
    file = basis.profile
    saved = basis.saved_lines()
    statements = [s for s in profile_of(basis.heard) if not saved.has(s.text) and _is_allowed(s, basis)]
    before = file.text or ""
    added = lines_not_in([s.text for s in statements], before)
    text = f"{before.rstrip() or '# Profile'}\n\n{bullets(added)}\n"
    if not added or len(text) > rules.max_chars:
        return []
    derived = [
        Derived(file.path, [s.text], EXTRACTIVE, STAGE, [basis.source([s.message])])
        for s in statements
        if s.text in added
    ]
    return [NewFile(file.path, file.text, text, derived)]


def _is_allowed(statement: UserStatement, basis: Basis) -> bool:
    """Whether a statement holds no forgotten text and is no order to the agent."""
    if why_order(statement.text) is not None:
        return False
    return basis.clean(f"- {statement.text}").strip() == f"- {statement.text}"
