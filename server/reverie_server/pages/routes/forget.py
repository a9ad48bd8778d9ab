"""Forgetting in two steps: what would go, ticked one by one; what was asked for and not found; and the receipts."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import ValidationFailed
from reverie_server.http.context import encode_cursor
from reverie_server.http.routes import memory, receipts, sessions, unmet_requests
from reverie_server.http.schemas.common import Owner, Page
from reverie_server.http.schemas.forgetting import Forget, UnmetRequestBody
from reverie_server.http.schemas.sessions import MessageBody
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import SENT, PageRoute, Sent, Visit, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_WAITING = 20


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request for which nothing was found, and its message as it stands in its session; None once that is gone."""

    request: UnmetRequestBody
    message: MessageBody | None


async def waiting_requests(visit: Visit, limit: int) -> list[WaitingRequest]:
    """The newest requests for which nothing was found, each with its message."""
    query = visit.query(Page, limit=limit)
    found = await unmet_requests.list_unmet_requests(visit.agent_id, visit.system, visit.who, query)
    return [await _with_message(visit, request) for request in found.requests]


async def _with_message(visit: Visit, request: UnmetRequestBody) -> WaitingRequest:
    query = visit.query(Page, cursor=encode_cursor(request.seq - 1), limit=1)
    page = await sessions.list_messages(visit.agent_id, request.session_id, visit.system, visit.who, query)
    return WaitingRequest(request, next((each for each in page.messages if each.seq == request.seq), None))


@router.get("/forget")
async def ask(visit: Visiting) -> Response:
    """The form to look for what is to be forgotten, what was asked for and not found, and the receipts so far.

    `request`: the form for one such request, with its message.
    """
    query = visit.query(Page, "cursor", limit=20)
    found = await receipts.list_receipts(visit.agent_id, visit.system, visit.who, query)
    summary = await visit.summary()
    waiting = await waiting_requests(visit, _WAITING) if summary.unmet_requests else []
    meant = None
    if request_id := visit.request.query_params.get("request"):
        owner = visit.query(Owner)
        one = await unmet_requests.get_unmet_request(visit.agent_id, request_id, visit.system, visit.who, owner)
        meant = await _with_message(visit, one)
    return await visit.show(
        "forget.html",
        summary=summary,
        receipts=found.receipts,
        next_cursor=found.next_cursor,
        query="",
        listed=None,
        waiting=waiting,
        meant=meant,
    )


@router.post("/forget/requests/{request_id}/dismiss", dependencies=SENT)
async def dismiss(visit: Visiting, request_id: str) -> Response:
    """Take a request for which nothing was found from the list."""
    owner = visit.query(Owner)
    await unmet_requests.dismiss_unmet_request(visit.agent_id, request_id, visit.system, visit.who, owner)
    return visit.go("forget", done="dismissed")


@router.post("/forget")
async def look(visit: Visiting, form: Sent) -> Response:
    """What a search for it lists, with exact texts; nothing is removed by it."""
    query = form.text("query")
    body = Forget.model_validate({**visit.whose, "query": query, "dry_run": True})
    listed = await memory.forget(visit.agent_id, body, visit.system, visit.who)
    return await visit.show(
        "forget.html", receipts=[], next_cursor=None, query=query, listed=listed, waiting=[], meant=None
    )


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
    receipt = await receipts.get_receipt(visit.agent_id, receipt_id, visit.system, visit.who, visit.query(Owner))
    return await visit.show("receipt.html", receipt=receipt)
