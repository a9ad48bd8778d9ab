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
    """A message, with the user's messages before it. `evidence` are quotes of what should come; none: nothing.

    `names` are names of the memory that the messages hold, each with a stand-in that the memory does not have.
    `depends_on_names`: with the stand-ins nothing in the memory bears on the message.
    """

    category: str
    message: str
    recent: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    depends_on_names: bool = False

    @property
    def kind(self) -> Kind:
        """Whether memory has something for it."""
        if self.evidence:
            return "should"
        if self.category == NEAR_MISS:
            return "near miss"
        return "apart" if self.category == UNANSWERED else "unrelated"

    def with_stand_ins(self) -> Turn:
        """The turn with the stand-ins for its names: a near miss where it depends on them."""
        message, recent = self._swapped(self.message), tuple(map(self._swapped, self.recent))
        if self.depends_on_names:
            return Turn(NEAR_MISS, message, recent)
        return Turn(self.category, message, recent, self.evidence)

    def _swapped(self, text: str) -> str:
        for name, stand_in in self.names:
            text = text.replace(name, stand_in)
        return text


@dataclass(frozen=True, slots=True)
class TurnSet:
    """A memory in one language, its files by path, and the messages to it."""

    language: str
    files: Mapping[str, str]
    turns: Sequence[Turn]


def load_turns(directory: Path) -> list[TurnSet]:
    """The sets in a directory, by language; one without a memory is about the memory of that name a directory above.

    ValidationFailed for a file that is no such set, for a quote that does not stand exactly once in its memory, and for
    a name that its message or its memory does not have, or whose stand-in its memory has.
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
        turns = [_turn(turn) for turn in raw["turns"]]
    except (KeyError, TypeError, AttributeError):
        raise ValidationFailed(f"{path.name} is no set of turns") from None
    text = "".join(files.values())
    for quote in (quote for turn in turns for quote in turn.evidence):
        if text.count(quote) != 1:
            raise ValidationFailed(f"{path.name}: {quote!r} stands {text.count(quote)} times in the memory, not once")
    for turn in turns:
        _check_names(path, turn, text.casefold())
    return TurnSet(raw["language"], files, turns)


def _turn(raw: Mapping[str, Any]) -> Turn:
    return Turn(
        raw["category"],
        raw["message"],
        tuple(raw.get("recent", ())),
        tuple(raw.get("evidence", ())),
        tuple(raw.get("names", {}).items()),
        bool(raw.get("depends_on_names")),
    )


def _check_names(path: Path, turn: Turn, folded_memory: str) -> None:
    for name, stand_in in turn.names:
        if not any(name in message for message in (turn.message, *turn.recent)):
            raise ValidationFailed(f"{path.name}: {name!r} does not stand in {turn.message!r}")
        if name.casefold() not in folded_memory:
            raise ValidationFailed(f"{path.name}: {name!r} is no name of the memory")
        if stand_in.casefold() in folded_memory:
            raise ValidationFailed(f"{path.name}: {stand_in!r} stands in the memory and cannot replace {name!r}")


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
