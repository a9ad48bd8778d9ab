"""A passage with what stands around it; of an episode all that it says, and what it is made of."""

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
_ID = re.compile(r"(?P<episode>ep-)?(?P<number>[1-9][0-9]{0,18})")
_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Around:
    """A neighbouring passage. Lines are 1-based and inclusive."""

    chunk_id: int
    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Expanded:
    """A passage, its file, and the passages before and after it in the order of the file.

    `more_before` and `more_after`: the file goes on in that direction.
    """

    passage: Around
    tier: Tier
    path: str
    version: int
    updated_at: datetime
    heading_path: Sequence[str]
    scope: Scope
    resolved_from: Literal["personal", "team", "global", "leader"]
    before: Sequence[Around]
    after: Sequence[Around]
    more_before: bool
    more_after: bool


@dataclass(frozen=True, slots=True)
class ExpandedEpisode:
    """An episode with the messages that it is made of, as far as they are there still."""

    episode: Episode
    sources: Sequence[Mapping[str, Any]]
    scope: Scope
    resolved_from: Literal["personal", "team", "global", "leader"]


def surroundings(lengths_before: Sequence[int], lengths_after: Sequence[int], budget: int) -> tuple[int, int]:
    """How many neighbours before and after fit into `budget` characters, nearest first and by turns. Pure.

    Lengths are in the order of the file. A side ends with the first of its passages that does not fit, so that
    what is taken is one stretch.
    """
    taken = [0, 0]
    sides = [list(reversed(lengths_before)), list(lengths_after)]
    is_open = [bool(side) for side in sides]
    while any(is_open):
        for i, side in enumerate(sides):
            if not is_open[i]:
                continue
            if side[taken[i]] > budget:
                is_open[i] = False
                continue
            budget -= side[taken[i]]
            taken[i] += 1
            is_open[i] = taken[i] < len(side)
    return taken[0], taken[1]


class Expansion:
    """Shows passages of the memory that a principal sees. `now` gives the time, by which episodes expire."""

    def __init__(self, database: Database, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now

    async def expand(self, principal: Principal, shown_id: str) -> Expanded | ExpandedEpisode:
        """The passage of that id, as search gave it, with up to three neighbours on each side; or the episode that it
        is a passage of, or whose own id it is.

        With the neighbours a passage has at most about 4,000 characters. NotFound for an id that is none, is gone, or
        stands for what the principal does not see. A team member sees what its leader shares too.
        """
        match = _ID.fullmatch(shown_id)
        if match is None or int(match["number"]) > _MAX_ID:
            raise NotFound("there is no passage with this id")
        number, is_episode = int(match["number"]), match["episode"] is not None
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            found = await self._expand(connection, principal, number, is_episode=is_episode)
            if found is None and principal.leader_agent_id is not None:
                # What the leader shares; never what is personal there.
                leader = Principal(principal.tenant_id, principal.leader_agent_id, None)
                shared = await self._expand(connection, leader, number, is_episode=is_episode)
                found = replace(shared, resolved_from="leader") if shared else None
        if found is None:
            raise NotFound("there is no passage with this id")
        return found

    async def _expand(
        self, connection: Connection, principal: Principal, number: int, *, is_episode: bool
    ) -> Expanded | ExpandedEpisode | None:
        visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
        if is_episode:
            return await self._episode(connection, principal, visible, number)
        params: dict[str, Any] = {
            "tenant_id": principal.tenant_id,
            "slice_ids": [s.slice_id for s in visible],
            "chunk_id": number,
            "now": self._now(),
        }
        row = await (await connection.execute(SQL["passage"], params)).fetchone()
        if row is None:
            return None
        if row["episode_id"] is not None:
            return await self._episode(connection, principal, visible, row["episode_id"])
        # One more than is shown on each side tells whether the file goes on.
        span = {"first": row["ordinal"] - NEIGHBOURS - 1, "last": row["ordinal"] + NEIGHBOURS + 1}
        cursor = await connection.execute(SQL["neighbours"], {**params, "document_id": row["document_id"], **span})
        passages = await cursor.fetchall()
        own = next(i for i, passage in enumerate(passages) if passage["chunk_id"] == number)
        return _expanded(row, passages[:own], passages[own], passages[own + 1 :])

    async def _episode(
        self, connection: Connection, principal: Principal, visible: Sequence[Slice], number: int
    ) -> ExpandedEpisode | None:
        by_id = {slice_.slice_id: slice_ for slice_ in visible}
        found = await read_episodes(
            connection, principal.tenant_id, list(by_id), now=self._now(), episode_ids=[number], limit=1
        )
        if not found:
            return None
        sources = await sources_of(connection, principal.tenant_id, found)
        own = by_id[found[0].slice_id]
        scope = slices.scope_of(own.agent_id, own.owner_key)
        return ExpandedEpisode(found[0], sources[number], scope, scope)


def _expanded(row: DictRow, before: list[DictRow], own: DictRow, after: list[DictRow]) -> Expanded:
    near_before, near_after = before[-NEIGHBOURS:], after[:NEIGHBOURS]
    taken_before, taken_after = surroundings(
        [len(passage["text"]) for passage in near_before],
        [len(passage["text"]) for passage in near_after],
        MAX_CHARS - len(own["text"]),
    )
    scope = slices.scope_of(row["agent_id"], row["owner_key"])
    return Expanded(
        passage=_around(own),
        tier=row["tier"],
        path=row["path"],
        version=row["version"],
        updated_at=row["updated_at"],
        heading_path=tuple(row["heading_path"]),
        scope=scope,
        resolved_from=scope,
        before=[_around(passage) for passage in near_before[len(near_before) - taken_before :]],
        after=[_around(passage) for passage in near_after[:taken_after]],
        more_before=len(before) > taken_before,
        more_after=len(after) > taken_after,
    )


def _around(row: DictRow) -> Around:
    return Around(row["chunk_id"], row["start_line"], row["end_line"], row["text"])
