"""The ingest benchmark: the product's own indexing beside the model alone on the very same passages."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row
from rich.console import RenderableType

from reverie_bench.data import load
from reverie_bench.frame import Bench, Options, digests, open_bench
from reverie_bench.ingest.api import Api, api_figures
from reverie_bench.ingest.figures import (
    GOAL_API_RATIO,
    GOAL_RATIO,
    GOAL_TIMES_FASTER,
    Indexing,
    appends_figures,
    folder_figures,
    memory_figures,
    resume_figures,
)
from reverie_bench.ingest.folder import Notes, made_up_notes, notes_of, parts_of, texts_of, write_folder
from reverie_bench.ingest.noting import NotingEmbedder
from reverie_bench.load.command import REVERIE, environment_of, run_command, run_until
from reverie_bench.report import Report, table
from reverie_bench.scratch import scratch_database
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import SetupError
from reverie_indexer.model import Place
from reverie_indexer.text.passages import Rules
from reverie_server.app.embedders import data_dir_of
from reverie_server.files.files import Write
from reverie_server.files.ingest import Summary, index_folder
from reverie_server.runtime import Runtime

SQL = Queries(__file__)
PARTS = 4
APPENDS = 120
APPENDED_FILES = 12
_TENANT = "default"
_PLACE = Place(_TENANT, "bench", "team")
_SUMMARY = re.compile(r"^(\d+) new, (\d+) changed, (\d+) unchanged, .*; (\d+) chunks written", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Stage:
    """The means of the run: the product in this process, and notes as folders below `home`."""

    bench: Bench
    runtime: Runtime
    embedder: NotingEmbedder
    rules: Rules
    parts: Sequence[Notes]
    home: Path
    options: Options


async def run_ingest(options: Options) -> Report:
    """Measure it all; SetupError when the model, the database or the command cannot be used."""
    settings = options.settings
    async with _staged(options) as stage:
        figures: dict[str, Any] = {}
        figures["folder"], figures["unchanged"] = await _folders(stage)
        figures["appends"] = await _appends(stage)
        api = Api(stage.runtime, stage.embedder, stage.bench.connection, _TENANT)
        figures["api"] = await api_figures(api, stage.parts[0], stage.parts[1], options.progress)
        figures["memory"] = await _memory(stage)
        figures["resume"] = await _resume(stage)
        return Report(
            name="ingest",
            data=digests(options.data),
            sizes={
                "notes": sum(map(len, stage.parts)),
                "passages": sum(len(texts_of(part, stage.rules)) for part in stage.parts),
                "parts": PARTS,
                "appends": APPENDS,
            },
            settings={
                "seed": options.seed,
                "embedder_threads": settings.embedder_threads,
                "embedder_batch_size": settings.embedder_batch_size,
                "chunk_max_chars": settings.chunk_max_chars,
            },
            origin=stage.bench.origin(),
            figures=figures,
        )


@asynccontextmanager
async def _staged(options: Options) -> AsyncIterator[_Stage]:
    settings = options.settings
    corpora = [load(path) for path in options.data]
    notes = notes_of(corpora) if corpora else made_up_notes(options.seed)
    rules = Rules(chunk_max_chars=settings.chunk_max_chars, language=settings.language)
    embedder = NotingEmbedder(await options.load_embedder())

    async def loaded() -> Embedder:
        return embedder

    with tempfile.TemporaryDirectory(prefix="reverie-bench-notes-") as home:
        async with open_bench(replace(options, embedder=loaded)) as bench:
            runtime = bench.runtime(settings)
            # The agent with its seed files, and the first use of everything.
            await runtime.pipeline.write_many(_PLACE, [])
            parts = parts_of(notes, PARTS, options.seed, rules)
            yield _Stage(bench, runtime, embedder, rules, parts, Path(home), options)


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
        async with scratch_database(stage.bench.conninfo) as (conninfo, _):
            first = await asyncio.to_thread(_index_command, stage, folder, conninfo)
            runs[name] = (first, await asyncio.to_thread(_index_command, stage, folder, conninfo))
    return memory_figures(runs["one part"], runs["all parts"])


async def _resume(stage: _Stage) -> dict[str, Any]:
    """Half of the notes, killed when half of them are there, and run again."""
    stage.options.progress("killing `reverie index` half way and running it again")
    parts = stage.parts[: PARTS // 2]
    folder = write_folder(stage.home / "killed", *parts)
    half = sum(map(len, parts)) // 2
    async with scratch_database(stage.bench.conninfo) as (conninfo, _):
        with psycopg.connect(conninfo, autocommit=True, row_factory=dict_row) as connection:

            def enough() -> bool:
                return bool(_row(connection, "indexed")["files"] >= half)

            if not await asyncio.to_thread(run_until, _command(folder), _environment(stage, conninfo), enough):
                raise SetupError("`reverie index` ended before it could be killed")
            before = _row(connection, "indexed") | _row(connection, "cached")
            second = await asyncio.to_thread(_index_command, stage, folder, conninfo)
            after = _row(connection, "indexed") | _row(connection, "cached")
    return resume_figures(before, after, second)


def _command(folder: Path) -> tuple[str, ...]:
    return (*REVERIE, "index", str(folder), "--agent", "bench")


def _index_command(stage: _Stage, folder: Path, conninfo: str) -> Indexing:
    """Run `reverie index` to its end. SetupError when it fails."""
    usage, output = run_command(_command(folder), _environment(stage, conninfo), watch_memory=True)
    summary = _SUMMARY.search(output)
    if summary is None:
        raise SetupError("`reverie index` ended without its summary")
    new, _, unchanged, chunks = map(int, summary.groups())
    return Indexing(new, unchanged, chunks, usage.seconds, usage.cpu_seconds, usage.peak_mb)


def _row(connection: psycopg.Connection[Any], name: str) -> dict[str, Any]:
    with connection.transaction():
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        row: dict[str, Any] | None = connection.execute(SQL[name], {"tenant_id": _TENANT}).fetchone()
    return row or {}


def _environment(stage: _Stage, conninfo: str) -> dict[str, str]:
    settings = stage.options.settings
    return environment_of(settings, database_url=conninfo, data_dir=str(data_dir_of(settings)), log_level="warning")


def ingest_content(report: Report) -> Iterator[RenderableType]:
    """The figures beside their goals."""
    sizes, folder, appends, memory = report.sizes, report["folder"], report["appends"], report["memory"]
    unchanged, resume = report["unchanged"], report["resume"]
    peak, faster = memory["peak_mb"], memory["command_times_faster_unchanged"]["all parts"]
    yield f"{sizes['notes']} notes, {sizes['passages']} passages"
    yield table(
        "ingest",
        ("", "goal"),
        (
            ("folder: chunks a second / the model's own", f"{folder['ratio']:.2f}", f"≥ {GOAL_RATIO}"),
            ("folder: chunks a second", f"{folder['chunks_per_second']:.0f}", ""),
            ("appends: / the same calls of the model", f"{appends['ratio_to_the_same_calls']:.2f}", ""),
            ("appends: / one batch of the model", f"{appends['ratio_to_one_batch']:.2f}", ""),
            *(
                (f"{way} over the API: / one batch of the model", f"{found['ratio']:.2f}", f"≥ {GOAL_API_RATIO}")
                for way, found in report["api"].items()
            ),
            ("unchanged: times faster than first", f"{unchanged['times_faster']:.0f}", f"≥ {GOAL_TIMES_FASTER:.0f}"),
            ("the command, unchanged: times faster than first", f"{faster:.0f}", ""),
            ("the command: peak memory, MB", f"{peak['one part']:.0f} → {peak['all parts']:.0f}", ""),
            (
                f"the command: peak memory for {memory['chunks_ratio']:.1f} × the chunks",
                f"× {memory['growth']:.2f}",
                "",
            ),
            ("killed half way: files written again", f"{resume['done_again']}", "0"),
            ("killed half way: chunks made anew", f"{resume['chunks_made_anew']}", "0"),
        ),
    )
