"""The recall debugger: what a query finds, why in this order, and whether it would be injected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from reverie_server.http.routes import inject, memory
from reverie_server.http.schemas.inject import InjectBody
from reverie_server.http.schemas.memory import SearchRequest, SearchResponse
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import PageRoute, Sent, Visit, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_TIERS = ("document", "episodic", "message", "fact")


@dataclass(frozen=True, slots=True)
class Setting:
    """How one of the columns is searched."""

    mode: str = "hybrid"
    tiers: Sequence[str] = _TIERS
    day: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """The results of one setting; `elsewhere` has the ranks of the other column by the ids of its results."""

    setting: Setting
    found: SearchResponse
    elsewhere: Mapping[str, int] | None


@router.get("/search")
async def ask(visit: Visiting) -> Response:
    """The form of a search. What is searched for is sent by it, and so stands in no address and in no log."""
    return await _show(visit, "", [Setting(), Setting(mode="text")], is_beside=False)


@router.post("/search")
async def find(visit: Visiting, form: Sent) -> Response:
    """What is found, with the parts of each score, by one setting or by two; and what would be injected."""
    settings = [
        Setting(
            form.optional(f"mode{n}") or "hybrid", form.values.get(f"tier{n}") or _TIERS, form.optional(f"day{n}") or ""
        )
        for n in ("", "_2")
    ]
    return await _show(visit, form.text("query"), settings, is_beside=form.optional("beside") is not None)


async def _show(visit: Visit, query: str, settings: Sequence[Setting], *, is_beside: bool) -> Response:
    used = settings[: 2 if is_beside else 1] if query else []
    found = [await _search(visit, query, setting) for setting in used]
    ranks = [{hit.id: rank for rank, hit in enumerate(each.results, 1)} for each in found]
    others = [ranks[1], ranks[0]] if is_beside and query else [None]
    injected = None
    if query:
        body = InjectBody.model_validate({**visit.whose, "message": query, "explain": True})
        injected = await inject.inject(visit.agent_id, body, visit.system, visit.who)
    return await visit.show(
        "search.html",
        query=query,
        settings=settings,
        is_beside=is_beside,
        all_tiers=_TIERS,
        columns=[Column(*each) for each in zip(used, found, others, strict=False)],
        injected=injected,
        texts={hit.id: hit.text for hit in (found[0].results if found else [])},
        threshold=await visit.threshold(),
    )


async def _search(visit: Visit, query: str, setting: Setting) -> SearchResponse:
    fields: dict[str, Any] = {**visit.whose, "query": query, "mode": setting.mode, "tiers": list(setting.tiers)}
    if setting.day:
        fields["as_of"] = f"{setting.day}T23:59:59Z"
    request = SearchRequest.model_validate({**fields, "max_results": 20, "explain": True})
    return await memory.search(visit.agent_id, request, visit.system, visit.who)
