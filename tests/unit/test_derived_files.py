"""Which files the server writes."""

from __future__ import annotations

from datetime import date

import pytest

from reverie_server.long_term.archive import archive_stem
from reverie_server.nights import diary
from reverie_server.search.derived_files import is_derived, is_diary, is_long_term, only_repeats
from reverie_server.text.numbered_parts import part_path


def test_archives_are_known_by_the_paths_that_they_get() -> None:
    for number in (1, 2, 12, 120):
        for_good, dreams = part_path(archive_stem(date(2026, 4, 3)), number), diary.archive_path("2026-04", number)
        assert is_long_term(for_good)
        assert is_diary(dreams)
        assert only_repeats(for_good)
        assert only_repeats(dreams)


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/2026-04-03.md", "memory/archive/2026-04.md", "_system/x.md"])
def test_what_the_server_writes_is_derived(path: str) -> None:
    assert is_derived(path)


@pytest.mark.parametrize("path", ["a.md", "memory/archive/notes.md", "archive/2026-04.md", "memory/dreams/flying.md"])
def test_what_people_write_is_not(path: str) -> None:
    assert not is_derived(path)
    assert not only_repeats(path)
