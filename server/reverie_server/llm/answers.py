"""The answers that prompts ask for, by the names that their front matter uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

# What a model writes beyond it is cut off by nobody: it is asked to write shorter.
MAX_LINE_CHARS = 500
MAX_LINES = 50

# A line of dots is the prompt's own example given back.
NoteLine = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\w", max_length=MAX_LINE_CHARS)]


class Flush(BaseModel):
    """What of a conversation is worth a line in the daily note; empty: nothing is."""

    model_config = ConfigDict(extra="forbid")

    lines: Annotated[list[NoteLine], Field(max_length=MAX_LINES)]


ANSWERS: Mapping[str, type[BaseModel]] = {"Flush": Flush}
