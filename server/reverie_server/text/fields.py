"""Types of fields in requests. Pure."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

MAX_INT = 2**31 - 1
LineNumber = Annotated[int, Field(ge=1, le=MAX_INT)]
# The scores of passages end at 1.2: a sum of at most 1, times the greatest factor for the owner's own memory.
MinScore = Annotated[float, Field(ge=0, le=1.2)]
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_DAY_FIRST = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]")


def _checked(text: str) -> str:
    if _NO_TEXT.search(text):
        raise ValueError("a text has no NUL character and no lone surrogate")
    return text


def _only_text(value: object) -> object:
    if not isinstance(value, str) or not _DAY_FIRST.match(value):
        raise ValueError("a time is a text in RFC 3339, such as 2026-04-03T09:30:00Z")
    return value


# A text that PostgreSQL can store or compare.
Text = Annotated[str, AfterValidator(_checked)]
# A strict body takes no string for a time, and a lax one takes numbers.
Instant = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_only_text)]
