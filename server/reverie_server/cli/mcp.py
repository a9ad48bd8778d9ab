"""`reverie mcp`: the tools over stdin and stdout, for a client that starts the server itself."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reverie_indexer.errors import ModelMismatch, ReverieError, SetupError, Unauthorized
from reverie_server.cli.frame import DataDir, load_settings, run

if TYPE_CHECKING:
    import asyncio

    from reverie_server.access.connection import Connection
    from reverie_server.mcp.server import Context
    from reverie_server.mcp.stdio import StdioTransport
    from reverie_server.runtime import Runtime
    from reverie_server.settings.server import Settings


def mcp(
    agent: Annotated[str, typer.Option("--agent", help="The agent.")],
    owner: Annotated[
        str | None, typer.Option("--owner", help="Whose memory, such as user:42; none: shared memory.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Serve the tools for agents over MCP on stdin and stdout, as the key in REVERIE_API_KEY, if there is one."""
    from reverie_indexer.file_rules import check_agent_id, check_owner_key
    from reverie_server.mcp.stdio import claim_standard_streams

    settings = load_settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")
    identity = _Identity(
        check_agent_id(agent),
        None if owner is None else check_owner_key(owner),
        os.environ.get("REVERIE_API_KEY") or None,
    )
    # An answer that nobody reads any more must not end the program before it has stopped PostgreSQL.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    run(_until_stopped(_serve(settings, identity, *claim_standard_streams())))


async def _until_stopped(job: Coroutine[Any, Any, None]) -> None:
    """End without an error on SIGTERM and SIGINT: a client ends the server it started by them."""
    import asyncio

    with suppress(asyncio.CancelledError):
        await job


# How long a server that cannot start still answers: a client's first call may be on its way.
FAILED_START_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Identity:
    """Whose memory is served. Without a key it is the operator's, as with every command on the database itself."""

    agent_id: str
    owner_key: str | None
    key: str | None

    async def connection(self, runtime: Runtime) -> Connection:
        """The connection; Unauthorized for a key that is not, or no longer, valid, Forbidden outside its bounds."""
        from reverie_server.access.connection import connect
        from reverie_server.access.keys import OPERATOR

        caller = OPERATOR
        if self.key is not None:
            with suppress(Unauthorized):
                caller = await runtime.keys.authenticate(f"Bearer {self.key}")
            # A server without keys takes anybody, but whoever gives a key means to be bound by it.
            if caller.key_id is None:
                raise Unauthorized("REVERIE_API_KEY is not a valid key of this server")
        return connect(caller, self.agent_id, self.owner_key)


async def _serve(settings: Settings, identity: _Identity, reading: int, writing: int) -> None:
    import asyncio

    from reverie_server.mcp.server import build_server
    from reverie_server.mcp.stdio import StdioTransport
    from reverie_server.tools.catalogue import REGISTRY

    opened: asyncio.Future[Runtime] = asyncio.get_running_loop().create_future()

    async def open_connection(_: Context) -> tuple[Runtime, Connection]:
        runtime = await asyncio.shield(opened)
        await runtime.models.wait()
        if isinstance(runtime.models.error, ModelMismatch):
            raise runtime.models.error
        return runtime, await identity.connection(runtime)

    server = build_server(REGISTRY, open_connection)
    transport = StdioTransport(reading, writing)
    # The client is answered at once; what takes long starts beside that.
    holding = asyncio.create_task(_hold(settings, identity, opened, transport), name="hold-runtime")
    try:
        async with transport.streams() as (incoming, outgoing):
            await _ended(server.run(incoming, outgoing, server.create_initialization_options()))
    finally:
        # One that has failed closes by itself, and is not to be interrupted in it.
        if not transport.is_finished:
            holding.cancel()
        [failure] = await asyncio.gather(holding, return_exceptions=True)
    if isinstance(failure, Exception):
        raise failure


async def _ended(serving: Coroutine[Any, Any, None]) -> None:
    """Await the server's end. When this is cancelled, the server is cancelled too and its error is dropped.

    The library raises an error of its own for a message that it was handling.
    """
    import asyncio

    task = asyncio.create_task(serving, name="mcp-server")
    try:
        await asyncio.wait({task})
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    task.result()


async def _hold(
    settings: Settings, identity: _Identity, opened: asyncio.Future[Runtime], transport: StdioTransport
) -> None:
    """Open the runtime, set it as the result of `opened`, and run its upkeep until cancelled. Raises their errors."""
    import asyncio

    # In a thread, since importing takes long too.
    app = await asyncio.to_thread(importlib.import_module, "reverie_server.app.wiring")
    upkeep = importlib.import_module("reverie_server.app.upkeep").upkeep
    failure: ReverieError = SetupError("the memory server stopped while it started")
    try:
        async with app.open_runtime(settings) as runtime:
            # What is wrong with the key is said now and not at the first call.
            await identity.connection(runtime)
            opened.set_result(runtime)
            try:
                await upkeep(runtime)
            finally:
                # While there is a database yet, what was asked for is answered.
                await transport.finish()
    except ReverieError as error:
        failure = error
        raise
    finally:
        if not opened.done():
            opened.set_exception(failure)
            # It may be that nobody has called a tool, and so nobody asks. Who is about to is told why, not left alone.
            opened.exception()
            await asyncio.sleep(FAILED_START_SECONDS)
            await transport.finish()
