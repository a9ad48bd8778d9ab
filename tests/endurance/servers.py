"""The PostgreSQL of a round: one server, or three nodes with Citus. Each can be killed, and started again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.citus.failures import tell
from tests.citus.nodes import NAMES, started_nodes
from tests.clusters import cluster_directory

from reverie_indexer.database.distributing import distribute
from reverie_indexer.postgres.embedded import EmbeddedPostgres


@dataclass(frozen=True, slots=True)
class Servers:
    """`conninfo` leads to the database, `clusters` are where the servers run, and `start` starts the one of a directory
    again."""

    conninfo: str
    clusters: Sequence[Path]
    start: Callable[[Path], object]


def started_servers(citus: Path | None) -> AbstractContextManager[Servers]:
    """One server; three nodes where there is an archive of Citus. Gone in the end."""
    return _one_server() if citus is None else _three_nodes(citus)


@contextmanager
def _one_server() -> Iterator[Servers]:
    with cluster_directory() as directory:
        server = EmbeddedPostgres(directory)
        try:
            yield Servers(server.start(), [directory / "postgres"], lambda _: server.start())
        finally:
            server.stop()


@contextmanager
def _three_nodes(citus: Path) -> Iterator[Servers]:
    with started_nodes(citus.resolve()) as nodes:
        conninfo = nodes.create("endurance")
        asyncio.run(distribute(conninfo))
        # Citus itself ends what is prepared, every second.
        tell(conninfo, "ALTER SYSTEM SET citus.recover_2pc_interval = 1000", "SELECT pg_reload_conf()")
        names = {nodes.cluster(name): name for name in NAMES}
        yield Servers(conninfo, list(names), lambda cluster: nodes.start(names[cluster]))
