"""Routes of what an agent has: conversations of an owner, their days, the owners, and how much there is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, TypeVar
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, Query

from reverie_server.access.audit import counted
from reverie_server.access.principal import place_for
from reverie_server.browse.conversations import SessionFilter
from reverie_server.browse.timeline import KINDS, DayFilter
from reverie_server.http.context import Agent, System, Who, cursor_time, decode_cursor, encode_cursor, no_body
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.common import Owner, response_from
from reverie_server.http.schemas.owners import OwnerList, OwnersQuery, SummaryBody, listed_owner
from reverie_server.http.schemas.sessions import SessionList, SessionsQuery, session_body
from reverie_server.http.schemas.timeline import DayBody, TimelineBody, TimelineQuery

router = APIRouter(prefix="/agents/{a}", responses=may_answer(401, 403, 404, 422, 503), dependencies=[Depends(no_body)])

Key = TypeVar("Key", int, str)


@router.get("/sessions", tags=["Sessions"])
async def list_sessions(a: Agent, system: System, who: Who, query: Annotated[SessionsQuery, Query()]) -> SessionList:
    """An owner's conversations, the one changed last first; where no owner is named, the team's."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    filters = SessionFilter(query.state, query.since)
    before = _position(query.cursor, int)
    page = await system.conversations.page(grant.principal, filters, before=before, limit=query.limit + 1)
    sessions = page[: query.limit]
    counted(len(sessions))
    last = sessions[-1] if len(page) > query.limit else None
    cursor = encode_cursor(last.updated_at.isoformat(), last.session_key) if last else None
    return SessionList(sessions=[session_body(session) for session in sessions], next_cursor=cursor)


@router.get("/summary", tags=["Memory"])
async def get_summary(a: Agent, system: System, who: Who, query: Annotated[Owner, Query()]) -> SummaryBody:
    """How much there is of an owner's memory and of what is shared, how far it is trusted, and what waits."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    summary = await system.summaries.of(grant.principal)
    place = place_for(grant.principal, None if grant.settings.memory_isolation else "team")
    card = await system.consolidation.morning_cards.card(place, grant.principal.owner_key, grant.settings.language)
    backups = system.consolidation.backups
    return response_from(
        SummaryBody,
        summary,
        card=len(card or ()),
        language_model=system.llm.model if system.llm else None,
        model_paused=system.llm is not None and system.llm.breaker.state != "closed",
        embedder=system.models.state,
        database="degraded" if system.database.faults.reasons() else "ok",
        backup=backups.standing(await backups.states()) if backups.are_made else None,
    )


@router.get("/timeline", tags=["Memory"])
async def get_timeline(a: Agent, system: System, who: Who, query: Annotated[TimelineQuery, Query()]) -> TimelineBody:
    """The days on which something was said, learned, went through, ended or was forgotten, the newest first."""
    grant = await system.gate.read(who, a, query.resolved_owner())
    place = place_for(grant.principal, None if grant.settings.memory_isolation else "team")
    position = decode_cursor(query.cursor, str)
    day_filter = DayFilter(
        since=query.since or datetime.min.replace(tzinfo=UTC),
        before=_before(position, query, grant.settings.time_zone),
        kinds=[query.kind] if query.kind else KINDS,
        has_entries=query.entries,
    )
    page = await system.timeline.page(grant.principal, place, day_filter, grant.settings.time_zone, query.limit + 1)
    days = page[: query.limit]
    counted(sum(len(day.entries) for day in days))
    cursor = encode_cursor(days[-1].starts.isoformat()) if len(page) > query.limit else None
    bodies = [response_from(DayBody, day) for day in days]
    return TimelineBody(days=bodies, time_zone=grant.settings.time_zone, next_cursor=cursor)


@router.get("/owners", tags=["People"])
async def list_owners(a: Agent, system: System, who: Who, query: Annotated[OwnersQuery, Query()]) -> OwnerList:
    """Whose memory an agent has, the one that changed last first; for an admin's key that is bound to no owner."""
    grant = await system.gate.every_owner(who, a)
    before = _position(query.cursor, str)
    page = await system.people.page(grant.principal, part=query.q, before=before, limit=query.limit + 1)
    owners = page[: query.limit]
    counted(len(owners))
    last = owners[-1] if len(page) > query.limit else None
    cursor = encode_cursor(last.updated_at.isoformat(), last.owner_key) if last else None
    return OwnerList(owners=[listed_owner(person) for person in owners], next_cursor=cursor)


def _before(position: Sequence[int | str] | None, query: TimelineQuery, zone: str) -> datetime:
    """Where a page of days ends: where the one before it began, else after the last day that is wanted, else now."""
    if position is not None:
        return cursor_time(position[0])
    if query.until is None or query.until == date.max:
        return datetime.now(UTC)
    return datetime.combine(query.until + timedelta(days=1), datetime.min.time(), ZoneInfo(zone))


def _position(cursor: str | None, kind: type[Key]) -> tuple[datetime, Key] | None:
    position = decode_cursor(cursor, str, kind)
    return None if position is None else (cursor_time(position[0]), kind(position[1]))
