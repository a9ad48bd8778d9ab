"""The recall benchmark's data as users with items, which is what every peer is given. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reverie_bench.data import Collection, Corpus, Unit

_DAY = re.compile(r"memory/(\d{4}-\d{2}-\d{2})\.md")


@dataclass(frozen=True)
class User:
    """One collection: its items in the order of its units, and its questions with the units that answer them."""

    name: str
    items: Sequence[Mapping[str, str | None]]
    questions: Sequence[tuple[str, frozenset[int]]]

    @cached_property
    def units(self) -> dict[str, int]:
        """Which unit an item is, by the item's id."""
        return {str(item["id"]): unit for unit, item in enumerate(self.items)}


def users_of(corpus: Corpus, first: int, limit: int | None) -> list[User]:
    """The first `limit` collections (None: all) as users `u<first>`, `u<first + 1>`, …; ids are unique over all."""
    chosen = corpus.collections[:limit] if corpus.kind == "conversations" else corpus.collections
    return [_user(f"u{number}", collection) for number, collection in enumerate(chosen, first)]


def _user(name: str, collection: Collection) -> User:
    items = [_item(f"{name}-{number}", unit) for number, unit in enumerate(collection.units)]
    return User(name, items, [(question.text, question.relevant) for question in collection.questions])


def _item(name: str, unit: Unit) -> dict[str, str | None]:
    day = _DAY.fullmatch(unit.path)
    return {"id": name, "text": unit.text, "at": day[1] if day else None}
