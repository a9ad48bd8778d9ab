"""An embedded server with an archive of its log, which is made once and then copied."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from pydantic import SecretStr
from tests.backups import serving
from tests.integration.test_forget import GRANT, MINE, SECRET, put

from reverie_indexer.database.preparing import prepare_database
from reverie_server.app.backups.base_backup import BasePlan, take_base
from reverie_server.app.backups.forgotten import forgotten_log_of
from reverie_server.app.databases import archive_of, open_server
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest
from reverie_server.settings.server import Settings


def settings_in(directory: Path) -> Settings:
    """The settings of a server whose archive's name has what a shell would take for something else."""
    return Settings(
        embedder="hashing",
        data_dir=directory / "home",
        wal_archive_dir=directory / 'it\'s "the" $(archive)',
        wal_archive_seconds=3600,
    )


@asynccontextmanager
async def served(settings: Settings, conninfo: str) -> AsyncIterator[Runtime]:
    """Everything wired over an embedded server that is there."""
    async with serving(settings.model_copy(update={"database_url": SecretStr(conninfo)})) as runtime:
        yield runtime


@asynccontextmanager
async def embedded(settings: Settings) -> AsyncIterator[tuple[Runtime, str]]:
    """Everything wired over the embedded server, and how to reach it; the server has stopped in the end."""
    async with open_server(settings) as (conninfo, _):
        await prepare_database(conninfo)
        async with served(settings, conninfo) as runtime:
            yield runtime, conninfo


async def found(runtime: Runtime, query: str) -> list[str]:
    """The texts of what a search by words finds."""
    request = SearchRequest("default", "wren", query, "user:1", mode="text")
    return [each.text for each in (await runtime.search.search(request)).results]


def now(conninfo: str) -> datetime:
    """The time by the server's clock."""
    with psycopg.connect(conninfo) as connection:
        row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    return row[0].astimezone(UTC)  # type: ignore[no-any-return]


def until(condition: Callable[[], bool], seconds: float = 180.0) -> None:
    """Wait until something is so; it fails where it is not so in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)


@dataclass(frozen=True)
class Made:
    """A server's life. At `good` the file `plan.md` was there, and two keys; then it was deleted by mistake, a text was
    forgotten, and the keys were revoked: the revocation of `held` was under way at that time. At `later` there was
    another file, and then the last was written.
    """

    directory: Path
    base: datetime
    good: datetime
    later: datetime
    key: str
    held: str

    @property
    def settings(self) -> Settings:
        """The server's settings."""
        return settings_in(self.directory)

    def copy_to(self, directory: Path) -> Made:
        """The same elsewhere."""
        subprocess.run(["cp", "-a", f"{self.directory}/.", directory], check=True)
        return Made(directory, self.base, self.good, self.later, self.key, self.held)


async def make(directory: Path) -> Made:
    """Live that life, and stop."""
    settings = settings_in(directory)
    archive = archive_of(settings)
    assert archive is not None
    async with embedded(settings) as (runtime, conninfo):
        await put(runtime.pipeline, "notes.md", f"{SECRET}\n\nAda likes tea.\n")
        plan = BasePlan(archive, 7, forgotten_log_of(settings))
        base = (await take_base(plan, conninfo, datetime.now(UTC))).at
        await put(runtime.pipeline, "plan.md", "The bridge opens in spring.\n")
        (key_id, key), (held_id, held) = [await runtime.keys.create("default", "member") for _ in range(2)]
        begun, noted = asyncio.Event(), asyncio.Event()
        revoking = asyncio.create_task(_revoke_slowly(runtime, held_id, begun, noted))
        await begun.wait()
        # A transaction that is younger than the revocation, and done before it.
        await put(runtime.pipeline, "other.md", "Ben likes coffee.\n")
        good = now(conninfo)
        noted.set()
        await revoking
        await runtime.pipeline.delete(MINE, "plan.md", by="user", reason="delete")
        await runtime.forgetting.forget(GRANT, MINE, Target(text=SECRET), dry_run=False)
        await runtime.keys.revoke(key_id)
        await put(runtime.pipeline, "later.md", "The ferry leaves at nine.\n")
        later = now(conninfo)
        await put(runtime.pipeline, "last.md", "The last word.\n")
    return Made(directory, base, good, later, key, held)


async def _revoke_slowly(runtime: Runtime, key_id: str, begun: asyncio.Event, go_on: asyncio.Event) -> None:
    """Revoke a key in a transaction that waits before it ends."""
    log = runtime.sessions.forgotten_log
    assert log is not None
    async with runtime.database.maintenance() as connection:
        await connection.execute("UPDATE keys SET revoked_at = now() WHERE key_id = %s", [key_id])
        await log.note(connection, "key", key_id)
        begun.set()
        await go_on.wait()
