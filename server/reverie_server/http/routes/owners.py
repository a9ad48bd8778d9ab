"""Routes of people: export or delete one person's memory across all agents of the tenant."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from fastapi import Path as PathParameter

from reverie_server.access.audit import counted
from reverie_server.access.request_id import current_request_id
from reverie_server.http.context import System, Who, no_body, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.routes import files
from reverie_server.http.routes.snapshots import ZIP, Download
from reverie_server.http.schemas.owners import OwnerDelete, OwnerDeleted, owner_deleted

# The path of a person takes any character, as that of a file does.
_PATH = f"{{owner_key:{files.ANY_PATH}}}"
_ARCHIVE: dict[str, Any] = {ZIP: {"schema": {"type": "string", "format": "binary"}, "example": "a ZIP archive"}}
router = APIRouter(prefix="/owners", tags=["People"], responses=may_answer(401, 403, 404, 422, 503))
OwnerKey = Annotated[str, PathParameter(description="A person's owner key", examples=["user:42"])]


@router.get(
    f"/{_PATH}/export",
    response_class=Response,
    dependencies=[Depends(no_body), Depends(no_query)],
    responses={200: {"content": _ARCHIVE}},
)
async def export_owner(owner_key: OwnerKey, system: System, who: Who) -> Download:
    """All memory has of a person as a ZIP: files, conversations, episodes, facts, prompts, graph, reports, by agent."""
    system.gate.of_person(who, owner_key, "export")
    export = await system.owners.export(who.tenant_id, owner_key)
    counted(export.count)
    return Download(export)


@router.delete(f"/{_PATH}", dependencies=[Depends(no_body)], responses=may_answer(409))
async def delete_owner(
    owner_key: OwnerKey, system: System, who: Who, query: Annotated[OwnerDelete, Query()]
) -> OwnerDeleted:
    """Remove all that memory has of a person, for good, and their keys; first, by default, dry."""
    system.gate.of_person(who, owner_key, "read" if query.dry_run else "forget")
    receipt = await system.owners.delete(who.tenant_id, owner_key, dry_run=query.dry_run)
    counted(sum(receipt.removed.values()))
    return owner_deleted(receipt, None if query.dry_run else current_request_id())
