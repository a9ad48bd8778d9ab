"""The entrance to all routes: admit a request, authenticate it, then read its body. A refusal here costs little.

The order is the point. A request gets a slot by its key's turn, is authenticated by its headers alone, and only then is
its body read, within what bodies may have in memory, and looked at before anything parses it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie_indexer.errors import Overloaded, ReverieError, TooManyRequests, ValidationFailed
from reverie_server.access.browser_sessions import SCHEME
from reverie_server.access.keys import Caller
from reverie_server.access.work_slot import current
from reverie_server.access.wrong_keys import KeyGuard, address_of
from reverie_server.http.admission import Admission, AdmissionLimits, Slot
from reverie_server.http.bodies import MAX_BODY_BYTES, BodyMemory, ClientGone
from reverie_server.http.json_shape import MAX_VALUES, check_shape
from reverie_server.http.problems import answer_with, problem
from reverie_server.text.spans import span

# Who calls, for the routes: a key is looked up once for a request. Where the entrance looks at none, a route may.
CALLER = "reverie.caller"
GUARD = "reverie.key_guard"
_ALWAYS = frozenset({"/healthz"})
# Paths without a key or a body at the entrance. Their routes may still check a key.
_OPEN = frozenset({"/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/redoc"})
_MAX_OPEN = 16
# A request whose body takes longer than this to arrive frees its slot meanwhile.
_AT_ONCE_SECONDS = 0.05
_MAX_PARAMETERS = 100
_SMALL_BODY_DIGITS = 4
_ARCHIVES = AdmissionLimits(running=4, running_per_key=3, waiting=8, answer_seconds=15.0)


@dataclass(frozen=True, slots=True)
class BodyRule:
    """The limits of bodies, for the requests to which the rule `applies`.

    `max_bytes` None: their route reads the body itself; `max_values` None: it looks at the body itself.
    """

    applies: Callable[[Scope], bool]
    max_bytes: int | None
    max_values: int | None = MAX_VALUES


class PageEntrance(Protocol):
    """The way in of people's pages, which a browser asks for with a cookie in place of a key."""

    def applies(self, scope: Scope) -> bool:
        """Whether a request is for a page."""

    def needs_key(self, scope: Scope) -> bool:
        """Whether it is for one that only a caller sees."""

    def token(self, scope: Scope) -> str | None:
        """The token of the browser's session; None without one."""

    def answer(self, request: Request, error: ReverieError) -> ASGIApp:
        """What a person is shown where a request is refused."""


_JSON = BodyRule(lambda _: True, MAX_BODY_BYTES)


class Entrance:
    """ASGI middleware that admits, authenticates and reads requests, or refuses them."""

    def __init__(
        self,
        app: ASGIApp,
        guard: KeyGuard,
        admission: Admission,
        memory: BodyMemory,
        pages: PageEntrance,
        rules: Sequence[BodyRule] = (),
    ) -> None:
        self._app = app
        self._guard = guard
        self._admission = admission
        # Archives come as long as their client takes, and go to disk: they have slots of their own.
        self._archives = Admission(_ARCHIVES)
        self._memory = memory
        self._pages = pages
        self._rules = (*rules, _JSON)
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] in _OPEN:
            await self._without_key(scope, receive, send)
        else:
            try:
                await self._with_key(scope, receive, send)
            except ClientGone:
                await problem(400, "bad_request", "the body ended before its end")(scope, receive, send)
            except ReverieError as error:
                # A small body has come already, and its connection can be used again by who is to try again.
                ends = not isinstance(error, TooManyRequests | Overloaded) or _has_large_body(scope)
                headers = {"Connection": "close"} if ends and _has_body(scope) else {}
                request = Request(scope)
                is_page = self._pages.applies(scope)
                answer = self._pages.answer(request, error) if is_page else answer_with(request, error, headers)
                await answer(scope, receive, send)

    async def _without_key(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path not in _ALWAYS and self._open[path] >= _MAX_OPEN:
            await answer_with(Request(scope), Overloaded(f"{path} is being asked for too often at once"))(
                scope, receive, send
            )
            return
        self._open[path] += 1
        scope[GUARD] = self._guard
        try:
            await self._app(scope, _Replayed(b"", receive), send)
        finally:
            self._open[path] -= 1

    async def _with_key(self, scope: Scope, receive: Receive, send: Send) -> None:
        authorization, session = _authorization(scope), None
        if self._pages.applies(scope):
            session = None if authorization else self._pages.token(scope)
        address = client_address(scope)
        key = self._guard.identity(f"{SCHEME} {session}" if session else authorization, address)
        rule = next(rule for rule in self._rules if rule.applies(scope))
        admission = self._admission if rule.max_bytes is not None else self._archives
        slot = await admission.enter(key)
        token = current.set(slot)
        try:
            scope[GUARD] = self._guard
            if not self._pages.applies(scope) or self._pages.needs_key(scope):
                with span("authenticate"):
                    scope[CALLER] = await self._caller(authorization, session, address)
            _check_query(scope)
            if rule.max_bytes is None or not _has_body(scope):
                await self._app(scope, receive, send)
                return
            with self._memory.body_of(key) as room:
                body = await _read(slot, room.read(scope, receive, rule.max_bytes))
                if rule.max_values is not None:
                    check_shape(body, max_values=rule.max_values)
                await self._app(scope, _Replayed(body, receive), send)
        finally:
            current.reset(token)
            slot.leave()

    async def _caller(self, authorization: str | None, session: str | None, address: str) -> Caller:
        if session is None:
            return await self._guard.authenticate(authorization, address)
        return await self._guard.authenticate_session(session, address)


class _Replayed:
    """An ASGI `receive` that gives a body that was read already."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def _read(slot: Slot, reading: Coroutine[Any, Any, bytes]) -> bytes:
    """Await a body. If it does not come at once, its request frees the slot until it is there."""
    task = asyncio.ensure_future(reading)
    try:
        done, _ = await asyncio.wait({task}, timeout=_AT_ONCE_SECONDS)
        if not done:
            slot.pause()
            await asyncio.wait({task})
            await slot.resume_when_free()
        return task.result()
    finally:
        task.cancel()


def client_address(scope: Scope) -> str:
    """The address of a request's client, in the form in which wrong keys are counted."""
    return address_of(scope["client"][0] if scope.get("client") else None)


def _authorization(scope: Scope) -> str | None:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"), None)


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
        for name, value in scope["headers"]
    )


def _has_large_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and len(value) > _SMALL_BODY_DIGITS)
        for name, value in scope["headers"]
    )


def _check_query(scope: Scope) -> None:
    if scope["query_string"].count(b"&") >= _MAX_PARAMETERS:
        raise ValidationFailed(f"query: at most {_MAX_PARAMETERS} parameters")
