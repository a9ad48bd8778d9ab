"""All errors as one tree: catch `ReverieError` for any of them, a subclass for one case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ReverieError(Exception):
    """Base of all errors of this client.

    `code` is the server's stable word for programs, `status` the HTTP status (None when there was no answer),
    `detail` the sentence for people, `extra` what else the server said.
    """

    def __init__(self, code: str, status: int | None, detail: str, extra: Mapping[str, Any] | None = None) -> None:
        # All arguments go to the base, so that errors survive pickling between processes.
        super().__init__(code, status, detail, extra)
        self.code = code
        self.status = status
        self.detail = detail
        self.extra: Mapping[str, Any] = extra or {}

    def __str__(self) -> str:
        where = "" if self.status is None else f", HTTP {self.status}"
        return f"{self.detail} ({self.code}{where})"


class ValidationError(ReverieError):
    """The request is not valid. Without a status the client refused it and never sent it."""


class Unauthorized(ReverieError):
    """The server wants a valid key."""


class Forbidden(ReverieError):
    """The key may not do this."""


class ReadOnlyMember(Forbidden):
    """The agent is a team member: it reads its leader's memory and writes none."""


class MemoryDisabled(Forbidden):
    """The agent's memory is switched off."""


class NotFound(ReverieError):
    """The agent, file, text or version does not exist, or the caller may not see it."""


class Conflict(ReverieError):
    """The request conflicts with the stored state; nothing was written."""


class AmbiguousMatch(Conflict):
    """A text that must occur once occurs several times."""


class DuplicateDetected(Conflict):
    """The memory already holds the text to save."""


class StaleSelection(Conflict):
    """An item to forget is not what it was when a dry run listed it: look again. Nothing was removed."""


class StaleVersion(ReverieError):
    """`if_match` names a version that is no longer the current one: read the file again."""

    @property
    def version(self) -> int | None:
        """The current version; None where there is none, or the server did not say."""
        version = self.extra.get("version")
        return version if isinstance(version, int) else None


class PayloadTooLarge(ReverieError):
    """A file, or the whole request, is over the size limit."""


class Unavailable(ReverieError):
    """The server, what it needs, or a gateway before it cannot answer now.

    After a write, whether it took effect is not known: read, then try again.
    """

    @property
    def retry_after_seconds(self) -> float | None:
        """How long the server asks to wait; None where it did not say."""
        seconds = self.extra.get("retry_after_seconds")
        return float(seconds) if isinstance(seconds, int | float) else None


class Overloaded(Unavailable):
    """The server, or this key, has as much under way as it may: nothing was done, and a write may be sent again too."""


class ServerFailed(ReverieError):
    """The server met a fault of its own; its log says why."""


class UnexpectedAnswer(ReverieError):
    """The answer is not Reverie's: another server at this address, a proxy, or a wrong URL."""


class ConnectionFailed(ReverieError):
    """No answer came: nothing listens, or the connection broke."""

    @property
    def may_have_arrived(self) -> bool:
        """Whether the server may have carried the request out. False: it certainly did not get it."""
        return bool(self.extra.get("may_have_arrived", True))


class TimedOut(ConnectionFailed):
    """No answer came in time."""


_BY_CODE: Mapping[str, type[ReverieError]] = {
    "validation_error": ValidationError,
    "bad_request": ValidationError,
    "unauthorized": Unauthorized,
    "forbidden": Forbidden,
    "read_only_member": ReadOnlyMember,
    "memory_disabled": MemoryDisabled,
    "not_found": NotFound,
    "conflict": Conflict,
    "ambiguous_match": AmbiguousMatch,
    "duplicate_detected": DuplicateDetected,
    "stale_selection": StaleSelection,
    "stale_version": StaleVersion,
    "payload_too_large": PayloadTooLarge,
    "too_many_requests": Overloaded,
    "overloaded": Overloaded,
    "internal_error": ServerFailed,
}
# For codes that this version does not know yet.
_BY_STATUS: Mapping[int, type[ReverieError]] = {
    400: ValidationError,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: StaleVersion,
    413: PayloadTooLarge,
    422: ValidationError,
    429: Overloaded,
    500: ServerFailed,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
# Answers that gateways and proxies give in their own words. Their 404 is left out: it is about a URL, and would
# look as if a file did not exist.
_BY_GATEWAY: Mapping[int, tuple[type[ReverieError], str]] = {
    401: (Unauthorized, "unauthorized"),
    403: (Forbidden, "forbidden"),
    413: (PayloadTooLarge, "payload_too_large"),
    429: (Overloaded, "too_many_requests"),
    502: (Unavailable, "bad_gateway"),
    503: (Unavailable, "unavailable"),
    504: (Unavailable, "gateway_timeout"),
}


def problem_error(code: str, status: int, detail: str, extra: Mapping[str, Any]) -> ReverieError:
    """The error of an RFC 9457 problem; one with an unknown code goes by its status."""
    return (_BY_CODE.get(code) or _BY_STATUS.get(status, ReverieError))(code, status, detail, extra)


def gateway_error(status: int, detail: str, extra: Mapping[str, Any]) -> ReverieError:
    """The error of an answer whose body is no problem."""
    kind, code = _BY_GATEWAY.get(status, (UnexpectedAnswer, "unexpected_answer"))
    return kind(code, status, detail, extra)
