"""The long-term memory with the candidates added, by a model's proposal or without a model. Pure.

Both ways end at the guard: a person's lines stay, the file stays under its caps, and of two lines that contradict each
other the older one leaves, if the server wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
        if refused == MAX_REFUSED:
            left.append((candidate, "room"))
            continue
        if (order := why_order(candidate.text)) is not None:
            reason = order
            left.append((candidate, "instruction"))
            continue
        base, contradicted = machine.without_contradicted(candidate)
        is_full = len(base) >= max(rules.max_chars, len(before))
        if is_full or len(promoted) >= MAX_ADDED:
            reason = f"the memory has {len(base)} characters; {rules.max_chars} is the most" if is_full else reason
            left.append((candidate, "room"))
            continue
        explained = replace(rules, explained=rules.explained | contradicted)
        try:
            longer = add_entry(base or None, _section_of(candidate), entry_of(candidate.text))
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


class _Machine:
    """The server's own entries in a text of the memory, read once for all candidates."""

    def __init__(self, text: str, memory: MemoryFile | None, language: str) -> None:
        self._text = text
        self._lines = lines_of(text) if memory else []
        self._blocks: list[tuple[Block, str, Statement]] = []
        for block in blocks_of(text) if memory else ():
            entry = text_of(block, self._lines)
            if memory and block.kind == "item" and all(memory.is_machine(line) for line in entry if essence(line)):
                self._blocks.append((block, essence("\n".join(entry)), statement(" ".join(entry), language)))
        self._index = FrameIndex(entry for _, _, entry in self._blocks)

    def without_contradicted(self, candidate: Candidate) -> tuple[str, frozenset[str]]:
        """The text without the entries that a candidate contradicts, and their essences."""
        similar = map(self._blocks.__getitem__, self._index.opposed(candidate.statement))
        contradicted = [(block, key) for block, key, entry in similar if contradicts(entry, candidate.statement)]
        if not contradicted:
            return self._text, frozenset()
        lines = list(self._lines)
        # The last block comes first, so that earlier line numbers stay valid.
        for block, _ in contradicted:
            del lines[block.start : block.end]
        return "".join(lines), frozenset(key for _, key in contradicted)


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
