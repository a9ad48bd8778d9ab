"""A week of somebody who says very much: what is read of each day, and what emerges of it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from reverie_server.heuristics.entries import Entry, entries_of
from reverie_server.nights.emergence.candidates import Rules
from reverie_server.nights.emergence.collect import ScoringContext, collect
from reverie_server.nights.emergence.fair_share import char_shares, fair_share
from reverie_server.nights.emergence.model import MAX_ENTRIES, EmergenceInput, NoteFile

LAST = date(2026, 4, 7)
BREAD = "We decided to bake the bread ourselves."
WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "iris", "jade", "kelp", "larch")


def week(a_day: int, kind: str = "I prefer the {} number {} to others.") -> list[NoteFile]:
    """Notes of seven days, each of which begins with the decision, before very many others of that day alone."""
    files = []
    for ago in range(7):
        day = LAST - timedelta(days=ago)
        said = [BREAD, *(kind.format(f"{WORDS[n % 12]} {WORDS[n // 12 % 12]}", 1000 * ago + n) for n in range(a_day))]
        text = f"# {day}\n\n" + "".join(f"- {each}\n" for each in said)
        files.append(NoteFile(ago, f"memory/{day}.md", 1, day, text))
    return files


def entries_in(files: list[NoteFile]) -> list[Entry]:
    return [entry for file in files for entry in entries_of(file.path, file.text, file.day)]


@pytest.mark.parametrize("a_day", [150, 700])
def test_what_was_said_on_each_of_seven_busy_days_is_noted_on_seven_days(a_day: int) -> None:
    """*(Found)*: with 150 statements a day it was of three days, with 700 no candidate at all."""
    files = week(a_day)
    context = ScoringContext(Rules(), datetime(2026, 4, 8, 2, tzinfo=UTC), "UTC", "english")
    found = collect(EmergenceInput(files=files, entries=entries_in(files)), context)
    [bread] = [candidate for candidate in found if candidate.text == BREAD]
    assert len(bread.evidence.days) == 7


def test_where_all_are_decisions_those_of_several_days_come_first() -> None:
    chosen = fair_share(entries_in(week(200, "We decided to build the {} number {} of brick.")), "english")
    assert sum(entry.text == BREAD for entry in chosen) == 7


def test_each_day_has_its_share_and_what_it_does_not_need_is_the_others() -> None:
    files = week(300)
    quiet = NoteFile(9, "memory/2026-03-30.md", 1, date(2026, 3, 30), "# A quiet day\n\n- The sky was clear.\n")
    chosen = fair_share(entries_in([*files, quiet]), "english")
    assert len(chosen) == MAX_ENTRIES
    counts = [sum(entry.path == file.path for entry in chosen) for file in [*files, quiet]]
    assert counts[-1] == 1
    assert max(counts[:-1]) - min(counts[:-1]) <= 1
    assert chosen == sorted(chosen, key=lambda entry: (entry.days, entry.start_line))


def test_few_entries_are_all_there() -> None:
    entries = entries_in(week(20))
    assert sorted(map(id, fair_share(entries, "english"))) == sorted(map(id, entries))


def test_of_long_texts_as_much_is_read_of_each() -> None:
    assert char_shares([10, 1000, 1000], 500) == [10, 245, 245]
    assert char_shares([10, 20], 500) == [10, 20]
    assert char_shares([], 500) == []
