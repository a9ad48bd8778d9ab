"""The errors of the language model."""

from __future__ import annotations

from typing import Literal

from reverie_indexer.errors import ReverieError

Reason = Literal[
    "unreachable",
    "timeout",
    "rejected",
    "rate_limited",
    "failed",
    "unusable",
    "truncated",
    "refused",
    "empty",
    "over_budget",
    "paused",
]


class LanguageModelUnavailable(ReverieError):
    """No usable answer of the language model: the caller works without a model.

    `reason` says why: no connection (`unreachable`), out of time, HTTP 4xx (`rejected`), 429 (`rate_limited`), 5xx
    (`failed`), a body that is no completion or an answer that does not validate (`unusable`), cut off at the limit of
    tokens (`truncated`), refused by the model, empty, more calls than the day's budget, or not asked because it has not
    answered lately (`paused`: until `retry_after_seconds`). `status` is the HTTP status where the provider answered
    with an error. No instance holds a secret, or text of prompt or answer.
    """

    code = "language_model_unavailable"

    def __init__(
        self, reason: Reason, detail: str, status: int | None = None, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(detail)
        if retry_after_seconds is not None:
            self.extra["retry_after_seconds"] = retry_after_seconds
        self.reason = reason
        self.status = status


class NoLanguageModel(ReverieError):
    """The request needs a language model, and none is configured."""

    code = "llm_not_configured"
