"""`/mcp` and `/mcp/{agent}`: the tools over streamable HTTP, stateless, with JSON answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

import mcp_types as types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from reverie_indexer.errors import Forbidden, ReverieError, ValidationFailed
from reverie_server.access.audit import called_by
from reverie_server.access.connection import Connection
from reverie_server.access.connection_headers import connection_of
from reverie_server.access.keys import Caller
from reverie_server.access.origin import MisdirectedRequest, check_origin
from reverie_server.http.bodies import MAX_BODY_BYTES
from reverie_server.http.context import agent, refuse_foreign_key
from reverie_server.http.entrance import CALLER
from reverie_server.http.json_shape import check_shape
from reverie_server.mcp.message import MalformedMessage, NotJson, check_message
from reverie_server.mcp.server import Context, build_server
from reverie_server.runtime import Runtime
from reverie_server.tools.registry import Registry

PATH = "/mcp"
_CONNECTION = "reverie.connection"
_STATUS: Mapping[type[ReverieError], int] = {
    ValidationFailed: 400,
    NotJson: 400,
    MalformedMessage: 400,
    Forbidden: 403,
    MisdirectedRequest: 421,
}
_JSON_RPC = {NotJson.code: types.PARSE_ERROR}


def takes_mcp(scope: Scope) -> bool:
    """Whether a request is for the endpoint, which tells what is wrong with a message in the protocol's own form."""
    path: str = scope["path"]
    return path == PATH or path.startswith(f"{PATH}/")


class McpEndpoint:
    """The ASGI application at `/mcp`, and below it, where the path names the agent. It serves while `running` is
    entered."""

    def __init__(self, runtime: Runtime, registry: Registry) -> None:
        async def open_connection(context: Context) -> tuple[Runtime, Connection]:
            request = cast("Request", context.request)  # what carried the message, as the transport hands it on
            return runtime, request.scope[_CONNECTION]

        self.routes = [Route(path, self, include_in_schema=False) for path in (PATH, f"{PATH}/{{a}}")]
        self._runtime = runtime
        self._manager = StreamableHTTPSessionManager(
            build_server(registry, open_connection),
            json_response=True,
            stateless=True,
            max_request_body_size=MAX_BODY_BYTES,
            # `check_origin` does what these settings would, for open servers and with their key for others.
            security_settings=None,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve for as long as this is entered, which can be once."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the caller, its origin and its identity; then hand the request to the protocol.

        A missing or wrong key never gets here. What else is wrong is a JSON-RPC error with an HTTP
        status, since MCP clients show those.
        """
        request = Request(scope, receive)
        caller: Caller = scope[CALLER]
        refuse_foreign_key(caller)
        in_path = request.path_params.get("a")
        called_by(caller, in_path)
        if request.method != "POST":
            # There is no stream to open and no session to end: a client that is told so goes on without.
            response = _refused(405, "method_not_allowed", "this server takes POST only")
            response.headers["Allow"] = "POST"
            await response(scope, receive, send)
            return
        # For the metrics, which count by route; FastAPI tells them of its own routes only.
        scope["route"] = self.routes[in_path is not None]
        try:
            check_origin(caller, scope["headers"])
            path_agent = None if in_path is None else await agent(request, in_path)
            scope[_CONNECTION] = connection_of(caller, scope["headers"], path_agent=path_agent)
            body = await request.body()
            check_shape(body)
            check_message(body)
        except tuple(_STATUS) as error:
            await _refused(_STATUS[type(error)], error.code, error.detail)(scope, receive, send)
        except ClientDisconnect:
            return
        else:
            await self._manager.handle_request(scope, _replayed(body, receive), send)


def _replayed(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _refused(status: int, code: str, detail: str) -> Response:
    """A JSON-RPC error without the id of a request, since none was parsed."""
    error = {"code": _JSON_RPC.get(code, types.INVALID_REQUEST), "message": detail, "data": {"code": code}}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status)
