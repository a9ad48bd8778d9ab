"""Errors as RFC 9457 problems: the one place that maps an exception to a status, a code and a sentence."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.routing import Match

from reverie_indexer import errors
from reverie_server.access.origin import MisdirectedRequest
from reverie_server.access.request_id import HEADER, current_request_id, of_request
from reverie_server.files.strict_zip import NotAnArchive
from reverie_server.http.read_again import is_interrupted
from reverie_server.http.requests import id_header
from reverie_server.llm.errors import LanguageModelUnavailable, NoLanguageModel

log = structlog.get_logger()

STATUSES: Mapping[type[errors.ReverieError], int] = {
    errors.ValidationFailed: 422,
    errors.OwnerRequired: 422,
    errors.NotFound: 404,
    errors.AmbiguousMatch: 409,
    errors.DuplicateDetected: 409,
    errors.Conflict: 409,
    errors.StaleSelection: 409,
    errors.StaleVersion: 412,
    errors.PayloadTooLarge: 413,
    NotAnArchive: 400,
    errors.Forbidden: 403,
    errors.MemoryDisabled: 403,
    errors.ReadOnlyMember: 403,
    errors.Unauthorized: 401,
    errors.TooManyRequests: 429,
    errors.Overloaded: 503,
    MisdirectedRequest: 421,
    errors.DatabaseUnavailable: 503,
    # Trying again does not help, and neither would another server: it is the operator's.
    errors.DataDamaged: 500,
    errors.EmbedderUnavailable: 503,
    LanguageModelUnavailable: 503,
    errors.SearchTimeout: 503,
    errors.TextTooCostly: 422,
    NoLanguageModel: 503,
}
_CODES = {
    400: "bad_request",
    401: "unauthorized",
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
}
_TITLES = {
    400: "Bad request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    412: "Precondition failed",
    413: "Payload too large",
    421: "Misdirected request",
    422: "Not valid",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable",
}
# Clients of OpenAI's protocol show what stands in the member `error`.
_OPENAI_PATH = "/v1/"
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
# Control routes answer in an envelope, which clients of such systems know.
_CONTROL_PATHS = ("/memory/", "/api/v1/memory/")
_EXAMPLES = {
    400: ("bad_request", "There was an error parsing the body"),
    401: ("unauthorized", "give a valid key as `Authorization: Bearer <api key>`"),
    403: ("forbidden", "_system/ is written by the server alone"),
    404: ("not_found", "there is no file 'notes/a.md'"),
    409: ("ambiguous_match", "old_text occurs 2 times; give more of its surroundings, or replace_all"),
    412: ("stale_version", "the file is at version 4, not 3: read it again"),
    413: ("payload_too_large", "a file holds at most 1048576 bytes; this one has 1048577"),
    422: ("validation_error", "body.contents: Extra inputs are not permitted"),
    429: ("too_many_requests", "this key has more requests under way than it may have while others wait"),
    503: ("database_unavailable", "PostgreSQL does not answer; try again"),
}


class Problem(BaseModel):
    """RFC 9457 problem details. `code` is the stable word for programs, `detail` the sentence for people."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "Not found",
                "status": 404,
                "detail": "there is no file 'notes/a.md'",
                "code": "not_found",
            }
        },
    )

    type: str
    title: str
    status: int
    detail: str
    code: str


def problem(
    status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, **extra: Any
) -> JSONResponse:
    """A problem as a response."""
    named = {} if (request_id := current_request_id()) is None else {"request_id": request_id}
    extra = {**named, **extra}
    body = {
        "type": "about:blank",
        "title": _TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
        **extra,
    }
    return JSONResponse(body, status, dict(headers or {}), media_type="application/problem+json")


def _response_to(
    request: Request, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, **extra: Any
) -> JSONResponse:
    """A problem as the response to a request.

    Routes of OpenAI's protocol add its member `error`; control routes use their envelope in place of a problem.
    """
    if request.url.path.startswith(_CONTROL_PATHS):
        return JSONResponse({"code": 500, "msg": detail, "error": code}, status, dict(headers or {}))
    if request.url.path.startswith(_OPENAI_PATH):
        kind = _OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        extra["error"] = {"message": detail, "type": kind, "param": None, "code": code}
    return problem(status, code, detail, headers, **extra)


def status_of(kind: type[errors.ReverieError]) -> int | None:
    """The HTTP status of a class of errors: its own in `STATUSES`, else the nearest base's; None if no base has one."""
    return next((STATUSES[each] for each in kind.__mro__ if each in STATUSES), None)


def answer_with(request: Request, error: errors.ReverieError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The response for an expected error. `headers` are added to those of its status."""
    status = status_of(type(error)) or 500
    if isinstance(error, errors.ReadInterrupted):
        is_interrupted(request.scope)
    # Refusals for overload are counted in the metrics; there are too many of them for the log.
    if status >= 500 and not isinstance(error, errors.Overloaded):
        log.warning("request_failed", code=error.code, detail=error.detail)
    extra = dict(error.extra)
    status_headers: dict[str, str] = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if status in (429, 503):
        # Retry-After takes whole seconds; the error may have none, or a fraction.
        status_headers["Retry-After"] = str(max(1, math.ceil(extra.pop("retry_after_seconds", None) or 1)))
    return _response_to(request, status, error.code, error.detail, {**status_headers, **(headers or {})}, **extra)


def may_answer(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for its OpenAPI document; `document` shows them as the problems they are."""
    return {status: {"model": Problem, "description": _TITLES[status]} for status in statuses}


def document(app: FastAPI) -> None:
    """Make the OpenAPI document say that errors are problems: their media type, and an example of each status."""
    generate = app.openapi

    def documented() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        schema = generate()
        for operations in schema["paths"].values():
            for operation in operations.values():
                if not operation.keys() & {"parameters", "requestBody"}:
                    # Nothing is given, so nothing can be invalid.
                    operation["responses"].pop("422", None)
                if "401" in operation["responses"]:
                    # Wherever a key is looked at, there may be too many requests, or too many wrong keys.
                    too_many = {**copy.deepcopy(operation["responses"]["401"]), "description": _TITLES[429]}
                    operation["responses"].setdefault("429", too_many)
                for status, response in operation["responses"].items():
                    content = response.get("content", {})
                    # FastAPI gives errors the kind of the answer: a stream's are none.
                    for kind in ("application/json", "text/event-stream"):
                        if content.get(kind, {}).get("schema", {}).get("$ref", "").endswith("/Problem"):
                            problem_content = {**content.pop(kind), "example": _example(int(status))}
                            content["application/problem+json"] = problem_content
        for model in schema["components"]["schemas"].values():
            if "example" in model:
                # FastAPI drops nulls, also from examples.
                missing = [name for name in model["properties"] if name in model.get("required", [])]
                model["example"] = {**dict.fromkeys(missing), **model["example"]}
        return schema

    app.openapi = documented  # type: ignore[method-assign]  # FastAPI's own way to extend the document


def _example(status: int) -> dict[str, Any]:
    code, detail = _EXAMPLES[status]
    return {"type": "about:blank", "title": _TITLES[status], "status": status, "detail": detail, "code": code}


def install(app: FastAPI) -> None:
    """Answer every error of `app` with a problem, and say so in its OpenAPI document."""
    document(app)

    @app.exception_handler(errors.ReverieError)
    async def expected(request: Request, error: errors.ReverieError) -> JSONResponse:
        return answer_with(request, error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        found = error.errors()
        wrong = _described(found)
        detail = "; ".join(f"{item['field']}: {item['message']}" for item in wrong) or "the request is not valid"
        more: dict[str, Any] = {"error_count": len(found)} if len(found) > len(wrong) else {}
        return _response_to(request, 422, "validation_error", detail, errors=wrong, **more)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> JSONResponse:
        code = _CODES.get(error.status_code, "error")
        headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
        return _response_to(request, error.status_code, code, str(error.detail), headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, _: Exception) -> JSONResponse:
        # The log has the exception (uvicorn prints it); the client learns nothing of the inside.
        headers = id_header(request.scope)
        with of_request(headers.get(HEADER)):
            log.error("request_failed", code="internal_error")
            return _response_to(request, 500, "internal_error", "the server failed; its log says why", headers)


def _allowed(request: Request) -> str:
    """The methods of all routes of a path; the router names those of the first one only."""
    return ", ".join(
        method
        for method in ("GET", "PUT", "PATCH", "POST", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in request.app.routes)
    )


def _described(found: Sequence[Any]) -> list[dict[str, str]]:
    """The first 20 errors by field, without the input, which may be somebody's memory."""
    return [{"field": _field(item["loc"]), "message": str(item["msg"])} for item in found[:20]]


def _field(location: Sequence[Any]) -> str:
    """The path of a field, at most 200 characters of valid Unicode: a sender may name an unknown field anything."""
    name = ".".join(str(part) for part in location)
    return name.encode("utf-8", "backslashreplace").decode()[:200]
