"""Whether a backup can be restored: it is, into a PostgreSQL of its own, and looked at there."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from psycopg.rows import DictRow

from reverie_indexer.database.database import Database
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.postgres.embedded import ROLE, EmbeddedPostgres
from reverie_server.app.backups.backup import SQL, Show
from reverie_server.app.backups.backup_file import BackupFile, Manifest
from reverie_server.app.backups.restore import check_known, close, fill
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest
from reverie_server.settings.server import Settings

_SEARCHES = 20
_RESULTS = 50


@dataclass(frozen=True, slots=True)
class Verified:
    """The counts of a restored database, and how many searches by words found the passage that they were made of."""

    manifest: Manifest
    searches: int


async def verify_backup(settings: Settings, path: Path, show: Show) -> Verified:
    """Restore a backup aside, compare rows, and search for some of its passages by their words.

    The directory for it is where temporary files are, and is gone in the end. Raises ValidationFailed or SetupError for
    what cannot be restored or is not found.
    """
    file = BackupFile(path)
    check_known(file.manifest)
    await file.check()
    with tempfile.TemporaryDirectory(prefix="reverie-verify-") as directory:
        # As root PostgreSQL runs as another user, who has to get there.
        await asyncio.to_thread(Path(directory).chmod, 0o711)
        # Nothing of it outlives the command.
        options = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
        server = EmbeddedPostgres(Path(directory) / "data", options=options)
        try:
            conninfo = await asyncio.to_thread(server.start)
            await fill(conninfo, file, ROLE, show)
            async with Database(conninfo) as database:
                runtime = assemble(settings, database, ModelSlot(None))
                try:
                    searches = await _search(runtime)
                finally:
                    await close(runtime)
        finally:
            await asyncio.to_thread(server.stop)
    return Verified(file.manifest, searches)


async def _search(runtime: Runtime) -> int:
    """Search for a sample of passages, each in its memory by its words; how many. ValidationFailed for a miss."""
    rows = await runtime.database.maintenance_query(SQL["sample"], {"count": _SEARCHES})
    for row in rows:
        if not await _is_found(runtime, row):
            raise ValidationFailed(f"a search does not find passage {row['chunk_id']} of the restored backup")
    return len(rows)


async def _is_found(runtime: Runtime, row: DictRow) -> bool:
    request = SearchRequest(
        row["tenant_id"],
        row["agent_id"],
        row["text"][:1000],
        row["owner_key"],
        max_results=_RESULTS,
        tiers=(row["tier"],),
        mode="text",
    )
    outcome = await runtime.search.search(request)
    return any(each.text == row["text"] for each in outcome.results)
