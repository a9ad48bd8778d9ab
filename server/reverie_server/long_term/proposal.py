"""A long-term memory as a model rewrites it: part by part, each guarded, joined, and guarded again. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reverie_indexer.text.analyse import analyse
from reverie_server.heuristics.grounding import Sources, without_refused
from reverie_server.jobs.model import lines_source
from reverie_server.llm.answers import Compaction, Replaced
from reverie_server.long_term.compaction_text import MAX_LOSS, compact_text
from reverie_server.long_term.guard import GuardRules, check
from reverie_server.long_term.memory_text import TITLE
from reverie_server.provenance.line_identity import added_lines, entry_lines, line_sha256
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.markdown_blocks import Block, blocks_of, folded
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence
from reverie_server.text.tokens import CountTokens

# A model gets a memory in MAX_PARTS parts of PART_TOKENS at most; a longer memory is compacted without the model.
PART_TOKENS = 1500
MAX_PARTS = 8
# Compaction makes a memory at most this share longer, by the headings of its sections.
MAX_GROWTH = 0.1
# An old line is a source of a new one if they share at least this part of the words of both.
_ALIKE_SHARE = 0.25
_MAX_SOURCES = 5
# The limit of places of its words that are looked at for a line, those of the rarest words first.
_MAX_PLACES = 200


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A memory as a model rewrote it, or None and the reason of the refusal. `dropped` are the entries that it lost."""

    text: str | None
    reason: str
    dropped: tuple[str, ...] = ()


def parts_of(text: str, count: CountTokens) -> list[str]:
    """The memory in parts of at most PART_TOKENS, as far as its blocks allow, each below its headings and the title.

    Nothing is left out, and no block is cut: one that is longer is a part of its own. Front matter is in none.
    """
    lines = [line.rstrip("\r\n") for line in lines_of(text.removeprefix("\ufeff"))]
    parts: list[list[str]] = []
    headings: list[Block] = []
    size = 0
    for block in blocks_of(text.removeprefix("\ufeff")):
        if block.kind == "front_matter":
            continue
        raw = lines[block.start : block.end]
        if block.kind == "heading":
            headings = [*(h for h in headings if h.level < block.level), block]
        tokens = count("\n".join(raw))
        if not parts or (size + tokens > PART_TOKENS and block.kind != "heading"):
            above = [line for h in headings if not _is_title(h) for line in (*lines[h.start : h.end], "")]
            parts.append([f"# {TITLE}", "", *above])
            size = 0
            if block.kind == "heading" and not _is_title(block):
                # It stands above already.
                continue
        if not (block.kind == "heading" and _is_title(block)):
            tight = block.kind == "item" and parts[-1][-1:] != [""]
            parts[-1] += raw if tight or parts[-1][-1] == "" else ["", *raw]
            if block.kind != "item":
                parts[-1].append("")
        size += tokens
    return ["\n".join(part).rstrip() + "\n" for part in parts]


def put_together(
    before: str,
    parts: Sequence[str],
    answers: Sequence[Compaction],
    clean: Callable[[str], str],
    machine_lines: frozenset[bytes],
    max_chars: int,
    max_loss: float = MAX_LOSS,
) -> Rewritten:
    """The memory `before`, rewritten from a model's answers to its parts, in order. A refused part stays as it is.

    `machine_lines` are the SHA-256 of the lines that the server wrote; `clean` is run on each answer.
    """

    def is_machine(line: str) -> bool:
        return line_sha256(line) in machine_lines

    explained: set[str] = set()
    kept: list[str] = []
    refused: list[str] = []
    ungrounded: list[tuple[str, str]] = []
    for part, answer in zip(parts, answers, strict=True):
        proposed = clean(neutralise(strip_injected(answer.memory)))
        proposed, invented = without_refused(proposed, part, Sources.of_texts([part]), about_user=True)
        ungrounded += invented
        by_part = explained_by(answer.replaced, part, proposed)
        rules = GuardRules(max(len(part), max_chars), None, max_loss, explained=by_part)
        guarded = check(part, proposed, rules, is_machine)
        explained |= by_part if guarded.text is not None else frozenset()
        kept.append(part if guarded.text is None else guarded.text)
        if guarded.text is None:
            refused.append(guarded.reason)
    if len(refused) == len(parts):
        return Rewritten(None, refused[0] if refused else "there is nothing to compact")
    joined = "\n".join([kept[0], *map(_without_title, kept[1:])])
    rules = GuardRules(max_chars, MAX_GROWTH, max_loss, explained=frozenset(explained))
    guarded = check(before, compact_text(joined) or joined, rules, is_machine)
    if guarded.text is None:
        return Rewritten(None, guarded.reason)
    if guarded.text == before:
        return Rewritten(None, "there is nothing to compact")
    lines = [f"a line was refused: {reason}" for reason in dict.fromkeys(reason for _, reason in ungrounded)]
    return Rewritten(guarded.text, "; ".join([*refused, *lines]), guarded.dropped)


def explained_by(replaced: Sequence[Replaced], before: str, after: str) -> frozenset[str]:
    """The essences of the lost entries that a claim of contradiction explains.

    Both entries must stand in the text before, the new one also in the text after, and they must share a word: a claim
    about something else explains nothing.
    """
    old = {essence(line) for line in entry_lines(before)}
    new = {essence(line) for line in entry_lines(after)}
    found = set()
    for claim in replaced:
        gone, stays = essence(claim.old), essence(claim.new)
        if gone == stays or gone not in old or stays not in old or stays not in new:
            continue
        if set(analyse(claim.old)) & set(analyse(claim.new)):
            found.add(gone)
    return frozenset(found)


def lines_with_sources(path: str, before: str, after: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each new line of a memory with its sources in the memory before: the lines alike, or all lines."""
    lines = [line.rstrip("\r\n") for line in lines_of(before)]
    old = {number: set(analyse(line)) for number, line in enumerate(lines, start=1) if entry_lines(line)}
    places: dict[str, list[int]] = defaultdict(list)
    for number, theirs in old.items():
        for word in theirs:
            places[word].append(number)
    for line in added_lines(before, after):
        words = set(analyse(line))
        shared: Counter[int] = Counter()
        for word in sorted(words & places.keys(), key=lambda word: (len(places[word]), word)):
            shared.update(places[word][:_MAX_PLACES])
            if shared.total() >= _MAX_PLACES:
                break
        shares = [(count / (len(words) + len(old[number]) - count), number) for number, count in shared.items()]
        best = sorted((s for s in shares if s[0] >= _ALIKE_SHARE), key=lambda s: (-s[0], s[1]))[:_MAX_SOURCES]
        sources = [lines_source(path, number, number) for _, number in sorted(best, key=lambda s: s[1])]
        yield line, sources or [lines_source(path, 1, max(1, len(lines)))]


def _without_title(part: str) -> str:
    return "".join(
        line for line in lines_of(part) if folded([line]).lstrip("# ") != folded([TITLE]) or not line.startswith("# ")
    )


def _is_title(block: Block) -> bool:
    return block.level == 1 and folded([block.title]) == folded([TITLE])
