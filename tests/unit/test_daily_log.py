"""The line of an exchange, and the day and time it gets where the agent is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.text.chunk import chunk
from reverie_server.sessions.daily_log import cut_off, entries, excerpt, local_day, log_text, parts_of, repeats
from reverie_server.sessions.model import Message, NewMessage, exchanges


def spoken(role: str, content: str, at: str) -> Message:
    return Message(1, role, content, datetime.fromisoformat(at), 1)  # type: ignore[arg-type]


def lines(*messages: Message, zone: str = "UTC") -> list[tuple[str, str]]:
    return [(entry.path, entry.line) for entry in entries(messages, zone)]


def test_an_exchange_is_a_line_of_the_day_on_which_its_user_spoke() -> None:
    asked = spoken("user", "When is\n the review?", "2026-04-03T23:59:30+00:00")
    answer = spoken("assistant", "On Thursday.", "2026-04-04T00:00:10+00:00")
    assert lines(asked, answer) == [
        ("memory/2026-04-03.md", "[23:59] User: When is the review? | Assistant: On Thursday.")
    ]
    # It is another day where the agent is.
    assert lines(asked, answer, zone="Asia/Tokyo")[0][0] == "memory/2026-04-04.md"
    assert lines(asked, answer, zone="Asia/Tokyo")[0][1].startswith("[08:59] ")


@pytest.mark.parametrize(
    ("zone", "at", "path", "clock"),
    [
        # Clocks go forward from 02:00 to 03:00: there is no half past two.
        ("Europe/Berlin", "2026-03-29T00:59:00+00:00", "2026-03-29", "01:59"),
        ("Europe/Berlin", "2026-03-29T01:00:00+00:00", "2026-03-29", "03:00"),
        # They go back from 03:00 to 02:00: half past two is there twice.
        ("Europe/Berlin", "2026-10-25T00:30:00+00:00", "2026-10-25", "02:30"),
        ("Europe/Berlin", "2026-10-25T01:30:00+00:00", "2026-10-25", "02:30"),
        # Midnight itself is skipped, and is there twice.
        ("America/Santiago", "2026-09-06T03:59:00+00:00", "2026-09-05", "23:59"),
        ("America/Santiago", "2026-09-06T04:00:00+00:00", "2026-09-06", "01:00"),
        ("America/Santiago", "2026-04-05T03:30:00+00:00", "2026-04-04", "23:30"),
        ("America/Havana", "2026-11-01T04:30:00+00:00", "2026-11-01", "00:30"),
        ("America/Havana", "2026-11-01T05:30:00+00:00", "2026-11-01", "00:30"),
        ("Pacific/Kiritimati", "2026-04-03T10:00:00+00:00", "2026-04-04", "00:00"),
    ],
)
def test_clocks_that_change_neither_lose_a_minute_nor_a_day(zone: str, at: str, path: str, clock: str) -> None:
    [(written, line)] = lines(spoken("user", "a", at), spoken("assistant", "b", at), zone=zone)
    assert (written, line) == (f"memory/{path}.md", f"[{clock}] User: a | Assistant: b")
    assert local_day(datetime.fromisoformat(at), zone).isoformat() == path


def test_the_ends_of_the_calendar_are_days_too() -> None:
    assert local_day(datetime.max.replace(tzinfo=UTC), "Asia/Tokyo").year == 9999
    assert local_day(datetime.min.replace(tzinfo=UTC), "America/Lima").year == 1


def test_an_exchange_is_a_user_text_with_the_first_answer_that_has_words() -> None:
    said = [
        NewMessage("assistant", "Hello."),
        NewMessage("user", "first"),
        NewMessage("user", "second"),
        NewMessage("assistant", " ", extra={"tool_calls": []}),
        NewMessage("tool", "42"),
        NewMessage("system", "Be brief."),
        NewMessage("assistant", "answer"),
        NewMessage("assistant", "more"),
        NewMessage("user", "unanswered"),
    ]
    assert exchanges(said) == [("second", "answer")]


def test_long_texts_are_cut_to_their_beginning() -> None:
    text = log_text("u" * 201, "a" * 301)
    assert text == f"User: {'u' * 199}… | Assistant: {'a' * 299}…"
    assert log_text("u" * 200, "a" * 300) == f"User: {'u' * 200} | Assistant: {'a' * 300}"
    assert excerpt(" a \n\n b\t", 9) == "a b"


@given(st.text(max_size=400), st.text(max_size=400))
def test_no_text_breaks_out_of_its_line(user: str, assistant: str) -> None:
    line = f"[09:30] {log_text(user, assistant)}"
    assert line.count("|") == 1
    parts = parts_of(line)
    assert parts is not None
    assert parts == (excerpt(user, 200), excerpt(assistant, 300))
    if len(line) <= 1000 and "\x00" not in line:
        # Between others it is a paragraph: neither table, fence, heading nor list.
        found = chunk(f"# 2026-04-03\n\nbefore\n\n{line}\n\nafter\n")
        assert [piece.text for piece in found[1:]] == [line.strip(), "after"]


@pytest.mark.parametrize(
    "text", ["```", "~~~ fence", "| a | b |\n|---|---|", "# heading", "- item", "<!-- comment", "---"]
)
def test_marks_of_markdown_are_harmless_in_a_line(text: str) -> None:
    line = f"[09:30] {log_text(text, text)}"
    assert [piece.text for piece in chunk(f"{line}\n\n{line}\n")] == [line, line]


def test_a_line_repeats_what_is_one_of_its_parts_or_begins_as_one() -> None:
    long = "The lantern hangs in the harbour beside the blue door, " * 8
    line = f"[09:30] {log_text('Where is it? | Tell me.', long)}"
    assert repeats(line, "Where is it? | Tell\nme.")
    assert repeats(f"# 2026-04-03\n\n{line}", "Where is it? | Tell me.")
    assert repeats(line, long)
    assert repeats(line, "hangs in the harbour beside the blue door")
    assert not repeats(line, "it")
    assert not repeats(line, "Where is it?")
    assert not repeats(line, "The lantern hangs elsewhere, far from here and there")
    assert not repeats("The lantern hangs in the harbour", "The lantern hangs in the harbour")
    assert not repeats(line, "")


def test_what_the_cut_leaves_of_a_text_is_known() -> None:
    content = "x" * 190 + " the vault opens with quince"
    assert cut_off(content, ["the vault opens with quince"]) == ["the vaul…"]
    assert cut_off("x" * 188 + " STRASSE, the vault opens", ["stra\u00dfe, the VAULT\nopens"]) == ["STRASSE, t…"]
    # Whole in the longer excerpt, whole in both, in neither.
    assert cut_off("x" * 290 + " the vault opens", ["the vault opens"]) == ["the vaul…"]
    assert cut_off("the vault opens " + "x" * 300, ["the vault opens"]) == []
    assert cut_off("x" * 400 + " the vault opens", ["the vault opens"]) == []
    assert cut_off("short", ["short"]) == []
