"""The ingest benchmark: the product's own indexing beside the model alone on the very same passages."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from reverie_bench import origin
from reverie_bench.data import load
from reverie_bench.ingest import process as ingest_process
from reverie_bench.ingest.figures import appends_figures, folder_figures, memory_figures, resume_figures
from reverie_bench.ingest.folder import Notes, made_up_notes, notes_of, parts_of, texts_of, write_folder
from reverie_bench.latency.server import environment_of
from reverie_bench.scratch import scratch_database
from reverie_indexer.database.database import Database, DatabaseReport
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed import Embedder
from reverie_indexer.embed.protocol import Embedding
from reverie_indexer.errors import SetupError
from reverie_indexer.model import ModelIdentity, Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.text.passages import Rules
from reverie_server.app.wiring import assemble, data_dir_of
from reverie_server.files.files import Write
from reverie_server.files.ingest import Summary, index_folder
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

SQL = Queries(__file__)
PARTS = 4
APPENDS = 120
APPENDED_FILES = 12
_TENANT = "default"
_PLACE = Place(_TENANT, "bench", "team")
_NO_LIMIT_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """What to run. Without `data` the notes are made up. `progress` is told what is being done."""

    settings: Settings
    load_embedder: Callable[[], Awaitable[Embedder]]
    data: tuple[Path, ...] = ()
    database_url: str | None = None
    seed: int = 20261122
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """A run's result, without any text or name of the data."""

    data: Sequence[Mapping[str, Any]]
    sizes: Mapping[str, Any]
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    folder: Mapping[str, Any]
    unchanged: Mapping[str, Any]
    appends: Mapping[str, Any]
    memory: Mapping[str, Any]
    resume: Mapping[str, Any]


class Noting:
    """An embedder that notes what it is asked, call by call."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.calls: list[list[str]] = []

    @property
    def identity(self) -> ModelIdentity:
        """Of the embedder behind it."""
        return self._inner.identity

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """See `Embedder.embed`."""
        self.calls.append(list(texts))
        return await self._inner.embed(texts)

    def familiarity(self, text: str) -> float:
        """See `Embedder.familiarity`."""
        return self._inner.familiarity(text)

    async def aclose(self) -> None:
        """See `Embedder.aclose`."""
        await self._inner.aclose()


@dataclass(frozen=True, slots=True)
class _Stage:
    """What a run measures with: a server of databases, the system in this process, notes as folders."""

    conninfo: str
    report: DatabaseReport
    runtime: Runtime
    embedder: Noting
    rules: Rules
    parts: Sequence[Notes]
    home: Path
    options: IngestOptions


async def run_ingest(options: IngestOptions) -> IngestReport:
    """Measure it all; SetupError when the model, the database or the command cannot be used."""
    started = time.perf_counter()
    code = await asyncio.to_thread(origin.commit)
    async with _staged(options) as stage:
        folder, unchanged = await _folders(stage)
        appends = await _appends(stage)
        memory = await _memory(stage)
        resume = await _resume(stage)
        commit, dirty = code
        versions = {"postgresql": stage.report.server_version, "pgvector extension": stage.report.vector_version}
        return IngestReport(
            data=[{"file": path.name, "sha256": origin.sha256_of(path)} for path in options.data],
            sizes={
                "notes": sum(map(len, stage.parts)),
                "passages": sum(len(texts_of(part, stage.rules)) for part in stage.parts),
                "parts": PARTS,
                "appends": APPENDS,
            },
            settings={
                "seed": options.seed,
                "embedder_threads": options.settings.embedder_threads,
                "embedder_batch_size": options.settings.embedder_batch_size,
                "chunk_max_chars": options.settings.chunk_max_chars,
            },
            origin={
                "commit": commit,
                "dirty": dirty,
                "versions": {**origin.versions(), **versions},
                "machine": origin.machine(),
                "model": asdict(stage.embedder.identity),
                "duration_seconds": round(time.perf_counter() - started, 1),
            },
            folder=folder,
            unchanged=unchanged,
            appends=appends,
            memory=memory,
            resume=resume,
        )


@asynccontextmanager
async def _staged(options: IngestOptions) -> AsyncIterator[_Stage]:
    settings = options.settings
    corpora = [load(path) for path in options.data]
    notes = notes_of(corpora) if corpora else made_up_notes(options.seed)
    rules = Rules(chunk_max_chars=settings.chunk_max_chars, language=settings.language)
    async with AsyncExitStack() as stack:
        options.progress("starting the database and the model")
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reverie-bench-notes-")))
        conninfo, report = await stack.enter_async_context(scratch_database(options.database_url))
        database = await stack.enter_async_context(Database(conninfo, pool_size=settings.pool_size))
        embedder = Noting(await options.load_embedder())

        async def loaded() -> Embedder:
            return embedder

        models = ModelSlot(loaded)
        stack.push_async_callback(models.aclose)
        await models.fill(database)
        if models.ready is None:
            raise models.error or SetupError("the benchmark needs an embedding model")
        runtime = assemble(settings, database, models, embed_wait_seconds=_NO_LIMIT_SECONDS)
        # The agent with its seed files, and the first use of everything.
        await runtime.pipeline.write_many(_PLACE, [])
        yield _Stage(
            conninfo, report, runtime, embedder, rules, parts_of(notes, PARTS, options.seed, rules), home, options
        )


async def _folders(stage: _Stage) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part by part the model alone and the whole, in turns, so that a drift of the machine favours neither."""
    alone: list[float] = []
    whole: list[float] = []
    again: list[float] = []
    chunks: list[int] = []
    for number, part in enumerate(stage.parts):
        stage.options.progress(f"indexing a folder beside the model alone, part {number + 1} of {PARTS}")
        texts = texts_of(part, stage.rules)
        folder = write_folder(stage.home / f"part{number}", part)
        if number % 2 == 0:
            alone.append(await _alone(stage, [texts]))
        seconds, summary = await _timed(_index(stage, folder))
        if number % 2 == 1:
            alone.append(await _alone(stage, [texts]))
        if summary.pending or summary.new != len(part):
            raise SetupError("not everything was indexed: the embedding model failed")
        whole.append(seconds)
        chunks.append(summary.chunks)
        seconds, summary = await _timed(_index(stage, folder))
        if summary.unchanged != len(part):
            raise SetupError("what did not change was not found to be unchanged")
        again.append(seconds)
    return folder_figures(chunks, whole, alone), {"times_faster": sum(whole) / sum(again), "seconds": sum(again)}


async def _timed(work: Awaitable[Summary]) -> tuple[float, Summary]:
    started = time.perf_counter()
    summary = await work
    return time.perf_counter() - started, summary


async def _alone(stage: _Stage, calls: Sequence[Sequence[str]]) -> float:
    """The seconds that the model takes for these calls."""
    started = time.perf_counter()
    for texts in calls:
        await stage.embedder.embed(texts)
    return time.perf_counter() - started


async def _index(stage: _Stage, folder: Path) -> Summary:
    return await index_folder(
        stage.runtime.workspace,
        stage.runtime.pipeline,
        _PLACE,
        folder,
        tombstones=stage.runtime.tombstones,
        max_file_bytes=stage.options.settings.max_file_bytes,
    )


async def _appends(stage: _Stage) -> dict[str, Any]:
    """Lines appended one by one, as agents write, beside the model alone on what it embedded for them."""
    stage.options.progress("appending lines")
    lines = [line for part in stage.parts for text in part.values() for line in text.splitlines() if len(line) > 40]
    step = max(1, len(lines) // APPENDS)
    stage.embedder.calls.clear()
    seconds = []
    for number, line in enumerate(lines[::step][:APPENDS]):
        path = f"appended/{number % APPENDED_FILES}.md"
        started = time.perf_counter()
        # A number makes each line a new one: none is in the cache of vectors.
        await stage.runtime.workspace.apply(
            _PLACE, Write(path, "bench", "append"), "append", f"\n{number}. {line}\n", None
        )
        seconds.append(time.perf_counter() - started)
    calls = [list(call) for call in stage.embedder.calls]
    one_by_one = await _alone(stage, calls)
    together = await _alone(stage, [[text for call in calls for text in call]])
    return appends_figures(seconds, sum(map(len, calls)), one_by_one, together)


async def _memory(stage: _Stage) -> dict[str, Any]:
    """`reverie index` of one part and of all, each into a database of its own, and both once more."""
    runs = {}
    for name, parts in (("one part", stage.parts[:1]), ("all parts", stage.parts)):
        stage.options.progress(f"running `reverie index` on {name}")
        folder = write_folder(stage.home / name.replace(" ", "-"), *parts)
        async with scratch_database(stage.conninfo) as (conninfo, _):
            environment = _environment(stage, conninfo)
            first = await asyncio.to_thread(ingest_process.index, folder, environment)
            runs[name] = (first, await asyncio.to_thread(ingest_process.index, folder, environment))
    return memory_figures(runs["one part"], runs["all parts"])


async def _resume(stage: _Stage) -> dict[str, Any]:
    """Half of the notes, killed when half of them are there, and run again."""
    stage.options.progress("killing `reverie index` half way and running it again")
    parts = stage.parts[: PARTS // 2]
    folder = write_folder(stage.home / "killed", *parts)
    half = sum(map(len, parts)) // 2
    async with scratch_database(stage.conninfo) as (conninfo, _):
        environment = _environment(stage, conninfo)
        with psycopg.connect(conninfo, autocommit=True, row_factory=dict_row) as connection:
            killed = await ingest_process.index_until(
                folder, environment, lambda: _found(connection, "indexed")["files"] >= half
            )
            if not killed:
                raise SetupError("`reverie index` ended before it could be killed")
            before = _found(connection, "indexed") | _found(connection, "cached")
            second = await asyncio.to_thread(ingest_process.index, folder, environment)
            after = _found(connection, "indexed") | _found(connection, "cached")
    return resume_figures(before, after, second)


def _found(connection: psycopg.Connection[Any], name: str) -> dict[str, Any]:
    with connection.transaction():
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        row: dict[str, Any] | None = connection.execute(SQL[name], {"tenant_id": _TENANT}).fetchone()
    return row or {}


def _environment(stage: _Stage, conninfo: str) -> dict[str, str]:
    settings = stage.options.settings
    return environment_of(settings, database_url=conninfo, data_dir=str(data_dir_of(settings)), log_level="warning")
