"""DREAMS.md: entries, and how older ones fold into archives without a word lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie_indexer.text.chunk import note_date
from reverie_server.nights.diary import (
    MAX_CHARS,
    DiaryEntry,
    archive_path,
    archive_stem,
    archived,
    latest,
    render_entry,
    rolled,
    written,
)
from reverie_server.search.derived_files import is_diary
from reverie_server.text.numbered_parts import part_number

START = datetime(2026, 1, 1, 2, 0, tzinfo=UTC)


def dream(night: int, details: int = 3) -> DiaryEntry:
    told = [("Concluded", f"Conclusion {number} of night {night}, which is worth a line.") for number in range(details)]
    return DiaryEntry(START + timedelta(days=night), "emergence", f"{details} of 9 candidates", f"{night:016x}", told)


def test_an_entry_says_in_its_heading_what_it_comes_to() -> None:
    assert render_entry(dream(0, 1)) == (
        "## 2026-01-01 02:00 emergence: 1 of 9 candidates (report 0000000000000000)\n\n"
        "Concluded: Conclusion 0 of night 0, which is worth a line.\n"
    )
    assert render_entry(dream(0, 0)).count("\n") == 1


def test_entries_are_added_at_the_end_and_what_a_person_wrote_stays() -> None:
    diary = written("# Dreams\n\nMy own words.\n", render_entry(dream(0))).text
    diary = written(diary + "\nI doubt that.\n", render_entry(dream(1))).text
    assert diary.startswith("# Dreams\n\nMy own words.\n\n## 2026-01-01")
    assert "worth a line.\n\nI doubt that.\n\n## 2026-01-02" in diary
    assert latest(diary) == render_entry(dream(1)).strip()
    assert latest("# Dreams\n") is None
    assert written(None, render_entry(dream(0))).text.startswith("# Dreams\n\n## ")


class Archives:
    """The archives of a diary by path, and how many characters of them were written."""

    def __init__(self) -> None:
        self.by_path: dict[str, str] = {}
        self.written = 0

    def take(self, month: str, entries: Sequence[str]) -> None:
        parts = {
            number: text
            for path, text in self.by_path.items()
            if (number := part_number(path, archive_stem(month))) is not None
        }
        for number, text in archived(parts, month, entries).items():
            assert text != parts.get(number)
            self.by_path[archive_path(month, number)] = text
            self.written += len(text)


def live(nights: int, max_chars: int, details: int = 3) -> tuple[str, dict[str, str]]:
    """A diary of so many nights, with its archives by path."""
    diary: str | None = None
    archives = Archives()
    for night in range(nights):
        found = written(diary, render_entry(dream(night, details if night % 3 else 0)), max_chars=max_chars)
        diary = found.text
        for month, entries in found.moved.items():
            archives.take(month, entries)
        assert len(diary) <= max_chars
    return diary or "", archives.by_path


def busy(runs: int, *, days: int, details: int = 9) -> tuple[str, Archives, list[str]]:
    """A diary of a month with so many runs a day, its archives, and all its entries."""
    diary: str | None = None
    archives, entries = Archives(), list[str]()
    for number in range(runs * days):
        at = START + timedelta(days=number // runs, minutes=number % runs)
        told = [("Concluded", f"Line {n} of run {number}, {'and more of it ' * 8}.") for n in range(details)]
        entries.append(render_entry(DiaryEntry(at, "dreaming", "9 lines of 10 episodes", f"{number:016x}", told)))
        found = written(diary, entries[-1])
        diary = found.text
        assert len(diary) <= MAX_CHARS
        for month, moved in found.moved.items():
            archives.take(month, moved)
    return diary or "", archives, entries


def test_a_busy_month_stays_under_the_cap_and_is_not_written_again_and_again() -> None:
    """*(Found)*: of 20 runs a day DREAMS.md had 50,012 characters, and 243 MB of versions of one archive were kept."""
    diary, archives, entries = busy(20, days=31)
    everything = "\n".join([diary, *archives.by_path.values()])
    assert all(entry.strip() in everything for entry in entries)
    assert "## 2026-01-01 — 20 entries, in memory/dreams/2026-01.md\n" in diary
    half = busy(20, days=15)[1]
    # What is written grows as what is told does.
    assert archives.written < 2.5 * half.written
    assert archives.written < 10 * sum(map(len, archives.by_path.values()))
    assert all(len(text) < 60_000 for text in archives.by_path.values())
    assert {"memory/dreams/2026-01.md", "memory/dreams/2026-01-part02.md"} < archives.by_path.keys()
    headings = [line for text in archives.by_path.values() for line in text.splitlines() if line.startswith("## ")]
    assert len(headings) == len(set(headings))


def test_one_very_busy_day_stays_under_the_cap_too() -> None:
    diary, archives, entries = busy(420, days=1)
    everything = "\n".join([diary, *archives.by_path.values()])
    assert all(entry.strip() in everything for entry in entries)
    assert diary.count("## 2026-01-01 — ") == 1


def test_past_its_cap_older_entries_are_one_line_and_stand_whole_in_the_archive_of_their_month() -> None:
    diary, archives = live(20, 3000)
    assert list(archives) == ["memory/dreams/2026-01.md"]
    archive = archives["memory/dreams/2026-01.md"]
    for night in range(20):
        entry = render_entry(dream(night, 3 if night % 3 else 0)).strip()
        assert entry.splitlines()[0] in diary, night
        assert entry in diary or entry in archive, night
    assert render_entry(dream(19)).strip() in diary
    assert render_entry(dream(1)).strip() not in diary


def test_in_a_year_no_night_is_lost_between_diary_and_archives() -> None:
    """A summary alone would lose the audit trail *(seen elsewhere)*."""
    diary, archives = live(365, 6000)
    everything = "\n".join([diary, *archives.values()])
    for night in range(365):
        assert render_entry(dream(night, 3 if night % 3 else 0)).strip() in everything, night
    assert "## 2026-01 — 31 entries, in memory/dreams/2026-01.md" in diary
    assert list(archives) == [f"memory/dreams/2026-{month:02}.md" for month in range(1, len(archives) + 1)]
    assert len(archives) >= 11
    for path, archive in archives.items():
        times = re.findall(r"^## (\S+ \S+)", archive, re.MULTILINE)
        assert times == sorted(times), path
        assert len(times) == len(set(times)), path


def test_an_archive_takes_each_entry_once_and_a_persons_words_below_it_too() -> None:
    whole = render_entry(dream(0))
    heading = whole.partition("\n")[0]
    archive = archived({}, "2026-01", [whole])
    # A part that is there already is asked first, wherever the next new entry goes.
    parts = {**archive, 2: "# Dreams of 2026-01, part 2\n"}
    assert archived(parts, "2026-01", [whole, f"{heading}\n"]) == {}
    more = archived(parts, "2026-01", [f"{heading}\n\nA remark of mine.\n"])
    assert list(more) == [1]
    assert whole.strip() in more[1]
    assert "A remark of mine." in more[1]
    assert more[1].count(heading) == 1


def test_a_part_of_an_archive_is_no_daily_note() -> None:
    paths = [archive_path("2026-04", number) for number in (1, 2, 10, 30)]
    assert [part_number(path, archive_stem("2026-04")) for path in paths] == [1, 2, 10, 30]
    assert not any(map(note_date, paths))
    assert all(map(is_diary, paths))
    assert part_number("memory/dreams/2026-04-03.md", archive_stem("2026-04")) is None


def test_a_diary_that_nobody_can_shorten_stays_as_it_is() -> None:
    text = "# Dreams\n\n" + "My own words. " * 500 + "\n\n" + render_entry(dream(0))
    found = rolled(text, 2000)
    assert found.moved == {}
    assert found.text.split() == text.split()


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 6)), min_size=1, max_size=40),
    st.integers(500, 6000),
)
def test_whatever_is_written_every_line_is_in_the_diary_or_in_an_archive(
    nights: list[tuple[int, int]], max_chars: int
) -> None:
    diary: str | None = None
    archives = Archives()
    entries = [
        render_entry(dream(sum(gap for gap, _ in nights[:at]), details)) for at, (_, details) in enumerate(nights)
    ]
    for entry in entries:
        found = written(diary, entry, max_chars=max_chars)
        diary = found.text
        for month, moved in found.moved.items():
            archives.take(month, moved)
    everything = {line for text in [diary or "", *archives.by_path.values()] for line in text.splitlines()}
    assert {line for entry in entries for line in entry.splitlines()} <= everything | {""}
