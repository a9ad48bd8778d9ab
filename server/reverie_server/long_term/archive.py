"""The archive of a month for entries that leave MEMORY.md: found by search, in no prompt, no daily note. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from reverie_indexer.change import Change
from reverie_server.text import markdown_edit as sections
from reverie_server.text.markdown_blocks import bullet, escaped, folded, without_marker


def archive_path(day: date) -> str:
    """The path of the archive of a day's month."""
    return f"memory/archive/{day:%Y-%m}.md"


def archive_change(day: date, entries: Sequence[str], by: str) -> Change:
    """The change that adds entries to the archive, below the day. Entries that the archive has are not added again.

    Make it part of the write by which they leave. An entry is one or several lines, with or without its bullet.
    """
    path = archive_path(day)

    def edit(text: str | None) -> str:
        return archived(text, day, entries)

    return Change(path, edit, by, "archive of MEMORY.md")


def archived(text: str | None, day: date, entries: Sequence[str]) -> str:
    """The archive's text with the entries at its end."""
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
    return sections.append(present, added if last == heading else f"{heading}\n\n{added}", archive_path(day))
