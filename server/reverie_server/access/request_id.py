"""The id of the current request, for logs, answers and the audit."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

HEADER = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NAME = "request_id"


def new_request_id(sent: str | None = None) -> str:
    """The id that the caller sent, if it is short and of plain characters; else a new one."""
    return sent if sent is not None and _SANE.fullmatch(sent) else secrets.token_hex(8)


def current_request_id() -> str | None:
    """The id of the current request, or of the request that caused the current job; else None."""
    request_id = structlog.contextvars.get_contextvars().get(_NAME)
    return None if request_id is None else str(request_id)


@contextmanager
def of_request(request_id: str | None) -> Iterator[None]:
    """Add the id to every line of the log until the end of the `with`; None adds nothing."""
    if request_id is None:
        yield
        return
    with structlog.contextvars.bound_contextvars(**{_NAME: request_id}):
        yield
