"""Forgetting in the knowledge graph: names, descriptions and aliases that hold a text, and what rests on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.forgettable import Findings, Forgettable, Forgotten, Item, MessageKey, Removed
from reverie_server.graph.model import SPEAKER
from reverie_server.graph.names import holds_name, windows
from reverie_server.graph.store import Graph, drop_episodes, drop_mentions_and_statements, of_episodes
from reverie_server.sessions.erase import without_texts
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, anchor_of, is_in

SQL = Queries(__file__)


class ForgettableGraph(Forgettable):
    """The knowledge graph. Nothing of it is a passage of the index. `now` gives the time, with its zone."""

    tables = frozenset(
        {"mentions", "statements", "entities", "entity_terms", "entity_names", "entity_vectors", "relations"}
    )

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """The mentions that hold one of the texts."""
        rows = await _holding(connection, tenant_id, slice_ids, forgotten)
        return _findings(rows, len(rows))

    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Take the texts out of the graph, after they were taken out of messages and episodes.

        An entity whose name holds one loses the mentions that call it so, with its relations there. A description or an
        alias goes, and the rest stays. Mentions and statements of the episodes that were made again or are gone are
        dropped, and read again from what is left of these. Others that rest on changed messages alone go unless the
        messages still name their entities.
        """
        graph = Graph(connection, place.tenant_id, slice_.slice_id, self._now())
        rows = await _holding(connection, graph.tenant_id, [graph.slice_id], forgotten)
        mentions, statements = await of_episodes(graph, forgotten.episode_ids)
        named, changed = await _take_out_of_mentions(graph, rows)
        of_named = await _statements_on(graph, named)
        unnamed = await _no_longer_named(graph, forgotten.messages, {*mentions, *named})
        mentions |= {*named, *unnamed.mentions}
        statements |= of_named | unnamed.statements
        await drop_mentions_and_statements(graph, sorted(mentions), sorted(statements), also=changed)
        return _findings(rows, len(mentions) + len(statements) + len(changed))

    async def drop_episodes(
        self, connection: Connection, place: Place, slice_: Slice, episode_ids: Sequence[int]
    ) -> None:
        """Drop the mentions and statements of the episodes, with the entities and relations that rest on them alone."""
        await drop_episodes(Graph(connection, place.tenant_id, slice_.slice_id, self._now()), episode_ids)


def _findings(rows: Sequence[DictRow], count: int) -> Findings:
    """The findings of a receipt: `rows` are mentions that hold one of the texts, `count` the changed things."""
    counts = Counter(
        (f"graph/{row['external_id']}", text) for row in rows for text in row["texts"] if _contains(row, text)
    )
    items = [Item("fact", path, text, True, times) for (path, text), times in sorted(counts.items())]
    return Findings("fact", items, Removed(count, 0, 0, 0) if count else None)


async def _take_out_of_mentions(graph: Graph, rows: Sequence[DictRow]) -> tuple[dict[int, DictRow], set[int]]:
    """The mentions that call an entity by a text, by their ids; and the entities of those that were rewritten."""
    named: dict[int, DictRow] = {}
    changed: set[int] = set()
    for row in rows:
        texts = row["texts"]
        if any(is_in(name, text) for name in _names(row) for text in texts):
            named[row["mention_id"]] = row
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


async def _statements_on(graph: Graph, mentions: Mapping[int, DictRow]) -> set[int]:
    """The statements about the entities of some mentions in the same episodes."""
    params = {
        **graph.key,
        "entity_ids": [row["entity_id"] for row in mentions.values()],
        "episode_ids": [row["episode_id"] for row in mentions.values()],
    }
    rows = await (await graph.connection.execute(SQL["statements_on"], params)).fetchall()
    return {row["statement_id"] for row in rows}


@dataclass(frozen=True, slots=True)
class _Unnamed:
    """Mentions and statements whose messages do not name their entities any more."""

    mentions: set[int]
    statements: set[int]


async def _no_longer_named(graph: Graph, messages: Sequence[MessageKey], dropped: set[int]) -> _Unnamed:
    """What rests on changed messages alone, which do not name its entities any more; `dropped` mentions left out."""
    if not messages:
        return _Unnamed(set(), set())
    changed = set(messages)
    params = {**graph.key, "session_keys": [key for key, _ in messages], "seqs": [seq for _, seq in messages]}
    contents = await (await graph.connection.execute(SQL["messages"], params)).fetchall()
    now = {(row["session_key"], row["seq"]): windows(row["content"]) for row in contents}
    rows = await (await graph.connection.execute(SQL["of_sessions"], params)).fetchall()
    on_changed_alone = [row for row in rows if {(row["session_key"], seq) for seq in row["seqs"]} <= changed]
    unnamed = [row for row in on_changed_alone if not _still_named(row, now)]
    statements = {row["id"] for row in unnamed if row["kind"] == "statement"}
    ends_of_kept_statements = {
        (end, row["episode_id"])
        for row in rows
        if row["kind"] == "statement" and row["id"] not in statements
        for end in (row["source_id"], row["target_id"])
    }
    mentions = {
        row["id"]
        for row in unnamed
        if row["kind"] == "mention"
        and (row["source_id"], row["episode_id"]) not in ends_of_kept_statements
        and row["id"] not in dropped
    }
    return _Unnamed(mentions, statements)


def _still_named(row: DictRow, now: Mapping[MessageKey, set[str]]) -> bool:
    """Whether its messages name all entities of a mention or statement, the speaker aside, who needs no name."""
    names_now: set[str] = set().union(*(now.get((row["session_key"], seq), set()) for seq in row["seqs"]))
    ends = ((row["source"], row["source_external_id"]), (row["target"], row["target_external_id"]))
    names = [name for name, external_id in ends if name is not None and external_id != SPEAKER]
    return bool(names_now) and all(holds_name(names_now, name) for name in names)


async def _holding(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> list[DictRow]:
    """The mentions that hold one of the texts, each with the texts that go from it."""
    params: dict[str, Any] = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "anchors": [anchor_of(text) for text in forgotten.texts],
        "invisible": INVISIBLE,
    }
    rows = await (await connection.execute(SQL["holding"], params)).fetchall()
    found = [{**row, "texts": forgotten.texts_in(row["session_key"], row["seqs"])} for row in rows]
    return [row for row in found if any(_contains(row, text) for text in row["texts"])]


def _contains(row: DictRow, text: str) -> bool:
    properties = [f"{name}\n{value}" for name, value in row["properties"].items()]
    return any(is_in(part, text) for part in (*_names(row), row["description"], *row["aliases"], *properties))


def _names(row: DictRow) -> tuple[str, str]:
    # A name with hyphens for its spaces is that name.
    return row["name"], row["external_id"].replace("-", " ")
