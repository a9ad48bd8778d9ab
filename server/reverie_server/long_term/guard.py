"""The guard over files that a model proposes to replace whole: MEMORY.md and PROFILE.md. Pure.

A proposal that is too short, lacks the header, is over the caps or drops too much is refused. A model may not change
the entries of a person: those that the proposal leaves out are put back, word for word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reverie_server.long_term.compaction_text import MAX_LOSS, MIN_RESULT_CHARS, pieces_of
from reverie_server.long_term.memory_text import TITLE, contains
from reverie_server.text.markdown_blocks import Block, blocks_of, folded, text_of
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence

MAX_CHARS = 8000
MAX_GROWTH = 0.5
# A memory may grow to this size at once, however short it was: MAX_GROWTH of an empty file is nothing.
FREE_CHARS = 1000
# An added entry whose pairs of letters overlap by this share (those of both by those of either) with an entry of a
# person that the proposal leaves out is that entry in other words.
_REWORDED_SHARE = 0.55
# At most this many pairs of entries are compared in all; the missing entries that remain go back as they are.
_MAX_COMPARED = 20_000
# Entries of a person may be missing below at most this many headings: each one parses the whole file again.
_MAX_HOMES = 50
# An entry of at most this length means something else under another heading.
_MAX_DEPENDENT_CHARS = 20
_TOO_SHORT = f"the result has under {MIN_RESULT_CHARS} characters"


@dataclass(frozen=True, slots=True)
class GuardRules:
    """The limits of a proposal. Characters are code points, shares are of the file before.

    A file that is over `max_chars` already may keep its size, but not grow. `max_growth` None: only `max_chars` limits
    the growth. `title` is the required header (None: none). `explained` are the essences of entries that another entry
    contradicts: they do not count as lost when they leave. An entry of a person stays even then.
    """

    max_chars: int = MAX_CHARS
    max_growth: float | None = MAX_GROWTH
    max_loss: float = MAX_LOSS
    title: str | None = TITLE
    explained: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Guarded:
    """The text to write, or None and in `reason` why it is refused. `dropped` are the entries that leave the file, as
    written, without their bullets; none of them is a person's."""

    text: str | None
    reason: str
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A block with words, and the headings above it (level and title, outermost first)."""

    block: Block
    raw: tuple[str, ...]
    text: tuple[str, ...]
    headings: tuple[tuple[int, str], ...]

    @property
    def words(self) -> str:
        return folded(self.text)

    @property
    def verbatim(self) -> tuple[str, ...]:
        """The lines that must stay of a person's entry: all of them, without the bullet and the white space around."""
        return tuple(line.strip() for line in self.text if line.strip())


def check(before: str, after: str, rules: GuardRules, is_machine: Callable[[str], bool]) -> Guarded:
    """The text that may replace `before`, made of the proposal `after`; or why the proposal is refused.

    `is_machine` returns whether the server wrote a line. An entry with one line of a person is that person's; of
    several that are equal, case and white space aside, one stays. Where the proposal has a person's entry in other
    words, the entry replaces these; any other missing entry goes back below its heading.
    """
    if _is_too_short(after, before):
        return Guarded(None, _TOO_SHORT)
    newline = "\r\n" if "\r\n" in before else "\n"
    proposed = "\n".join(line.rstrip("\r\n") for line in lines_of(after.removeprefix("\ufeff"))) + "\n"
    if not _has_title(proposed, rules.title):
        # Reasons are logged: this one does not quote the header, which may be a line of the file.
        return Guarded(None, "the result lacks the header")
    old = _entries(before)
    new = _entries(proposed)
    if refused := _drops_too_much(old, _left_out(old, new, proposed), rules):
        return Guarded(None, refused)
    # A line without a word, such as the one below the head of a table, has no author.
    of_person = [entry for entry in old if not all(is_machine(line) for line in entry.text if essence(line))]
    missing = _missing(of_person, _entries(proposed))
    if len({entry.headings for entry in missing}) > _MAX_HOMES:
        return Guarded(None, f"the result changes what a person wrote below more than {_MAX_HOMES} headings")
    result = _with_entries_of_person(_with_front_matter(before, proposed), missing, old)
    kept = _entries(result)
    if _missing(of_person, kept) or not _headings(proposed) <= _headings(result):
        return Guarded(None, "what a person wrote has no place in the result: a fence or a list is left open")
    result = newline.join(result.split("\n"))
    if refused := _out_of_bounds(before, result, rules):
        return Guarded(None, refused)
    dropped = _left_out(old, kept, result)
    # Checked again: a proposed entry that a person's entry replaced may have held a second old entry, now dropped.
    if refused := _drops_too_much(old, dropped, rules):
        return Guarded(None, refused)
    return Guarded(result, "", tuple("\n".join(entry.text) for entry in dropped))


def _drops_too_much(old: Sequence[_Entry], left_out: Sequence[_Entry], rules: GuardRules) -> str | None:
    """Why too many entries are left out, or None. Entries that the rules explain do not count."""
    lost = sum(essence("\n".join(entry.text)) not in rules.explained for entry in left_out)
    count = len({entry.words for entry in old})
    return f"the result drops {lost} of {count} entries" if lost > rules.max_loss * count else None


def _out_of_bounds(before: str, result: str, rules: GuardRules) -> str | None:
    """Why the result is too short or too long, or None."""
    if _is_too_short(result, before):
        return _TOO_SHORT
    if len(result) > max(rules.max_chars, len(before)):
        return f"the result has {len(result)} characters; {rules.max_chars} is the most"
    if rules.max_growth is not None and len(result) > max(FREE_CHARS, len(before) * (1 + rules.max_growth)):
        return f"the result grows from {len(before)} to {len(result)} characters"
    return None


def _is_too_short(result: str, before: str) -> bool:
    """Whether a result says too little: under MIN_RESULT_CHARS; where the file before is as short, no entry at all."""
    if len(before.strip()) < MIN_RESULT_CHARS:
        return not _entries(result)
    return len(result.strip()) < MIN_RESULT_CHARS


def _has_title(text: str, title: str | None) -> bool:
    return title is None or (1, folded([title])) in _headings(text)


def _headings(text: str) -> set[tuple[int, str]]:
    return {(block.level, folded([block.title])) for block in blocks_of(text) if block.kind == "heading"}


def _entries(text: str) -> list[_Entry]:
    """The entries of a text in order: every block but headings and front matter."""
    lines = lines_of(text)
    headings: list[tuple[int, str]] = []
    found: list[_Entry] = []
    for block in blocks_of(text):
        if block.kind == "heading":
            headings = [*(h for h in headings if h[0] < block.level), (block.level, block.title)]
        elif block.kind != "front_matter":
            raw = tuple(line.rstrip("\r\n") for line in lines[block.start : block.end])
            entry = _Entry(block, raw, tuple(text_of(block, lines)), tuple(headings))
            if entry.words:
                found.append(entry)
    return found


def _left_out(old: Sequence[_Entry], new: Sequence[_Entry], text: str) -> list[_Entry]:
    """The old entries with a sentence that the new text lacks, each once."""
    whole = folded([text])
    # Most sentences are in this set, which saves the search through the text.
    kept = {piece for entry in new for piece in pieces_of(entry.text)}
    gone = {
        entry.words: entry
        for entry in old
        if not all(piece in kept or contains(whole, piece) for piece in pieces_of(entry.text))
    }
    return list(gone.values())


def _missing(of_person: Sequence[_Entry], new: Sequence[_Entry]) -> list[_Entry]:
    """A person's entries that the new text lacks word for word. Of equal entries one is enough."""
    verbatim = {entry.verbatim for entry in new}
    present = {_key(entry) for entry in of_person if entry.verbatim in verbatim}
    missing: dict[tuple[str, str], _Entry] = {}
    for entry in of_person:
        if _key(entry) not in present:
            missing.setdefault(_key(entry), entry)
    return list(missing.values())


def _key(entry: _Entry) -> tuple[str, str]:
    """The key of equal entries: their words, and of a short entry the heading too."""
    words = entry.words
    dependent = len(words) <= _MAX_DEPENDENT_CHARS and entry.headings
    return words, folded([entry.headings[-1][1]]) if dependent else ""


def _with_front_matter(before: str, proposed: str) -> str:
    """The proposal with the front matter of `before`; front matter of the proposal is removed."""
    old, new = ([b for b in blocks_of(text)[:1] if b.kind == "front_matter"] for text in (before, proposed))
    rest = "".join(lines_of(proposed)[new[0].end :]) if new else proposed
    if not old:
        return rest
    front_matter = [line.rstrip("\r\n") for line in lines_of(before.removeprefix("\ufeff"))[old[0].start : old[0].end]]
    return "\n".join(front_matter) + "\n\n" + rest.lstrip("\n")


def _with_entries_of_person(text: str, missing: Sequence[_Entry], old: Sequence[_Entry]) -> str:
    """The text with the missing entries: each in place of its rewording in the proposal, else below its heading."""
    if not missing:
        return text
    lines = [line.rstrip("\r\n") for line in lines_of(text)]
    known = {entry.words for entry in old}
    entries = _entries(text)
    free = _Free([entry for entry in entries if entry.words not in known])
    by_words = {entry.words: entry for entry in entries}
    homeless: list[_Entry] = []
    replaced: list[tuple[Block, _Entry]] = []
    for entry in missing:
        alike = by_words.pop(entry.words, None) or free.reworded(entry)
        if alike is None:
            homeless.append(entry)
            continue
        free.take(alike)
        replaced.append((alike.block, entry))
    for block, entry in sorted(replaced, key=lambda pair: -pair[0].start):
        lines[block.start : block.end] = entry.raw
    return _settled("\n".join(lines) + "\n", homeless)


class _Free:
    """Entries of a proposal that may be a person's entry in other words, each for one entry only."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self._pairs = {id(entry): (entry, _pairs(entry.words)) for entry in entries}
        self._compared = 0

    def take(self, entry: _Entry) -> None:
        """Remove an entry that stands for a person's entry already."""
        self._pairs.pop(id(entry), None)

    def reworded(self, entry: _Entry) -> _Entry | None:
        """The free entry that is most alike the given one, or None where the best share is under _REWORDED_SHARE."""
        pairs_of_entry = _pairs(entry.words)
        best, best_share = None, 0.0
        for other, pairs in self._pairs.values():
            if self._compared >= _MAX_COMPARED:
                break
            # Where one is much longer than the other, no share can be large enough.
            sizes = sorted((len(entry.words), len(other.words)))
            if sizes[0] < _REWORDED_SHARE * (sizes[1] - 1):
                continue
            self._compared += 1
            if (share := _share(pairs_of_entry, pairs)) > best_share:
                best, best_share = other, share
        return best if best_share >= _REWORDED_SHARE else None


def _pairs(words: str) -> Counter[str]:
    return Counter(words[index : index + 2] for index in range(len(words) - 1))


def _share(a: Counter[str], b: Counter[str]) -> float:
    """The pairs that both have, by those that either has; 0 where neither has any."""
    either = (a | b).total()
    return (a & b).total() / either if either else 0.0


def _settled(text: str, entries: Sequence[_Entry]) -> str:
    """The text with each entry added at the end of the text directly below its headings. Missing headings are added."""
    for headings in dict.fromkeys(entry.headings for entry in entries):
        group = [entry for entry in entries if entry.headings == headings]
        lines, blocks = [line.rstrip("\r\n") for line in lines_of(text)], blocks_of(text)
        at, depth, follows_item = _home(blocks, headings, len(lines))
        new_headings = [line for level, title in headings[depth:] for line in (f"{'#' * level} {title}", "")]
        body = list(_joined(group))
        tight = follows_item and not new_headings and group[0].block.kind == "item"
        above, below = lines[:at], lines[at:]
        while above and not above[-1].strip():
            above.pop()
        while below and not below[0].strip():
            below.pop(0)
        gap = [] if tight or not above else [""]
        text = "\n".join([*above, *gap, *new_headings, *body, *(["", *below] if below else [])]) + "\n"
    return text


def _home(blocks: Sequence[Block], headings: Sequence[tuple[int, str]], line_count: int) -> tuple[int, int, bool]:
    """The line before which an entry below some headings goes, how many of these the text has, and whether a list item
    comes before that line."""
    found = [block for block in blocks if block.kind == "heading"]
    for depth in range(len(headings), 0, -1):
        level, title = headings[depth - 1]
        home = next((b for b in found if b.level == level and folded([b.title]) == folded([title])), None)
        if home is None:
            continue
        later = (b for b in found if b.start > home.start)
        # Where headings are still to be added, they go behind the sub-sections of the one that is there.
        end = next((b.start for b in later if depth == len(headings) or b.level <= level), line_count)
        return end, depth, _follows_item(blocks, end)
    if headings:
        return line_count, 0, False
    # Above all headings.
    end = next((b.start for b in found), line_count)
    return end, 0, _follows_item(blocks, end)


def _follows_item(blocks: Sequence[Block], line: int) -> bool:
    last = [block for block in blocks if block.end <= line][-1:]
    return bool(last) and last[0].kind == "item"


def _joined(group: Sequence[_Entry]) -> Iterator[str]:
    """The entries' lines: list items without a gap, other entries parted by blank lines."""
    previous: _Entry | None = None
    for entry in group:
        if previous is not None and not previous.block.kind == entry.block.kind == "item":
            yield ""
        # An indented paragraph would belong to the list item above it.
        yield entry.raw[0].lstrip(" ") if entry.block.kind == "paragraph" else entry.raw[0]
        yield from entry.raw[1:]
        previous = entry
