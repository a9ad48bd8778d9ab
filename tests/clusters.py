"""The tests' databases, and where clusters live: in memory, where making a file costs a tenth of what it does on disk.

A SIGKILL leaves the same behind in both, and nothing here loses power.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from tests.reaper import remove_cluster_directory, start_reaper

_MEMORY = Path("/dev/shm")
# A container often has 64 MB of it.
_ROOM_BYTES = 2 << 30
_PREFIX = "reverie-test"


@cache
def clusters_root() -> Path:
    """The directory for clusters: shared memory with 2 GiB free, else the one for temporary files."""
    if os.access(_MEMORY, os.W_OK | os.X_OK):
        room = os.statvfs(_MEMORY)
        if room.f_bavail * room.f_frsize >= _ROOM_BYTES:
            return _MEMORY
    return Path(tempfile.gettempdir())


@contextmanager
def cluster_directory() -> Iterator[Path]:
    """An empty directory for clusters; in the end no process works on one in it, and it is gone.

    An unprivileged user can reach it, as he cannot reach pytest's own under root. A run that is killed leaves neither.
    """
    prefix = f"{_PREFIX}-{os.getpid()}-"
    start_reaper(f"{clusters_root() / prefix}*")
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=clusters_root())).resolve()
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        remove_cluster_directory(directory)


class Databases:
    """Clones a template database, and drops the clones, by one connection that is kept."""

    def __init__(self, conninfo: str, template: str) -> None:
        self._conninfo = conninfo
        self._template = template
        self._connection: psycopg.Connection | None = None
        self._copying = sql.SQL("")

    def __enter__(self) -> Databases:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    @property
    def backend_pid(self) -> int:
        """The server's process at the other end."""
        return self._connect().info.backend_pid

    def create(self, name: str) -> str:
        """How to reach a new database of that name."""
        self._run("CREATE DATABASE {name} TEMPLATE {template}{copying}", name)
        return make_conninfo(self._conninfo, dbname=name)

    def drop(self, name: str) -> None:
        """Whoever is still connected to it is cut off."""
        self._run("DROP DATABASE IF EXISTS {name} WITH (FORCE)", name)

    def _run(self, statement: LiteralString, name: str) -> None:
        try:
            self._connect().execute(self._filled(statement, name))
        except psycopg.OperationalError:
            # A test may have killed a backend, and with it every connection to the server.
            if self._connection is not None and not self._connection.broken:
                raise
            self._connect().execute(self._filled(statement, name))

    def _filled(self, statement: LiteralString, name: str) -> sql.Composed:
        names = {"name": sql.Identifier(name), "template": sql.Identifier(self._template)}
        return sql.SQL(statement).format(**names, copying=self._copying)

    def _connect(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._conninfo, autocommit=True)
            fsync = self._connection.execute("SHOW fsync").fetchone()
            # Copying files writes no log of them but makes two checkpoints, which are cheap only without fsync.
            self._copying = sql.SQL(" STRATEGY FILE_COPY" if fsync == ("off",) else "")
        return self._connection
