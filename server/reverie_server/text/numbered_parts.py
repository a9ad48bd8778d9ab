"""The paths of files that go on in numbered parts: `2026-04.md`, `2026-04-part02.md`, …; none is a daily note. Pure."""

from __future__ import annotations

import re

_PART = re.compile(r"(?:-part([0-9]{2,9}))?\.md")


def part_path(stem: str, number: int) -> str:
    """The path of a part, the first of which is 1; `stem` is the path of the first without its ending."""
    return f"{stem}.md" if number == 1 else f"{stem}-part{number:02}.md"


def part_number(path: str, stem: str) -> int | None:
    """The number of the part at a path; None for any other file."""
    match = _PART.fullmatch(path.removeprefix(stem)) if path.startswith(stem) else None
    return int(match[1] or 1) if match else None
