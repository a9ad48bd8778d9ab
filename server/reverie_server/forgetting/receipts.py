"""The receipts of forgetting: when, by whom, from where and how many, never the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_server.access.principal import Principal
from reverie_server.forgettable import Item, ReceiptKind, Removed
from reverie_server.text.redact import Targets

SQL = Queries(__file__)
# The most places that a receipt names; `removed` counts all.
MAX_PLACES = 200


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A receipt. `statements` counts the texts that were forgotten, `places` are tier, path and how often each."""

    receipt_id: int
    at: datetime
    by: str
    kind: ReceiptKind
    statements: int
    removed: Mapping[str, Mapping[str, int]]
    places: Sequence[Mapping[str, Any]]
    embeddings: int
    tombstones: int
    scope: str
    owner_key: str | None


@dataclass(frozen=True, slots=True)
class NewReceipt:
    """The data of a receipt. The texts are counted, and keep a path that holds one out of it."""

    by: str
    kind: ReceiptKind
    texts: Sequence[str]
    items: Sequence[Item]
    removed: Mapping[Any, Removed]
    embeddings: int
    tombstones: int
    at: datetime


async def add_receipt(connection: Connection, tenant_id: str, slice_id: int, receipt: NewReceipt) -> int:
    """Add a receipt in the caller's transaction; its number.

    A path that holds what was forgotten would tell it: neither this receipt nor an earlier one of the slice keeps it.
    """
    targets = Targets(receipt.texts)
    await _hide_paths(connection, tenant_id, slice_id, targets)
    places: Counter[tuple[str, str]] = Counter()
    for item in receipt.items:
        places[item.tier, "" if _tells(targets, item.path) else item.path] += item.versions
    params = {
        "tenant_id": tenant_id,
        "slice_id": slice_id,
        "at": receipt.at,
        "by": receipt.by,
        "kind": receipt.kind,
        "statements": len(receipt.texts),
        "removed": Jsonb({tier: asdict(counts) for tier, counts in receipt.removed.items()}),
        "places": Jsonb(
            [
                {"tier": tier, "path": path, "count": count}
                for (tier, path), count in sorted(places.items())[:MAX_PLACES]
            ]
        ),
        "embeddings": receipt.embeddings,
        "tombstones": receipt.tombstones,
    }
    row = await (await connection.execute(SQL["add"], params)).fetchone()
    return int((row or {})["receipt_id"])


async def _hide_paths(connection: Connection, tenant_id: str, slice_id: int, targets: Targets) -> None:
    params = {"tenant_id": tenant_id, "slice_id": slice_id}
    rows = await (await connection.execute(SQL["paths"], params)).fetchall()
    revealing = [row["path"] for row in rows if _tells(targets, row["path"])]
    if revealing:
        await connection.execute(SQL["hide"], {**params, "paths": revealing})


def _tells(targets: Targets, path: str) -> bool:
    return bool(targets.found_in(path.replace("/", " "), path))


class Receipts:
    """Reads receipts: an owner's own, and those of the team."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, principal: Principal, *, before: int | None, limit: int) -> list[StoredReceipt]:
        """Receipts, newest first."""
        return await self._rows("page", principal, {"before": before, "limit": limit})

    async def one(self, principal: Principal, given_id: str) -> StoredReceipt:
        """The receipt of that id; NotFound, whoever else has it."""
        number = parse_receipt_id(given_id)
        rows = await self._rows("one", principal, {"receipt_id": number})
        if not rows:
            raise NotFound(f"there is no receipt {given_id!r}")
        return rows[0]

    async def _rows(self, name: str, principal: Principal, params: Mapping[str, Any]) -> list[StoredReceipt]:
        tenant_id, agent_id = principal.tenant_id, principal.agent_id
        async with self._database.tenant(tenant_id, snapshot=True) as connection:
            if not await store.agent_exists(connection, tenant_id, agent_id):
                raise NotFound(f"there is no agent {agent_id!r}")
            visible = await visible_slices(connection, tenant_id, agent_id, principal.owner_key)
            slice_ids = [each.slice_id for each in visible if each.agent_id == agent_id]
            values = {"tenant_id": tenant_id, "slice_ids": slice_ids, **params}
            rows = await (await connection.execute(SQL[name], values)).fetchall()
        return [_receipt(row) for row in rows]


def receipt_name(number: int) -> str:
    """The id of a receipt as everybody outside sees it, such as `rcp-12`."""
    return f"rcp-{number}"


def parse_receipt_id(name: str) -> int:
    """The number in such an id; NotFound for anything else."""
    number = name.removeprefix("rcp-")
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        raise NotFound(f"there is no receipt {name[:100]!r}")
    return int(number)


def _receipt(row: DictRow) -> StoredReceipt:
    owner_key = row.pop("owner_key")
    return StoredReceipt(**row, scope="team" if owner_key is None else "personal", owner_key=owner_key)
