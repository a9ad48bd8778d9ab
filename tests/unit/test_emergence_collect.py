"""On how many days something was said: what the server wrote of a message is not said again by it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

from reverie_server.heuristics.entries import entries_of
from reverie_server.nights.emergence.candidates import Rules
from reverie_server.nights.emergence.collect import Candidate, ScoringContext, collect
from reverie_server.nights.emergence.model import EmergenceInput, MessageKey, NoteFile

FACT = "My brother Tom has lived in Bergen since 2019."
LOGGED = f"[23:50] User: {FACT} | Assistant: Noted."
SAID, AGAIN = ("web:1", 3), ("web:2", 7)
FIRST, NEXT, LATER = date(2026, 4, 3), date(2026, 4, 4), date(2026, 4, 9)


def note(number: int, day: date, text: str) -> NoteFile:
    return NoteFile(number, f"memory/{day.isoformat()}.md", 1, day, text)


def consolidated(number: int, day: date, text: str) -> NoteFile:
    return NoteFile(number, f"_system/dreaming/{day:%Y%m%d}-consolidated.md", 1, day, text, is_consolidated=True)


def one(*files: NoteFile, origins: Mapping[tuple[int, str], MessageKey]) -> Candidate:
    """The one candidate of some files, of which lines come from messages."""
    entries = [entry for file in files for entry in entries_of(file.path, file.text, file.day)]
    paths = {file.document_id: file.path for file in files}
    known = {(paths[number], raw): frozenset({source}) for (number, raw), source in origins.items()}
    setting = ScoringContext(Rules(), datetime(2026, 4, 10, 2, tzinfo=UTC), "UTC", "english")
    [found] = collect(EmergenceInput(files=files, entries=entries, origins=known), setting)
    return found


def test_a_copy_of_what_was_said_once_is_no_second_day() -> None:
    files = (note(1, FIRST, LOGGED), note(2, NEXT, f"- {FACT}"))
    origins: Mapping[tuple[int, str], MessageKey] = {(1, LOGGED): SAID, (2, f"- {FACT}"): SAID}
    found = one(*files, origins=origins)
    assert list(found.evidence.days) == [FIRST]
    assert found.scored.stopped_by == "recalls"
    midnight = consolidated(3, LATER, f"- {FACT} ({NEXT.isoformat()})")
    assert list(one(*files, midnight, origins=origins).evidence.days) == [FIRST]


def test_what_is_said_again_on_another_day_is() -> None:
    found = one(
        note(1, FIRST, LOGGED),
        note(2, LATER, LOGGED),
        origins={(1, LOGGED): SAID, (2, LOGGED): AGAIN},
    )
    assert list(found.evidence.days) == [FIRST, LATER]
    assert found.scored.stopped_by is None


def test_days_that_no_note_tells_any_more_count_by_what_was_consolidated() -> None:
    before = date(2026, 3, 20)
    line = f"- {FACT} ({before.isoformat()}, {FIRST.isoformat()})"
    found = one(note(1, FIRST, LOGGED), consolidated(2, LATER, line), origins={(1, LOGGED): SAID})
    assert list(found.evidence.days) == [before, FIRST]


def test_what_the_assistant_said_is_nobodys() -> None:
    assert entries_of("memory/2026-04-03.md", "- Assistant: I just signed up for a pottery class.\n", FIRST) == []
