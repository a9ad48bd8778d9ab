"""What passes from a provider to a caller: headers, errors, and the end of what broke off. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping

from reverie_server.llm.errors import LanguageModelUnavailable

_MAX_ERROR_BYTES = 65_536
_PASSED_HEADERS = re.compile(r"content-type|retry-after(?:-ms)?|x-should-retry|x-request-id|x-ratelimit-.*|openai-.*")
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|maximum context|prompt is too long|input is too long|too many tokens"
    r"|too many input tokens|exceeds? the (?:model's )?(?:available |maximum )?(?:context|number of tokens)"
    r"|reduce the length",
    re.IGNORECASE,
)


def passed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a provider's answer that its caller gets."""
    return {name: value for name, value in headers.items() if _PASSED_HEADERS.fullmatch(name.lower())}


def is_too_long(body: bytes) -> bool:
    """Whether an error says that the prompt does not fit the model's context."""
    try:
        error = json.loads(body[:_MAX_ERROR_BYTES])
    except (ValueError, RecursionError):
        return False
    inner = error.get("error", error) if isinstance(error, dict) else error
    if isinstance(inner, dict):
        code = inner.get("code") or inner.get("type")
        return code in ("context_length_exceeded", "exceed_context_size_error") or bool(
            _TOO_LONG.search(str(inner.get("message", "")))
        )
    return bool(_TOO_LONG.search(str(inner)))


def error_event(error: LanguageModelUnavailable) -> bytes:
    """An error as an event of a stream of server-sent events."""
    body = {"error": {"message": error.detail, "type": "server_error", "code": error.code}}
    return f"\n\ndata: {json.dumps(body)}\n\n".encode()


async def once(body: bytes) -> AsyncIterator[bytes]:
    """A whole body as the pieces of an answer."""
    yield body
