"""Copies of messages among the candidates, which compete with these as one. Pure.

What somebody said is stored as a message, and the server writes it down again: as a line of the daily log, as a line
that extraction took into a note, in an episode, as a consolidated line, as an entry of MEMORY.md or PROFILE.md. The
best score of them stands for all, and the message is the result: it is whole, has its own time and shows the
conversation around it.

A copy has the content of its original: each of its sentences stands in a message of the same memory, to the letter but
for case, white space and emphasis. Whether it was made of this message, or a person wrote it, `copied_lines` says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from reverie_indexer.text.analyse import fold
from reverie_indexer.text.chunk import note_date
from reverie_server.search.candidates import Candidates, Floats, Integers
from reverie_server.search.derived_files import is_derived
from reverie_server.sessions.daily_log import parts_of
from reverie_server.sessions.spoken import spoken
from reverie_server.text.redact import body_of

# The provenance of lines, each by its document and its text.
Origins: TypeAlias = dict[tuple[int, str], Sequence[Mapping[str, Any]]]
# A shorter text is part of another one by chance.
_MIN_PART_CHARS = 12
# Parts two texts; neither has it, since it is white space.
_BETWEEN = "\n"
_WORD_START = re.compile(r"(?<!\w)\w")
# Bounds for hostile texts: the sentences of a copy, the texts in which one is found, and the sentences of all copies.
_MAX_SENTENCES, _MAX_TEXTS, _MAX_SOUGHT = 24, 32, 500
# Marks of emphasis, and the bar, which is a wide one in the log.
_MARKS = (("*", ""), ("_", ""), ("`", ""), ("|", "\uff5c"))
# A copy that has a lower score than this number of other passages for each result changes nothing.
_OTHERS_EACH = 4
_CUT = "…"
_END = ".!?…。！？；;,， "
# The days on which it was said, at the end of an entry.
_DAYS = re.compile(r"\((?:until )?\d{4}-\d\d-\d\d(?:, \d{4}-\d\d-\d\d)*+\)[ \t.]*+$")


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """The rows of passages that may be copies, with a score that counts, and of the messages of the same memories."""

    derived: Sequence[int] = ()
    messages: Sequence[int] = ()

    @property
    def rows(self) -> list[int]:
        """All of them: the rows whose texts `equal_lines` reads."""
        return [*self.derived, *self.messages]


@dataclass(frozen=True, slots=True)
class EqualLine:
    """A line of a passage, and the rows that say what it says, in their order."""

    line: str
    sources: Sequence[int]


class ComparedTexts:
    """Texts as they are compared, each read once: requests that are answered together compare mostly the same."""

    def __init__(self) -> None:
        # The requests see one snapshot.
        self.origins: Origins = {}
        self._folded: dict[str, str] = {}
        self._statements: dict[tuple[bool, str], list[tuple[str, str]]] = {}

    def folded(self, text: str) -> str:
        """The text without case, marks of emphasis and more than one space."""
        found = self._folded.get(text)
        if found is None:
            found = self._folded[text] = _folded(text)
        return found

    def statements(self, text: str, *, of_episode: bool) -> list[tuple[str, str]]:
        """The sentences of a derived passage, without marks and headings, each with its line."""
        found = self._statements.get((of_episode, text))
        if found is None:
            lines = text.splitlines() if of_episode else body_of(text).splitlines()
            spoken_lines = ((spoken(line if of_episode else _DAYS.sub("", line)), line) for line in lines)
            found = self._statements[of_episode, text] = [(said, line) for said, line in spoken_lines if said]
        return found


def equal_lines(
    candidates: Candidates, compared: ComparedRows, texts: ComparedTexts | None = None
) -> dict[int, list[EqualLine]]:
    """For each row of `compared` that says what other rows of its memory say, its lines, in the order of the passage.

    A line of the daily log does where a message has one of its parts; another passage, where messages have all of its
    sentences, and a passage of an episode also where lines of the log have them.
    """
    texts = texts or ComparedTexts()
    rows = compared.derived
    found: dict[int, list[EqualLine]] = {}
    if not rows:
        return found
    log_parts = {row: parts for row in rows if (parts := log_parts_of(candidates, row)) is not None}
    said = [(row, candidates.text[row]) for row in compared.rows if candidates.tier[row] == "message"]
    messages = _Texts(said, candidates, texts)
    for row, parts in log_parts.items():
        if sources := messages.having_any(parts, row):
            found[row] = [EqualLine(log_line(candidates.text[row]), sources)]
    logged = _Texts([(row, part) for row, parts in log_parts.items() for part in parts], candidates, texts)
    for row in (row for row in rows if row not in log_parts):
        is_of_episode = candidates.tier[row] == "episodic"
        statements = texts.statements(candidates.text[row], of_episode=is_of_episode)
        lines = messages.having_all(statements, row)
        if not lines and is_of_episode:
            lines = logged.having_all(statements, row)
        if lines:
            found[row] = lines
    return found


def compared_rows(candidates: Candidates, score: Floats, limit: int) -> ComparedRows:
    """The rows that `equal_lines` compares, without those whose score is too low for a list of `limit` results."""
    rows = _derived_rows(candidates, score, limit)
    if not rows:
        return ComparedRows()
    memories = set(candidates.slice_id[rows].tolist())
    of_memories = candidates.slice_id[: candidates.proposed_count].tolist()
    messages = [
        row
        for row, (tier, memory) in enumerate(zip(candidates.tier, of_memories, strict=True))
        if tier == "message" and memory in memories
    ]
    return ComparedRows(rows, messages)


def _derived_rows(candidates: Candidates, score: Floats, limit: int) -> list[int]:
    """The rows that may be copies, of those with a score that counts."""
    memories = _with_originals(candidates)
    if not memories:
        return []
    tiers_and_paths = list(zip(candidates.tier, candidates.path, strict=True))
    # Each conversation has a path, too.
    derived_paths = {
        path for path in {path for tier, path in tiers_and_paths if tier == "document"} if is_derived(path)
    }
    derived = {
        row
        for row, (tier, path) in enumerate(tiers_and_paths)
        if tier == "episodic" or (tier == "document" and path in derived_paths)
    }
    others = np.delete(score, list(derived))
    least = np.sort(others)[-_OTHERS_EACH * limit] if len(others) > _OTHERS_EACH * limit else 0.0
    slice_id = candidates.slice_id.tolist()
    return [row for row in sorted(derived) if score[row] >= least and slice_id[row] in memories]


def _with_originals(candidates: Candidates) -> set[int]:
    """The memories among whose candidates something may be copied: messages, or the log for episodes."""
    of_tier: defaultdict[str, set[int]] = defaultdict(set)
    for tier, slice_id in zip(candidates.tier, candidates.slice_id[: candidates.proposed_count].tolist(), strict=True):
        of_tier[tier].add(slice_id)
    return of_tier["message"] | (of_tier["episodic"] & of_tier["document"])


def copies_by_original(copies_of: Mapping[int, Sequence[int]], rows: Collection[int]) -> dict[int, list[int]]:
    """For each of some rows that something copies, the rows of its copies, in their order."""
    wanted = set(rows)
    found: dict[int, list[int]] = {}
    for copy, sources in copies_of.items():
        originals = {original for row in sources for original in copies_of.get(row, [row])} & wanted
        for original in originals - {copy}:
            found.setdefault(original, []).append(copy)
    return {row: sorted(found[row]) for row in found}


def scored_by(count: int, copies_of: Mapping[int, Sequence[int]], score: Floats) -> Integers:
    """For each row the row whose scores it has: its own, or those of its best copy, if that is better.

    A copy of several messages stands for the one with the best score.
    """
    best = np.arange(count, dtype=np.int64)
    for copy, sources in sorted(copies_of.items(), key=lambda item: (-score[item[0]], item[0])):
        # What a copy is copied from may be a copy itself, as the line of a file that a fact is stated in.
        originals = [original for row in sources for original in copies_of.get(row, [row])]
        source = max(originals, key=lambda row: (score[row], -row))
        if score[copy] > score[best[source]]:
            best[source] = copy
    return best


class _Texts:
    """Texts of rows, in which sentences are looked for; only in those of the same memory as the sentence's row.

    The texts of a memory are one string, which is searched as a whole: of some hundred texts few have a sentence. After
    _MAX_SOUGHT sentences nothing is found any more.
    """

    def __init__(self, texts: Sequence[tuple[int, str]], candidates: Candidates, compared: ComparedTexts) -> None:
        self._slice_id = candidates.slice_id
        self._compared = compared
        self._memories: dict[int, _Memory] = {}
        by_slice: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        for row, text in texts:
            by_slice[int(self._slice_id[row])].append((row, compared.folded(text)))
        for slice_id, of_slice in by_slice.items():
            self._memories[slice_id] = _Memory.of(of_slice)
        self._left = _MAX_SOUGHT

    def having_any(self, sentences: Sequence[str], row: int) -> list[int]:
        """The rows whose text has one of the sentences, or begins as one that is longer than the text."""
        found = [source for sentence in sentences for source in self._having(sentence, row, or_begins=True)]
        return list(dict.fromkeys(found))

    def having_all(self, statements: Sequence[tuple[str, str]], row: int) -> list[EqualLine]:
        """The lines of sentences with the rows whose texts have them; none where one is missing."""
        found: list[EqualLine] = []
        for sentence, line in statements[:_MAX_SENTENCES]:
            if not (sources := self._having(sentence, row)):
                return []
            found.append(EqualLine(line, sources))
        return found if len(statements) <= _MAX_SENTENCES else []

    def _having(self, sentence: str, row: int, *, or_begins: bool = False) -> list[int]:
        memory = self._memories.get(int(self._slice_id[row]))
        folded = self._compared.folded(sentence)
        first = _WORD_START.search(folded)
        if memory is None or first is None or self._left == 0:
            return []
        self._left -= 1
        folded = folded[first.start() :]
        sought = folded.rstrip(_END)
        found = memory.having(sought, is_cut=sentence.rstrip().endswith(_CUT))
        if or_begins:
            found = sorted({*found, *memory.beginning(folded)})
        return [memory.rows[index] for index in found[:_MAX_TEXTS]]


@dataclass(frozen=True, slots=True)
class _Memory:
    """The folded texts of one memory: their rows, each with where it begins in `joined`, and two ways to find them."""

    rows: Sequence[int]
    starts: Sequence[int]
    joined: str
    by_beginning: Mapping[str, Sequence[int]]
    by_whole: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, texts: Sequence[tuple[int, str]]) -> _Memory:
        """The memory of texts, each with its row."""
        by_beginning: defaultdict[str, list[int]] = defaultdict(list)
        by_whole: defaultdict[str, list[int]] = defaultdict(list)
        for index, (_, text) in enumerate(texts):
            by_beginning[text[:_MIN_PART_CHARS]].append(index)
            by_whole[text.strip(_END)].append(index)
        lengths = (len(text) + len(_BETWEEN) for _, text in texts)
        starts = list(accumulate(lengths, initial=0))[:-1]
        joined = _BETWEEN.join(text for _, text in texts)
        return cls([row for row, _ in texts], starts, joined, by_beginning, by_whole)

    def having(self, sought: str, *, is_cut: bool) -> list[int]:
        """The texts that have a folded text as words of their own; a short one has to be all of them."""
        if len(sought) < _MIN_PART_CHARS:
            return list(self.by_whole.get(sought, ()))
        found: list[int] = []
        at = self.joined.find(sought)
        for _ in range(_MAX_TEXTS):
            if at < 0:
                break
            end = at + len(sought)
            is_word = at == 0 or not self.joined[at - 1].isalnum()
            if is_word and (is_cut or not self.joined[end : end + 1].isalnum()):
                index = bisect_right(self.starts, at) - 1
                found += [index] if index not in found[-1:] else []
            at = self.joined.find(sought, at + 1)
        return found

    def beginning(self, whole: str) -> list[int]:
        """The texts that a folded text begins with."""
        indices = self.by_beginning.get(whole[:_MIN_PART_CHARS], ())
        return [index for index in indices[:_MAX_TEXTS] if self._is_beginning(index, whole)]

    def _is_beginning(self, index: int, whole: str) -> bool:
        start = self.starts[index]
        end = self.starts[index + 1] - len(_BETWEEN) if index + 1 < len(self.starts) else len(self.joined)
        return end - start >= _MIN_PART_CHARS and whole.startswith(self.joined[start:end])


def log_parts_of(candidates: Candidates, row: int) -> tuple[str, str] | None:
    """The parts of a line of the daily log; None for another passage."""
    if candidates.tier[row] != "document" or note_date(candidates.path[row]) is None:
        return None
    return parts_of(candidates.text[row].strip())


def log_line(text: str) -> str:
    """The line of the log in a passage that is one; the first of a day has the note's heading above it."""
    return text.strip().splitlines()[-1]


def _folded(text: str) -> str:
    for mark, plain in _MARKS:
        text = text.replace(mark, plain)
    return " ".join((text.lower() if text.isascii() else fold(text)).split())
