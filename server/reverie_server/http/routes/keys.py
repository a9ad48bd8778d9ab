"""Routes of keys. They need an admin's key without bounds and reach the keys of its tenant only."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi import Path as PathParameter

from reverie_server.http.context import System, Who, cursor_time, decode_cursor, encode_cursor, no_body, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import PlainPage
from reverie_server.http.schemas.keys import KeyList, KeyMade, KeyPost, key_body, new_key_body

router = APIRouter(prefix="/keys", tags=["Keys"], responses=may_answer(401, 403, 422, 503))


@router.get("")
async def list_keys(system: System, who: Who, query: Annotated[PlainPage, Query()]) -> KeyList:
    """The tenant's keys that are not revoked, oldest first, without their secrets."""
    system.gate.administer(who, "read")
    found = await system.keys.entries(
        who.tenant_id, valid_only=True, after=_position(query.cursor), limit=query.limit + 1
    )
    page = found[: query.limit]
    cursor = encode_cursor(page[-1].created_at.isoformat(), page[-1].key_id) if len(found) > query.limit else None
    return KeyList(keys=[key_body(entry) for entry in page], next_cursor=cursor)


@router.post("", status_code=201, dependencies=[Depends(no_query)], responses=may_answer(400, 413))
async def create_key(body: KeyPost, system: System, who: Who) -> KeyMade:
    """Make a key and show it, this once. From the first key on, no request goes without one."""
    system.gate.administer(who, "keys")
    entry, key = await system.keys.make(body.new_key(who.tenant_id))
    return new_key_body(entry, key)


@router.delete(
    "/{key_id}", status_code=204, dependencies=[Depends(no_body), Depends(no_query)], responses=may_answer(404)
)
async def revoke_key(
    key_id: Annotated[str, PathParameter(description="A key's id", examples=["3f9c2a71b04de586"])],
    system: System,
    who: Who,
) -> None:
    """Accept a key no more, from the next request on; a server whose last key is revoked stays closed."""
    system.gate.administer(who, "keys")
    await system.keys.revoke(key_id, who.tenant_id)


def _position(cursor: str | None) -> tuple[datetime, str] | None:
    position = decode_cursor(cursor, str, str)
    return None if position is None else (cursor_time(position[0]), str(position[1]))
