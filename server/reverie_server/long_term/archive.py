"""The archive of a month for entries that leave MEMORY.md: found by search, in no prompt, no daily note. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from reverie_server.text import markdown_edit as sections
from reverie_server.text.markdown_blocks import bullet, escaped, folded, without_marker
from reverie_server.text.numbered_parts import part_path


def archive_stem(day: date) -> str:
    """The path of the archive of a day's month, without its ending: it may have several parts."""
    return f"memory/archive/{day:%Y-%m}"


def archived(text: str | None, day: date, entries: Sequence[str]) -> str:
    """The archive's text with the entries at its end, below the day; entries that it has already are not added again.

    An entry is one or several lines, with or without its bullet.
    """
    present = text or f"# Left the memory in {day:%Y-%m}\n"
    archived_items = {folded([without_marker(line)]) for line in present.splitlines()}
    items: dict[str, list[str]] = {}
    for entry in entries:
        first, *others = entry.strip("\r\n").splitlines() or [""]
        lines = [without_marker(first), *others]
        words = folded(lines)
        if words and (len(lines) > 1 or words not in archived_items):
            items.setdefault(words, bullet(escaped(lines)))
    if not items:
        return present
    heading = f"## {day.isoformat()}"
    added = "\n".join(line for item in items.values() for line in item)
    # Entries of the same day as the last ones go below their heading.
    last = next((line for line in reversed(present.splitlines()) if line.startswith("## ")), None)
    return sections.append(
        present, added if last == heading else f"{heading}\n\n{added}", part_path(archive_stem(day), 1)
    )
