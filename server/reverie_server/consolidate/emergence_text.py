"""The long-term memory with what emerged in it: as a model proposes it, or without one. Pure.

Both ways end at the guard: a person's lines stay, the file stays under its caps, and of two lines that contradict each
other the older one leaves, if the server wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reverie_indexer.errors import DuplicateDetected, ValidationFailed
from reverie_server.consolidate.gathering import Candidate, MemoryFile
from reverie_server.consolidate.guard import GuardRules, check
from reverie_server.consolidate.likeness import GROUNDED_SHARE, Statement, contradicts, is_grounded, statement
from reverie_server.workspace.memory_text import SECTIONS, TITLE, add_entry, entry_of
from reverie_server.workspace.outline import blocks_of, folded, text_of
from reverie_server.workspace.redaction import essence
from reverie_server.workspace.sections import lines_of

# The section of an entry by what it is; the first that fits.
_SECTION_OF = (("preference", "preferences"), ("decision", "projects"), ("fact", "profile"))
# What a candidate is given with, where a model copies it along.
_OF_CANDIDATES = re.compile(r"(?<=- )\(\d{4}-\d\d-\d\d[^()]*; recalled \d+ times\) ")


@dataclass(frozen=True, slots=True)
class Proposal:
    """The memory as it may be written (None: not at all, for `reason`), and what became of the candidates.

    `left` are those that did not enter, each with what stopped it: `room` (the caps of the file), `model` (it did not
    take it). `dropped` are the entries that leave the file.
    """

    text: str | None
    reason: str
    promoted: tuple[Candidate, ...] = ()
    left: tuple[tuple[Candidate, str], ...] = ()
    dropped: tuple[str, ...] = ()


def extractive(memory: MemoryFile | None, passing: Sequence[Candidate], rules: GuardRules, language: str) -> Proposal:
    """The memory with the candidates added to their sections, best first, as far as there is room."""
    before = memory.text if memory else ""
    rules = _with_title(rules, before)
    text, reason = before, "nothing passed"
    promoted: list[Candidate] = []
    left: list[tuple[Candidate, str]] = []
    dropped: tuple[str, ...] = ()
    for candidate in passing:
        base, gone = _without_contradicted(text, memory, candidate, language) if memory else (text, frozenset())
        explained = replace(rules, explained=rules.explained | gone)
        try:
            longer = add_entry(base or None, _section_of(candidate), entry_of(candidate.text))
        except (DuplicateDetected, ValidationFailed) as error:
            reason = error.detail
            left.append((candidate, "room"))
            continue
        guarded = check(before, longer, explained, memory.is_machine if memory else _nobody)
        if guarded.text is None:
            reason = guarded.reason
            left.append((candidate, "room"))
            continue
        text, rules, dropped = guarded.text, explained, guarded.dropped
        promoted.append(candidate)
    if not promoted:
        return Proposal(None, reason, left=tuple(left))
    return Proposal(text, "", tuple(promoted), tuple(left), dropped)


def modelled(
    memory: MemoryFile | None, passing: Sequence[Candidate], content: str, rules: GuardRules, language: str
) -> Proposal:
    """What a model proposes, if it may be written: guarded, and without a line that says what nobody said."""
    before = memory.text if memory else ""
    content = _OF_CANDIDATES.sub("", content)
    rules = _with_title(rules, before)
    known = [statement(line, language) for line in _lines(before)]
    own = {said.essence for said in known}
    new = [said for line in _lines(content) if (said := statement(line, language)).essence not in own]
    sources = [*(candidate.said for candidate in passing), *known]
    if any(not is_grounded(said, sources) for said in new):
        return Proposal(None, "the proposal says what nobody said")
    explained = frozenset(
        said.essence
        for said in known
        if memory and memory.is_machine(said.text) and any(contradicts(said, c.said) for c in passing)
    )
    guarded = check(before, content, replace(rules, explained=explained), memory.is_machine if memory else _nobody)
    if guarded.text is None:
        return Proposal(None, guarded.reason)
    if guarded.text == before:
        return Proposal(None, "the proposal changes nothing")
    lines = [statement(line, language) for line in _lines(guarded.text)]
    entered = [candidate for candidate in passing if any(_tells(line, candidate.said) for line in lines)]
    left = tuple((candidate, "model") for candidate in passing if candidate not in entered)
    return Proposal(guarded.text, "", tuple(entered), left, guarded.dropped)


def told_by(line: str, candidates: Sequence[Candidate], language: str) -> list[Candidate]:
    """The candidates that a line of the memory tells; all of them where that cannot be told."""
    said = statement(line, language)
    return [candidate for candidate in candidates if _tells(said, candidate.said)] or list(candidates)


def _tells(line: Statement, said: Statement) -> bool:
    if line.essence == said.essence:
        return True
    shared = len(line.terms & said.terms)
    return shared >= GROUNDED_SHARE * len(said.terms) > 0 and said.values <= {*line.values, *line.words}


def _section_of(candidate: Candidate) -> str:
    kinds = candidate.kinds
    category = next((category for kind, category in _SECTION_OF if kind in kinds), "notes")
    return SECTIONS[category]


def _without_contradicted(
    text: str, memory: MemoryFile, candidate: Candidate, language: str
) -> tuple[str, frozenset[str]]:
    """The text without the server's own entries that the candidate contradicts, and their essences."""
    lines = lines_of(text)
    gone: set[str] = set()
    for block in reversed(blocks_of(text)):
        own = text_of(block, lines)
        if block.kind != "item" or not all(memory.is_machine(line) for line in own if essence(line)):
            continue
        if contradicts(statement(" ".join(own), language), candidate.said):
            gone.add(essence("\n".join(own)))
            del lines[block.start : block.end]
    return "".join(lines), frozenset(gone)


def _lines(text: str) -> Iterator[str]:
    """The lines of a memory that say something, without their bullets."""
    lines = lines_of(text)
    for block in blocks_of(text):
        if block.kind not in ("heading", "front_matter"):
            yield from (line.strip() for line in text_of(block, lines) if essence(line))


def _with_title(rules: GuardRules, before: str) -> GuardRules:
    """A memory that a person wrote without the header is none that must have one."""
    has_title = any(
        b.kind == "heading" and b.level == 1 and folded([b.title]) == folded([TITLE]) for b in blocks_of(before)
    )
    return rules if has_title or not before.strip() else replace(rules, title=None)


def _nobody(_: str) -> bool:
    return False
