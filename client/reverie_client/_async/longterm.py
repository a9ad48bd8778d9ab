"""Long-term memory: save, update and compact MEMORY.md, list and restore its backups."""

from __future__ import annotations

from reverie_client._async.bound import AsyncBound
from reverie_client.receipts import Backup, BackupList, Compacted, Restored, Saved, Updated
from reverie_client.request import LONG_TIMEOUT_SECONDS, Call, segment


class AsyncLongTerm(AsyncBound):
    """MEMORY.md: the owner's where the view has an owner, else the team's."""

    async def save(self, content: str, *, category: str | None = None) -> Saved:
        """Add an entry of at most 5,000 characters, in the section of its category.

        Categories are profile, preferences, interests, workflow, projects and notes, which is the default and stands
        for any other. DuplicateDetected where it is there already.
        """
        body = {**self._owner, "content": content, "category": category}
        return await self._connection.ask(Saved, Call(method="POST", path=f"{self._path}/memory/save", body=body))

    async def update(self, old_text: str, new_text: str) -> Updated:
        """Replace the one occurrence of a text; "" deletes it. NotFound, AmbiguousMatch, ValidationError."""
        body = {**self._owner, "old_text": old_text, "new_text": new_text}
        return await self._connection.ask(Updated, Call(method="POST", path=f"{self._path}/memory/update", body=body))

    async def compact(self, *, timeout_seconds: float = LONG_TIMEOUT_SECONDS) -> Compacted:
        """Merge equal entries and sort the others into the sections; a backup is made first."""
        url = f"{self._path}/memory/compact"
        call = Call(method="POST", path=url, body=self._owner, timeout_seconds=timeout_seconds)
        return await self._connection.ask(Compacted, call)

    async def backups(self) -> tuple[Backup, ...]:
        """The backups of MEMORY.md from before its compactions, newest first."""
        call = Call(method="GET", path=f"{self._path}/memory/backups", query=self._owner, is_read=True)
        return (await self._connection.ask(BackupList, call)).backups

    async def restore_backup(self, name: str) -> Restored:
        """Restore MEMORY.md from a backup, as a new version: nothing is lost."""
        url = f"{self._path}/memory/backups/{segment(name, 'the name of a backup')}/restore"
        return await self._connection.ask(Restored, Call(method="POST", path=url, body=self._owner))
