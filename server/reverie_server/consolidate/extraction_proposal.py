"""What extraction proposes to write of a conversation: what a model answered, guarded, or the extractive way. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reverie_server.consolidate.extraction_text import (
    ExtractionRules,
    Saved,
    cleaned,
    entry_lines_of,
    title_of,
    with_statements,
    without_repeats,
)
from reverie_server.consolidate.guard import GuardRules, check
from reverie_server.consolidate.lines import Derived, added_lines, line_sha256
from reverie_server.consolidate.model import EXTRACTIVE, Made, Stage, message_source
from reverie_server.llm.answers import Extraction
from reverie_server.llm.extractive import Stated, noted, stated
from reverie_server.turns.model import Message
from reverie_server.turns.transcript import note_lines

STAGE: Stage = "extraction"
PROFILE = "PROFILE.md"


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file as it was read (None: there is none), and the hashes of the lines of it that the server wrote."""

    path: str
    text: str | None
    machine: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True)
class Basis:
    """What a proposal is made of: what was heard in a session, the files, and what tools saved during it.

    `clean` takes out of a text what was forgotten. `replaceable` are the paths that a model may write anew.
    """

    session_id: str
    heard: Sequence[Message]
    memory: HeldFile
    profile: HeldFile
    saved: Sequence[str]
    replaceable: frozenset[str]
    clean: Callable[[str], str]
    language: str

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
    was not used, `refused` why what it proposed for a file was not.
    """

    made: Made
    lines: Sequence[tuple[str, Made, Mapping[str, Any]]] = ()
    files: Sequence[NewFile] = ()
    lines_inside: bool = False
    fallback: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict)


def from_answer(answer: Extraction, made: Made, basis: Basis, rules: ExtractionRules) -> Proposal:
    """What a model answered, as far as the guard lets it. A MEMORY.md that it may not write gets what was stated."""
    if not answer.should_update:
        return Proposal(made)
    source = basis.source(basis.heard)
    already = basis.already()
    lines = [line for line in entry_lines_of(answer.daily_entry, basis.clean) if not already.says(line)]
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
        made_of = (made, source)
        new, reason = _guarded(held, proposed, made_of, basis, rules)
        if new is None:
            refused[held.path] = reason
        elif new.text != held.text:
            files.append(new)
    if basis.memory.path in refused or basis.memory.path not in basis.replaceable:
        files += _with_statements(basis, rules)[0]
    return Proposal(made, [(line, made, source) for line in lines], files, refused=refused)


def extractive(basis: Basis, rules: ExtractionRules, fallback: str | None) -> Proposal:
    """What goes without a model: what was stated into MEMORY.md, other notable lines into the day's note."""
    files, settled = _with_statements(basis, rules)
    already = basis.already()
    lines = [
        (line, EXTRACTIVE, basis.source([note.message]))
        for note in noted(basis.heard, without=settled)
        for line in note_lines(basis.clean(f"- {note.line}").splitlines())
        if not already.says(line)
    ]
    return Proposal(EXTRACTIVE, lines, files, lines_inside=True, fallback=fallback)


def _guarded(
    held: HeldFile, proposed: str, made_of: tuple[Made, Mapping[str, Any]], basis: Basis, rules: ExtractionRules
) -> tuple[NewFile | None, str]:
    before = held.text or ""
    text = without_repeats(cleaned(proposed, basis.clean), before, basis.saved, basis.language)
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
    found = stated(basis.heard)
    held = basis.memory
    already = basis.already()
    wanted = [s for s in found if not already.says(s.text) and _is_allowed(s, basis)]
    text, added, homeless = with_statements(held.text, wanted, rules.max_chars)
    settled = frozenset(s.sentence for s in found) - {s.sentence for s in homeless}
    if text is None or not added:
        return [], settled
    derived = [Derived(held.path, s.text.splitlines(), EXTRACTIVE, STAGE, [basis.source([s.message])]) for s in added]
    return [NewFile(held.path, held.text, text, derived)], settled


def _is_allowed(statement: Stated, basis: Basis) -> bool:
    """Whether nothing of a statement was forgotten."""
    return basis.clean(f"- {statement.text}").strip() == f"- {statement.text}"
