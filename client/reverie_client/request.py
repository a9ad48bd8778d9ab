"""A request: its URL, body and headers, and whether it may be retried. No I/O here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, urlencode, urlsplit

import httpx

from reverie_client.errors import ConnectionFailed, Overloaded, ReverieError, TimedOut, Unavailable, ValidationError
from reverie_client.model import IfMatch

DEFAULT_URL = "http://127.0.0.1:8077"
DEFAULT_TIMEOUT_SECONDS = 30.0
# For what embeds a lot of text, or asks a language model.
LONG_TIMEOUT_SECONDS = 600.0
# An idle connection is given up before the server, after 10 seconds, closes it under a request.
LIMITS = httpx.Limits(keepalive_expiry=4.0)
MAX_RETRY_AFTER_SECONDS = 5.0
# Says, as a text that sorts, how far the database was after a write, and that it be no less far for a read.
POSITION = "X-Reverie-Position"
_FIRST_WAIT_SECONDS = 0.1
_HEADER = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. `path` begins behind `/api/v1` and is quoted; a read changes nothing and may be repeated."""

    method: Literal["GET", "PUT", "PATCH", "POST", "DELETE"]
    path: str
    query: Mapping[str, str | int | bool | None] = field(default_factory=dict)
    body: Mapping[str, Any] | bytes | None = None
    if_match: IfMatch | None = None
    is_read: bool = False
    timeout_seconds: float | None = None

    def url(self, base_url: str) -> str:
        """The full URL. Query fields that are None are left out."""
        fields = {name: _text(value) for name, value in self.query.items() if value is not None}
        try:
            query = urlencode(fields)
        except UnicodeEncodeError:
            raise _not_unicode("the query") from None
        return f"{base_url}/api/v1{self.path}" + (f"?{query}" if query else "")

    def content(self) -> bytes | None:
        """The body. Fields that are None are left out, so that the server's defaults hold."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        fields = {name: value for name, value in self.body.items() if value is not None}
        try:
            return json.dumps(fields, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _not_unicode("the body") from None

    def headers(self, api_key: str | None, position: str | None) -> dict[str, str]:
        """The headers for the key, what was written, the kind of body and the precondition."""
        headers = {"Accept": "application/json", "User-Agent": "reverie-client"}
        if position is not None:
            headers[POSITION] = position
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        if self.body is not None:
            headers["Content-Type"] = "application/zip" if isinstance(self.body, bytes) else "application/json"
        if self.if_match is not None:
            version = f'"{self.if_match}"' if isinstance(self.if_match, int) else self.if_match
            if not _HEADER.fullmatch(version):
                raise ValidationError("validation_error", None, f"if_match is a version, an etag or *, not {version!r}")
            headers["If-Match"] = version
        return headers


def checked_url(base_url: str | None) -> str:
    """The server's URL without a trailing slash: the given one, else REVERIE_URL, else this machine's.

    ValueError for what is no http(s) URL.
    """
    url = (base_url or os.environ.get("REVERIE_URL") or DEFAULT_URL).strip().rstrip("/").removesuffix("/api/v1")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"base_url is an http or https URL, such as {DEFAULT_URL}; this is {shown_url(url)!r}")
    return url


def shown_url(url: str) -> str:
    """A URL without the user and the password in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def checked_key(api_key: str | None) -> str | None:
    """The key without white space around it: the given one, else REVERIE_API_KEY; None without one.

    ValueError, which does not show it, for one that no header can carry.
    """
    key = (api_key or os.environ.get("REVERIE_API_KEY") or "").strip()
    if key and not _HEADER.fullmatch(key):
        raise ValueError("the API key has characters that no key has: white space inside it, or other than ASCII")
    return key or None


def segment(name: str, what: str) -> str:
    """A name as one segment of a URL's path; ValidationError for one that would be read as several, or as none."""
    if not name or "/" in name:
        raise ValidationError("validation_error", None, f"{what} is not empty and has no slash; this is {name!r}")
    return file_path(name)


def file_path(path: str) -> str:
    """A file's path as part of a URL, so that the server sees it as it is: `..` is not resolved on the way."""
    try:
        parts = [quote(part, safe="") for part in path.split("/")]
    except UnicodeEncodeError:
        raise _not_unicode("the path") from None
    return "/".join(part.replace(".", "%2E") if part in (".", "..") else part for part in parts)


def transport_error(error: httpx.RequestError, url: str) -> ConnectionFailed:
    """The error of a request that got no answer."""
    never_sent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.LocalProtocolError)
    extra = {"may_have_arrived": not isinstance(error, (*never_sent, httpx.UnsupportedProtocol))}
    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if isinstance(error, httpx.TimeoutException):
        return TimedOut("timed_out", None, f"{where} did not answer in time", extra)
    if isinstance(error, httpx.ConnectError):
        detail = f"nothing answers at {where}: is the server running? ({error})"
    else:
        detail = f"the connection to {where} failed: {error or type(error).__name__}"
    return ConnectionFailed("connection_failed", None, detail, extra)


def retry_wait_seconds(error: ReverieError, *, is_read: bool, attempt: int) -> float | None:
    """How long to wait before sending again after the failed attempt (from 0); None: do not.

    A write is sent again only if it certainly never arrived, or was refused unseen. That excludes any other 503: the
    database may have gone away while it committed. Time-outs are final, since the caller said how long to wait.
    """
    backoff = _FIRST_WAIT_SECONDS * 2**attempt
    if isinstance(error, ConnectionFailed):
        may_repeat = is_read or not error.may_have_arrived
        return backoff if may_repeat and not isinstance(error, TimedOut) else None
    if isinstance(error, Unavailable) and (is_read or isinstance(error, Overloaded)):
        wait = backoff if error.retry_after_seconds is None else error.retry_after_seconds
        return wait if wait <= MAX_RETRY_AFTER_SECONDS else None
    return None


def _text(value: str | int | bool) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _not_unicode(what: str) -> ValidationError:
    return ValidationError("validation_error", None, f"{what} has a lone surrogate, which is not valid Unicode")
