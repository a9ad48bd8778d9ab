"""Conversations: a list, a transcript, and what may be done with one."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from reverie_indexer.errors import NotFound
from reverie_server.http.routes import episodes, listings, sessions, turns
from reverie_server.http.schemas.common import Owner, Page
from reverie_server.http.schemas.episodes import EpisodesQuery
from reverie_server.http.schemas.sessions import Complete, MessageBody, SessionsQuery
from reverie_server.http.schemas.turns import CompactSession, TurnBody, TurnsQuery
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import SENT, PageRoute, Visiting
from reverie_server.prompt.turn_log import MAX_MESSAGE_CHARS

router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)
_EPISODES = _TURNS = 100


@router.get("/conversations")
async def list_conversations(visit: Visiting) -> Response:
    """Conversations, the one changed last first."""
    query = visit.query(SessionsQuery, "state", "cursor", limit=25)
    found = await listings.list_sessions(visit.agent_id, visit.system, visit.who, query)
    return await visit.show(
        "conversations.html", sessions=found.sessions, next_cursor=found.next_cursor, state=query.state or ""
    )


@router.get("/conversations/{s}")
async def transcript(visit: Visiting, s: str) -> Response:
    """What was said in a conversation, and the episode beside it."""
    a, system, who = visit.agent_id, visit.system, visit.who
    session = await sessions.get_session(a, s, system, who, visit.query(Owner))
    page = await sessions.list_messages(a, s, system, who, visit.query(Page, "cursor", limit=50))
    found = await episodes.list_episodes(a, system, who, visit.query(EpisodesQuery, session_id=s, limit=_EPISODES))
    # Where people share one memory, another's conversation may have the same name.
    of_session = [episode for episode in found.episodes if episode.owner_key == session.owner_key]
    prompts = await turns.list_turns(a, system, who, visit.query(TurnsQuery, session_id=s, limit=_TURNS))
    turns_of, elsewhere = _placed(page.messages, prompts.turns)
    return await visit.show(
        "conversation.html",
        session=session,
        messages=page.messages,
        next_cursor=page.next_cursor,
        episodes=of_session,
        has_older_episodes=found.next_cursor is not None,
        turns_of=turns_of,
        elsewhere=elsewhere,
    )


def _placed(
    messages: Sequence[MessageBody], prompts: Sequence[TurnBody]
) -> tuple[dict[int, list[TurnBody]], list[TurnBody]]:
    """The turns that were made for messages, by their numbers, and those whose message is not among these.

    A turn is made before its message is stored: what was asked is what the user then said.
    """
    waiting: dict[str, list[TurnBody]] = {}
    for turn in prompts:
        waiting.setdefault(turn.asked, []).append(turn)
    turns_of: dict[int, list[TurnBody]] = {}
    for message in reversed(messages):
        # Turns come newest first, and so do the messages here: of two alike each has its own.
        if message.role == "user" and (of_message := waiting.get(message.content[:MAX_MESSAGE_CHARS])):
            turns_of[message.seq] = [of_message.pop(0)]
    return turns_of, [turn for turns_left in waiting.values() for turn in turns_left]


_DONE = {"complete": "completed", "compact": "compacted", "clear": "cleared"}


@router.post("/conversations/{s}/{action}", dependencies=SENT)
async def act_on_conversation(visit: Visiting, s: str, action: str) -> Response:
    """Complete a conversation, compact it, clear what was said in it, or delete it."""
    a, system, who = visit.agent_id, visit.system, visit.who
    if action == "complete":
        await sessions.complete_session(
            a, s, system, who, Complete.model_validate({**visit.whose, "trigger_source": "web"})
        )
    elif action == "compact":
        await turns.compact_session(a, s, system, who, CompactSession.model_validate(visit.whose))
    elif action == "clear":
        await sessions.clear_messages(a, s, system, who, visit.query(Owner))
    elif action == "delete":
        await sessions.delete_session(a, s, system, who, visit.query(Owner))
        return visit.go("conversations", done="deleted")
    else:
        raise NotFound("there is no such page")
    return visit.go(f"conversations/{s}", done=_DONE[action])
