"""Writes what leaves MEMORY.md into its archive."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from reverie_indexer.change import Change
from reverie_indexer.database.database import Database
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.files.parts import list_parts
from reverie_server.long_term.archive import archive_stem, archived
from reverie_server.text.numbered_parts import part_path

# A part of this size gets no further entry: a file has a limit, and each write of it writes it whole.
PART_BYTES = 100_000


async def archive_change(database: Database, place: Place, day: date, entries: Sequence[str], by: str) -> Change:
    """The change that adds entries to the archive of a place, to its last part or to a new one where that is full.

    Make it part of the write by which they leave.
    """
    stem = archive_stem(day)
    async with database.tenant(place.tenant_id, snapshot=True) as connection:
        slice_ids = await own_slices(connection, place)
        parts = await list_parts(connection, place.tenant_id, slice_ids, stem)
    last = max(parts, default=1)
    number = last + 1 if last in parts and parts[last].size >= PART_BYTES else last

    def edit(text: str | None) -> str:
        return archived(text, day, entries)

    return Change(part_path(stem, number), edit, by, "archive of MEMORY.md")
