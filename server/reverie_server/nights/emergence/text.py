"""The long-term memory with the candidates added, by a model's proposal or without a model. Pure.

Both ways end at the guard: a person's lines stay, the file stays under its caps, and of two lines that contradict each
other the older one leaves, if the server wrote it. Where the file is full, the server's lines of the least worth make
room for what is new; else the oldest would stay in every prompt, and nothing newer ever enter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reverie_indexer.errors import DuplicateDetected, ValidationFailed
from reverie_server.heuristics.orders import why_order
from reverie_server.heuristics.statement_index import FrameIndex
from reverie_server.heuristics.statements import GROUNDED_SHARE, Ground, Statement, contradicts, statement
from reverie_server.long_term.guard import GuardRules, check
from reverie_server.long_term.memory_text import SECTIONS, TITLE, add_entry, entry_of
from reverie_server.nights.emergence.collect import Candidate
from reverie_server.nights.emergence.model import MemoryFile
from reverie_server.text.markdown_blocks import Block, blocks_of, folded, text_of
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence

# The section of an entry by its kind of cue; the first that fits.
_SECTION_OF = (("preference", "preferences"), ("decision", "projects"), ("action", "projects"), ("fact", "profile"))
# At most this many candidates are added in a run, since each reads the whole memory; others wait for the next run.
MAX_ADDED = 100
# After this many in a row that the guard refuses, none of the others is tried.
MAX_REFUSED = 3
# The days and recalls that `candidate_line` adds, where a model copies them.
_OF_CANDIDATES = re.compile(r"(?<=- )\(\d{4}-\d\d-\d\d[^()]*; recalled \d+ times\) ")


@dataclass(frozen=True, slots=True)
class Proposal:
    """The memory as it may be written (None: not at all, for `reason`), and the candidates by their fate.

    `left` are the candidates that did not enter, each with the reason: `room` (the caps of the file), `model` (the
    model did not take it), `instruction` (it is an order to the agent). `dropped` are the entries that leave the file.
    """

    text: str | None
    reason: str
    promoted: tuple[Candidate, ...] = ()
    left: tuple[tuple[Candidate, str], ...] = ()
    dropped: tuple[str, ...] = ()


def heuristic_proposal(
    memory: MemoryFile | None, passing: Sequence[Candidate], rules: GuardRules, language: str
) -> Proposal:
    """The memory with the candidates added to their sections, best first, as far as there is room."""
    before = memory.text if memory else ""
    rules = _with_title(rules, before)
    text, reason = before, "nothing passed"
    promoted: list[Candidate] = []
    left: list[tuple[Candidate, str]] = []
    dropped: tuple[str, ...] = ()
    # The server's own entries in the present text.
    machine = _Machine(text, memory, language)
    refused = 0
    for candidate in passing:
        if refused == MAX_REFUSED or len(promoted) >= MAX_ADDED:
            left.append((candidate, "room"))
            continue
        if (order := why_order(candidate.text)) is not None:
            reason = order
            left.append((candidate, "instruction"))
            continue
        contradicted = machine.contradicted(candidate)
        explained = replace(rules, explained=rules.explained | machine.keys(contradicted))
        try:
            longer = _with_candidate(machine, candidate, contradicted, max(rules.max_chars, len(before)))
        except (DuplicateDetected, ValidationFailed) as error:
            reason = error.detail
            left.append((candidate, "room"))
            continue
        guarded = check(before, longer, explained, memory.is_machine if memory else _is_never)
        if guarded.text is None:
            reason = guarded.reason
            refused += 1
            left.append((candidate, "room"))
            continue
        text, rules, dropped = guarded.text, explained, guarded.dropped
        machine, refused = _Machine(text, memory, language), 0
        promoted.append(candidate)
    if not promoted:
        return Proposal(None, reason, left=tuple(left))
    return Proposal(text, "", tuple(promoted), tuple(left), dropped)


def modelled(
    memory: MemoryFile | None, passing: Sequence[Candidate], content: str, rules: GuardRules, language: str
) -> Proposal:
    """The proposal of a model, guarded; refused where a new line follows from neither candidates nor memory."""
    before = memory.text if memory else ""
    content = _OF_CANDIDATES.sub("", content)
    rules = _with_title(rules, before)
    known = [statement(line, language) for line in _lines(before)]
    known_essences = {line.essence for line in known}
    proposed = [statement(line, language) for line in _lines(content)]
    new = [line for line in proposed if line.essence not in known_essences]
    ground = Ground([*(candidate.statement for candidate in passing), *known])
    if not all(map(ground.supports, new)):
        return Proposal(None, "the proposal says what nobody said")
    if any((order := why_order(line.text)) is not None for line in new):
        return Proposal(None, f"the proposal has an instruction: {order}")
    frames = FrameIndex(candidate.statement for candidate in passing)
    explained = frozenset(
        line.essence
        for line in known
        if memory
        and memory.is_machine(line.text)
        and any(contradicts(line, passing[number].statement) for number in frames.opposed(line))
    )
    guarded = check(before, content, replace(rules, explained=explained), memory.is_machine if memory else _is_never)
    if guarded.text is None:
        return Proposal(None, guarded.reason)
    if guarded.text == before:
        return Proposal(None, "the proposal changes nothing")
    lines = [statement(line, language) for line in _lines(guarded.text)]
    entered = [candidate for candidate in passing if any(_contains(line, candidate.statement) for line in lines)]
    entered_ids = set(map(id, entered))
    left = tuple((candidate, "model") for candidate in passing if id(candidate) not in entered_ids)
    return Proposal(guarded.text, "", tuple(entered), left, guarded.dropped)


def candidates_in(line: str, candidates: Sequence[Candidate], language: str) -> list[Candidate]:
    """The candidates that a line of the memory contains; all candidates where it contains none."""
    entry = statement(line, language)
    return [candidate for candidate in candidates if _contains(entry, candidate.statement)] or list(candidates)


def _contains(line: Statement, other: Statement) -> bool:
    """Whether a line has most terms and all values of another statement."""
    if line.essence == other.essence:
        return True
    shared = len(line.terms & other.terms)
    return shared >= GROUNDED_SHARE * len(other.terms) > 0 and other.values <= {*line.values, *line.words}


def _section_of(candidate: Candidate) -> str:
    kinds = candidate.kinds
    category = next((category for kind, category in _SECTION_OF if kind in kinds), "notes")
    return SECTIONS[category]


def _with_candidate(machine: _Machine, candidate: Candidate, contradicted: Sequence[int], max_chars: int) -> str:
    """The text with a candidate and without what it contradicts; over `max_chars` the weakest entries leave, too."""
    section, entry = _section_of(candidate), entry_of(candidate.text)
    longer = add_entry(machine.without(contradicted) or None, section, entry)
    weakest = machine.weakest(len(longer) - max_chars, besides=contradicted)
    return add_entry(machine.without([*contradicted, *weakest]) or None, section, entry) if weakest else longer


@dataclass(frozen=True, slots=True)
class _MachineEntry:
    """An entry of the server. `worth` says how long it stays; None: whatever comes, it does not leave for room."""

    block: Block
    key: str
    statement: Statement
    worth: tuple[float, datetime] | None


class _Machine:
    """The server's own entries in a text of the memory, read once for all candidates; each is known by its number."""

    def __init__(self, text: str, memory: MemoryFile | None, language: str) -> None:
        self._text = text
        self._lines = lines_of(text) if memory else []
        self._entries: list[_MachineEntry] = []
        for block in blocks_of(text) if memory else ():
            lines = text_of(block, self._lines)
            keys = [key for line in lines if (key := essence(line))]
            if memory and block.kind == "item" and memory.machine.issuperset(keys):
                known = [memory.worth[key] for key in keys if key in memory.worth]
                worth = max(known) if known and len(known) == len(keys) else None
                said = statement(" ".join(lines), language)
                self._entries.append(_MachineEntry(block, essence("\n".join(lines)), said, worth))
        self._index = FrameIndex(entry.statement for entry in self._entries)

    def contradicted(self, candidate: Candidate) -> list[int]:
        """The entries that a candidate contradicts."""
        similar = self._index.opposed(candidate.statement)
        return [number for number in similar if contradicts(self._entries[number].statement, candidate.statement)]

    def weakest(self, chars: int, *, besides: Sequence[int]) -> list[int]:
        """Of the entries that may leave those of the least worth, the fewest that have so many characters together."""
        by_worth = sorted(
            (entry.worth, number)
            for number, entry in enumerate(self._entries)
            if entry.worth is not None and number not in besides
        )
        found: list[int] = []
        for _, number in by_worth:
            if chars <= 0:
                break
            found.append(number)
            block = self._entries[number].block
            chars -= sum(map(len, self._lines[block.start : block.end]))
        return found

    def keys(self, numbers: Sequence[int]) -> frozenset[str]:
        """The essences of entries."""
        return frozenset(self._entries[number].key for number in numbers)

    def without(self, numbers: Sequence[int]) -> str:
        """The text without entries."""
        if not numbers:
            return self._text
        lines = list(self._lines)
        # The last block comes first, so that earlier line numbers stay valid.
        for number in sorted(numbers, reverse=True):
            block = self._entries[number].block
            del lines[block.start : block.end]
        return "".join(lines)


def _lines(text: str) -> Iterator[str]:
    """The lines of a memory with content, without headings."""
    lines = lines_of(text)
    for block in blocks_of(text):
        if block.kind not in ("heading", "front_matter"):
            yield from (line.strip() for line in text_of(block, lines) if essence(line))


def _with_title(rules: GuardRules, before: str) -> GuardRules:
    """The rules, without the title where the memory before has none."""
    has_title = any(
        b.kind == "heading" and b.level == 1 and folded([b.title]) == folded([TITLE]) for b in blocks_of(before)
    )
    return rules if has_title or not before.strip() else replace(rules, title=None)


def _is_never(_: str) -> bool:
    return False
