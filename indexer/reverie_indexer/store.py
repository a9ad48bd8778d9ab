"""Documents, versions, chunks and postings in PostgreSQL. Every function works inside the caller's transaction."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer import vectors
from reverie_indexer.db import Connection, Slice, act_for, visible_slices
from reverie_indexer.errors import NotFound
from reverie_indexer.model import Document, Passage, Place, Scope, Tier, Written
from reverie_indexer.queries import Queries

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Content:
    """What a file is to hold: its text, flags (None leaves them as they are) and the passages of the text."""

    path: str
    text: str
    enabled: bool | None
    sort_order: int | None
    by: str
    reason: str
    passages: Sequence[Passage]


@dataclass(frozen=True, slots=True)
class Version:
    """One entry of a file's history. `content` is None in listings."""

    version: int
    at: Any
    by: str
    reason: str
    size: int
    deleted: bool
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Flags:
    """The `enabled` and `sort_order` a new file starts with."""

    enabled: bool
    sort_order: int


def scope_of(agent_id: str | None, owner_key: str | None) -> Scope:
    """The scope a slice's keys stand for."""
    if agent_id is None:
        return "global"
    return "team" if owner_key is None else "personal"


def _slice_keys(place: Place) -> dict[str, str | None]:
    return {
        "tenant_id": place.tenant_id,
        "agent_id": None if place.scope == "global" else place.agent_id,
        "owner_key": place.owner_key if place.scope == "personal" else None,
    }


def document_of(row: DictRow) -> Document:
    """A document from a row that carries its slice's keys."""
    return Document(
        **{name: row[name] for name in Document.__dataclass_fields__ if name in row},
        scope=scope_of(row["agent_id"], row["owner_key"]),
    )


async def ensure_agent(connection: Connection, place: Place) -> bool:
    """Make the agent where it is unknown; whether this call made it (its seed files are then to be written)."""
    cursor = await connection.execute(SQL["create_agent"], {"tenant_id": place.tenant_id, "agent_id": place.agent_id})
    return await cursor.fetchone() is not None


async def read_agent(connection: Connection, tenant_id: str, agent_id: str) -> DictRow | None:
    """The tenant's agent, with its leader and its own settings, or None."""
    cursor = await connection.execute(SQL["agent"], {"tenant_id": tenant_id, "agent_id": agent_id})
    return await cursor.fetchone()


async def agent_exists(connection: Connection, tenant_id: str, agent_id: str) -> bool:
    """Whether the tenant has the agent."""
    return await read_agent(connection, tenant_id, agent_id) is not None


async def lock_slice(connection: Connection, place: Place) -> Slice:
    """The slice of a place, made where new, locked against other writers; opens it to the transaction."""
    keys = _slice_keys(place)
    await act_for(connection, place.agent_id, place.owner_key)
    await connection.execute(SQL["create_slice"], keys)
    row = await (await connection.execute(SQL["lock_slice"], keys)).fetchone()
    if row is None:
        raise NotFound("the agent was deleted while it was written to")
    await visible_slices(connection, place.tenant_id, place.agent_id, place.owner_key)
    return Slice(**row)


async def own_slices(connection: Connection, place: Place) -> list[int]:
    """The slices a place consists of (one, or none before its first write); opens what it sees to the transaction."""
    visible = await visible_slices(connection, place.tenant_id, place.agent_id, place.owner_key)
    return [s.slice_id for s in visible if scope_of(s.agent_id, s.owner_key) == place.scope]


async def read_documents(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], paths: Sequence[str]
) -> list[tuple[Document, str]]:
    """The files at some paths in some slices, deleted ones too, each with its content."""
    cursor = await connection.execute(
        SQL["document"], {"tenant_id": tenant_id, "slice_ids": list(slice_ids), "paths": list(paths)}
    )
    return [(document_of(row), row["content"]) for row in await cursor.fetchall()]


async def list_documents(
    connection: Connection,
    tenant_id: str,
    slice_ids: Sequence[int],
    *,
    prefix: str | None,
    after: tuple[int, str, int] | None,
    limit: int,
) -> tuple[int, list[Document]]:
    """How many living files there are, and a page of them by sort order, path, id after a cursor of these three."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), "prefix": prefix, "limit": limit}
    count = await (await connection.execute(SQL["count_documents"], params)).fetchone()
    sort_order, path, document_id = after or (None, None, None)
    cursor = await connection.execute(
        SQL["documents"],
        {**params, "after_sort_order": sort_order, "after_path": path, "after_id": document_id},
    )
    return (count or {"count": 0})["count"], [document_of(row) for row in await cursor.fetchall()]


async def list_versions(
    connection: Connection, document: Document, tenant_id: str, *, before: int | None, limit: int
) -> list[Version]:
    """A page of a file's history, newest first."""
    cursor = await connection.execute(
        SQL["versions"],
        {"tenant_id": tenant_id, "document_id": document.document_id, "before": before, "limit": limit},
    )
    return [Version(**row) for row in await cursor.fetchall()]


async def read_version(connection: Connection, document: Document, tenant_id: str, version: int) -> Version | None:
    """One version of a file with its content, or None."""
    cursor = await connection.execute(
        SQL["version"], {"tenant_id": tenant_id, "document_id": document.document_id, "version": version}
    )
    row = await cursor.fetchone()
    return Version(**row) if row else None


async def write_document(
    connection: Connection,
    place: Place,
    slice_: Slice,
    current: Document | None,
    content: Content,
    *,
    defaults: Flags,
    model_id: int | None,
) -> Written:
    """Make `content` the file's text: a new version, its chunks, postings and the vectors the cache has.

    The caller holds the slice's lock and `current` is the file as it stands under it (None: never existed).
    The same text and flags on a living file add no version: a repeated write changes nothing.
    """
    alive = current is not None and current.deleted_at is None
    sha256 = hashlib.sha256(content.text.encode()).digest()
    flags = Flags(
        content.enabled if content.enabled is not None else current.enabled if current and alive else defaults.enabled,
        content.sort_order
        if content.sort_order is not None
        else current.sort_order
        if current and alive
        else defaults.sort_order,
    )
    unchanged = current is not None and alive and current.sha256 == sha256
    if current is not None and unchanged and flags == Flags(current.enabled, current.sort_order):
        document_id, version = current.document_id, current.version
    else:
        document_id, version = await _add_version(
            connection, place.tenant_id, slice_, current, content, flags, sha256, deleted=False
        )
    embedded = await replace_chunks(
        connection, place.tenant_id, slice_, document_id, content.passages, model_id=model_id
    )
    return Written(
        path=content.path,
        created=not alive,
        overwritten=alive,
        enabled=flags.enabled,
        bytes_written=len(content.text.encode()),
        version=version,
        chunk_count=len(content.passages),
        embedded=embedded,
    )


async def delete_document(
    connection: Connection, place: Place, slice_: Slice, current: Document, *, by: str, reason: str
) -> int:
    """Take a file out of listings and search, keep its history; the version that says so."""
    content = Content(current.path, "", current.enabled, current.sort_order, by, reason, ())
    flags = Flags(current.enabled, current.sort_order)
    _, version = await _add_version(
        connection,
        place.tenant_id,
        slice_,
        current,
        content,
        flags,
        hashlib.sha256(b"").digest(),
        deleted=True,
    )
    await replace_chunks(connection, place.tenant_id, slice_, current.document_id, (), model_id=None)
    return version


async def _add_version(
    connection: Connection,
    tenant_id: str,
    slice_: Slice,
    current: Document | None,
    content: Content,
    flags: Flags,
    sha256: bytes,
    *,
    deleted: bool,
) -> tuple[int, int]:
    params: dict[str, Any] = {
        "tenant_id": tenant_id,
        "slice_id": slice_.slice_id,
        "path": content.path,
        "enabled": flags.enabled,
        "sort_order": flags.sort_order,
        "deleted": deleted,
        "content": content.text,
        "size": len(content.text.encode()),
        "sha256": sha256,
        "by": content.by,
        "reason": content.reason,
    }
    if current is None:
        row = await (await connection.execute(SQL["create_document"], params)).fetchone()
        document_id, version = (row or {})["document_id"], 1
    else:
        document_id, version = current.document_id, current.version + 1
        await connection.execute(SQL["update_document"], {**params, "document_id": document_id, "version": version})
    await connection.execute(SQL["add_version"], {**params, "document_id": document_id, "version": version})
    return document_id, version


async def replace_chunks(
    connection: Connection,
    tenant_id: str,
    slice_: Slice,
    document_id: int,
    passages: Sequence[Passage],
    *,
    model_id: int | None,
    tier: Tier = "document",
) -> bool:
    """Make the index of a document hold exactly these passages; whether each of them has its vector.

    A passage that was there before keeps its chunk, wherever it moved, with its id, postings and vector.
    """
    key: dict[str, Any] = {"tenant_id": tenant_id, "document_id": document_id}
    existing = await (await connection.execute(SQL["chunks_of_document"], key)).fetchall()
    by_hash: defaultdict[bytes, list[DictRow]] = defaultdict(list)
    for row in reversed(existing):
        by_hash[row["passage_sha256"]].append(row)
    added: list[Passage] = []
    moved: list[dict[str, int]] = []
    for passage in passages:
        if same := by_hash[passage.sha256]:
            place = _position(passage)
            row = same.pop()
            if any(row[name] != value for name, value in place.items()):
                moved.append({"chunk_id": row["chunk_id"], **place})
        else:
            added.append(passage)
    removed = [row for rows in by_hash.values() for row in rows]
    if removed:
        await remove_chunks(connection, tenant_id, slice_.slice_id, [row["chunk_id"] for row in removed])
    if moved:
        await connection.execute(SQL["move_chunks"], {"tenant_id": tenant_id, "rows": Jsonb(moved)})
    new_ids = await _add_chunks(connection, {**key, "slice_id": slice_.slice_id, "tier": tier}, added)
    if added or removed:
        await connection.execute(
            SQL["count_slice"],
            {
                "tenant_id": tenant_id,
                "slice_id": slice_.slice_id,
                "chunks": len(added) - len(removed),
                "terms": sum(p.term_count for p in added) - sum(row["term_count"] for row in removed),
            },
        )
    gone = {row["chunk_id"] for row in removed}
    waiting = new_ids + [row["chunk_id"] for row in existing if not row["embedded"] and row["chunk_id"] not in gone]
    if not waiting:
        return True
    if model_id is None:
        return False
    return await vectors.attach(connection, tenant_id, model_id, waiting) == len(waiting)


async def remove_chunks(connection: Connection, tenant_id: str, slice_id: int, chunk_ids: Sequence[int]) -> None:
    """Take chunks out of every index. The caller holds the slice's lock and keeps its counts."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "chunk_ids": list(chunk_ids)}
    await connection.execute(SQL["remove_chunks"], params)
    await connection.execute(SQL["remove_vectors"], params)


def _position(passage: Passage) -> dict[str, int]:
    chunk = passage.chunk
    return {
        "ordinal": chunk.ordinal,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
    }


async def _add_chunks(connection: Connection, key: dict[str, Any], passages: Sequence[Passage]) -> list[int]:
    """Insert passages with their postings; their chunk ids in order."""
    if not passages:
        return []
    rows = [
        {
            **_position(passage),
            "heading_path": list(passage.chunk.heading_path),
            "text": passage.chunk.text,
            "context": passage.context,
            "sha256": passage.sha256.hex(),
            "terms": list(passage.terms),
            "term_count": passage.term_count,
        }
        for passage in passages
    ]
    cursor = await connection.execute(SQL["add_chunks"], {**key, "rows": Jsonb(rows)})
    ids = {row["ordinal"]: row["chunk_id"] for row in await cursor.fetchall()}
    postings = [(ids[passage.chunk.ordinal], term, tf) for passage in passages for term, tf in passage.terms.items()]
    await connection.execute(
        SQL["add_postings"],
        {
            "tenant_id": key["tenant_id"],
            "chunk_ids": [chunk_id for chunk_id, _, _ in postings],
            "terms": [term for _, term, _ in postings],
            "tfs": [tf for _, _, tf in postings],
        },
    )
    return [ids[passage.chunk.ordinal] for passage in passages]
