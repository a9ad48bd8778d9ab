"""Entries that say the same, as one group. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache

from reverie_indexer.text.analyse import analyse
from reverie_server.heuristics.entries import MAX_ENTRY_CHARS, Entry
from reverie_server.heuristics.statement_index import TermIndex
from reverie_server.heuristics.statements import MIN_ENTAILED_TERMS, Statement, is_duplicate
from reverie_server.heuristics.statements import statement as read_statement
from reverie_server.nights.emergence.model import EmergenceInput, MessageKey, Passage
from reverie_server.nights.emergence.uptake import Noted

# Somebody who looks at the candidates looks again. Some 4 kB each.
_KEPT_STATEMENTS = 2048
_known_statement = lru_cache(maxsize=_KEPT_STATEMENTS)(read_statement)


def statement(text: str, language: str) -> Statement:
    """The statement of a text; of an entry or a line that was just read it is known."""
    return (_known_statement if len(text) <= MAX_ENTRY_CHARS else read_statement)(text, language)


def forget_statements() -> None:
    """Forget the statements that are known."""
    _known_statement.cache_clear()


class EntryGroup:
    """Entries that say the same, the latest wording last."""

    def __init__(self, entry: Entry, wording: Statement) -> None:
        self.members = [(entry, wording)]

    @property
    def statement(self) -> Statement:
        """The wording of the newest entry: a note's own before one of the log."""
        return max(self.members, key=lambda member: (not is_logged(member[0]), age_key(member[0])))[1]

    @property
    def source(self) -> str:
        """The file and line of its statement."""
        wording = self.statement
        return next(entry.source for entry, _ in self.members if entry.text == wording.text)

    def noted(self, language: str, known: str) -> Noted:
        """Its terms in a language (`known`: that of its statement), and the first day on which it was noted."""
        first = min(day for entry, _ in self.members for day in entry.days)
        wording = self.statement
        return Noted(wording.terms if language == known else frozenset(analyse(wording.text, language)), first)

    @property
    def latest(self) -> tuple[date, bool, str, int]:
        """The age key of its newest entry."""
        return max(age_key(entry) for entry, _ in self.members)


def group_entries(entries: Sequence[Entry], language: str) -> list[EntryGroup]:
    """The entries, oldest first, in groups of the same meaning."""
    groups: list[EntryGroup] = []
    index = TermIndex()
    for entry in entries:
        wording = statement(entry.text, language)
        similar = (groups[number] for number in index.alike(wording))
        group = next((group for group in similar if is_duplicate(group.members[-1][1], wording)), None)
        if group is not None:
            group.members.append((entry, wording))
            continue
        groups.append(EntryGroup(entry, wording))
        index.add(wording)
    return groups


def match_passages(
    groups: Sequence[EntryGroup], passages: Iterable[Passage], inputs: EmergenceInput
) -> dict[int, list[Passage]]:
    """The passages that say the same as a group, by the group's `id`.

    A passage of a file matches by the lines of the group's entries; one of a message by the messages that these come
    from, and by having all terms of an entry.
    """
    by_path: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    by_message: dict[MessageKey, list[int]] = defaultdict(list)
    # Each under one of its terms, without which a passage does not have them all.
    by_term: dict[str, list[tuple[int, frozenset[str]]]] = defaultdict(list)
    matches: dict[int, list[Passage]] = {id(group): [] for group in groups}
    for group in groups:
        for entry, wording in group.members:
            by_path[entry.path].append((entry.start_line, entry.end_line, id(group)))
            for message in inputs.origins.get((entry.path, entry.raw), ()):
                by_message[message].append(id(group))
            if len(wording.terms) >= MIN_ENTAILED_TERMS:
                longest = max(wording.terms, key=lambda term: (len(term), term))
                by_term[longest].append((id(group), wording.terms))
    for passage in passages:
        if passage.message is None:
            spans = by_path.get(passage.path, ())
            ids = {g for start, end, g in spans if start <= passage.end_line and passage.start_line <= end}
        else:
            ids = set(by_message.get(passage.message, ()))
            by_terms = (group_terms for term in passage.terms for group_terms in by_term.get(term, ()))
            ids |= {group_id for group_id, terms in by_terms if terms <= passage.terms}
        for group_id in ids:
            matches[group_id].append(passage)
    return matches


def is_logged(entry: Entry) -> bool:
    """Whether an entry is a line of the daily log, and not a note's own."""
    return " | Assistant: " in entry.raw


def age_key(entry: Entry) -> tuple[date, bool, str, int]:
    """The sort key of an entry by when it was said; on the same day the entries of notes come last."""
    return max(entry.days), not entry.path.startswith("_system/"), entry.path, entry.start_line
