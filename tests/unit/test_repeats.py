"""Entries of a memory that are said elsewhere in it."""

from __future__ import annotations

from reverie_server.long_term.repeats import without_repeats

MEMORY = """# Long-term Memory

## Preferences

- The user prefers tea to coffee.
- Prefers tea to coffee.
- The user prefers short answers.

## Notes

- The locker has the number 4711.
- The locker has the number 4712.
- We meet in room 12.
"""


def machine(line: str) -> bool:
    del line
    return True


def test_of_two_entries_that_say_the_same_the_fuller_one_stays() -> None:
    result = without_repeats(MEMORY, machine, "english")
    assert "- The user prefers tea to coffee.\n" in result.text
    assert "\n- Prefers tea" not in result.text
    assert "short answers" in result.text
    assert "room 12" in result.text


def test_what_a_person_wrote_stays() -> None:
    assert without_repeats(MEMORY, lambda line: "locker" in line and "4712" in line, "english").text == MEMORY


def test_a_persons_entry_stands_for_a_machines() -> None:
    result = without_repeats(MEMORY, lambda line: line.startswith("Prefers tea"), "english")
    assert result.dropped == ("Prefers tea to coffee.",)


def test_of_copies_the_last_one_stays_or_those_of_a_person() -> None:
    copies = "".join(
        f"- The locker is {shade} blue.\n- Room {n}.\n" for n, shade in enumerate(("dark", "dark", "Dark"))
    )
    assert without_repeats(copies, machine, "english").text == copies.replace("- The locker is dark blue.\n", "")
    result = without_repeats(copies, lambda line: "Dark" in line, "english")
    assert result.text == copies.replace("- The locker is Dark blue.\n", "")


def test_entries_that_differ_in_a_number_are_not_the_same() -> None:
    text = "".join(f"- Room {n} has the key {n}{n}.\n" for n in range(1, 6))
    assert without_repeats(text, machine, "english").text == text
