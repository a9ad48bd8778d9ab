"""What extraction proposes to write of a conversation: what a model answered, guarded, or the extractive way. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from reverie_server.extraction.text import (
    ExtractionRules,
    Saved,
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
from reverie_server.llm.generation import EXTRACTIVE, Made
from reverie_server.long_term.guard import GuardRules, check
from reverie_server.provenance.line_identity import Derived, added_lines, line_sha256
from reverie_server.sessions.model import Message

STAGE: Stage = "extraction"
UNGROUNDED = "ungrounded"
# How many refused lines a model is shown, and how much of each.
_SHOWN_LINES, _SHOWN_CHARS = 10, 200
PROFILE = "PROFILE.md"


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file as it was read (None: there is none), and the hashes of the lines of it that the server wrote."""

    path: str
    text: str | None
    machine: frozenset[bytes] = frozenset()


@dataclass(frozen=True)
class Basis:
    """What a proposal is made of: what was heard in a session, the files, and what tools saved during it.

    `clean` takes out of a text what was forgotten. `replaceable` are the paths that a model may write anew, `names`
    those of the people who speak.
    """

    session_id: str
    heard: Sequence[Message]
    memory: HeldFile
    profile: HeldFile
    saved: Sequence[str]
    replaceable: frozenset[str]
    clean: Callable[[str], str]
    language: str
    names: Sequence[str] = ()

    @cached_property
    def grounds(self) -> Sources:
        """What a model's lines may be grounded in. A day's note is none of it: it repeats what the assistant said."""
        files = [self.memory.text or "", self.profile.text or ""]
        return Sources(self.heard, [*files, *self.saved], self.names)

    def source(self, messages: Sequence[Message]) -> dict[str, Any]:
        """Messages as what something is made of."""
        return message_source(self.session_id, [(m.seq, m.message_id) for m in messages])

    def already(self) -> Saved:
        """What tools saved in the same conversation, to compare lines with."""
        return Saved(self.saved, self.language)


@dataclass(frozen=True, slots=True)
class NewFile:
    """The whole text that a file is to have, and where its new lines come from. `dropped` entries leave it."""

    path: str
    before: str | None
    text: str
    derived: Sequence[Derived]
    dropped: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be written: lines of the day's note, each with its making and its messages, and whole files.

    `lines_inside`: also what the note holds inside of other lines is not added. `fallback` is why a configured model
    was not used, `refused` why what it proposed for a file was not, `dropped` the lines that it may not add, each with
    why not.
    """

    made: Made
    lines: Sequence[tuple[str, Made, Mapping[str, Any]]] = ()
    files: Sequence[NewFile] = ()
    lines_inside: bool = False
    fallback: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    dropped: Sequence[tuple[str, str]] = ()

    @property
    def is_all_refused(self) -> bool:
        """Whether a model proposed something, and nothing of it may be written."""
        return bool(self.dropped) and not self.lines and not self.files


def from_answer(answer: Extraction, made: Made, basis: Basis, rules: ExtractionRules) -> Proposal:
    """What a model answered, as far as it is grounded and the guard lets it.

    A MEMORY.md that it may not write gets what was stated, a PROFILE.md how the user introduced themselves.
    """
    proposal = _answered(answer, made, basis, rules)
    files = list(proposal.files)
    if basis.memory.path in proposal.refused or (answer.should_update and basis.memory.path not in basis.replaceable):
        files += _with_statements(basis, rules)[0]
    if basis.profile.path in proposal.refused:
        files += _with_introduction(basis, rules)
    return replace(proposal, files=files)


def problem_of(answer: Extraction, basis: Basis, rules: ExtractionRules) -> str | None:
    """What a model is to mend in an answer of which nothing, or not the first PROFILE.md, may be written; else None."""
    proposal = _answered(answer, EXTRACTIVE, basis, rules)
    refused = proposal.refused.get(basis.profile.path) if not (basis.profile.text or "").strip() else None
    if refused is None and not proposal.is_all_refused:
        return None
    said = [f"- {line[:_SHOWN_CHARS]}: {reason}" for line, reason in proposal.dropped[:_SHOWN_LINES]]
    told = [f"profile_update: {refused}"] if refused is not None else []
    return "\n".join(
        ["These lines may not be kept: write only what the user said, in the words of the conversation.", *told, *said]
    )


def _answered(answer: Extraction, made: Made, basis: Basis, rules: ExtractionRules) -> Proposal:
    """The lines and files of an answer that may be written, and why others may not."""
    if not answer.should_update:
        return Proposal(made)
    source = basis.source(basis.heard)
    already = basis.already()
    lines: list[str] = []
    dropped: list[tuple[str, str]] = []
    for line in entry_lines_of(answer.daily_entry, basis.clean):
        if (reason := refusal(line, basis.grounds, about_user=False)) is not None:
            dropped.append((line, reason))
        elif not already.says(line):
            lines.append(line)
    files: list[NewFile] = []
    refused: dict[str, str] = {}
    wanted = {basis.memory.path: answer.memory_update, basis.profile.path: answer.profile_update}
    for held in (basis.memory, basis.profile):
        proposed = wanted[held.path]
        if not proposed.strip():
            continue
        if held.path not in basis.replaceable:
            refused[held.path] = "it is too long to be written anew in one answer"
            continue
        text = without_repeats(cleaned(proposed, basis.clean), held.text or "", basis.saved, basis.language)
        text, ungrounded = without_refused(text, held.text or "", basis.grounds, about_user=True)
        dropped += ungrounded
        new, reason = _guarded(held, text, (made, source), basis, rules)
        if new is None:
            refused[held.path] = reason
        elif new.text != held.text:
            files.append(new)
    return Proposal(made, [(line, made, source) for line in lines], files, refused=refused, dropped=dropped)


def extractive(basis: Basis, rules: ExtractionRules, fallback: str | None) -> Proposal:
    """What goes without a model: what was stated into MEMORY.md, other notable lines into the day's note."""
    files, settled = _with_statements(basis, rules)
    already = basis.already()
    lines = [
        (line, EXTRACTIVE, basis.source([note.message]))
        for note in notes_of(basis.heard, without=settled)
        for line in note_lines(basis.clean(f"- {note.line}").splitlines())
        if not already.says(line) and why_order(line) is None
    ]
    return Proposal(EXTRACTIVE, lines, files, lines_inside=True, fallback=fallback)


def _guarded(
    held: HeldFile, text: str, made_of: tuple[Made, Mapping[str, Any]], basis: Basis, rules: ExtractionRules
) -> tuple[NewFile | None, str]:
    before = held.text or ""
    is_memory = held.path == basis.memory.path
    # How much a memory may grow in a night is no matter of a conversation.
    guard = GuardRules(rules.max_chars, None, rules.max_loss)
    if not is_memory:
        guard = GuardRules(rules.max_chars, None, rules.max_loss, title=title_of(held.text))
    guarded = check(before, text, guard, lambda line: line_sha256(line) in held.machine)
    if guarded.text is None:
        return None, guarded.reason
    made, source = made_of
    derived = Derived(held.path, added_lines(before, guarded.text), made, STAGE, [source])
    # The archive is of MEMORY.md, but what leaves a profile is not to be lost either.
    return NewFile(held.path, held.text, guarded.text, [derived], guarded.dropped), ""


def _with_statements(basis: Basis, rules: ExtractionRules) -> tuple[list[NewFile], frozenset[str]]:
    """MEMORY.md with what was stated in it, where that changes it, and the sentences that are settled so."""
    found = statements_of(basis.heard)
    held = basis.memory
    already = basis.already()
    wanted = [s for s in found if not already.says(s.text) and _is_allowed(s, basis)]
    text, added, homeless = with_statements(held.text, wanted, rules.max_chars)
    settled = frozenset(s.sentence for s in found) - {s.sentence for s in homeless}
    if text is None or not added:
        return [], settled
    derived = [Derived(held.path, s.text.splitlines(), EXTRACTIVE, STAGE, [basis.source([s.message])]) for s in added]
    return [NewFile(held.path, held.text, text, derived)], settled


def _with_introduction(basis: Basis, rules: ExtractionRules) -> list[NewFile]:
    """PROFILE.md with what the user said of themselves, at its end, where that changes it."""
    held = basis.profile
    already = basis.already()
    said = [s for s in profile_of(basis.heard) if not already.says(s.text) and _is_allowed(s, basis)]
    before = held.text or ""
    added = lines_not_in([s.text for s in said], before)
    text = f"{before.rstrip() or '# Profile'}\n\n{bullets(added)}\n"
    if not added or len(text) > rules.max_chars:
        return []
    derived = [
        Derived(held.path, [s.text], EXTRACTIVE, STAGE, [basis.source([s.message])]) for s in said if s.text in added
    ]
    return [NewFile(held.path, held.text, text, derived)]


def _is_allowed(statement: UserStatement, basis: Basis) -> bool:
    """Whether nothing of a statement was forgotten, and it is no order to the agent."""
    if why_order(statement.text) is not None:
        return False
    return basis.clean(f"- {statement.text}").strip() == f"- {statement.text}"
