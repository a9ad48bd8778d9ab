"""An HTTP response as a dataclass or as an error. No I/O here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from reverie_client.decode import decode
from reverie_client.errors import ReverieError, UnexpectedAnswer, gateway_error, problem_error
from reverie_client.request import POSITION

T = TypeVar("T")
_PROBLEM_FIELDS = ("type", "title", "status", "detail", "code")
_ENVELOPE_FIELDS = ("code", "msg", "error")


def parsed(kind: type[T], response: httpx.Response) -> T:
    """The body of the response as `kind`; UnexpectedAnswer if it has another shape."""
    try:
        return decode(kind, response.json())
    except ValueError as error:
        detail = f"the answer is not what Reverie gives: {error}"
        raise UnexpectedAnswer("unexpected_answer", response.status_code, detail) from error


def later(position: str | None, response: httpx.Response) -> str | None:
    """The later of a position and that of a response, where it has one."""
    read_position = response.headers.get(POSITION)
    return read_position if read_position is not None and read_position > (position or "") else position


def failure(response: httpx.Response) -> ReverieError | None:
    """The error of a response; None for a success."""
    if response.is_success:
        return None
    body = _problem(response)
    code, detail, known = _problem_parts(body)
    extra = {name: value for name, value in body.items() if name not in known}
    seconds = retry_after_seconds(response.headers.get("Retry-After"), datetime.now(UTC))
    if seconds is not None:
        extra["retry_after_seconds"] = seconds
    if code is not None:
        return problem_error(code, response.status_code, detail or code, extra)
    detail = f"HTTP {response.status_code} {response.reason_phrase}".rstrip() + ", not in Reverie's words"
    if response.is_redirect:
        detail = f"redirected to {response.headers['Location'][:200]}: give that server's URL as base_url"
    return gateway_error(response.status_code, detail, extra)


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """The seconds of a `Retry-After` header in either form of RFC 9110 10.2.3; None for any other text."""
    if header is None:
        return None
    try:
        seconds = float(header) if header.strip().isdecimal() else (parsedate_to_datetime(header) - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _problem_parts(body: Mapping[str, Any]) -> tuple[str | None, str, tuple[str, ...]]:
    """The code (None: neither a problem nor a control route's envelope), the sentence, the names of known fields."""
    code = body.get("code")
    if code == 500 and isinstance(body.get("msg"), str):
        # An envelope without a word for programs goes by its status.
        return str(body.get("error") or "error"), body["msg"], _ENVELOPE_FIELDS
    return code if isinstance(code, str) else None, str(body.get("detail") or ""), _PROBLEM_FIELDS


def _problem(response: httpx.Response) -> dict[str, Any]:
    """The body, if it is a JSON object; else nothing."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
