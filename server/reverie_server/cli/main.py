"""The `reverie` command: thin commands over the functions behind HTTP. Each command imports heavy modules itself."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reverie_indexer.errors import ReverieError, SetupError, ValidationFailed
from reverie_server.app.line_stream import announce
from reverie_server.cli.admin import embeddings_cli, keys_cli, models_cli
from reverie_server.cli.backup import backup, restore
from reverie_server.cli.forget import forget
from reverie_server.cli.frame import (
    STOP_SIGNALS,
    AgentName,
    DataDir,
    OwnerKey,
    failure_logged,
    load_settings,
    owner_of,
    run,
)
from reverie_server.cli.index import index
from reverie_server.cli.jobs import jobs_cli, worker
from reverie_server.cli.mcp import mcp
from reverie_server.cli.snapshots import export_snapshot, import_snapshot
from reverie_server.cli.turns import chat, context, inject
from reverie_server.cli.upgrade import upgrade

if TYPE_CHECKING:
    import socket

    from reverie_server.app.supervisor import Link
    from reverie_server.runtime import Runtime
    from reverie_server.settings.server import Settings

cli = typer.Typer(
    name="reverie",
    help="A memory server for AI agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
cli.add_typer(keys_cli, name="keys")
cli.add_typer(models_cli, name="models")
cli.add_typer(embeddings_cli, name="embeddings")
for extension in entry_points(group="reverie.commands"):
    cli.add_typer(extension.load(), name=extension.name)
cli.add_typer(jobs_cli, name="jobs")
cli.command("index")(index)
cli.command("worker")(worker)
cli.command("upgrade")(upgrade)
cli.command("mcp")(mcp)
cli.command("export")(export_snapshot)
cli.command("import")(import_snapshot)
cli.command("backup")(backup)
cli.command("restore")(restore)
cli.command("forget")(forget)
cli.command("inject")(inject)
cli.command("context")(context)
cli.command("chat")(chat)


def main() -> None:
    """Entry point: an expected error is one line on stderr and status 1, or 2 for wrong use."""
    try:
        status = cli(standalone_mode=False)
    except typer.TyperException as error:
        # Without arguments the message is the help, which has been printed already.
        sentence = error.format_message()
        status = _complain(f"{sentence} (--help tells more)", 2) if sentence and "\n" not in sentence else 2
    except ValidationFailed as error:
        status = _complain(error.detail, 2)
    except ReverieError as error:
        status = _complain(error.detail, 1)
    sys.exit(status)


def _complain(sentence: str, status: int) -> int:
    print(f"reverie: {sentence}", file=sys.stderr)
    return status


@cli.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")] = None,
    no_worker: Annotated[bool, typer.Option("--no-worker", help="Leave background jobs to `reverie worker`.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Serve the HTTP API, and run background jobs beside it."""
    from reverie_server.app.supervisor import Service, supervise
    from reverie_server.app.worker import worker_services

    settings = load_settings(host=host, port=port, data_dir=data_dir, worker_enabled=False if no_worker else None)
    # Bound by the supervisor: while a server that has died is started again, connections wait.
    with failure_logged(settings), _bound_socket(settings) as listener:

        def serve_http(link: Link) -> None:
            run(_serve(settings, listener, link))

        services = [Service("server", serve_http)]
        if settings.worker_enabled:
            services += worker_services(settings, run, with_upkeep=False, leave=listener.close)
        grace_seconds = settings.shutdown_drain_seconds + settings.shutdown_grace_seconds
        sys.exit(supervise(services, grace_seconds=grace_seconds))


async def _prepare_keys(settings: Settings) -> None:
    """Make the first key if the settings name it; SetupError for a server without keys that others could reach."""
    from reverie_server.access.keys import Keys
    from reverie_server.app.bootstrap import bootstrap_key
    from reverie_server.app.databases import open_database
    from reverie_server.app.http_app import is_loopback

    is_local = is_loopback(settings.host)
    if is_local and settings.bootstrap_admin_key is None and settings.bootstrap_admin_key_file is None:
        return
    async with open_database(settings) as database:
        keys = Keys(database)
        await bootstrap_key(settings, keys)
        if not is_local and not await keys.any():
            raise SetupError(
                "without keys the server is open to whoever reaches it, so it listens on loopback only, not on "
                f"{settings.host}: make a key first (`reverie keys create --role admin`), or set "
                "REVERIE_BOOTSTRAP_ADMIN_KEY"
            )


def tcp_socket(host: str) -> socket.socket:
    """A socket to listen with on a host, whose connections send at once.

    asyncio sees to that for sockets that say that they are TCP, and says it of none by itself. Otherwise the second
    part of every response waits for the client's acknowledgement of the first, which takes its time: 40 ms.
    """
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)


def _prepare_http() -> Any:
    """The function that makes a server. All that the first request would wait for is imported and compiled."""
    import reverie_server.http.routes.files
    import reverie_server.http.server
    import reverie_server.mcp.endpoint
    from reverie_server.search.prepare import prepare_search

    prepare_search()
    return reverie_server.http.server.http_server


def _bound_socket(settings: Settings) -> socket.socket:
    import socket

    listener = tcp_socket(settings.host)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise SetupError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror}") from None
    return listener


async def _freeze_when_loaded(runtime: Runtime) -> None:
    """Once the models are loaded, exclude them and their libraries from garbage collection."""
    import gc

    await runtime.models.wait()
    if runtime.reranking is not None:
        await runtime.reranking.wait()
    gc.freeze()


async def _serve(settings: Settings, listener: socket.socket, link: Link) -> None:
    import asyncio

    from reverie_server.app.http_app import create_app
    from reverie_server.app.stall import ends_when_stalled
    from reverie_server.app.traces import traced
    from reverie_server.app.upkeep import upkeep
    from reverie_server.app.wiring import open_runtime
    from reverie_server.app.worker import count_threads, leave_threads

    threads = count_threads()
    await _prepare_keys(settings)
    # Slow, and PostgreSQL is slow to start: beside each other.
    importing = asyncio.create_task(asyncio.to_thread(_prepare_http))
    async with (
        ends_when_stalled(settings.stall_seconds),
        traced(settings, "server"),
        open_runtime(settings, reads_elsewhere=True) as runtime,
    ):
        http_server = await importing
        server = http_server(create_app(runtime), settings)
        upkeep_task = asyncio.create_task(upkeep(runtime), name="upkeep")
        freezing = asyncio.create_task(_freeze_when_loaded(runtime), name="freeze-model")

        def end_server(*_: object) -> None:
            server.should_exit = True

        # Upkeep ends where it cannot go on.
        upkeep_task.add_done_callback(end_server)

        # From here on a connection waits instead of being refused.
        listener.listen(2048)
        address = f"[{settings.host}]" if ":" in settings.host else settings.host
        announce(
            f"reverie listens on http://{address}:{listener.getsockname()[1]}", as_json=settings.log_format == "json"
        )
        link.ready()
        # uvicorn ends on these by itself and then raises them again, for handlers that were there before.
        for number in STOP_SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, end_server)
        try:
            await server.serve(sockets=[listener])
        finally:
            upkeep_task.cancel()
            freezing.cancel()
        with suppress(asyncio.CancelledError):
            await upkeep_task
    leave_threads(threads)


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
    settings = load_settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")
    run(_search(settings, query, agent, owner, max_results, as_json=as_json))


async def _search(
    settings: Settings, query: str, agent: str, owner: str | None, max_results: int, *, as_json: bool
) -> None:
    from reverie_indexer.file_rules import check_agent_id
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app.wiring import open_runtime
    from reverie_server.http.schemas.search_answer import search_response

    async with open_runtime(settings) as runtime:
        await runtime.models.wait()
        if runtime.reranking is not None:
            await runtime.reranking.wait()
        owner_key = owner_of(owner)
        outcome = await runtime.memory_search.find(
            OPERATOR, check_agent_id(agent), owner_key, query, max_results=max_results
        )
        await runtime.recalls.flush()
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


@cli.command()
def doctor(
    tune: Annotated[
        bool, typer.Option("--tune", help="Measure here what `exact_max_chunks` should be; takes two minutes at most.")
    ] = False,
    results: Annotated[Path | None, typer.Option(help="With --tune: where a result file goes as well.")] = None,
    distribute: Annotated[
        bool, typer.Option("--distribute", help="Spread the tables of the database over the nodes of Citus, by tenant.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --distribute: say what would be done, and change nothing.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Check the installation: settings, PostgreSQL, pgvector, schema, model. Status 1 if something is wrong."""
    if dry_run and not distribute:
        raise ValidationFailed("--dry-run goes with --distribute")
    if distribute:
        from reverie_server.cli.nodes import distribute_tables

        run(distribute_tables(load_settings(data_dir=data_dir, log_level="error"), dry_run=dry_run))
        return
    if tune:
        found = entry_points(group="reverie.doctor", name="tune")
        if not found:
            raise SetupError("what measures is not installed: pip install 'reverie[bench]'")
        run(found["tune"].load()(load_settings(data_dir=data_dir, log_level="error"), results))
        return
    if results is not None:
        raise ValidationFailed("--results goes with --tune")
    import asyncio

    from reverie_server.cli.doctor import examine
    from reverie_server.settings.server import Settings

    # The report says what a log would, and lists the settings as they are for others.
    load_settings(data_dir=data_dir, log_level="error")
    problems = asyncio.run(examine(Settings.load(data_dir=data_dir)))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    # `python -m reverie_server.cli.main`, where the console script is not on the path.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
