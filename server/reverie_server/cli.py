"""The command line: a thin skin over the same functions as HTTP. Heavy imports wait for the command that needs them."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reverie_indexer.errors import EmbedderUnavailable, ReverieError, SetupError, ValidationFailed
from reverie_server.cli_admin import bench_cli, embeddings_cli, keys_cli, models_cli
from reverie_server.cli_frame import STOP_SIGNALS, DataDir, load_settings, run
from reverie_server.cli_mcp import mcp
from reverie_server.cli_snapshots import export_snapshot, import_snapshot

if TYPE_CHECKING:
    from reverie_indexer.settings import Settings

cli = typer.Typer(
    name="reverie",
    help="A memory server for AI agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
cli.add_typer(keys_cli, name="keys")
cli.add_typer(models_cli, name="models")
cli.add_typer(embeddings_cli, name="embeddings")
cli.add_typer(bench_cli, name="bench")
cli.command("mcp")(mcp)
cli.command("export")(export_snapshot)
cli.command("import")(import_snapshot)

AgentName = Annotated[str, typer.Option("--agent", help="The agent.")]
OwnerKey = Annotated[str | None, typer.Option("--owner", help="Whose memory, such as user:42; none: shared memory.")]


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
    data_dir: DataDir = None,
) -> None:
    """Serve the HTTP API."""
    settings = load_settings(host=host, port=port, data_dir=data_dir)
    run(_serve(settings))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _refuse_if_open(settings: Settings) -> None:
    from reverie_server.access.keys import Keys
    from reverie_server.app import open_database

    async with open_database(settings) as database:
        if not await Keys(database).any():
            raise SetupError(
                "without keys the server is open to whoever reaches it, so it listens on loopback only, not on "
                f"{settings.host}: make a key first (`reverie keys create --role admin`)"
            )


def tcp_socket(host: str) -> socket.socket:
    """A socket to listen with on a host, whose connections send at once.

    asyncio sees to that for sockets that say that they are TCP, and says it of none by itself. Otherwise the second
    part of every response waits for the client's acknowledgement of the first, which takes its time: 40 ms.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)


async def _serve(settings: Settings) -> None:
    import uvicorn

    from reverie_server.app import create_app, open_runtime, upkeep

    with tcp_socket(settings.host) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise SetupError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror}") from None
        if not _is_loopback(settings.host):
            await _refuse_if_open(settings)
        async with open_runtime(settings) as runtime:
            app = create_app(runtime)
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on"))
            keeping = asyncio.create_task(upkeep(runtime), name="upkeep")

            def stop_server(_: asyncio.Task[None]) -> None:
                server.should_exit = True

            keeping.add_done_callback(stop_server)
            # From here on a connection waits instead of being refused.
            listener.listen(2048)
            address = f"[{settings.host}]" if ":" in settings.host else settings.host
            print(
                f"reverie listens on http://{address}:{listener.getsockname()[1]}",
                file=sys.stderr,
                flush=True,
            )
            # uvicorn ends on these by itself and then raises them again, for handlers that were there before.
            for number in STOP_SIGNALS:
                asyncio.get_running_loop().remove_signal_handler(number)
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
    settings = load_settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")
    run(_index(settings, path, agent, owner, watch=watch))


async def _index(settings: Settings, path: Path, agent: str, owner: str | None, *, watch: bool) -> None:
    from reverie_indexer.files import check_agent_id
    from reverie_indexer.watch import changes
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app import is_cancelled, open_runtime

    # Nobody waits for an answer here: every file gets its vectors before the next is read.
    async with open_runtime(settings, embed_wait_seconds=24 * 3600) as runtime:
        _, place = await runtime.gate.write(OPERATOR, check_agent_id(agent), _owner(owner), None)
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

    from reverie_server.app import is_cancelled
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
            tombstones=runtime.tombstones,
            max_file_bytes=runtime.settings.max_file_bytes,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    print(
        f"{summary.new} new, {summary.changed} changed, {summary.unchanged} unchanged, {summary.removed} removed, "
        f"{len(summary.skipped)} skipped; {summary.chunks} chunks written"
    )
    for name, why in summary.skipped.items():
        print(f"skipped {name}: {why}", file=sys.stderr)
    # What an earlier run stored while there was no model; of this place only, for others may have much.
    await runtime.models.wait()
    with suppress(EmbedderUnavailable):
        while not is_cancelled() and await runtime.pipeline.backfill(place=place):
            pass
    if summary.pending and runtime.models.ready is None:
        why = runtime.models.error.detail if runtime.models.error else "no embedding model is configured"
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
    settings = load_settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")
    run(_search(settings, query, agent, owner, max_results, as_json=as_json))


async def _search(
    settings: Settings, query: str, agent: str, owner: str | None, max_results: int, *, as_json: bool
) -> None:
    from reverie_indexer.files import check_agent_id
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app import open_runtime
    from reverie_server.http.memory import search_response

    async with open_runtime(settings) as runtime:
        grant = await runtime.gate.read(OPERATOR, check_agent_id(agent), _owner(owner))
        request = grant.search_request(query, max_results=max_results)
        await runtime.models.wait()
        outcome = await runtime.search.search(request, grant.search_rules(runtime.search.rules))
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

    settings = load_settings(data_dir=data_dir, log_level="error")
    problems = asyncio.run(examine(settings))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    # `python -m reverie_server.cli`, where the console script is not on the path.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
