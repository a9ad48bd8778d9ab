"""Conversations: a list, a transcript, and what may be done with one."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import NotFound
from reverie_server.http.routes import episodes, listings, sessions
from reverie_server.http.schemas.common import Owner, Page
from reverie_server.http.schemas.episodes import EpisodesQuery
from reverie_server.http.schemas.sessions import Complete, SessionsQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import SENT, PageRoute, Visiting

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)


@router.get("/conversations")
async def list_conversations(visit: Visiting) -> Response:
    """Conversations, the one changed last first."""
    query = visit.asked(SessionsQuery, "state", "cursor", limit=25)
    found = await listings.list_sessions(visit.agent_id, visit.system, visit.who, query)
    return await visit.show(
        "conversations.html", sessions=found.sessions, next_cursor=found.next_cursor, state=query.state or ""
    )


@router.get("/conversations/{s}")
async def transcript(visit: Visiting, s: str) -> Response:
    """What was said in a conversation, and the episode beside it."""
    a, system, who = visit.agent_id, visit.system, visit.who
    session = await sessions.get_session(a, s, system, who, visit.asked(Owner))
    said = await sessions.list_messages(a, s, system, who, visit.asked(Page, "cursor", limit=50))
    found = await episodes.list_episodes(a, system, who, visit.asked(EpisodesQuery, limit=100))
    own = [episode for episode in found.episodes if episode.session_id == s]
    return await visit.show(
        "conversation.html", session=session, messages=said.messages, next_cursor=said.next_cursor, episodes=own
    )


@router.post("/conversations/{s}/{action}", dependencies=SENT)
async def act_on_conversation(visit: Visiting, s: str, action: str) -> Response:
    """Complete a conversation, clear what was said in it, or delete it."""
    a, system, who = visit.agent_id, visit.system, visit.who
    if action == "complete":
        await sessions.complete_session(
            a, s, system, who, Complete.model_validate({**visit.whose, "trigger_source": "web"})
        )
    elif action == "clear":
        await sessions.clear_messages(a, s, system, who, visit.asked(Owner))
    elif action == "delete":
        await sessions.delete_session(a, s, system, who, visit.asked(Owner))
        return visit.go("conversations")
    else:
        raise NotFound("there is no such page")
    return visit.go(f"conversations/{s}")
