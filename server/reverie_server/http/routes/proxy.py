"""The routes of OpenAI's protocol: a client gains memory by changing its base URL."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import anyio
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from reverie_indexer.errors import ValidationFailed
from reverie_server.access.connection_headers import END_USER, OWNER, connection_of, header
from reverie_server.access.keys import Caller
from reverie_server.http.chat_commands import command_answer
from reverie_server.http.context import System, Who
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.chat import (
    CHAT_DOCUMENT,
    CHAT_RESPONSES,
    MODELS_RESPONSES,
    RESPONSES_DOCUMENT,
    RESPONSES_RESPONSES,
)
from reverie_server.llm.errors import NoLanguageModel
from reverie_server.proxy.chat import Conversation, conversation_of
from reverie_server.proxy.items import items_of, previous_of
from reverie_server.proxy.own_answers import OwnAnswer, OwnResponse
from reverie_server.proxy.protocol import RESPONSES
from reverie_server.proxy.proxy import INJECTED_HEADER, ChatAnswer, ChatRequest, Proxy
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import check_session_id

T = TypeVar("T")
C = TypeVar("C", bound=Conversation)
PATH = "/v1/chat/completions"
RESPONSES_PATH = "/v1/responses"
MODELS = "/v1/models"
SESSION = "X-Reverie-Session"
DEFAULT_AGENT = "default"
# The fields of a body that name the end user: Reverie's own, which no provider knows, comes before OpenAI's.
_REVERIE_FIELD = "endUserId"
_END_USER_FIELDS = (_REVERIE_FIELD, "user")
# Messages of this protocol may carry pictures.
MAX_CHAT_BYTES = 32 * 1024 * 1024
# Conversations are long, and nothing here validates them field by field.
MAX_CHAT_VALUES = 50_000
_CLIENT_GONE = 499
# A shorter body is read before a thread would have begun.
_SHORT_BYTES = 65_536

router = APIRouter(tags=["Turns"])


def takes_chat(scope: Scope) -> bool:
    """Whether a request is for one of these routes, whose bodies may be larger."""
    return scope["path"] in (PATH, RESPONSES_PATH)


class Relayed(StreamingResponse):
    """Streams a provider's answer, and closes the provider's connection even if the client stops reading."""

    def __init__(self, answer: ChatAnswer) -> None:
        super().__init__(answer.pieces, answer.status, dict(answer.headers))
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close what it came from."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Whoever is cancelled would be cancelled again at the first thing to wait for.
            with anyio.CancelScope(shield=True):
                await self._answer.aclose()


@router.post(
    PATH,
    response_class=Response,
    responses={**CHAT_RESPONSES, **may_answer(400, 401, 403, 413, 422, 503)},
    openapi_extra=CHAT_DOCUMENT,
)
async def chat_completions(request: Request, system: System, who: Who) -> Response:
    """Chat completions of the configured provider, with memory: it is added before, and the turn is recorded after."""
    proxy, (body, conversation) = _proxy(system), await _read(request, conversation_of)
    chat_request = _chat_request(request, who, body, conversation)
    told = await command_answer(system, chat_request)
    if told is not None:
        answer = OwnAnswer(told, secrets.token_hex(12), int(time.time()), _model(system, body))
        options = body.get("stream_options")
        with_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        return _own_answer(body, answer.completion(), answer.events(with_usage=with_usage))
    return await _relayed(request, proxy.answer(chat_request))


@router.post(
    RESPONSES_PATH,
    response_class=Response,
    responses={**RESPONSES_RESPONSES, **may_answer(400, 401, 403, 413, 422, 503)},
    openapi_extra=RESPONSES_DOCUMENT,
)
async def create_response(request: Request, system: System, who: Who) -> Response:
    """A response of the configured provider, with memory: it is added before, and the turn is recorded after.

    Without a session in the headers the turn goes to that of the answer that it goes on from (`previous_response_id`).
    """
    proxy, once = _proxy(system), secrets.token_hex(12)
    body, conversation = await _read(request, lambda body: items_of(body, once))
    asked = replace(_chat_request(request, who, body, conversation), protocol=RESPONSES)
    if asked.session_id is None and (previous := previous_of(body)):
        asked = replace(asked, session_id=await proxy.session_after(asked.connection, previous))
    told = await command_answer(system, asked)
    if told is not None:
        answer = OwnResponse(told, secrets.token_hex(24), int(time.time()), _model(system, body))
        return _own_answer(body, answer.response(), answer.events())
    return await _relayed(request, proxy.answer(asked))


@router.get(MODELS, response_class=Response, responses={**MODELS_RESPONSES, **may_answer(401, 503)})
async def list_models(request: Request, system: System, who: Who) -> Response:
    """The models of the configured provider."""
    return await _relayed(request, _proxy(system).models(request.query_params, _authorization(request, who)))


def _own_answer(body: Mapping[str, Any], whole: dict[str, Any], events: Iterator[bytes]) -> Response:
    """The answer of the server to a command, in the form that the request asks for."""
    headers = {INJECTED_HEADER: "0"}
    if not body.get("stream"):
        return JSONResponse(whole, headers=headers)
    return Response(b"".join(events), headers=headers, media_type="text/event-stream")


def _model(system: Runtime, body: Mapping[str, Any]) -> str:
    return str(body.get("model") or system.settings.llm_model)


def _proxy(system: Runtime) -> Proxy:
    if system.proxy is None:
        raise NoLanguageModel("no language model is configured: set REVERIE_LLM_BASE_URL and REVERIE_LLM_MODEL")
    return system.proxy


async def _relayed(request: Request, work: Coroutine[Any, Any, ChatAnswer]) -> Response:
    answer = await _unless_gone(request, work)
    return Response(status_code=_CLIENT_GONE) if answer is None else Relayed(answer)


def _authorization(request: Request, who: Caller) -> str | None:
    """The key of the provider's that a caller sent. A key of this server is nobody else's business."""
    return request.headers.get("authorization") if who.key_id is None else None


def _chat_request(request: Request, who: Caller, body: dict[str, Any], conversation: Conversation) -> ChatRequest:
    headers = request.scope["headers"]
    session_id = header(headers, SESSION)
    is_named = any(header(headers, name) is not None for name in (OWNER, END_USER))
    end_user = None if is_named else _end_user(body)
    return ChatRequest(
        connection_of(who, headers, default_agent=DEFAULT_AGENT, default_end_user=end_user),
        None if session_id is None else check_session_id(session_id),
        {name: value for name, value in body.items() if name != _REVERIE_FIELD},
        conversation,
        _authorization(request, who),
    )


def _end_user(body: dict[str, Any]) -> str | None:
    """The end user in the body, None without one; ValidationFailed for a value that is no name."""
    for field in _END_USER_FIELDS:
        named = body.get(field)
        if named is None:
            continue
        if not isinstance(named, str) or not named:
            # Passed over, what this person says would become the team's.
            raise ValidationFailed(f"body.{field}: the id of the end user, a text that is not empty")
        return named
    return None


async def _read(request: Request, read: Callable[[dict[str, Any]], C]) -> tuple[dict[str, Any], C]:
    """The body and the conversation in it; a long one is read beside the event loop."""
    received = await request.body()

    def both() -> tuple[dict[str, Any], C]:
        body = _parsed(received)
        return body, read(body)

    return await asyncio.to_thread(both) if len(received) > _SHORT_BYTES else both()


def _parsed(received: bytes) -> dict[str, Any]:
    """The body: an object of JSON with nothing that JSON cannot hold; else 400 or 422."""
    try:
        body = json.loads(received)
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise ValidationFailed("body: a lone surrogate is no text") from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "There was an error parsing the body") from None
    if not isinstance(body, dict):
        raise ValidationFailed("body: an object")
    return body


async def _unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of `work`; None if the client went away first, which cancels it."""
    task, gone = asyncio.create_task(work), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
