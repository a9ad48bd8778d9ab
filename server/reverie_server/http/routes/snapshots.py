"""Routes of snapshots: export memory as a ZIP, import a ZIP."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Annotated, Any, BinaryIO, TypeAlias

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from reverie_indexer.errors import ValidationFailed
from reverie_server.access.audit import counted
from reverie_server.files.snapshots import Export, place_to_export
from reverie_server.http.context import Agent, System, Who, no_body
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import ScopedOwner
from reverie_server.http.schemas.snapshots import ExportQuery, ImportReport, import_report

ZIP = "application/zip"
_PIECE = 64 * 1024
_IMPORT_PATH = re.compile(r"/api/v1/agents/[^/]+/workspace/memory/import(?:/preview)?")
# No text of JSON is an archive: the example is what the export gives.
Archive: TypeAlias = AbstractAsyncContextManager[BinaryIO]
_EXAMPLE = {"summary": "A snapshot", "externalValue": "/api/v1/agents/wren/workspace/memory/export"}
_ARCHIVE: dict[str, Any] = {
    ZIP: {"schema": {"type": "string", "format": "binary"}, "examples": {"snapshot": _EXAMPLE}},
}
_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": _ARCHIVE}}
router = APIRouter(
    prefix="/agents/{a}/workspace/memory", tags=["Snapshots"], responses=may_answer(401, 403, 404, 413, 422, 503)
)


def takes_archive(scope: Scope) -> bool:
    """Whether a request is for a route that reads its body itself, to disk and up to a limit of its own."""
    return scope["method"] == "POST" and _IMPORT_PATH.fullmatch(scope["path"]) is not None


class Download(StreamingResponse):
    """Streams an export, and closes its file even if the client stops reading."""

    def __init__(self, export: Export) -> None:
        headers = {
            "Content-Length": str(export.size),
            "Content-Disposition": f'attachment; filename="{export.filename}"',
        }
        super().__init__(_pieces(export.file), headers=headers, media_type=ZIP)
        self._file = export.file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


@router.get("/export", response_class=Response, dependencies=[Depends(no_body)], responses={200: {"content": _ARCHIVE}})
async def export_snapshot(a: Agent, system: System, who: Who, query: Annotated[ExportQuery, Query()]) -> Download:
    """The agent's memory as a ZIP with a manifest: the owner's files where one is given, else the team's."""
    grant = await system.gate.read(who, a, query.resolved_owner(), action="export")
    place = place_to_export(grant.principal, query.scope, isolated=grant.settings.memory_isolation)
    export = await system.snapshots.export(place, prefix=query.prefix)
    counted(export.count)
    return Download(export)


@router.post("/import/preview", openapi_extra=_BODY, responses=may_answer(400))
async def preview_import(
    a: Agent, request: Request, system: System, who: Who, query: Annotated[ScopedOwner, Query()]
) -> ImportReport:
    """What importing the archive would create, update and skip. Writes nothing."""
    return await preview_archive(a, system, who, query, _uploaded(request, system.snapshots.limits.max_archive_bytes))


async def preview_archive(a: Agent, system: System, who: Who, query: ScopedOwner, archive: Archive) -> ImportReport:
    """What importing an archive would do; it is opened once the caller may write."""
    _, place = await system.gate.write(who, a, query.resolved_owner(), query.scope, action="read")
    async with archive as file:
        return import_report(await system.snapshots.preview(place, file), applied=False)


@router.post("/import", openapi_extra=_BODY, responses=may_answer(400, 409))
async def import_snapshot(
    a: Agent, request: Request, system: System, who: Who, query: Annotated[ScopedOwner, Query()]
) -> ImportReport:
    """Write what the archive brings, all of it or nothing: the owner's files where one is given, else the team's."""
    return await import_archive(a, system, who, query, _uploaded(request, system.snapshots.limits.max_archive_bytes))


async def import_archive(a: Agent, system: System, who: Who, query: ScopedOwner, archive: Archive) -> ImportReport:
    """Write what an archive brings; it is opened once the caller may write."""
    grant, place = await system.gate.write(who, a, query.resolved_owner(), query.scope)
    async with archive as file:
        report = await system.snapshots.apply(place, file, by=grant.author)
        counted(len(report.created) + len(report.updated))
        return import_report(report, applied=True)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


@asynccontextmanager
async def _uploaded(request: Request, max_bytes: int) -> AsyncIterator[BinaryIO]:
    """The body of a request in a temporary file."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != ZIP:
        raise ValidationFailed(f"the body is an archive: send it as Content-Type: {ZIP}")
    with tempfile.TemporaryFile(prefix="reverie-import-") as file:
        size = 0
        try:
            async with aclosing(request.stream()) as pieces:
                async for piece in pieces:
                    size += len(piece)
                    if size > max_bytes:
                        break
                    await asyncio.to_thread(file.write, piece)
        except ClientDisconnect:
            raise HTTPException(400, "the body ended before its end") from None
        if size > max_bytes:
            raise HTTPException(413, f"an archive has at most {max_bytes} bytes", {"Connection": "close"})
        yield file
