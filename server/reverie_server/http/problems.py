"""Errors as RFC 9457 problems: one place that turns an exception into a status, a code and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from reverie_indexer import errors

log = structlog.get_logger()

_STATUS: Mapping[type[errors.ReverieError], int] = {
    errors.ValidationFailed: 422,
    errors.NotFound: 404,
    errors.AmbiguousMatch: 409,
    errors.Conflict: 409,
    errors.StaleVersion: 412,
    errors.PayloadTooLarge: 413,
    errors.Forbidden: 403,
    errors.DatabaseUnavailable: 503,
    errors.EmbedderUnavailable: 503,
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
    422: "Not valid",
    500: "Internal error",
    503: "Unavailable",
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
    body = {
        "type": "about:blank",
        "title": _TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
        **extra,
    }
    return JSONResponse(body, status, dict(headers or {}), media_type="application/problem+json")


def install(app: FastAPI) -> None:
    """Answer every error of `app` with a problem."""

    @app.exception_handler(errors.ReverieError)
    async def expected(_: Request, error: errors.ReverieError) -> JSONResponse:
        status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
        if status >= 500:
            log.warning("request_failed", code=error.code, detail=error.detail)
        headers = {"Retry-After": "1"} if status == 503 else None
        return problem(status, error.code, error.detail, headers, **error.extra)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        wrong = _described(error.errors())
        detail = "; ".join(f"{item['field']}: {item['message']}" for item in wrong) or "the request is not valid"
        return problem(422, "validation_error", detail, errors=wrong)

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> JSONResponse:
        code = _CODES.get(error.status_code, "error")
        return problem(error.status_code, code, str(error.detail), error.headers)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, __: Exception) -> JSONResponse:
        # The log has the exception (uvicorn prints it); the client learns nothing of the inside.
        return problem(500, "internal_error", "the server failed; its log says why")


def _described(found: Sequence[Any]) -> list[dict[str, str]]:
    """What is wrong where, without the input, which may be somebody's memory."""
    return [{"field": ".".join(str(part) for part in item["loc"]), "message": str(item["msg"])} for item in found[:20]]
