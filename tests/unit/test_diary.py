"""DREAMS.md: entries, and how older ones fold into archives without a word lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie_server.nights.diary import DiaryEntry, archive_path, archived, latest, render_entry, rolled, written

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


def live(nights: int, max_chars: int, details: int = 3) -> tuple[str, dict[str, str]]:
    """A diary of so many nights, with its archives by path."""
    diary: str | None = None
    archives: dict[str, str] = {}
    for night in range(nights):
        found = written(diary, render_entry(dream(night, details if night % 3 else 0)), max_chars=max_chars)
        diary = found.text
        for month, entries in found.moved.items():
            archives[archive_path(month)] = archived(archives.get(archive_path(month)), month, entries)
        assert len(diary) <= max_chars
    return diary or "", archives


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
    archive = archived(None, "2026-01", [whole])
    assert archived(archive, "2026-01", [whole, f"{heading}\n"]) == archive
    more = archived(archive, "2026-01", [f"{heading}\n\nA remark of mine.\n"])
    assert whole.strip() in more
    assert "A remark of mine." in more
    assert more.count(heading) == 1


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
    archives: dict[str, str] = {}
    entries = [
        render_entry(dream(sum(gap for gap, _ in nights[:at]), details)) for at, (_, details) in enumerate(nights)
    ]
    for entry in entries:
        found = written(diary, entry, max_chars=max_chars)
        diary = found.text
        for month, moved in found.moved.items():
            archives[month] = archived(archives.get(month), month, moved)
    everything = {line for text in [diary or "", *archives.values()] for line in text.splitlines()}
    assert {line for entry in entries for line in entry.splitlines()} <= everything | {""}
