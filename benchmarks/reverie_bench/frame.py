"""The frame of every run: its options, the database and the model that it works with, the origin of its result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from reverie_bench import origin
from reverie_bench.scratch import scratch_database
from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.database.preparing import DatabaseReport
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import SetupError
from reverie_indexer.model import Place, Written
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_indexer.pipeline import Pipeline
from reverie_server.app.embedders import embedder_loader
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

SQL = Queries(__file__)
NO_LIMIT_SECONDS = 24 * 3600.0
LoadEmbedder = Callable[[], Coroutine[Any, Any, Embedder]]


async def load_configured(settings: Settings) -> Embedder:
    """Load the embedder of the settings; SetupError where none is configured. Picklable, for processes of a run."""
    load = embedder_loader(settings)
    if load is None:
        raise SetupError("the benchmark measures search by meaning too: configure an embedder")
    return await load()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of every run.

    `data` are files as of `data.load`; a run that makes up texts does so where there are none. `embedder` loads the
    model, by default the one of the settings; the run closes it. `progress` is called with each step.
    """

    settings: Settings = field(default_factory=Settings)
    data: tuple[Path, ...] = ()
    embedder: LoadEmbedder | None = None
    database_url: str | None = None
    seed: int = 20261122
    progress: Callable[[str], None] = lambda _: None

    @property
    def load_embedder(self) -> LoadEmbedder:
        """Loads the model of the run."""
        return self.embedder or partial(load_configured, self.settings)


class Start:
    """The beginning of a run: the time, and the commit of the imported code (somebody may commit later)."""

    def __init__(self) -> None:
        self._at = time.perf_counter()
        self._commit, self._dirty = origin.commit()

    def origin(self, model: Any, server: DatabaseReport | None = None) -> dict[str, Any]:
        """The origin of a result: commit, versions, machine, model, and the duration until now."""
        of_server = {}
        if server is not None:
            of_server = {"postgresql": server.server_version, "pgvector extension": server.vector_version}
        return {
            "commit": self._commit,
            "dirty": self._dirty,
            "versions": {**origin.versions(), **of_server},
            "machine": origin.machine(),
            "model": model,
            "duration_seconds": round(time.perf_counter() - self._at, 1),
        }


@dataclass(frozen=True, slots=True)
class Bench:
    """The means of a run: a scratch database, a connection to it in autocommit, and the model."""

    start: Start
    conninfo: str
    server: DatabaseReport
    database: Database
    connection: psycopg.AsyncConnection[Any]
    models: ModelSlot
    ready: Ready

    def origin(self) -> dict[str, Any]:
        """The origin of the run's result."""
        return self.start.origin(asdict(self.ready.embedder.identity), self.server)

    def runtime(self, settings: Settings, **changes: Any) -> Runtime:
        """The product, wired on the scratch database; its writes wait for their vectors as long as it takes."""
        return assemble(settings, self.database, self.models, embed_wait_seconds=NO_LIMIT_SECONDS, **changes)


@asynccontextmanager
async def open_bench(
    options: Options, *, make_database: Callable[..., Database] = Database, query_cache_size: int = 1024
) -> AsyncIterator[Bench]:
    """A scratch database with the model loaded; both gone at the end.

    SetupError when the model cannot be used, DatabaseUnavailable when PostgreSQL does not answer.
    """
    start = await asyncio.to_thread(Start)
    options.progress("starting the database and the model")
    pool_size = options.settings.pool_size
    async with (
        scratch_database(options.database_url) as (conninfo, server),
        make_database(conninfo, pool_size=pool_size) as database,
    ):
        models = ModelSlot(options.load_embedder, query_cache_size=query_cache_size)
        try:
            await models.fill(database)
            if models.ready is None:
                raise SetupError(f"the benchmark needs an embedding model: {models.error}")
            async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
                yield Bench(start, conninfo, server, database, connection, models, models.ready)
        finally:
            await models.aclose()


async def write_embedded(pipeline: Pipeline, place: Place, files: Mapping[str, str]) -> Sequence[Written]:
    """Write files (path to text) through the pipeline; SetupError where a passage was not embedded."""
    changes = [overwrite(path, text, by="bench", reason="bench") for path, text in files.items()]
    written = await pipeline.write_many(place, changes)
    if not all(file.embedded for file in written):
        raise SetupError("not everything was embedded: the embedding model failed or was too slow")
    return written


async def settle(connection: psycopg.AsyncConnection[Any]) -> None:
    """Bring visibility and statistics up to date, as autovacuum would in time. The connection is in autocommit."""
    await connection.execute(SQL["settle"])


def digests(paths: Sequence[Path]) -> list[dict[str, str]]:
    """The name and the digest of each data file, for the result."""
    return [{"file": path.name, "sha256": origin.sha256_of(path)} for path in paths]
