"""The settings of facts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field


class FactSettings(BaseModel):
    """The settings of the server that concern facts."""

    facts_debounce_seconds: Annotated[float, Field(ge=0, le=31_536_000)] = 3.0
    """Time between a message or a write and the reading of the facts that it states."""
    fact_half_life_days: Annotated[float, Field(ge=0, le=36_500)] = 60.0
    """Days without use or confirmation after which the trust in a fact has halved; 0: it never falls."""
