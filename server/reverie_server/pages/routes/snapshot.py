"""A memory as an archive: take it away, or bring one in after seeing what it would change."""

from __future__ import annotations

import base64
import binascii
import io
from contextlib import nullcontext

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import PayloadTooLarge, ValidationFailed
from reverie_server.http.routes import snapshots
from reverie_server.http.schemas.common import ScopedOwner
from reverie_server.http.schemas.snapshots import ExportQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import SENT, PageRoute, Sent, SentFile, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
# What was looked at goes into the page, and from there into the import: nothing is kept meanwhile.
_MAX_BYTES = 5 * 1024 * 1024


@router.get("/snapshot")
async def show_forms(visit: Visiting) -> Response:
    """The forms to export the memory and to bring in an archive."""
    return await visit.show("snapshot.html", report=None, archive="")


@router.post("/export", dependencies=SENT)
async def export_memory(visit: Visiting) -> Response:
    """The memory of this page as a ZIP."""
    return await snapshots.export_snapshot(visit.agent_id, visit.system, visit.who, visit.query(ExportQuery))


@router.post("/snapshot/preview")
async def preview(visit: Visiting, content: SentFile) -> Response:
    """What an archive would create, change and leave."""
    if len(content) > _MAX_BYTES:
        raise PayloadTooLarge("this page takes archives of at most 5 MiB: import a larger one with `reverie import`")
    owner = ScopedOwner.model_validate(visit.whose)
    opened = nullcontext(io.BytesIO(content))
    report = await snapshots.preview_archive(visit.agent_id, visit.system, visit.who, owner, opened)
    return await visit.show("snapshot.html", report=report, archive=base64.urlsafe_b64encode(content).decode())


@router.post("/snapshot")
async def bring_in(visit: Visiting, form: Sent) -> Response:
    """Write what the archive that was looked at brings."""
    try:
        content = base64.b64decode(form.text("archive"), altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValidationFailed("archive: look at it first, then bring it in") from None
    owner = ScopedOwner.model_validate(visit.whose)
    opened = nullcontext(io.BytesIO(content))
    report = await snapshots.import_archive(visit.agent_id, visit.system, visit.who, owner, opened)
    return await visit.show("snapshot.html", report=report, archive="")
