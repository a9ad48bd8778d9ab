"""Reads sets of turns: a person's memory, and messages that it has something for, or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reverie_bench.origin import sha256_of
from reverie_indexer.errors import ValidationFailed

Kind = Literal["should", "unrelated", "near miss", "apart"]
"""Memory has what the message needs; it has nothing, plainly; it has nothing, though words or names are the same;
injecting is neither right nor wrong."""
NEAR_MISS, UNANSWERED = "near miss", "unanswered"
"""Turns for which memory has nothing, although words or names are the same; and questions about the person that it has
no answer to, for which a passage that is near does no harm."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, with the user's messages before it. `evidence` are quotes of what should come; none: nothing."""

    category: str
    message: str
    recent: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Whether memory has something for it."""
        if self.evidence:
            return "should"
        if self.category == NEAR_MISS:
            return "near miss"
        return "apart" if self.category == UNANSWERED else "unrelated"


@dataclass(frozen=True, slots=True)
class TurnSet:
    """A memory in one language, its files by path, and the messages to it."""

    language: str
    files: Mapping[str, str]
    turns: Sequence[Turn]


def load_turns(directory: Path) -> list[TurnSet]:
    """The sets in a directory, by language; one without a memory is about the memory of that name a directory above.

    ValidationFailed for a file that is no such set, and for a quote that does not stand exactly once in its memory.
    """
    sets = [_load(path) for path in sorted(directory.glob("*.json"))]
    if not sets:
        raise ValidationFailed(f"there are no turns in {directory}")
    return sets


def turn_digests(directory: Path | None) -> dict[str, str]:
    """The digest of each set of turns, by the name of its file."""
    return {} if directory is None else {path.name: sha256_of(path) for path in sorted(directory.glob("*.json"))}


def _load(path: Path) -> TurnSet:
    raw = _read(path)
    memory = raw if "memory" in raw else _read(path.parent.parent / path.name)
    try:
        files = {name: "\n".join(lines) + "\n" for name, lines in memory["memory"].items()}
        turns = [
            Turn(turn["category"], turn["message"], tuple(turn.get("recent", ())), tuple(turn.get("evidence", ())))
            for turn in raw["turns"]
        ]
    except (KeyError, TypeError, AttributeError):
        raise ValidationFailed(f"{path.name} is no set of turns") from None
    text = "".join(files.values())
    for quote in (quote for turn in turns for quote in turn.evidence):
        if text.count(quote) != 1:
            raise ValidationFailed(f"{path.name}: {quote!r} stands {text.count(quote)} times in the memory, not once")
    return TurnSet(raw["language"], files, turns)


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValidationFailed(f"there is no file {path}") from None
    except ValueError:
        raise ValidationFailed(f"{path.name} is not JSON") from None
    if not isinstance(raw, dict) or "turns" not in raw:
        raise ValidationFailed(f"{path.name} is no set of turns")
    return raw
