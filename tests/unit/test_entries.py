"""The entries of notes, and how those that say the same become one candidate."""

from __future__ import annotations

from datetime import UTC, date, datetime

from reverie_server.heuristics.entries import dated, entries_of, undated
from reverie_server.nights.emergence.candidates import Recall, Rules
from reverie_server.nights.emergence.collect import (
    AskedTopic,
    Candidate,
    Collected,
    ScoringContext,
    collect,
    collect_best,
)
from reverie_server.nights.emergence.model import EmergenceInput, MemoryFile, NoteFile, Passage

DAY = date(2026, 4, 3)
NOW = datetime(2026, 4, 4, 2, 0, tzinfo=UTC)
SETTING = ScoringContext(Rules(), NOW, "UTC", "english")


def texts(note: str) -> list[str]:
    return [entry.text for entry in entries_of("memory/2026-04-03.md", note, DAY)]


def test_entries_are_items_and_paragraphs_that_state_something() -> None:
    note = (
        "# 2026-04-03\n\nAda moved the review to Thursday.\n\n- Prefers tea\n  to coffee\n- When is the review?\n"
        "\n```\ncode = 1\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- password: hunter2 is it\n"
    )
    assert texts(note) == ["Ada moved the review to Thursday.", "Prefers tea to coffee"]
    [_, item] = entries_of("memory/2026-04-03.md", note, DAY)
    assert (item.start_line, item.end_line, item.source) == (5, 6, "memory/2026-04-03.md:5")
    assert item.raw == "- Prefers tea\n  to coffee"


def test_of_the_daily_log_only_what_the_user_stated_is_an_entry() -> None:
    log = (
        "# 2026-04-03\n\n[09:00] User: Good morning, how are you? | Assistant: I prefer tea, as you know.\n\n"
        "[09:05] User: Please remember that I prefer tea to coffee. | Assistant: I will remember that.\n"
        "[09:06] User: What do I prefer? | Assistant: Tea.\n"
    )
    assert texts(log) == ["I prefer tea to coffee."]


def test_what_memory_had_injected_is_no_entry() -> None:
    echo = "<memory-context>\n## Memory Context\n- (2026-04-01, MEMORY.md) Prefers mate to tea.\n</memory-context>"
    assert texts(f"# 2026-04-03\n\n{echo}\n\n- Prefers tea to coffee.\n") == ["Prefers tea to coffee."]


def test_days_at_the_end_of_a_line_say_when_it_was_said() -> None:
    assert dated("Prefers tea.", [DAY, date(2026, 4, 1), DAY]) == "Prefers tea. (2026-04-01, 2026-04-03)"
    assert undated("Prefers tea. (2026-04-01, 2026-04-03)") == ("Prefers tea.", (date(2026, 4, 1), DAY))
    assert undated("Prefers tea (2026-13-41)") == ("Prefers tea (2026-13-41)", ())
    [entry] = entries_of("_system/dreaming/20260403-consolidated.md", "- Prefers tea a lot. (2026-04-01)\n", DAY)
    assert (entry.text, entry.days) == ("Prefers tea a lot.", (date(2026, 4, 1),))


def inputs_of(
    *notes: tuple[date, str], memory: str | None = None, machine: tuple[str, ...] = (), **more: object
) -> EmergenceInput:
    files = [NoteFile(n, f"memory/{day}.md", 1, day, text) for n, (day, text) in enumerate(notes)]
    entries = [entry for file in files for entry in entries_of(file.path, file.text, file.day)]
    held = None
    if memory is not None:
        held = MemoryFile("MEMORY.md", 1, memory, memory.splitlines(), frozenset(machine))
    return EmergenceInput(files=files, entries=entries, memory=held, **more)  # type: ignore[arg-type]


def collected(seen: EmergenceInput, **more: object) -> list[Candidate]:
    return collect(seen, SETTING, **more)  # type: ignore[arg-type]


def test_what_is_noted_again_on_another_day_is_one_candidate_in_its_latest_words() -> None:
    seen = inputs_of((date(2026, 4, 1), "- Prefers green tea to coffee\n"), (DAY, "- prefers Green tea to coffee.\n"))
    [candidate] = collected(seen)
    assert candidate.text == "prefers Green tea to coffee."
    assert candidate.evidence.days == [date(2026, 4, 1), DAY]
    assert candidate.source == "memory/2026-04-03.md:1"


def test_recalls_of_its_passages_and_of_the_messages_it_comes_from_count_for_an_entry() -> None:
    note = "- Prefers green tea to coffee.\n- Lives in Oslo near the harbour.\n"
    recalls = tuple(Recall(query, NOW) for query in (b"a", b"b", b"c", b"d"))
    passages = [
        Passage("memory/2026-04-03.md", 1, 1, frozenset(), None, recalls[:1]),
        # By provenance, whatever its words.
        Passage("sessions/web:1", 7, 7, frozenset({"cup"}), ("web:1", 7), recalls[1:2]),
        # By its words.
        Passage(
            "sessions/web:2", 3, 3, frozenset({"prefer", "green", "tea", "coffe", "said"}), ("web:2", 3), recalls[2:3]
        ),
        Passage("sessions/web:2", 4, 4, frozenset({"green", "tea"}), ("web:2", 4), recalls[3:]),
    ]
    origins = {("memory/2026-04-03.md", "- Prefers green tea to coffee."): frozenset({("web:1", 7)})}
    found = {c.text: c for c in collected(inputs_of((DAY, note), recalled=passages, origins=origins))}
    queries = {text: [recall.query for recall in c.evidence.recalls] for text, c in found.items()}
    assert queries == {"Prefers green tea to coffee.": [b"a", b"b", b"c"], "Lives in Oslo near the harbour.": []}


def test_what_was_said_later_contradicts_what_was_said_before_and_what_returns_holds_again() -> None:
    oslo, bergen = "- I live in Oslo now, close to the harbour.\n", "- I live in Bergen now, close to the harbour.\n"
    moved = inputs_of((date(2026, 4, 1), oslo), (DAY, bergen))
    assert {c.text: c.scored.stopped_by for c in collected(moved)} == {
        oslo[2:-1]: "not_contradicted",
        bergen[2:-1]: "recalls",
    }
    returned = inputs_of((date(2026, 4, 1), oslo), (date(2026, 4, 2), bergen), (DAY, oslo))
    assert {c.text: c.evidence.is_contradicted for c in collected(returned)} == {oslo[2:-1]: False, bergen[2:-1]: True}


def test_what_a_person_wrote_into_the_memory_is_not_for_a_note_to_contradict() -> None:
    note = (DAY, "- I live in Bergen, close to the harbour.\n")
    line = "- I live in Oslo, close to the harbour."
    by_person = inputs_of(note, memory=line)
    by_server = inputs_of(note, memory=line, machine=("i live in oslo, close to the harbour",))
    assert [c.evidence.is_contradicted for s in (by_person, by_server) for c in collected(s)] == [True, False]


def test_what_the_memory_holds_and_what_was_corrected_since_is_told() -> None:
    note = (DAY, "- Prefers green tea to coffee.\n- Owns a red bicycle with gears.\n")
    corrections = [(DAY, "- Owns a red bicycle with gears"), (date(2026, 4, 2), "- Prefers green tea to coffee.")]
    seen = inputs_of(note, memory="- Prefers green tea to coffee, with honey.", corrections=corrections)
    assert {c.text: c.scored.stopped_by for c in collected(seen)} == {
        "Prefers green tea to coffee.": "not_known",
        "Owns a red bicycle with gears.": "not_corrected",
    }
    [tea, *_] = collected(inputs_of(note, corrections=corrections))
    assert not tea.evidence.is_corrected, "said again after it was taken out"


def test_with_a_topic_only_what_was_found_is_a_candidate() -> None:
    note = (DAY, "- Prefers green tea to coffee.\n\n- Lives in Oslo near the harbour.\n")
    harbour = Passage("memory/2026-04-03.md", 3, 3, frozenset(), relevance=0.5)
    [candidate] = collected(inputs_of(note), topic=AskedTopic("a place by the sea", [harbour]))
    assert candidate.text == "Lives in Oslo near the harbour."
    assert candidate.evidence.is_asked
    assert collected(inputs_of(note), topic=AskedTopic("a place by the sea", [])) == []


def test_what_was_forgotten_is_no_candidate() -> None:
    note = (DAY, "- Prefers green tea to coffee.\n- Lives in Oslo near the harbour.\n")
    found = collected(inputs_of(note), clean=lambda text: "" if "Oslo" in text else text)
    assert [candidate.text for candidate in found] == ["Prefers green tea to coffee."]


def test_of_the_best_alone_it_is_asked_what_stops_them_and_all_are_counted() -> None:
    said = ("Tom plays the cello.", "My boat is red.", "Our dog sleeps upstairs.", "The bakery is closed on Mondays.")
    notes = [(date(2026, 4, day), f"- {text}\n") for day, text in enumerate(said, 1)]
    # The memory has the newest, which is the best.
    seen = inputs_of(*notes, memory="- The bakery is closed on Mondays.\n")
    everything = collected(seen)
    best = collect_best(seen, SETTING, limit=2)
    assert (best.candidates, best.count) == (everything[:2], 4)
    assert best.candidates[0].scored.stopped_by == "not_known"
    assert collect_best(seen, SETTING).candidates == everything
    assert collect_best(inputs_of(), SETTING, limit=3) == Collected([], 0)
