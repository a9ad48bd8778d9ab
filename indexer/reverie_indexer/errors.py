"""The errors a caller may meet: each has a stable `code` and a sentence that gives the fact and the remedy."""

from __future__ import annotations

from typing import Any, ClassVar


class ReverieError(Exception):
    """Base of all expected errors. `detail` is for people, `code` for programs, `extra` for both.

    No instance may carry SQL, a server path, a secret or another owner's data in `detail` or `extra`.
    """

    code: ClassVar[str] = "internal_error"

    def __init__(self, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.extra = extra


class ValidationFailed(ReverieError):
    """The request is well-formed but not allowed by the contract."""

    code = "validation_error"


class NotFound(ReverieError):
    """What was named does not exist, or the caller may not see it."""

    code = "not_found"


class AmbiguousMatch(ReverieError):
    """A text that must occur once occurs several times."""

    code = "ambiguous_match"


class DuplicateDetected(ReverieError):
    """What is to be remembered is in the memory already."""

    code = "duplicate_detected"


class StaleVersion(ReverieError):
    """`If-Match` names a version that is no longer the current one."""

    code = "stale_version"


class PayloadTooLarge(ReverieError):
    """A file is over the size limit."""

    code = "payload_too_large"


class Unauthorized(ReverieError):
    """The request carries no valid key, and this server wants one."""

    code = "unauthorized"


class TooManyRequests(ReverieError):
    """The caller has more requests under way, or has sent more wrong keys, than it may; `retry_after_seconds` says when
    to try again."""

    code = "too_many_requests"

    def __init__(self, detail: str, retry_after_seconds: int = 1) -> None:
        super().__init__(detail, retry_after_seconds=retry_after_seconds)


class Overloaded(ReverieError):
    """The server has as much to do as it can do in time; `retry_after_seconds` says when to try again."""

    code = "overloaded"

    def __init__(self, detail: str, retry_after_seconds: int = 1) -> None:
        super().__init__(detail, retry_after_seconds=retry_after_seconds)


class Forbidden(ReverieError):
    """The caller may not do this."""

    code = "forbidden"


class OwnerRequired(ReverieError):
    """The request names no owner, where the server or the agent wants each to name one."""

    code = "owner_required"


class MemoryDisabled(ReverieError):
    """The agent's memory is switched off."""

    code = "memory_disabled"


class ReadOnlyMember(ReverieError):
    """The agent is a team member: it reads its leader's memory and writes none."""

    code = "read_only_member"


class Conflict(ReverieError):
    """The state changed under the request too often; nothing was written."""

    code = "conflict"


class StaleSelection(ReverieError):
    """An item that was chosen is not what it was when it was listed; nothing was removed."""

    code = "stale_selection"


class SetupError(ReverieError):
    """The installation cannot work as it is configured; `detail` names the remedy. Raised at start only."""

    code = "setup_error"


class ModelMismatch(SetupError):
    """The index holds the vectors of another model than the configured one."""

    code = "model_mismatch"


class DatabaseUnavailable(ReverieError):
    """PostgreSQL does not answer."""

    code = "database_unavailable"


class DatabaseStarting(DatabaseUnavailable):
    """PostgreSQL takes no connection yet, and will: it starts, or recovers from the end of one of its processes."""


class ReadInterrupted(DatabaseUnavailable):
    """PostgreSQL went away in the middle of a transaction that only reads."""


class StorageFull(DatabaseUnavailable):
    """The disk of the database is full: writes are refused, reads go on."""

    code = "storage_full"


class DataDamaged(ReverieError):
    """PostgreSQL found a damaged page where this request reads or writes; others go on."""

    code = "data_damaged"


class SearchTimeout(ReverieError):
    """A search took longer than it may; one that asks for less may succeed."""

    code = "search_timeout"


class TextTooCostly(ReverieError):
    """Working on a text took longer than it may; another text may succeed."""

    code = "text_too_costly"


class EmbedderUnavailable(ReverieError):
    """No embedding can be had now (loading, down, refused, out of time); text search still works."""

    code = "embedder_unavailable"


class EmbeddingRejected(ReverieError):
    """The provider refuses this one text for good; the others of its batch are not concerned."""

    code = "embedding_rejected"
