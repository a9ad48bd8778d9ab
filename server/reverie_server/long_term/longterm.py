"""Long-term memory: saves to and corrects the MEMORY.md of a person or a team, also while others write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.model import Document, Place, Written
from reverie_indexer.pipeline import Within
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.files.files import Workspace, Write
from reverie_server.files.well_known import LONG_TERM
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.long_term import memory_text
from reverie_server.provenance.record import Derived, record

MEMORY, STAND_IN = LONG_TERM
# How often the memory may appear, disappear or move to its other name under one request.
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Saved:
    """Under which heading something was saved, and the beginning of what the memory then holds."""

    section: str
    preview: str


@dataclass(frozen=True, slots=True)
class Updated:
    """The result of an update. `size_after` is in bytes, `version` the file's, `deleted` whether text was removed."""

    replacements: int
    size_after: int
    version: int
    deleted: bool


class LongTermMemory:
    """The MEMORY.md of places: the personal one of an owner, else the team's.

    Where a place has only `memory.md`, that file is read and written: a new MEMORY.md would hide it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def save(
        self, place: Place, content: str, category: str | None, *, by: str, reason: str = "save_memory"
    ) -> Saved:
        """Add an entry to the section of its category; entries that others save meanwhile stay.

        Creates an unknown agent and a missing memory. ValidationFailed for content that is empty or over 5,000
        characters, DuplicateDetected for an entry that the memory has already.
        """
        section = memory_text.section_of(category)
        entry = memory_text.entry_of(content)
        saved_text = ""

        def add(text: str | None) -> str:
            nonlocal saved_text
            saved_text = memory_text.add_entry(text, section, entry)
            return saved_text

        await self._edit(place, add, by, reason, entry.lines)
        return Saved(section, memory_text.preview_of(saved_text))

    async def update(
        self, place: Place, old_text: str, new_text: str, *, by: str, reason: str = "update_memory"
    ) -> Updated:
        """Replace the one occurrence of `old_text`, or delete it where `new_text` is empty.

        ValidationFailed for an empty `old_text` or equal texts, NotFound where there is no memory or no such text
        in it, AmbiguousMatch where it occurs several times.
        """
        memory_text.check_update(old_text, new_text)

        def edit(text: str | None) -> str:
            if text is None:
                raise NotFound(f"there is no {place.scope} {MEMORY} to update")
            return memory_text.update_text(text, old_text, new_text)

        written = await self._edit(place, edit, by, reason)
        return Updated(1, written.bytes_written, written.version, deleted=not new_text.strip())

    async def edit(
        self, place: Place, path: str, edit: Callable[[str | None], str], within: Within, *, by: str, reason: str
    ) -> Written:
        """Make the file at `path`, which is the memory, hold what `edit` makes of it; `within` as in the pipeline."""
        return await self._workspace.edit(place, Write(path, by, reason), edit, within)

    async def current(self, place: Place) -> tuple[Document, str] | None:
        """The file that is the place's memory, with its text; None where there is none, or no such agent."""
        found = await self._workspace.present(place, LONG_TERM)
        return found.get(MEMORY) or found.get(STAND_IN)

    async def _edit(
        self, place: Place, edit: Callable[[str | None], str], by: str, reason: str, saved: Sequence[str] = ()
    ) -> Written:
        """Edit the file that is the memory; look for it again where it moves to its other name meanwhile."""

        async def attempt() -> Written:
            found = await self.current(place)
            path = found[0].path if found else MEMORY

            def of_this_file(text: str | None) -> str:
                if (text is not None) != (found is not None):
                    raise Superseded
                return edit(text)

            # An existing MEMORY.md is always the memory. Any other choice holds only while there is no file of the
            # other name, which is checked under the slice's lock.
            other = None if path == MEMORY and found else STAND_IN if path == MEMORY else MEMORY

            async def within(connection: Connection, slice_: Slice) -> None:
                if other is not None:
                    await _check_absent(connection, place, slice_, other)
                # What a tool saved is machine-made: compaction may merge it.
                derived = [Derived(path, saved, EXTRACTIVE, reason, [])]
                await record(connection, place.tenant_id, slice_.slice_id, derived)

            return await self._workspace.edit(place, Write(path, by, reason), of_this_file, within)

        return await until_stable(attempt, attempts=_ATTEMPTS, what=f"which file is {MEMORY}")


async def _check_absent(connection: Connection, place: Place, slice_: Slice, path: str) -> None:
    found = await store.read_documents(connection, place.tenant_id, [slice_.slice_id], [path])
    if any(document.deleted_at is None for document, _ in found):
        raise Superseded
