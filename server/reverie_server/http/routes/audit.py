"""The route that lists the audit."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from reverie_server.http.context import System, Who, cursor_time, decode_cursor, encode_cursor
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.audit import AuditList, AuditQuery, audit_entry

router = APIRouter(prefix="/audit", tags=["Audit"], responses=may_answer(401, 403, 422, 503))


@router.get("")
async def list_audit(system: System, who: Who, query: Annotated[AuditQuery, Query()]) -> AuditList:
    """Who read, wrote, forgot, exported, or changed keys and settings of the tenant: when, by which key, for whom."""
    owner_key = query.resolved_owner()
    system.gate.administer(who, "read", owner_key)
    page = await system.audit.page(
        who.tenant_id,
        since=query.since,
        owner_key=owner_key,
        action=query.action,
        before=_position(query.cursor),
        limit=query.limit + 1,
    )
    entries = page[: query.limit]
    cursor = encode_cursor(entries[-1].at.isoformat(), entries[-1].audit_id) if len(page) > len(entries) else None
    return AuditList(entries=[audit_entry(row) for row in entries], next_cursor=cursor)


def _position(cursor: str | None) -> tuple[datetime, int] | None:
    position = decode_cursor(cursor, str, int)
    return None if position is None else (cursor_time(position[0]), int(position[1]))
