"""Agents, documents and their versions in PostgreSQL. Every function works inside the caller's transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.document_index import IndexedFile, replace_chunks
from reverie_indexer.index.slices import scope_of
from reverie_indexer.model import Document, Flags, Passage, Place, Written
from reverie_indexer.text.chunk import note_date

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Content:
    """The new content of a file: its text, flags (None leaves them as they are) and the passages of the text."""

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
    hidden: Sequence[str] = (),
) -> tuple[int, list[Document]]:
    """How many living files there are, and a page of them by sort order, path, id after a cursor of these three.

    Files at the `hidden` paths do not count.
    """
    params: dict[str, Any] = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), "prefix": prefix, "limit": limit}
    params["hidden"] = list(hidden)
    count = await (await connection.execute(SQL["count_documents"], params)).fetchone()
    sort_order, path, document_id = after or (None, None, None)
    cursor = await connection.execute(
        SQL["documents"],
        {**params, "after_sort_order": sort_order, "after_path": path, "after_id": document_id},
    )
    return (count or {"count": 0})["count"], [document_of(row) for row in await cursor.fetchall()]


async def paths_hidden_by(connection: Connection, tenant_id: str, slice_ids: Sequence[int]) -> list[str]:
    """The paths at which the living files of some slices hide those of a leader, as reading them does."""
    cursor = await connection.execute(SQL["paths"], {"tenant_id": tenant_id, "slice_ids": list(slice_ids)})
    paths = [row["path"] for row in await cursor.fetchall()]
    return [*paths, "MEMORY.md"] if "memory.md" in paths else paths


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
        document_id, version, at = current.document_id, current.version, None
    else:
        content = replace(content, enabled=flags.enabled, sort_order=flags.sort_order)
        document_id, version, at = await _add_version(
            connection, place.tenant_id, slice_, current, content, sha256, deleted=False
        )
    file = IndexedFile(place, slice_, document_id, content.path)
    is_new = current is None
    indexed = await replace_chunks(connection, file, content.passages, at=at, model_id=model_id, is_new=is_new)
    return Written(
        path=content.path,
        created=not alive,
        overwritten=alive,
        enabled=flags.enabled,
        bytes_written=len(content.text.encode()),
        version=version,
        chunk_count=len(content.passages),
        reused=indexed.kept,
        embedded=indexed.embedded,
    )


async def delete_document(
    connection: Connection, place: Place, slice_: Slice, current: Document, *, by: str, reason: str
) -> int:
    """Remove a file from listings and search, and keep its history. Returns the version that marks the deletion."""
    content = Content(current.path, "", current.enabled, current.sort_order, by, reason, ())
    sha256 = hashlib.sha256(b"").digest()
    _, version, at = await _add_version(connection, place.tenant_id, slice_, current, content, sha256, deleted=True)
    file = IndexedFile(place, slice_, current.document_id, current.path)
    await replace_chunks(connection, file, (), at=at, model_id=None)
    return version


async def _add_version(
    connection: Connection,
    tenant_id: str,
    slice_: Slice,
    current: Document | None,
    content: Content,
    sha256: bytes,
    *,
    deleted: bool,
) -> tuple[int, int, datetime]:
    params: dict[str, Any] = {
        "tenant_id": tenant_id,
        "slice_id": slice_.slice_id,
        "path": content.path,
        "note_day": note_date(content.path),
        "enabled": content.enabled,
        "sort_order": content.sort_order,
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
    cursor = await connection.execute(SQL["add_version"], {**params, "document_id": document_id, "version": version})
    row = await cursor.fetchone()
    return document_id, version, (row or {})["at"]
