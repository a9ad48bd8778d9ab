"""Expand a passage to its neighbours, and an episode or a passage of it to the whole episode with its sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, Slice, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index import slices
from reverie_indexer.model import Scope, Tier
from reverie_server.access.principal import Principal
from reverie_server.episodes.store import Episode, read_episodes, sources_of

SQL = Queries(__file__)
NEIGHBOURS = 3
MAX_CHARS = 4000
_ID = re.compile(r"(?:(?P<episode>ep-)|(?P<fact>fact-))?(?P<number>[1-9][0-9]{0,18})")
_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of a passage with its place. Lines are 1-based and inclusive."""

    chunk_id: int
    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class ExpandedPassage:
    """A passage, its file, and the passages before and after it in the order of the file.

    `more_before` and `more_after` say whether the file goes on in that direction.
    """

    passage: Passage
    tier: Tier
    path: str
    version: int
    updated_at: datetime
    heading_path: Sequence[str]
    scope: Scope
    resolved_from: Literal["personal", "team", "global", "leader"]
    before: Sequence[Passage]
    after: Sequence[Passage]
    more_before: bool
    more_after: bool


@dataclass(frozen=True, slots=True)
class ExpandedEpisode:
    """An episode with those of its source messages that still exist."""

    episode: Episode
    sources: Sequence[Mapping[str, Any]]
    scope: Scope
    resolved_from: Literal["personal", "team", "global", "leader"]


def surroundings(lengths_before: Sequence[int], lengths_after: Sequence[int], budget: int) -> tuple[int, int]:
    """The numbers of neighbours before and after that fit into `budget` characters, nearest first and by turns. Pure.

    Lengths are in the order of the file. A side ends at the first passage that does not fit, so that the neighbours
    are consecutive.
    """
    counts = [0, 0]
    sides = [list(reversed(lengths_before)), list(lengths_after)]
    is_open = [bool(side) for side in sides]
    while any(is_open):
        for i, side in enumerate(sides):
            if not is_open[i]:
                continue
            if side[counts[i]] > budget:
                is_open[i] = False
                continue
            budget -= side[counts[i]]
            counts[i] += 1
            is_open[i] = counts[i] < len(side)
    return counts[0], counts[1]


class Expansion:
    """Expands passages of the memory that a principal sees. `now` gives the time, by which episodes expire."""

    def __init__(self, database: Database, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now

    async def expand(self, principal: Principal, public_id: str) -> ExpandedPassage | ExpandedEpisode:
        """The passage with an id of a search, and up to three neighbours on each side; an episode for its own id or
        that of one of its passages. For a fact, by its id or that of its passage, the passage that states it.

        A passage and its neighbours have at most about 4,000 characters. A team member also sees what its leader
        shares. NotFound for a malformed id, for one that is gone, and for one that the principal does not see.
        """
        match = _ID.fullmatch(public_id)
        if match is None or int(match["number"]) > _MAX_ID:
            raise NotFound("there is no passage with this id")
        number = int(match["number"])
        kinds = {"is_episode": match["episode"] is not None, "is_fact": match["fact"] is not None}
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            found = await self._expand(connection, principal, number, **kinds)
            if found is None and principal.leader_agent_id is not None:
                # What the leader shares; never what is personal there.
                leader = Principal(principal.tenant_id, principal.leader_agent_id, None)
                shared = await self._expand(connection, leader, number, **kinds)
                found = replace(shared, resolved_from="leader") if shared else None
        if found is None:
            raise NotFound("there is no passage with this id")
        return found

    async def _expand(
        self, connection: Connection, principal: Principal, number: int, *, is_episode: bool, is_fact: bool
    ) -> ExpandedPassage | ExpandedEpisode | None:
        visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
        if is_episode:
            return await self._episode(connection, principal, visible, number)
        params: dict[str, Any] = {
            "tenant_id": principal.tenant_id,
            "slice_ids": [s.slice_id for s in visible],
            "chunk_id": number,
            "now": self._now(),
        }
        stated = await (await connection.execute(SQL["of_fact"], {**params, "is_fact": is_fact})).fetchone()
        if stated is None and is_fact:
            return None
        number = params["chunk_id"] = stated["chunk_id"] if stated else number
        row = await (await connection.execute(SQL["passage"], params)).fetchone()
        if row is None:
            return None
        if row["episode_id"] is not None:
            return await self._episode(connection, principal, visible, row["episode_id"])
        # One more passage on each side says whether the file goes on.
        span = {"first": row["ordinal"] - NEIGHBOURS - 1, "last": row["ordinal"] + NEIGHBOURS + 1}
        cursor = await connection.execute(SQL["neighbours"], {**params, "document_id": row["document_id"], **span})
        passages = await cursor.fetchall()
        index = next(i for i, passage in enumerate(passages) if passage["chunk_id"] == number)
        return _expanded(row, passages[:index], passages[index], passages[index + 1 :])

    async def _episode(
        self, connection: Connection, principal: Principal, visible: Sequence[Slice], number: int
    ) -> ExpandedEpisode | None:
        by_id = {slice_.slice_id: slice_ for slice_ in visible}
        episodes = await read_episodes(
            connection, principal.tenant_id, list(by_id), now=self._now(), episode_ids=[number], limit=1
        )
        if not episodes:
            return None
        sources = await sources_of(connection, principal.tenant_id, episodes)
        slice_ = by_id[episodes[0].slice_id]
        scope = slices.scope_of(slice_.agent_id, slice_.owner_key)
        return ExpandedEpisode(episodes[0], sources[number], scope, scope)


def _expanded(row: DictRow, before: list[DictRow], passage: DictRow, after: list[DictRow]) -> ExpandedPassage:
    near_before, near_after = before[-NEIGHBOURS:], after[:NEIGHBOURS]
    count_before, count_after = surroundings(
        [len(neighbour["text"]) for neighbour in near_before],
        [len(neighbour["text"]) for neighbour in near_after],
        MAX_CHARS - len(passage["text"]),
    )
    scope = slices.scope_of(row["agent_id"], row["owner_key"])
    return ExpandedPassage(
        passage=_passage(passage),
        tier=row["tier"],
        path=row["path"],
        version=row["version"],
        updated_at=row["updated_at"],
        heading_path=tuple(row["heading_path"]),
        scope=scope,
        resolved_from=scope,
        before=[_passage(neighbour) for neighbour in near_before[len(near_before) - count_before :]],
        after=[_passage(neighbour) for neighbour in near_after[:count_after]],
        more_before=len(before) > count_before,
        more_after=len(after) > count_after,
    )


def _passage(row: DictRow) -> Passage:
    return Passage(row["chunk_id"], row["start_line"], row["end_line"], row["text"])
