"""The dependencies of routes: the running system, the caller, the agent of the path; and the cursors of lists."""

from __future__ import annotations

import base64
import binascii
import json
import re
from datetime import datetime
from typing import Annotated, cast
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Request
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError

from reverie_indexer.errors import Unauthorized, ValidationFailed
from reverie_indexer.file_rules import check_agent_id
from reverie_server.access.audit import called_by
from reverie_server.access.keys import Caller
from reverie_server.access.origin import check_origin
from reverie_server.access.wrong_keys import KeyGuard
from reverie_server.http.entrance import CALLER, GUARD, client_address
from reverie_server.runtime import Runtime
from reverie_server.text.spans import span

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Routes of a provider's protocol, which may be sent its key.
_FORWARDING = "/v1/"
_NOT_FROM_LIST = "cursor is not one that this list gave"
_NOT_PERMITTED = "Extra inputs are not permitted"


# Dependencies are coroutines even where they wait for nothing: FastAPI hands plain functions to a thread, one by one.


async def running(request: Request) -> Runtime:
    """The running system."""
    return cast("Runtime", request.app.state.runtime)


async def caller(request: Request) -> Caller:
    """Who calls, by the key of the request; Unauthorized without a valid one on a server that has keys.

    An open server takes no request that a web page of another site may have sent: see `check_origin`.
    """
    who: Caller | None = request.scope.get(CALLER)
    if who is None:
        # The entrance lets pass what needs no key; a route there may ask for one all the same.
        with span("authenticate"):
            guard: KeyGuard = request.scope[GUARD]
            who = await guard.authenticate(request.headers.get("authorization"), client_address(request.scope))
    check_origin(who, request.scope["headers"])
    if not request.url.path.startswith(_FORWARDING):
        refuse_foreign_key(who)
    called_by(who, request.path_params.get("a"))
    return who


def refuse_foreign_key(who: Caller) -> None:
    """Unauthorized for a caller that sends a key to an open server: the caller believes that the server checks keys."""
    if who.has_foreign_key:
        raise Unauthorized("this server has no keys, and was sent one: make it (`reverie keys create`), or send none")


async def agent(
    request: Request,
    a: Annotated[str, PathParameter(description="The agent's id: 1 to 128 of A-Z a-z 0-9 . _ : -", examples=["wren"])],
) -> str:
    """The agent of the path; ValidationFailed when the path is not UTF-8, which would be read as another."""
    try:
        unquote_to_bytes(request.scope.get("raw_path") or b"").decode()
    except UnicodeDecodeError:
        raise ValidationFailed("the path of the URL is not UTF-8") from None
    return check_agent_id(a)


async def no_query(request: Request) -> None:
    """Refuse query parameters on a route that reads its body: an owner in the query would be ignored."""
    if names := sorted(set(request.query_params)):
        raise RequestValidationError([{"loc": ("query", name), "msg": _NOT_PERMITTED} for name in names])


async def no_body(request: Request) -> None:
    """Refuse a body on a route that reads its query: an owner in the body would be ignored."""
    if await request.body():
        raise RequestValidationError([{"loc": ("body",), "msg": _NOT_PERMITTED}])


System = Annotated[Runtime, Depends(running)]
Who = Annotated[Caller, Depends(caller)]
Agent = Annotated[str, Depends(agent)]


def encode_cursor(*position: int | str) -> str:
    """An opaque cursor for a position in a list."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, *kinds: type) -> tuple[int | str, ...] | None:
    """The position in a cursor, None without one; ValidationFailed for a cursor that this list did not give."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        position = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise ValidationFailed(_NOT_FROM_LIST) from None
    is_list = isinstance(position, list) and len(position) == len(kinds)
    if not is_list or any(type(part) is not kind for part, kind in zip(position, kinds, strict=True)):
        raise ValidationFailed(_NOT_FROM_LIST)
    if any(isinstance(part, int) and abs(part) > 2**62 for part in position):
        raise ValidationFailed(_NOT_FROM_LIST)
    # Escapes of JSON can stand for what no text of the database may hold.
    if any(isinstance(part, str) and _UNSTORABLE.search(part) for part in position):
        raise ValidationFailed(_NOT_FROM_LIST)
    return tuple(position)


def cursor_time(text: int | str) -> datetime:
    """The time in a cursor's position; ValidationFailed for a text that is no time with an offset."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise ValidationFailed(_NOT_FROM_LIST)
    return at
