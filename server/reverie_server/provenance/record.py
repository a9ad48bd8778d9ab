"""The provenance of the lines of files that the server wrote by itself.

A line that a person changes becomes another line. A line without a record is a person's. `line_identity` says what a
line is. Every function works inside the caller's transaction, in which the slice is open.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.isolate import isolated
from reverie_server.provenance.line_identity import Derived, added_lines, entry_lines, line_sha256
from reverie_server.text.redact import Targets, essence

__all__ = [
    "Derived",
    "added_lines",
    "entry_lines",
    "forget_lines",
    "line_sha256",
    "machine_lines",
    "origins",
    "record",
]

SQL = Queries(__file__)


async def record(
    connection: Connection, tenant_id: str, slice_id: int, derived: Iterable[Derived], *, at: datetime | None = None
) -> None:
    """Record the provenance of lines written in this transaction, in one statement; `at` None is now.

    Files that the slice does not have, and texts that are no lines, are left out.
    """
    rows = [
        (item.path, line_sha256(line), item, sources)
        for item in derived
        for sources in [json.dumps([dict(source) for source in item.sources])]
        for line in {essence(line): line for line in item.lines if entry_lines(line)}.values()
    ]
    if not rows:
        return
    params = {
        "tenant_id": tenant_id,
        "slice_id": slice_id,
        "paths": [path for path, *_ in rows],
        "hashes": [sha256 for _, sha256, *_ in rows],
        "stages": [item.stage for _, _, item, _ in rows],
        "methods": [item.generation.method for _, _, item, _ in rows],
        "prompts": [item.generation.prompt for _, _, item, _ in rows],
        "prompt_versions": [item.generation.prompt_version for _, _, item, _ in rows],
        "models": [item.generation.model for _, _, item, _ in rows],
        "sources": [sources for *_, sources in rows],
        "at": at,
    }
    await connection.execute(SQL["record"], params)


async def machine_lines(
    connection: Connection, tenant_id: str, slice_id: int, path: str, *, stage: str | None = None
) -> frozenset[bytes]:
    """The hashes of the lines of a file that the server wrote, or one of its stages, now or before; empty where there
    is no such file."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "path": path, "stage": stage}
    rows = await (await connection.execute(SQL["machine_lines"], params)).fetchall()
    return frozenset(bytes(row["line_sha256"]) for row in rows)


async def origins(
    connection: Connection, tenant_id: str, document_id: int, lines: Iterable[str]
) -> dict[bytes, list[DictRow]]:
    """The provenance rows of lines of a file, by the lines' hashes, oldest first. A person's line has none."""
    found = await origins_of_lines(connection, tenant_id, [(document_id, line) for line in lines])
    return {line_sha256(line): rows for (_, line), rows in found.items()}


async def origins_of_lines(
    connection: Connection, tenant_id: str, lines: Sequence[tuple[int, str]]
) -> dict[tuple[int, str], list[DictRow]]:
    """The provenance rows of lines, each given by its document's id and its text, oldest first. Others are left out."""
    hashes = [line_sha256(line) for _, line in lines]
    params = {"tenant_id": tenant_id, "document_ids": [document_id for document_id, _ in lines], "hashes": hashes}
    rows: dict[tuple[int, bytes], list[DictRow]] = {}
    [found] = await in_one_message(connection, [Statement(SQL["origins"], params)])
    for row in found:
        rows.setdefault((row.pop("document_id"), bytes(row["line_sha256"])), []).append(row)
    keys = [(document_id, line_hash) for (document_id, _), line_hash in zip(lines, hashes, strict=True)]
    return {line: rows[key] for line, key in zip(lines, keys, strict=True) if key in rows}


async def forget_lines(
    connection: Connection,
    tenant_id: str,
    document_id: int,
    before: str,
    targets: Targets,
    *,
    whole: Collection[bytes] = (),
) -> None:
    """Delete the provenance of the lines of a document that hold nothing but the targets, and of `whole` lines.

    `before` is the version of the document that still holds them. A line with a rest keeps its provenance, under the
    hash of the rest. Raises TextTooCostly where a long version takes too much CPU time.
    """
    gone, moved = await isolated(lines_without, before, targets, chars=len(before))
    gone += whole
    if not gone and not moved:
        return
    params = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "gone": gone,
        "old": [old for old, _ in moved],
        "new": [new for _, new in moved],
    }
    await connection.execute(SQL["delete_lines"], params)
    await connection.execute(SQL["change_lines"], params)


def lines_without(before: str, targets: Targets) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    """The hashes of the lines that vanish with the targets, and the old and new hashes of those that change. Pure."""
    erased = targets.erase_from(before)
    if not erased.found:
        return [], []
    targets = targets.among(erased.found)
    left = {line_sha256(line): _hash_without(targets, line) for line in dict.fromkeys(entry_lines(before))}
    changed = {sha256: rest for sha256, rest in left.items() if rest != sha256}
    # Of a target that spans several lines, no line may stay by its hash.
    still = {line_sha256(line) for line in entry_lines(erased.text)} | {rest for rest in changed.values() if rest}
    gone = [sha256 for sha256 in left if sha256 not in still and not changed.get(sha256)]
    return gone, [(sha256, rest) for sha256, rest in changed.items() if rest]


def _hash_without(targets: Targets, line: str) -> bytes | None:
    """The hash of the line without the targets; None when nothing of it remains."""
    erased = targets.erase_from(line)
    if not erased.found:
        return line_sha256(line)
    return line_sha256(erased.text) if entry_lines(erased.text) else None
