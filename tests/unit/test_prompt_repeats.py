"""What several parts of a prompt say stands in one of them, and no heading stays without its entries."""

from __future__ import annotations

import pytest

from reverie_server.prompt.context import Part
from reverie_server.prompt.marking import without_repeats

PROFILE = Part("profile", "## Profile\n\n# Profile\n\n- I live in Kiel.\n- Ich bin Lehrerin.")
TOLD = "[09:00] User: I live in Kiel. | Assistant: All right."


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Part("long_term_memory", "## Long-term Memory\n\n# Long-term Memory\n\n## Notes\n\n- I live in Kiel."), None),
        (
            Part(
                "long_term_memory", "## Long-term Memory\n\n### Notes\n\n- i live in Kiel\n\n### Projects\n\n- Orion."
            ),
            "## Long-term Memory\n\n### Projects\n\n- Orion.",
        ),
        (
            Part(
                "recent_context",
                "## Recent Context\n\n### 2026-05-03\n\n- I live in Kiel.\n\n### 2026-05-02\n\n- Rain.",
            ),
            "## Recent Context\n\n### 2026-05-02\n\n- Rain.",
        ),
        (
            Part(
                "recent_context",
                "## Recent Context\n\n### 2026-05-03\n\n- Rain.\n\n### 2026-05-02\n\n- I live in Kiel.",
            ),
            "## Recent Context\n\n### 2026-05-03\n\n- Rain.",
        ),
        (Part("todays_notes", "## Today's Notes\n\n- I live in Kiel. (2026-05-02)"), None),
        (
            Part("todays_notes", "## Today's Notes\n\n[09:00] User: I live in Kiel. We sail a lot. | Assistant: Oh."),
            "## Today's Notes\n\n[09:00] User: We sail a lot. | Assistant: Oh.",
        ),
        (
            Part("todays_notes", "## Today's Notes\n\nI live in Kiel, said a poem."),
            "## Today's Notes\n\nI live in Kiel, said a poem.",
        ),
        (
            Part("todays_notes", "## Today's Notes\n\n- I live in Kiel.\n\n```\n# not a heading\n```"),
            "## Today's Notes\n\n```\n# not a heading\n```",
        ),
    ],
)
def test_what_another_part_says_goes_with_the_heading_above_it(part: Part, text: str | None) -> None:
    kept = without_repeats([PROFILE, part])
    assert kept[0] == PROFILE
    assert [one.text for one in kept[1:]] == ([] if text is None else [text])


FAMILY = Part("long_term_memory", "## Long-term Memory\n\n# Ada\n\n- Birthday: 3 May\n- Works at the bakery.")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("# Bob\n\n- Birthday: 3 May", "# Bob\n\n- Birthday: 3 May"),
        ("# Bob\n\n- Works at the bakery.", "# Bob\n\n- Works at the bakery."),
        ("# Family\n\n## Bob\n\n- Birthday: 3 May", "# Family\n\n## Bob\n\n- Birthday: 3 May"),
        # No heading says whose birthday it is.
        ("# Notes\n\n- Birthday: 3 May", "# Notes\n\n- Birthday: 3 May"),
        ("# Ada\n\n- Birthday: 3 May", None),
        ("# ADA\n\n## Notes\n\n- birthday: 3 May", None),
        # What stands in code is no heading.
        ("### Ada\n\n```\n# Bob\n```\n\n- Birthday: 3 May", "### Ada\n\n```\n# Bob\n```"),
    ],
)
def test_an_entry_counts_together_with_the_heading_that_says_whose_it_is(text: str, kept: str | None) -> None:
    found = without_repeats([FAMILY, Part("todays_notes", f"## Today's Notes\n\n{text}")])
    assert [one.text for one in found[1:]] == ([] if kept is None else [f"## Today's Notes\n\n{kept}"])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("# Where I live\n\n- I live in Kiel.", "- I live in Kiel."),
        ("# House\n\n- The code of the alarm is 7731.", "### 2026-05-02\n\n- The code of the alarm is 7731."),
        ("# Ada\n\n- Ada drinks tea.", "# Drinks\n\n- Ada drinks tea."),
        ("## Preferences\n\n- Tea, no milk", "### 2026-05-02\n\n- Tea, no milk"),
        ("# memory/people.md\n\n- Tea, no milk", "## 5/2026\n\n- Tea, no milk"),
    ],
)
def test_a_heading_that_says_nothing_of_an_entry_keeps_no_repetition(first: str, second: str) -> None:
    parts = [Part("long_term_memory", first), Part("recent_context", f"## Recent Context\n\n{second}")]
    assert without_repeats(parts) == parts[:1]


def test_neither_a_day_nor_a_file_stands_under_the_headings_of_the_one_before() -> None:
    days = "## Recent Context\n\n### 2026-05-03\n\n# Ada\n\n- Rain.\n\n### 2026-05-02\n\n- Birthday: 3 May"
    files = "## Long-term Memory\n\n# Ada\n\n- Birthday: 3 May\n\n--- b.md ---\n\n- Size: 42"
    parts = [Part("long_term_memory", files), Part("recent_context", days)]
    assert without_repeats(parts) == parts
    sizes = Part("recent_context", "## Recent Context\n\n### 2026-05-02\n\n- Size: 42")
    assert without_repeats([parts[0], sizes]) == parts[:1]


def test_a_longer_entry_is_not_taken_for_a_shorter_one_that_it_contains() -> None:
    memory = Part("long_term_memory", "## Long-term Memory\n\n- I work at the bakery.")
    longer = "- I work at the bakery. The alarm code is 7731."
    notes = Part("todays_notes", f"## Today's Notes\n\n{longer}")
    kept = without_repeats([memory, notes])
    assert [one.text for one in kept] == [memory.text, "## Today's Notes\n\n- The alarm code is 7731."]


@pytest.mark.parametrize(
    "entry",
    [
        # What is indented, or begins with a pronoun, says nothing without what stands before it.
        "- I work at the bakery.\n  - Alarm: 7731",
        "- I work at the bakery. It opens at five.",
    ],
)
def test_what_a_following_sentence_rests_on_stays(entry: str) -> None:
    memory = Part("long_term_memory", "## Long-term Memory\n\n- I work at the bakery.")
    notes = Part("todays_notes", f"## Today's Notes\n\n{entry}")
    assert without_repeats([memory, notes]) == [memory, notes]


def test_a_word_or_two_beside_what_is_known_are_no_repetition() -> None:
    memory = Part("long_term_memory", "## Long-term Memory\n\n- I work at the bakery.")
    notes = Part("todays_notes", "## Today's Notes\n\n- I work at the bakery. Nut allergy.")
    assert [one.text for one in without_repeats([memory, notes])[1:]] == ["## Today's Notes\n\n- Nut allergy."]


VEGA, ORION = "- The Vega project is led by Tom", "- The Orion project is led by Petra"
STEPS = "```yaml\n- Stop the whole server first\n- Copy the disk\n- Start the whole server again\n```"


@pytest.mark.parametrize(
    ("memory", "notes"),
    [
        (ORION, f"{VEGA}\n\n{ORION}\n\n  It was cancelled today, budget 40,000."),
        (ORION, f"{VEGA}\n{ORION}\nIt was cancelled today."),
        (ORION, f"{VEGA}\n{ORION}\n  - cancelled today"),
        # The same below another entry is told of another thing.
        (f"{VEGA}\n  - cancelled today", f"{ORION}\n  - cancelled today"),
        ("- Stop the whole server first\n- Start the whole server again", STEPS),
        ("- Stop the whole server first\n- Start the whole server again", f"- Backup, in steps:\n\n  {STEPS}"),
    ],
)
def test_an_entry_stays_with_what_belongs_to_it(memory: str, notes: str) -> None:
    parts = [Part("long_term_memory", memory), Part("todays_notes", f"## Today's Notes\n\n{notes}")]
    assert without_repeats(parts) == parts


def test_an_entry_that_is_known_with_all_that_belongs_to_it_goes_whole() -> None:
    memory = Part("long_term_memory", f"{ORION}\n  - budget 40,000\n\n  Cancelled in May.")
    notes = Part(
        "todays_notes", f"## Today's Notes\n\n{VEGA}\n{ORION}\n  * Budget 40,000\n\n  Cancelled in May.\n\nRain."
    )
    assert [one.text for one in without_repeats([memory, notes])[1:]] == [f"## Today's Notes\n\n{VEGA}\n\nRain."]


SHARED = Part(
    "shared_files",
    "--- AGENTS.md ---\n\n- Language: German\n\n--- MEMORY.md ---\n\n# Team\n\n- The office in Kiel closes at six."
    "\n- I prefer short answers to long ones.\n\n# Long-term Memory\n\n- Door code: 1234\n- Guests:\n  - Ada",
)


@pytest.mark.parametrize(
    ("entries", "kept"),
    [
        ("- the office in Kiel closes at six\n- Rain.", "- Rain."),
        ("- Door code: 1234\n- Guests:\n  - Ada\n- Rain.", "- Rain."),
        # What is said in the first person, or of the agent, is another's.
        ("- I prefer short answers to long ones.\n- Language: German", None),
    ],
)
def test_what_the_team_has_already_goes_from_the_memory_of_an_owner(entries: str, kept: str | None) -> None:
    memory = Part("long_term_memory", f"## Long-term Memory\n\n# Long-term Memory\n\n{entries}")
    shared, own = without_repeats([SHARED, memory])
    assert shared == SHARED
    assert own.text == f"## Long-term Memory\n\n# Long-term Memory\n\n{kept or entries}"


def test_a_line_that_leads_up_to_what_goes_goes_with_it() -> None:
    card = Part("morning_card", "## Morning Card\n\nNew since (update_memory):\n- The office in Kiel closes at six.")
    notes = "## Today's Notes\n\nWe met Tom. Agreed:\n\n- Door code: 1234"
    left = [SHARED, Part("todays_notes", "## Today's Notes\n\nWe met Tom. Agreed:")]
    assert without_repeats([SHARED, card, Part("todays_notes", notes)]) == left


def test_the_headings_of_a_part_and_of_its_days_are_above_those_of_what_is_in_them() -> None:
    memory = "## Long-term Memory\n\n# Long-term Memory\n\n- I live in Kiel.\n- I like tea."
    days = "## Recent Context\n\n### 2026-05-03\n\n# Ada\n\n- I live in Kiel.\n- Tall."
    parts = [PROFILE, Part("long_term_memory", memory), Part("recent_context", days)]
    expected = [one.text.replace("- I live in Kiel.\n", "") for one in parts[1:]]
    assert [one.text for one in without_repeats(parts)[1:]] == expected
