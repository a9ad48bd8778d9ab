"""The values that pass between the stages of the pipeline. Frozen, without behaviour, without I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scope = Literal["personal", "team", "global"]
Tier = Literal["document", "episodic", "message", "fact"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One searchable passage of a source text.

    `text` is `source[char_start:char_end]`, as written. Lines are 1-based and inclusive; characters are
    code points, half-open. `ordinal` counts from 0 in source order. `heading_path` holds the headings above
    the passage, outermost first, its own heading included.
    """

    ordinal: int
    text: str
    start_line: int
    end_line: int
    char_start: int
    char_end: int
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What decides whether two vectors may be compared."""

    provider: str
    name: str
    revision: str
    dimension: int
    normalised: bool

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}@{self.revision} ({self.dimension}-d)"
