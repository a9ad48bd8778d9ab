"""Which files the server writes."""

from __future__ import annotations

from datetime import date

import pytest

from reverie_server.long_term.archive import archive_path
from reverie_server.nights import diary
from reverie_server.search.derived_files import is_derived, is_diary, is_long_term, only_repeats


def test_archives_are_known_by_the_paths_that_they_get() -> None:
    assert is_long_term(archive_path(date(2026, 4, 3)))
    assert is_diary(diary.archive_path("2026-04"))
    assert only_repeats(archive_path(date(2026, 4, 3)))
    assert only_repeats(diary.archive_path("2026-04"))


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/2026-04-03.md", "memory/archive/2026-04.md", "_system/x.md"])
def test_what_the_server_writes_is_derived(path: str) -> None:
    assert is_derived(path)


@pytest.mark.parametrize("path", ["a.md", "memory/archive/notes.md", "archive/2026-04.md", "memory/dreams/flying.md"])
def test_what_people_write_is_not(path: str) -> None:
    assert not is_derived(path)
    assert not only_repeats(path)
