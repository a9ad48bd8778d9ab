"""Types of fields in requests. Pure."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

MAX_INT = 2**31 - 1
LineNumber = Annotated[int, Field(ge=1, le=MAX_INT)]
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


def _checked(text: str) -> str:
    if _NO_TEXT.search(text):
        raise ValueError("a text has no NUL character and no lone surrogate")
    return text


# A text that PostgreSQL can store or compare.
Text = Annotated[str, AfterValidator(_checked)]
