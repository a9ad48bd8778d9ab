"""Forgetting in two steps: what would go, ticked one by one; and the receipts."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import ValidationFailed
from reverie_server.http.routes import memory, receipts
from reverie_server.http.schemas.common import Owner, Page
from reverie_server.http.schemas.memory import Forget
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Sent, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)


@router.get("/forget")
async def ask(visit: Visiting) -> Response:
    """The form to look for what is to be forgotten, and the receipts so far."""
    query = visit.asked(Page, "cursor", limit=20)
    found = await receipts.list_receipts(visit.agent_id, visit.system, visit.who, query)
    return await visit.show(
        "forget.html", receipts=found.receipts, next_cursor=found.next_cursor, query="", listed=None
    )


@router.post("/forget")
async def look(visit: Visiting, form: Sent) -> Response:
    """What a search for it lists, with exact texts; nothing is removed by it."""
    query = form.text("query")
    body = Forget.model_validate({**visit.whose, "query": query, "dry_run": True})
    listed = await memory.forget(visit.agent_id, body, visit.system, visit.who)
    return await visit.show("forget.html", receipts=[], next_cursor=None, query=query, listed=listed)


@router.post("/forget/remove")
async def remove(visit: Visiting, form: Sent) -> Response:
    """Remove what was ticked."""
    items = form.values.get("item", [])
    if not items:
        raise ValidationFailed("tick what is to be forgotten: nothing was removed")
    body = Forget.model_validate({**visit.whose, "query": form.text("query"), "items": items, "dry_run": False})
    receipt = await memory.forget(visit.agent_id, body, visit.system, visit.who)
    return visit.go(f"forget/{receipt.receipt_id}") if receipt.receipt_id else visit.go("forget", done="nothing")


@router.get("/forget/{receipt_id}")
async def show_receipt(visit: Visiting, receipt_id: str) -> Response:
    """A receipt: when, by whom, from where and how many; never the text."""
    receipt = await receipts.get_receipt(visit.agent_id, receipt_id, visit.system, visit.who, visit.asked(Owner))
    return await visit.show("receipt.html", receipt=receipt)
