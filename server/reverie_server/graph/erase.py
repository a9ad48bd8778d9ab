"""Taking texts out of the knowledge graph: names, descriptions and aliases that hold them, and what stands on them.

Every function works inside the caller's transaction, in which the slices are open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.episodes.erase import Forgotten, Said
from reverie_server.graph.heuristics import SPEAKER
from reverie_server.graph.names import holds_name, windows
from reverie_server.graph.store import Graph, drop_said, of_episodes
from reverie_server.graph.store import drop_episodes as drop_from
from reverie_server.sessions.erase import without_texts
from reverie_server.text.redact import INVISIBLE, anchor_of, is_in

SQL = Queries(__file__)


@dataclass(slots=True)
class Held:
    """How many things of the graph hold the texts or stand on them alone, and each text by the name of the entity that
    holds it. Nothing of the graph is a passage of the index."""

    count: int = 0
    passages: int = 0
    texts: Counter[tuple[str, str]] = field(default_factory=Counter)


async def survey(connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]) -> Held:
    """What in the graphs of some slices holds one of the texts."""
    held = Held()
    for row in await _holding(connection, tenant_id, slice_ids, texts):
        held.count += 1
        held.texts.update((f"graph/{row['external_id']}", text) for text in texts if _holds(row, text))
    return held


async def take_out(
    connection: Connection,
    place: Place,
    slice_: Slice,
    forgotten: Forgotten,
    episode_ids: Sequence[int],
    *,
    at: datetime | None = None,
) -> Held:
    """Take the texts out of the graph of a locked slice, after they were taken out of messages and episodes.

    An entity whose name holds one is said no more where it is called so, with its relations there; a description or an
    alias goes, and the rest stays. What `episode_ids`, which are made again or gone, say is taken out, and read again
    from what is left of them. What else stands on messages that were changed goes unless they still name what it is of.
    """
    graph = Graph(connection, place.tenant_id, slice_.slice_id, at or datetime.now(UTC))
    held = await survey(connection, place.tenant_id, [slice_.slice_id], forgotten.texts)
    mentions, statements = await of_episodes(graph, episode_ids)
    named, changed = await _take_out_of_mentions(graph, forgotten.texts)
    values = {**graph.key, "entity_ids": [e for e, _ in named.values()], "episode_ids": [e for _, e in named.values()]}
    rows = await (await connection.execute(SQL["statements_on"], values)).fetchall()
    unsaid = await _no_longer_said(graph, forgotten.messages, {*mentions, *named})
    mentions |= {*named, *unsaid[0]}
    statements |= {*(row["statement_id"] for row in rows), *unsaid[1]}
    await drop_said(graph, sorted(mentions), sorted(statements), also=changed)
    held.count = len(mentions) + len(statements) + len(changed)
    return held


async def drop_episodes(
    connection: Connection, place: Place, slice_: Slice, episode_ids: Sequence[int], *, at: datetime | None = None
) -> int:
    """Take out what the graph of a locked slice has from episodes alone; how much was said there.

    For episodes and sessions that are deleted; what expires leaves the graph as it is.
    """
    graph = Graph(connection, place.tenant_id, slice_.slice_id, at or datetime.now(UTC))
    return await drop_from(graph, episode_ids)


async def _take_out_of_mentions(graph: Graph, texts: Sequence[str]) -> tuple[dict[int, tuple[int, int]], set[int]]:
    """Mentions that call an entity by a text, each with (entity, episode); and the entities of those changed."""
    named: dict[int, tuple[int, int]] = {}
    changed: set[int] = set()
    for row in await _holding(graph.connection, graph.tenant_id, [graph.slice_id], texts):
        if any(is_in(name, text) for name in _names(row) for text in texts):
            named[row["mention_id"]] = (row["entity_id"], row["episode_id"])
            continue
        values = {
            **graph.key,
            "mention_id": row["mention_id"],
            "description": without_texts(row["description"], texts, by_line=False).strip(),
            "aliases": [alias for alias in row["aliases"] if not any(is_in(alias, text) for text in texts)],
            "properties": Jsonb(
                {
                    name: value
                    for name, value in row["properties"].items()
                    if not any(is_in(f"{name}\n{value}", text) for text in texts)
                }
            ),
        }
        await graph.connection.execute(SQL["rewrite_mention"], values)
        changed.add(row["entity_id"])
    return named, changed


async def _no_longer_said(graph: Graph, messages: Sequence[Said], dropped: set[int]) -> tuple[set[int], set[int]]:
    """Mentions and statements that stand on changed messages alone, which do not name any more what they are of."""
    if not messages:
        return set(), set()
    told = set(messages)
    keys = {"session_keys": [key for key, _ in messages], "seqs": [seq for _, seq in messages]}
    contents = await (await graph.connection.execute(SQL["messages"], {**graph.key, **keys})).fetchall()
    now = {(row["session_key"], row["seq"]): windows(row["content"]) for row in contents}
    rows = await (await graph.connection.execute(SQL["of_sessions"], {**graph.key, **keys})).fetchall()
    alone = [row for row in rows if {(row["session_key"], seq) for seq in row["seqs"]} <= told]
    gone = [row for row in alone if not _still_named(row, now)]
    statements = {row["id"] for row in gone if row["kind"] == "statement"}
    left = {
        (end, row["episode_id"])
        for row in rows
        if row["kind"] == "statement" and row["id"] not in statements
        for end in (row["source_id"], row["target_id"])
    }
    mentions = {
        row["id"]
        for row in gone
        if row["kind"] == "mention" and (row["source_id"], row["episode_id"]) not in left and row["id"] not in dropped
    }
    return mentions, statements


def _still_named(row: DictRow, now: Mapping[Said, set[str]]) -> bool:
    """Whether the messages still name all that something is said of, the speaker aside, who needs no name."""
    held: set[str] = set().union(*(now.get((row["session_key"], seq), set()) for seq in row["seqs"]))
    ends = ((row["source"], row["source_external_id"]), (row["target"], row["target_external_id"]))
    names = [name for name, external_id in ends if name is not None and external_id != SPEAKER]
    return bool(held) and all(holds_name(held, name) for name in names)


async def _holding(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]
) -> list[DictRow]:
    params: dict[str, Any] = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "anchors": [anchor_of(text) for text in texts],
        "invisible": INVISIBLE,
    }
    rows = await (await connection.execute(SQL["holding"], params)).fetchall()
    return [row for row in rows if any(_holds(row, text) for text in texts)]


def _holds(row: DictRow, text: str) -> bool:
    properties = [f"{name}\n{value}" for name, value in row["properties"].items()]
    return any(is_in(part, text) for part in (*_names(row), row["description"], *row["aliases"], *properties))


def _names(row: DictRow) -> tuple[str, str]:
    # A name with hyphens for its spaces is that name.
    return row["name"], row["external_id"].replace("-", " ")
