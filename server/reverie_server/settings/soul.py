"""The settings of SOUL.md."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field


class SoulSettings(BaseModel):
    """The settings of the server that concern SOUL.md."""

    soul_every_writes: Annotated[int, Field(ge=1, le=1_000_000)] = 20
    """Writes of memory files after which the model writes SOUL.md anew."""
    soul_min_chars: Annotated[int, Field(ge=0, le=100_000)] = 50
    """Characters above which a new SOUL.md is taken."""
    soul_max_words: Annotated[int, Field(ge=1, le=100_000)] = 500
    """Most words of SOUL.md, the lines of people included."""
