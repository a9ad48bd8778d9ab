"""Where a fact is stated. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FactSource:
    """Lines of a file, or a message of a session, that state a fact; the slice is the fact's."""

    slice_id: int
    path: str
    first_line: int
    last_line: int
