"""An agent's memory as one file: export it, look at what an import would do, import it.

A snapshot is of one place: the team's files, one owner's, or the tenant's. Nothing in an archive says whose it is, so
that it is written where the request says, and nowhere else, whatever it holds.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, BinaryIO

from psycopg.rows import DictRow

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place, Scope
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.principal import Principal, place_for
from reverie_server.files import snapshot_format
from reverie_server.files.snapshot_format import Snapshot, SnapshotFile
from reverie_server.files.strict_zip import Limits
from reverie_server.files.well_known import LONG_TERM

SQL = Queries(__file__)
# So much text, or one file that is larger, is in memory at a time while an archive is written.
_BATCH_BYTES = 1024 * 1024
_MAX_ATTEMPTS = 5
TextFilter = Callable[[str], str]


async def keep_everything(place: Place) -> TextFilter:
    """The filter for a place where nothing was ever forgotten: a text as it is."""
    del place
    return lambda text: text


@dataclass(frozen=True, slots=True)
class Export:
    """An archive in a temporary file, at its beginning; gone when the file is closed, which is up to the caller.

    `size` is in bytes, `count` how many things are in it.
    """

    file: BinaryIO
    size: int
    filename: str
    count: int


@dataclass(frozen=True, slots=True)
class Digest:
    """A text without the text. `size` is in bytes."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file by an import. `before` is None where there was none."""

    path: str
    before: Digest | None
    after: Digest


@dataclass(frozen=True, slots=True)
class Report:
    """What an import would do, or did: every entry of the archive but its manifest, by path.

    `before` is what was there when the import began. `waiting` counts files written that lack vectors yet.
    """

    place: Place
    files: Sequence[FileChange]
    skipped: Mapping[str, str]
    waiting: int = 0

    @property
    def created(self) -> list[FileChange]:
        """Files that were not there."""
        return [file for file in self.files if file.before is None]

    @property
    def updated(self) -> list[FileChange]:
        """Files that held something else."""
        return [file for file in self.files if file.before not in (None, file.after)]

    @property
    def unchanged(self) -> list[FileChange]:
        """Files that hold just that."""
        return [file for file in self.files if file.before == file.after]


def place_to_export(principal: Principal, scope: Scope | None, *, isolated: bool) -> Place:
    """Whose files an export is of: the owner's where one is given, else the team's, unless the request says.

    Without isolation an owner's writes are the team's, and so is what is exported for them.
    """
    return place_for(principal, scope or (None if isolated else "team"))


class Snapshots:
    """Exports and imports.

    `without_forgotten` gives, for a place, the function that every imported text goes through before it is compared
    and written: what was forgotten there is left out by it.
    """

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        *,
        max_file_bytes: int,
        limits: Limits | None = None,
        without_forgotten: Callable[[Place], Awaitable[TextFilter]] = keep_everything,
    ) -> None:
        self.limits = limits or Limits()
        self._database = database
        self._pipeline = pipeline
        self._max_file_bytes = max_file_bytes
        self._without_forgotten = without_forgotten
        # Imports take turns: the passages of 16 MiB of text are a good deal of memory.
        self._importing = asyncio.Lock()

    async def export(self, place: Place, *, prefix: str | None = None) -> Export:
        """The place's files under a prefix as one archive, all as they stood at one instant.

        Written to disk first: an error is an error and no broken download, and a slow reader holds no transaction.
        Raises NotFound for an unknown agent, PayloadTooLarge when the archive could not be imported again.
        """
        file = tempfile.TemporaryFile(prefix="reverie-export-")  # noqa: SIM115  # handed to the caller
        try:
            at = datetime.now(UTC)
            async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
                count = await self._write(connection, place, prefix, file, at)
            size = file.tell()
            file.seek(0)
        except BaseException:
            file.close()
            raise
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", place.agent_id).strip("-")
        return Export(file, size, f"reverie-{name or 'agent'}-{place.scope}-{at:%Y-%m-%d}.zip", count)

    async def preview(self, place: Place, file: BinaryIO) -> Report:
        """What importing the archive would do. Writes nothing. Raises what `read_snapshot` raises."""
        snapshot = await self._read(place, file)
        return await self._compare(place, snapshot)

    async def apply(self, place: Place, file: BinaryIO, *, by: str) -> Report:
        """Import the archive: all its files in one transaction, or none.

        A file that is there keeps its flags and its history; one that the archive does not have is left alone.
        Raises what `read_snapshot` and `Pipeline.unit_of_work` raise.
        """
        async with self._importing:
            return await until_stable(
                partial(self._apply_once, place, file, by), attempts=_MAX_ATTEMPTS, what="what is forgotten"
            )

    async def _apply_once(self, place: Place, file: BinaryIO, by: str) -> Report:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            known = await _count_forgotten(connection, place, await own_slices(connection, place))
        snapshot = await self._read(place, file)
        report = await self._compare(place, snapshot)
        changes = [
            overwrite(change.path, snapshot.files[change.path], by=by, reason="import")
            for change in report.files
            if change.before != change.after
        ]
        if not changes:
            return report
        async with self._pipeline.unit_of_work(place, changes) as unit:
            # Vectors take their time. Who forgets from here on waits for this transaction, and finds what it wrote.
            if await _count_forgotten(unit.connection, place, [unit.slice_.slice_id]) != known:
                raise Superseded
        return replace(report, waiting=sum(not result.embedded for result in unit.written))

    async def _write(
        self, connection: Connection, place: Place, prefix: str | None, file: BinaryIO, at: datetime
    ) -> int:
        """Write the archive; how many files are in it."""
        agent = await store.read_agent(connection, place.tenant_id, place.agent_id)
        if agent is None:
            raise NotFound(f"there is no agent {place.agent_id!r}")
        cursor = await connection.execute(
            SQL["exported"],
            {
                "tenant_id": place.tenant_id,
                "slice_ids": await own_slices(connection, place),
                "core_files": list(snapshot_format.CORE_FILES),
                "folder": snapshot_format.FOLDER,
                "prefix": prefix,
                "limit": self.limits.max_entries,
            },
        )
        rows = await cursor.fetchall()
        ids = {row["path"]: row["document_id"] for row in rows}
        files = snapshot_format.in_order(_snapshot_file(row) for row in rows)
        manifest = snapshot_format.manifest_of(files, place.agent_id, agent["name"], at)
        snapshot_format.check_fits(files, manifest, self.limits, max_file_bytes=self._max_file_bytes)
        writer = await asyncio.to_thread(snapshot_format.Writer, file)
        await asyncio.to_thread(writer.add, snapshot_format.MANIFEST, manifest, at)
        for batch in _batches(files):
            params = {"tenant_id": place.tenant_id, "document_ids": [ids[stored.path] for stored in batch]}
            found = await (await connection.execute(SQL["contents"], params)).fetchall()
            contents = {row["document_id"]: row["content"] for row in found}
            for stored in batch:
                content = contents[ids[stored.path]].encode()
                await asyncio.to_thread(writer.add, stored.path, content, stored.updated_at)
        await asyncio.to_thread(writer.finish)
        return len(files)

    async def _read(self, place: Place, file: BinaryIO) -> Snapshot:
        """The texts that the archive brings to this place, without those that were forgotten there."""
        text_filter = await self._without_forgotten(place)
        present = await self._present(place, LONG_TERM)
        memory = next((name for name in LONG_TERM if name in present), LONG_TERM[0])

        read = partial(snapshot_format.read_snapshot, max_file_bytes=self._max_file_bytes)
        snapshot = await asyncio.to_thread(read, file, self.limits)
        files = {path: await isolated(text_filter, text, chars=len(text)) for path, text in snapshot.files.items()}
        return Snapshot(_with_memory_at(memory, files), snapshot.skipped)

    async def _compare(self, place: Place, snapshot: Snapshot) -> Report:
        before = await self._present(place, list(snapshot.files))
        after = await asyncio.to_thread(lambda: {path: _digest(text) for path, text in snapshot.files.items()})
        changes = [FileChange(path, before.get(path), after[path]) for path in sorted(after)]
        return Report(place, changes, dict(sorted(snapshot.skipped.items())))

    async def _present(self, place: Place, paths: Sequence[str]) -> dict[str, Digest]:
        """Those of some paths at which the place has files, each with what is there."""
        params: dict[str, Any] = {"tenant_id": place.tenant_id, "paths": list(paths)}
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            params["slice_ids"] = await own_slices(connection, place)
            rows = await (await connection.execute(SQL["present"], params)).fetchall()
        return {row["path"]: Digest(row["size"], row["sha256"].hex()) for row in rows}


def _with_memory_at(path: str, files: Mapping[str, str]) -> dict[str, str]:
    """The files with their long-term memory at a path, where they have one: of two names one is read."""
    named = [name for name in LONG_TERM if name in files]
    return {path if [each] == named else each: text for each, text in files.items()}


async def _count_forgotten(connection: Connection, place: Place, slice_ids: Sequence[int]) -> int:
    params = {"tenant_id": place.tenant_id, "slice_ids": list(slice_ids)}
    row = await (await connection.execute(SQL["count_forgotten"], params)).fetchone()
    return int((row or {"count": 0})["count"])


def _snapshot_file(row: DictRow) -> SnapshotFile:
    return SnapshotFile(row["path"], row["size"], row["sha256"], row["updated_at"])


def _digest(text: str) -> Digest:
    content = text.encode()
    return Digest(len(content), hashlib.sha256(content).hexdigest())


def _batches(files: Sequence[SnapshotFile]) -> Iterator[list[SnapshotFile]]:
    """The files in order, in groups of so many bytes, or of one file that has more."""
    batch: list[SnapshotFile] = []
    size = 0
    for file in files:
        if batch and size + file.size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch
