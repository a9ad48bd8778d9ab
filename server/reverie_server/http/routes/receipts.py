"""Routes of the receipts of forgetting."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from reverie_server.access.audit import counted
from reverie_server.http.context import Agent, System, Who, decode_cursor, encode_cursor
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner, Page
from reverie_server.http.schemas.forgetting import ReceiptList, StoredReceiptBody, stored_receipt

router = APIRouter(prefix="/agents/{a}/receipts", tags=["Memory"], responses=may_answer(401, 403, 404, 422, 503))
ReceiptId = Annotated[str, PathParameter(description="A receipt's id", examples=["rcp-12"])]


@router.get("")
async def list_receipts(a: Agent, system: System, who: Who, query: Annotated[Page, Query()]) -> ReceiptList:
    """What was forgotten, newest first: an owner's receipts and the team's. They never have the text."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    position = decode_cursor(query.cursor, int)
    before = int(position[0]) if position else None
    page = await system.receipts.page(grant.principal, before=before, limit=query.limit + 1)
    receipts = page[: query.limit]
    counted(len(receipts))
    cursor = encode_cursor(receipts[-1].receipt_id) if len(page) > query.limit else None
    return ReceiptList(receipts=[stored_receipt(each) for each in receipts], next_cursor=cursor)


@router.get("/{receipt_id}")
async def get_receipt(
    a: Agent, receipt_id: ReceiptId, system: System, who: Who, query: Annotated[Owner, Query()]
) -> StoredReceiptBody:
    """A receipt: what was forgotten when, by whom, from where and how many; never the text."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    receipt = await system.receipts.one(grant.principal, receipt_id)
    counted(1)
    return stored_receipt(receipt)
