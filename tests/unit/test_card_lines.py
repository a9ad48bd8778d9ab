"""The line of an entry of the morning card: changed alone, whatever stands around it."""

from __future__ import annotations

import pytest

from reverie_indexer.errors import ValidationFailed
from reverie_server.nights.card_lines import with_line

SHIPS, LATER = "Project Falcon ships to Nordlys in June", "Project Falcon ships to Nordlys in July"
CODE = "The alarm code of the shed is 7731."


def edited(memory: str, entry: str = SHIPS, content: str = LATER) -> str | None:
    return with_line(memory, entry, content, "english")


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (f"## Notes\n\n- {SHIPS}\n- {CODE}\n", f"## Notes\n\n- {LATER}\n- {CODE}\n"),
        (f"## Notes\n\n{SHIPS}.\n{CODE}\n", f"## Notes\n\n{LATER}.\n{CODE}\n"),
        (f"{CODE} {SHIPS}. Tea is in the tin.\n", f"{CODE} {LATER}. Tea is in the tin.\n"),
        (f"- {SHIPS}. {CODE}\n", f"- {LATER}. {CODE}\n"),
        (f"- {SHIPS}.\n  {CODE}\n", f"- {LATER}.\n  {CODE}\n"),
        (
            f"- {SHIPS}\n  - budget: 40,000 EUR, approved by Petra\n  - blocked by the audit\n",
            f"- {LATER}\n  - budget: 40,000 EUR, approved by Petra\n  - blocked by the audit\n",
        ),
        (f"- [ ] {SHIPS}\n\n  ```\n  - {CODE}\n  ```\n", f"- [ ] {LATER}\n\n  ```\n  - {CODE}\n  ```\n"),
        (f"* {SHIPS}\r\n* {CODE}\r\n", f"* {LATER}\r\n* {CODE}\r\n"),
        (f"Project Falcon ships to Nordlys\nin June. {CODE}\n", f"{LATER}. {CODE}\n"),
        # The memory says it in other words.
        (f"{CODE}\nSo Project Falcon ships to Nordlys in June, at last.\n", f"{CODE}\n{LATER}\n"),
        (f"{SHIPS}.", f"- {LATER}"),
    ],
)
def test_an_edit_leaves_what_stands_around_the_entry(memory: str, expected: str) -> None:
    assert edited(memory) == expected


def test_an_edit_of_a_nested_item_leaves_its_neighbours() -> None:
    memory = "- Works at Klotz\n  - reports to Petra Lindqvist\n  - sits in the annex\n"
    expected = "- Works at Klotz\n  - reports to Bo\n    every week\n  - sits in the annex\n"
    assert edited(memory, "reports to Petra Lindqvist", "reports to Bo\nevery week") == expected


def test_an_entry_of_several_sentences_is_replaced_once_and_leaves_the_others() -> None:
    entry = "Project Falcon ships to Nordlys in June. Petra Lindqvist leads the project."
    memory = f"- {SHIPS}.\n  - {CODE}\n  - Petra Lindqvist leads the project.\n"
    assert edited(memory, entry) == f"- {LATER}.\n  - {CODE}\n"
    assert edited(f"{entry} {CODE}\n", entry) == f"{LATER}. {CODE}\n"


def test_an_edit_within_a_paragraph_makes_no_other_block_of_it() -> None:
    assert edited(f"{SHIPS}.\n{CODE}\n", content=f"# {LATER}") == f"\\# {LATER}.\n{CODE}\n"
    with pytest.raises(ValidationFailed):
        edited(f"{SHIPS}.\n{CODE}\n", content=f"> {LATER}")


def test_an_entry_that_no_statement_says_has_left() -> None:
    assert edited(f"- {CODE}\n") is None
