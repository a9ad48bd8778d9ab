"""Who may see what the background work made: the part of the model of memory that is derived.

Whatever is derived is in the home of what it is made of. The rows are known as the database has them (`background`),
and each word of one is accounted for when it first appears; what is taken away is taken away here first, and has to be
gone there too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tests.canary.talks import TalkKey
from tests.canary.words import Forms, add_forms, forget_in, full

if TYPE_CHECKING:
    from tests.canary.world import Home

# What an answer calls the tier of a row, by its table.
TIERS = {
    "episodes": "episodic",
    "entities": "fact",
    "mentions": "fact",
    "statements": "fact",
    "relations": "fact",
    "facts": "fact",
    "reports": "report",
    "derivations": "origin",
}
# What stands on the messages of one session alone.
OF_TALKS = ("episodes", "mentions", "statements")


class RowId(NamedTuple):
    """A row by its table and its id, which no two tenants share."""

    table: str
    number: str


@dataclass
class Row:
    """A row of a home, with its words as they are written. `episode` is its number, or that of what it was read in.

    `path` is what search names as the source of an episode; `listed` is false of an entity that is part of another;
    `order` is that of making, where ids are random.
    """

    home: Home
    forms: Forms
    talk: TalkKey | None = None
    episode: int | None = None
    path: str | None = None
    listed: bool = True
    order: str = ""


class Derived:
    """All rows there are."""

    def __init__(self) -> None:
        self._rows: dict[RowId, Row] = {}
        # Where each canary is, as (home, tier); made anew after a change.
        self._places: dict[str, set[tuple[Home, str | None]]] | None = None

    @property
    def rows(self) -> Mapping[RowId, Row]:
        """The rows by table and id, not to be changed."""
        return self._rows

    def may_show(self, canary: str, homes: Collection[Home], tier: str | None = None) -> bool:
        """Whether what was derived in some homes, of one tier or of any, may hold a canary."""
        if self._places is None:
            self._places = {}
            for row_id, row in self._rows.items():
                for held in row.forms:
                    self._places.setdefault(held, set()).add((row.home, TIERS.get(row_id.table)))
        places = self._places
        return any(
            home in homes and tier in (None, of_tier) for held in full(canary, places) for home, of_tier in places[held]
        )

    def of(self, table: str, homes: Collection[Home] | None = None) -> dict[str, Row]:
        """The rows of a table in some homes (None: in all), by id, in the order of making."""
        found = [(row_id.number, row) for row_id, row in self._rows.items() if row_id.table == table]
        chosen = [(number, row) for number, row in found if homes is None or row.home in homes]
        return dict(sorted(chosen, key=lambda pair: (pair[1].order, len(pair[0]), pair[0])))

    def home_of(self, table: str, number: str) -> Home | None:
        """Whose a row is; None: there is none of that id."""
        row = self._rows.get(RowId(table, number))
        return row.home if row else None

    def paths(self, homes: Collection[Home]) -> set[tuple[Home, str]]:
        """The episodes in some homes, as search names them."""
        return {(row.home, row.path) for row in self._rows.values() if row.path is not None and row.home in homes}

    def fact_paths(self, homes: Collection[Home]) -> set[tuple[Home, str]]:
        """The facts in some homes, as search names them."""
        return {
            (row.home, f"facts/fact-{row_id.number}")
            for row_id, row in self._rows.items()
            if row_id.table == "facts" and row.home in homes
        }

    def words(self, home: Home, *tables: str, talk: TalkKey | None = None) -> set[str]:
        """The canaries that rows of these tables have in a home, or of one session there."""
        return {
            canary
            for row_id, row in self._rows.items()
            if row_id.table in tables and row.home == home and talk in (None, row.talk)
            for canary in row.forms
        }

    def where(self, canary: str) -> list[str]:
        """Whose a canary is, for a report."""
        return [
            f"{row_id.table} {row_id.number} of {'/'.join(map(str, row.home))}"
            for row_id, row in self._rows.items()
            if any(True for _ in full(canary, row.forms))
        ]

    # Changes

    def put(self, row_id: RowId, row: Row) -> None:
        """A row is so."""
        self._rows[row_id], self._places = row, None

    def forget(self, home: Home, text: str, unsaid: Mapping[TalkKey, set[str]], *, certain: bool) -> set[str]:
        """A text was taken out of a home; `unsaid` are the canaries that nobody says any more in some sessions of it,
        whose messages are all there still. The canaries of which nothing is left in a row."""
        gone: set[str] = set()
        self._places = None
        for row_id, row in self._rows.items():
            if row.home != home:
                continue
            gone |= forget_in(row.forms, text, certain=certain)
            if row.talk is not None and row_id.table in OF_TALKS:
                # It is told anew of what is said now, or gone.
                for canary in unsaid.get(row.talk, set()) & row.forms.keys():
                    gone.add(canary)
                    del row.forms[canary]
        return gone

    def drop(self, fits: Callable[[RowId, Row], bool]) -> None:
        """Some rows are gone."""
        self._places = None
        for row_id in [row_id for row_id, row in self._rows.items() if fits(row_id, row)]:
            del self._rows[row_id]

    def drop_episodes(self, home: Home, fits: Callable[[Row], bool]) -> None:
        """Some episodes of a home are gone, with what was read in them."""
        numbers = {row.episode for row_id, row in self._rows.items() if _is_episode(row_id, row, home) and fits(row)}
        self.drop(lambda row_id, row: row_id.table in OF_TALKS and row.home == home and row.episode in numbers)


def forms_of(texts: Collection[str]) -> Forms:
    """The canaries of some texts, each with the texts that it is in."""
    forms: Forms = {}
    add_forms(forms, texts)
    return forms


def _is_episode(row_id: RowId, row: Row, home: Home) -> bool:
    return row_id.table == "episodes" and row.home == home
