"""The generation of a text: by which prompt and model, or without a model. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["llm", "extractive"]


@dataclass(frozen=True, slots=True)
class Generation:
    """How a text was generated: the method, and the prompt and model (None: without a model)."""

    method: Method
    prompt: str | None = None
    prompt_version: str | None = None
    model: str | None = None


EXTRACTIVE = Generation("extractive")
