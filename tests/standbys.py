"""A PostgreSQL with a standby that follows it, both embedded ones."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
from psycopg.conninfo import make_conninfo
from tests.clusters import cluster_directory

from reverie_indexer.database.database import Database
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.postgres.account import server_account
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.postgres.host import read_lock_file, run, usable_binaries, wheel_binaries
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

# Nothing here is measured: what takes longer than this hangs.
HANGS_SECONDS = 120.0
_OPTIONS = {"autovacuum": "off", "shared_buffers": "16MB", "fsync": "off"}


class Node:
    """One of the servers, in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._server = EmbeddedPostgres(home, options=_OPTIONS)

    def start(self) -> None:
        """Start it, or start it again."""
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    @property
    def conninfo(self) -> str:
        """How it is reached, also while it is down."""
        return make_conninfo(host=str(self.home / "run"), user="postgres", dbname="reverie")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of its processes."""
        lock_file = read_lock_file(self.home / "postgres")
        if lock_file is None:
            return
        with suppress(psutil.NoSuchProcess):
            postmaster = psutil.Process(lock_file.pid)
            for process in (postmaster, *postmaster.children()):
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(number)

    def ask(self, statement: str) -> Any:
        """The first value that a statement gives."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
        return None if row is None else row[0]

    def new_standby(self, home: Path) -> Node:
        """Another server that follows this one, of a base backup, started."""
        rules = self.home / "postgres" / "pg_hba.conf"
        text = rules.read_text()
        if "replication" not in text:
            rules.write_text(text + text.replace("local all all", "local replication all"))
            self.ask("SELECT pg_reload_conf()")
        account = server_account(home)
        binaries, _ = usable_binaries(wheel_binaries(), self.home, account)
        home.mkdir(mode=0o711)
        # By these a data directory of Reverie's is known.
        (home / "postgres.lock").touch(mode=0o600)
        source = ["-h", str(self.home / "run"), "-p", "5432", "-U", "postgres"]
        command = [binaries / "bin/pg_basebackup", *source, "-D", home / "postgres", "-R", "-X", "stream", "-c", "fast"]
        run(command, None, HANGS_SECONDS)
        if account is not None:
            for directory, names, files in os.walk(home / "postgres"):
                for name in (".", *names, *files):
                    os.chown(Path(directory) / name, account.uid, account.gid, follow_symlinks=False)
        standby = Node(home)
        standby.start()
        return standby


@dataclass(frozen=True)
class Pair:
    """A primary and the standby that follows it."""

    primary: Node
    standby: Node

    def pause(self) -> None:
        """Let the standby replay what there is, and then no more."""
        self.until_followed()
        self.standby.ask("SELECT pg_wal_replay_pause()")
        until(lambda: self.standby.ask("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        self.standby.ask("SELECT pg_wal_replay_resume()")

    def until_followed(self) -> None:
        """Wait until the standby has all that the primary has now."""
        place = self.primary.ask("SELECT pg_current_wal_flush_lsn()")
        until(lambda: self.standby.ask(f"SELECT pg_last_wal_replay_lsn() >= '{place}'"))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + HANGS_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


async def comes_about(condition: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + HANGS_SECONDS
    while not await condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


@contextmanager
def started_pair() -> Iterator[Pair]:
    """A primary with the schema, and a standby of it."""
    with cluster_directory() as directory:
        primary = Node(directory / "a")
        primary.start()
        try:
            asyncio.run(prepare_database(primary.conninfo))
            standby = primary.new_standby(directory / "b")
            try:
                yield Pair(primary, standby)
            finally:
                standby.stop()
        finally:
            primary.stop()


@contextmanager
def whole(pair: Pair) -> Iterator[Pair]:
    """The pair for a test: afterwards the standby runs again, and follows."""
    try:
        yield pair
    finally:
        pair.standby.signal(signal.SIGCONT)
        pair.standby.start()
        pair.resume()
        pair.until_followed()


@asynccontextmanager
async def reading(pair: Pair, read_conninfo: str | None = None) -> AsyncIterator[Runtime]:
    """Everything wired over the primary, with reads on the standby (or on another server)."""

    async def load() -> HashingEmbedder:
        return HashingEmbedder(16)

    async with Database(
        pair.primary.conninfo, read_conninfo=read_conninfo or pair.standby.conninfo, pool_size=6
    ) as database:
        slot = ModelSlot(load)
        await slot.fill(database)
        runtime = assemble(Settings(embedder="hashing"), database, slot)
        recording = [asyncio.create_task(each.run()) for each in (runtime.recalls, runtime.audit, runtime.turn_log)]
        try:
            yield runtime
        finally:
            for task in recording:
                task.cancel()
            await asyncio.gather(*recording, return_exceptions=True)
            await slot.aclose()
            await runtime.compactions.aclose()


def reads_of(runtime: Runtime) -> tuple[int, int]:
    """How many reads were the standby's, and how many the primary's."""
    counts = runtime.database.reads
    assert counts is not None
    return counts.standby, counts.primary


def fallbacks_of(runtime: Runtime) -> dict[str, int]:
    """Why reads were the primary's, with how many each."""
    counts = runtime.database.reads
    assert counts is not None
    return {reason: count for reason, count in counts.fallbacks.items() if count}


async def until_read_there(runtime: Runtime, read: Callable[[], Awaitable[httpx.Response]]) -> None:
    """Repeat a read until the standby has done it."""

    async def is_there() -> bool:
        before = reads_of(runtime)
        answer = await read()
        assert answer.status_code == 200, answer.text
        return reads_of(runtime)[0] > before[0]

    await comes_about(is_there)
