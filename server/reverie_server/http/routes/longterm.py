"""Routes of long-term memory."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from fastapi import Path as PathParameter

from reverie_indexer.model import Place
from reverie_server.access.audit import counted
from reverie_server.access.gate import Grant
from reverie_server.access.principal import place_for
from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import response_from
from reverie_server.http.schemas.longterm import (
    BACKUP,
    BackupEntry,
    BackupList,
    CompactResult,
    KeywordRequest,
    KeywordResponse,
    MemoryOwner,
    RestoreResult,
    SaveRequest,
    SaveResult,
    UpdateRequest,
    UpdateResult,
)
from reverie_server.http.schemas.sources import MemorySources

router = APIRouter(prefix="/agents/{a}/memory", tags=["Memory"], responses=may_answer(401, 403, 404, 422, 503))
BODY_ONLY = [Depends(no_query)]
WRITE_ERRORS = may_answer(400, 409, 413)


@router.post("/save", status_code=201, dependencies=BODY_ONLY, responses=WRITE_ERRORS)
async def save_memory(a: Agent, body: SaveRequest, system: System, who: Who) -> SaveResult:
    """Add an entry to MEMORY.md, in the section of its category. What it holds already is 409."""
    grant, place = await system.gate.write(who, a, body.resolved_owner(), None)
    saved = await system.long_term.save(place, body.content, body.category, by=grant.author)
    return response_from(SaveResult, saved)


@router.post("/update", dependencies=BODY_ONLY, responses=WRITE_ERRORS)
async def update_memory(a: Agent, body: UpdateRequest, system: System, who: Who) -> UpdateResult:
    """Replace the one occurrence of a text in MEMORY.md, or delete it."""
    grant, place = await system.gate.write(who, a, body.resolved_owner(), None)
    updated = await system.long_term.update(place, body.old_text, body.new_text, by=grant.author)
    return response_from(UpdateResult, updated)


@router.post("/keyword-search", dependencies=BODY_ONLY, responses=may_answer(400, 413))
async def keyword_search(a: Agent, body: KeywordRequest, system: System, who: Who) -> KeywordResponse:
    """Find lines of files by their words alone."""
    grant = await system.gate.read(who, a, body.resolved_owner())
    found = await system.keywords.search(grant.principal, body.query, scope=body.scope, limit=body.limit)
    counted(len(found.hits))
    return response_from(KeywordResponse, found)


@router.post("/compact", dependencies=BODY_ONLY, responses=WRITE_ERRORS)
async def compact_memory(
    a: Agent, system: System, who: Who, body: Annotated[MemoryOwner | None, Body()] = None
) -> CompactResult:
    """Merge entries of MEMORY.md that are equal and sort the others into its sections; a backup is made first."""
    grant, place = await system.gate.write(who, a, body.resolved_owner() if body else None, None)
    compacted = await system.compaction.compact(place, by=grant.author)
    return response_from(CompactResult, compacted)


@router.get("/backups")
async def list_backups(a: Agent, system: System, who: Who, query: Annotated[MemoryOwner, Query()]) -> BackupList:
    """The backups of MEMORY.md, newest first."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    found = await system.compaction.backups(_place(grant))
    backups = [response_from(BackupEntry, backup) for backup in found]
    return BackupList(count=len(backups), backups=backups)


@router.post("/backups/{name}/restore", dependencies=BODY_ONLY, responses=WRITE_ERRORS)
async def restore_backup(
    a: Agent,
    name: Annotated[str, PathParameter(description="The name of a backup", examples=[BACKUP])],
    system: System,
    who: Who,
    body: Annotated[MemoryOwner | None, Body()] = None,
) -> RestoreResult:
    """Make a backup's text that of MEMORY.md again. It becomes a new version: nothing is lost."""
    grant, place = await system.gate.write(who, a, body.resolved_owner() if body else None, None)
    written = await system.compaction.restore(place, name, by=grant.author)
    return RestoreResult(name=name, size_after=written.bytes_written, version=written.version)


@router.get("/{memory_id}/sources")
async def memory_sources(
    a: Agent,
    memory_id: Annotated[str, PathParameter(description="An id that search or injection gave", examples=["1204"])],
    system: System,
    who: Who,
    query: Annotated[MemoryOwner, Query()],
) -> MemorySources:
    """Where a memory comes from: who or what wrote each line, of which messages, and by which prompt and model."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    found = await system.consolidation.sources.of(grant.principal, memory_id)
    return response_from(MemorySources, found)


def _place(grant: Grant) -> Place:
    """The place that a write of the same caller would go to."""
    return place_for(grant.principal, None if grant.settings.memory_isolation else "team")
