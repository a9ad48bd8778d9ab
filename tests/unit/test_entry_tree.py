"""What belongs to an entry of a note: below an item, behind a line that leads up to it, in the section of a heading."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reverie_server.text.entry_tree import Entry, entries_of


def shape(entries: Sequence[Entry], lines: Sequence[str]) -> list[object]:
    """Each entry as its head, with what is in it as a list behind it."""
    found: list[object] = []
    for entry in entries:
        found.append(" / ".join(line.strip() for line in lines[entry.start : entry.head_end]))
        assert entry.end == (entry.inner[-1].end if entry.inner else entry.head_end)
        found += [shape(entry.inner, lines)] if entry.inner else []
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("- a\n- b", ["- a", "- b"]),
        ("- a\n\n  x\n\n  y\n- b", ["- a", ["x", "y"], "- b"]),
        ("- a\nx\n- b", ["- a / x", "- b"]),
        ("1. a\n   - b\n     - c\n   - d\n2. e", ["1. a", ["- b", ["- c"], "- d"], "2. e"]),
        ("- a\n - b", ["- a", "- b"]),
        ("  - a\n  - b", ["- a", "- b"]),
        ("- a\n\nx", ["- a", "x"]),
        ("x\ny\n\nz", ["x / y", "z"]),
        ("x\n- a\n- b\n\ny", ["x", ["- a", "- b"], "y"]),
        ("x:\n\n- a\n\n- b\n\ny", ["x:", ["- a", "- b"], "y"]),
        ("说：\n\n- a", ["说：", ["- a"]]),
        ("x\n\n- a", ["x", "- a"]),
        ("[09:00] User: a\n[09:01] User: b\n\n- c", ["[09:00] User: a", "[09:01] User: b", "- c"]),
        ("- a\n[09:00] User: b", ["- a", "[09:00] User: b"]),
        ("# a\n\n## b\nx\n## c\n- d\n# e", ["# a", ["## b", ["x"], "## c", ["- d"]], "# e"]),
        ("- a\n\n  ```\n  - b\n\n  # c\n  ```\n- d", ["- a", ["``` / - b /  / # c / ```"], "- d"]),
        ("```\n- a\n```\n- b", ["``` / - a / ```", ["- b"]]),
        ("x\n\n    - code", ["x", "- code"]),
    ],
)
def test_each_line_stands_with_what_it_belongs_to(text: str, expected: list[object]) -> None:
    lines = text.split("\n")
    assert shape(entries_of(lines), lines) == expected


def test_no_text_makes_a_deep_tree() -> None:
    lines = [" " * (2 * depth) + "- x" for depth in range(3000)]
    [entry] = entries_of(lines)
    assert (entry.start, entry.end) == (0, 3000)
