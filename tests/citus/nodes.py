"""A PostgreSQL of three nodes with Citus: a coordinator, and two workers that hold what is distributed.

Citus is no part of this project: the tests are given an archive that is unpacked over the embedded PostgreSQL.
The nodes reach each other over their private sockets.
"""

from __future__ import annotations

import asyncio
import shutil
import stat
import tarfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tests.clusters import cluster_directory

from reverie_indexer.database.distributing import distribute
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.postgres.host import kill_all, wheel_binaries

NAMES = ("coordinator", "east", "west")
_OPTIONS = {
    # Lost on a crash of the machine alone: a killed server has its log.
    "fsync": "off",
    "shared_preload_libraries": "citus",
    "wal_level": "logical",
    "max_connections": "150",
    "max_wal_size": "256MB",
    "shared_buffers": "64MB",
    "citus.node_conninfo": "sslmode=disable",
    "citus.enable_statistics_collection": "off",
    "citus.enable_stat_counters": "on",
    # A table is as many tables: 32 would take a minute.
    "citus.shard_count": "4",
}


class Nodes:
    """The three nodes; `conninfos` by their names, of the database `reverie` of each."""

    def __init__(self, binaries: Path, directory: Path) -> None:
        self._directory = directory
        self._servers = {
            # For a move of a shard a node connects to itself.
            name: EmbeddedPostgres(
                directory / name,
                binaries=binaries,
                options={**_OPTIONS, "citus.local_hostname": str(directory / name / "run")},
            )
            for name in NAMES
        }
        self.conninfos: dict[str, str] = {}

    def start(self, *names: str) -> None:
        """Start nodes, all where none is named."""
        for name in names or NAMES:
            self.conninfos[name] = self._servers[name].start()

    def stop(self) -> None:
        """Stop all of them."""
        for server in self._servers.values():
            server.stop()

    def kill(self, name: str) -> None:
        """End every process of a node as the kernel does when there is no memory."""
        kill_all(self.cluster(name), time.monotonic() + 20)

    def cluster(self, name: str) -> Path:
        """Where a node runs: the directory of its data."""
        return self._directory / name / "postgres"

    def of(self, name: str, database: str) -> str:
        """How to reach a database on a node."""
        return make_conninfo(self.conninfos[name], dbname=database)

    def create(self, database: str) -> str:
        """How to reach, on the coordinator, a new empty database of all three nodes."""
        for name in NAMES:
            with psycopg.connect(self.conninfos[name], autocommit=True) as connection:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
            with psycopg.connect(self.of(name, database), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION citus")
                connection.execute("CREATE EXTENSION vector")
        with psycopg.connect(self.of("coordinator", database), autocommit=True) as connection:
            connection.execute("SELECT citus_set_coordinator_host(%s, %s)", self._address("coordinator"))
            for name in NAMES[1:]:
                connection.execute("SELECT citus_add_node(%s, %s)", self._address(name))
        return self.of("coordinator", database)

    def drop(self, database: str) -> None:
        """Whoever is still connected to it is cut off."""
        statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database))
        for name in NAMES:
            for attempt in range(12):
                # A process of Citus may have come back meanwhile, after its node was killed.
                passing = nullcontext() if attempt == 11 else suppress(psycopg.errors.ObjectInUse)
                with passing, psycopg.connect(self.conninfos[name], autocommit=True) as connection:
                    connection.execute(statement)
                    break

    def _address(self, name: str) -> tuple[str, int]:
        address = conninfo_to_dict(self.conninfos[name])
        return str(address["host"]), int(str(address["port"]))


class NodeDatabases:
    """Clones a distributed database on all three nodes, and drops the clones; as `Databases` does on one."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._template = ""

    def create(self, name: str) -> str:
        """How to reach a new database of that name, on the coordinator."""
        self._template = self._template or self._distributed()
        for node in NAMES:
            with psycopg.connect(self._nodes.conninfos[node], autocommit=True) as connection:
                statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
                connection.execute(statement.format(sql.Identifier(name), sql.Identifier(self._template)))
        conninfo = self._nodes.of("coordinator", name)
        # What the nodes are told belongs to a database and is not cloned with it.
        asyncio.run(distribute(conninfo))
        return conninfo

    def drop(self, name: str) -> None:
        """Whoever is still connected to it is cut off."""
        self._nodes.drop(name)

    def _distributed(self) -> str:
        name = f"template_{uuid.uuid4().hex[:12]}"
        asyncio.run(distribute(self._nodes.create(name)))
        for node in NAMES:
            with psycopg.connect(self._nodes.conninfos[node], autocommit=True) as connection:
                # Citus has a process in each database, which has to leave it.
                connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
                connection.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [name]
                )
        return name


@contextmanager
def started_nodes(citus: Path) -> Iterator[Nodes]:
    """Three nodes, from the archive of Citus or the directory that has it; gone in the end."""
    with cluster_directory() as directory:
        nodes = Nodes(_installed(citus, directory), directory)
        try:
            nodes.start()
            yield nodes
        finally:
            nodes.stop()


def _installed(citus: Path, directory: Path) -> Path:
    """A copy of the embedded PostgreSQL with Citus, which every user may run."""
    [archive] = citus.glob("citus-*.tar.gz") if citus.is_dir() else [citus]
    package = wheel_binaries().parent
    copied = directory / "binaries" / package.name
    shutil.copytree(package, copied, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, copied.with_name(libraries.name), symlinks=True)
    binaries = copied / wheel_binaries().name
    with tarfile.open(archive) as opened:
        opened.extractall(binaries, filter="data")
    for path in (directory / "binaries", *(directory / "binaries").rglob("*")):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | (0o555 if path.is_dir() or mode & stat.S_IXUSR else 0o444))
    return binaries
