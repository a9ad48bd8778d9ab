"""`reverie index`: index a folder as an agent's memory and show the progress."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reverie_indexer.errors import EmbedderUnavailable
from reverie_server.cli.frame import AgentName, DataDir, OwnerKey, load_settings, owner_of, run

if TYPE_CHECKING:
    from reverie_indexer.model import Place
    from reverie_server.files.ingest import Progress, Summary
    from reverie_server.runtime import Runtime
    from reverie_server.settings.server import Settings

# Without a terminal, such as in a log, progress is one line at once, and then at most one in this time.
LINE_INTERVAL_SECONDS = 5.0


def index(
    path: Annotated[Path, typer.Argument(help="A folder of markdown.", exists=True, file_okay=False)],
    agent: AgentName,
    owner: OwnerKey = None,
    watch: Annotated[bool, typer.Option(help="Go on, and index what changes.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Bring an agent's memory in line with a folder of markdown: new, changed and deleted files.

    Stopped in the middle, the next run goes on where it stopped.
    """
    # Importing, the database and the model take seconds, in which somebody waits before an empty screen.
    if not watch:
        print(f"indexing {path}", file=sys.stderr, flush=True)
    settings = load_settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")
    run(_index(settings, path, agent, owner, watch=watch))


async def _index(settings: Settings, path: Path, agent: str, owner: str | None, *, watch: bool) -> None:
    import asyncio

    from reverie_indexer.file_rules import check_agent_id
    from reverie_indexer.watch import changes
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app.wiring import open_runtime
    from reverie_server.text.cancelled import is_cancelled

    # Nobody waits for an answer here: every file gets its vectors before it is written.
    async with open_runtime(settings, embed_wait_seconds=24 * 3600, model_at_once=False) as runtime:
        _, place = await runtime.gate.write(OPERATOR, check_agent_id(agent), owner_of(owner), None)
        if watch:
            print(f"watching {path} (Ctrl-C ends)", file=sys.stderr)
            # The first item comes at once, when the watcher stands: nothing is missed between a scan and it.
            async for _ in changes(path):
                await _index_once(runtime, place, path)
                if is_cancelled():
                    raise asyncio.CancelledError
        else:
            await _index_once(runtime, place, path)


async def _index_once(runtime: Runtime, place: Place, path: Path) -> None:
    from reverie_server.files.ingest import index_folder

    with show_progress() as show:
        summary = await index_folder(
            runtime.workspace,
            runtime.pipeline,
            place,
            path,
            tombstones=runtime.tombstones,
            max_file_bytes=runtime.settings.max_file_bytes,
            progress=show,
        )
    _say(summary)
    await _embed_waiting(runtime, place)
    if summary.pending and runtime.models.ready is None:
        why = runtime.models.error.detail if runtime.models.error else "no embedding model is configured"
        print(f"{summary.pending} files are found by words only until they are embedded: {why}", file=sys.stderr)


def _say(summary: Summary) -> None:
    print(
        f"{summary.new} new, {summary.changed} changed, {summary.unchanged} unchanged, {summary.removed} removed, "
        f"{len(summary.skipped)} skipped; {summary.chunks} chunks written"
    )
    for name, why in summary.skipped.items():
        print(f"skipped {name}: {why}", file=sys.stderr)


async def _embed_waiting(runtime: Runtime, place: Place) -> None:
    """Embed what an earlier run stored without a model, in this place only: others may have much."""
    from reverie_server.text.cancelled import is_cancelled

    if not await runtime.pipeline.is_waiting(place):
        return
    await runtime.models.wait()
    with suppress(EmbedderUnavailable):
        while not is_cancelled() and await runtime.pipeline.backfill(place=place):
            pass


@contextmanager
def show_progress() -> Iterator[Callable[[Progress], None]]:
    """A function that shows progress: as a bar on a terminal, else as a line now and then.

    When the command is interrupted, a sentence says how to go on.
    """
    import asyncio

    latest: list[Progress] = []
    show = _bar if sys.stderr.isatty() else _lines
    try:
        with show() as draw:

            def take(at: Progress) -> None:
                latest[:] = [at]
                draw(at)

            yield take
    except (asyncio.CancelledError, KeyboardInterrupt):
        if latest and latest[0].done < latest[0].total:
            print(f"stopped after {progress_text(latest[0])}; the next run goes on there", file=sys.stderr)
        raise


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("indexing"), BarColumn(), TextColumn("{task.fields[text]}"))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("files", total=None, text="reading the folder")
        yield lambda at: bar.update(task, completed=at.done, total=at.total, text=progress_text(at))


@contextmanager
def _lines() -> Iterator[Callable[[Progress], None]]:
    since = -math.inf

    def show(at: Progress) -> None:
        nonlocal since
        if time.monotonic() - since >= LINE_INTERVAL_SECONDS and at.done < at.total:
            since = time.monotonic()
            print(f"indexing: {progress_text(at)}", file=sys.stderr, flush=True)

    yield show


def progress_text(at: Progress) -> str:
    """Progress in words: the files that differ, the chunks written, and what was there already."""
    there = f" ({at.unchanged} were indexed already)" if at.unchanged else ""
    # The model is ahead of the files: they are written in groups.
    ahead = f", {at.embedded} passages embedded" if at.embedded > at.chunks else ""
    return f"{at.done}/{at.total} files, {at.chunks} chunks{ahead}{there}"
