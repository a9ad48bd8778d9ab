"""Control routes of the entries of the morning card: a person confirms, edits or forgets what a night concluded."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends
from fastapi import Path as PathParameter

from reverie_server.access.audit import counted
from reverie_server.forgetting.selection import Target
from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.routes.control import may_fail
from reverie_server.http.schemas.common import response_from
from reverie_server.http.schemas.control import (
    CardEntry,
    ControlBody,
    EntryAnswer,
    EntryBody,
    ForgottenEntryAnswer,
    ForgottenEntryData,
)

router = APIRouter(
    prefix="/memory/{a}/dream/reports/{report_id}/entries/{key}",
    tags=["Control"],
    responses=may_fail(400, 401, 403, 404, 409, 413, 422, 503),
    dependencies=[Depends(no_query)],
)
ReportId = Annotated[
    str, PathParameter(description="A report's id", pattern="^[0-9a-f]{16}$", examples=["5f2c9a01d4b7e683"])
]
Key = Annotated[
    str,
    PathParameter(description="An entry's key", pattern="^[0-9a-f]{16}:[0-9]{1,6}$", examples=["5f2c9a01d4b7e683:1"]),
]


@router.post("/confirm")
async def confirm_entry(
    a: Agent,
    report_id: ReportId,
    key: Key,
    system: System,
    who: Who,
    body: Annotated[ControlBody | None, Body()] = None,
) -> EntryAnswer:
    """The entry is right: its report says when a person said so."""
    owner_key = body.resolved_owner() if body else None
    await system.gate.read(who, a, owner_key)
    grant, place = await system.gate.write(who, a, owner_key, None)
    found = await system.consolidation.card_entries.confirm(
        place, report_id, key, grant.settings.language, by=grant.author
    )
    return EntryAnswer(data=response_from(CardEntry, found))


@router.post("/edit")
async def edit_entry(a: Agent, report_id: ReportId, key: Key, body: EntryBody, system: System, who: Who) -> EntryAnswer:
    """Change exactly the line of the entry in MEMORY.md. It is the person's line from then on."""
    await system.gate.read(who, a, body.resolved_owner())
    grant, place = await system.gate.write(who, a, body.resolved_owner(), None)
    entries, language = system.consolidation.card_entries, grant.settings.language
    found = await entries.edit(place, report_id, key, body.content, language, by=grant.author)
    return EntryAnswer(data=response_from(CardEntry, found))


@router.post("/forget")
async def forget_entry(
    a: Agent,
    report_id: ReportId,
    key: Key,
    system: System,
    who: Who,
    body: Annotated[ControlBody | None, Body()] = None,
) -> ForgottenEntryAnswer:
    """Take the entry's text, and what says it in MEMORY.md, out of every store, as `memory/forget` does with a text."""
    owner_key = body.resolved_owner() if body else None
    await system.gate.read(who, a, owner_key)
    grant, place = await system.gate.write(who, a, owner_key, None, action="forget")
    entries, language = system.consolidation.card_entries, grant.settings.language
    texts = await entries.to_forget(place, report_id, key, language)
    receipt = await system.forgetting.forget(grant, place, Target(statements=texts), dry_run=False)
    counted(len(receipt.items))
    removed = sum(tier.files for tier in receipt.removed.values())
    return ForgottenEntryAnswer(data=ForgottenEntryData(key=key, removed=removed))
