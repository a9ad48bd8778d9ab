"""What commands in a chat do, by the functions of the routes, and what they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from reverie_indexer.errors import DatabaseUnavailable, MemoryDisabled, NotFound, OwnerRequired, ReverieError
from reverie_server.http.routes import sessions, turns
from reverie_server.http.schemas.common import Owner
from reverie_server.http.schemas.turns import CompactSession, TurnBody, TurnsQuery
from reverie_server.proxy.commands import Command, command_of
from reverie_server.text.fences import for_prompt

if TYPE_CHECKING:
    from reverie_server.proxy.proxy import ChatRequest
    from reverie_server.runtime import Runtime

_NO_SESSION = "Nothing of this conversation is stored{}: there is nothing to clear, to compact or to tell of."
_LAST_TURNS = 5
_SHOWN_MEMORIES = 5
_SHOWN_CHARS = 120


async def command_answer(system: Runtime, request: ChatRequest) -> str | None:
    """Do what the command of a request says, and tell of it; None where the request is for the model.

    What goes wrong is told, too. Raises DatabaseUnavailable, and OwnerRequired for a request that has to name an owner.
    """
    command = command_of(request.conversation)
    if command is None:
        return None
    who = request.connection
    try:
        grant = await system.gate.for_turn(who.caller, who.agent_id, who.owner_key)
        if not grant.settings.chat_commands:
            return None
        return await _done(system, request, command)
    except MemoryDisabled:
        # Such an agent's conversations are left alone.
        return None
    except (DatabaseUnavailable, OwnerRequired):
        raise
    except NotFound:
        return _NO_SESSION.format("" if request.session_id is None else f" in the session {request.session_id}")
    except ReverieError as error:
        return f"That was not done: {error.detail}."


async def _done(system: Runtime, request: ChatRequest, command: Command) -> str:
    who = request.connection
    agent, owner = who.agent_id, who.owner_key
    session_id = request.session_id or request.conversation.session_id(owner)
    match command.name:
        case "new":
            await sessions.clear_messages(
                agent, session_id, system, who.caller, Owner.model_validate({"owner_key": owner})
            )
            return "A new conversation begins: what was said in this one is removed, and what memory made of it stays."
        case "compact":
            try:
                body = CompactSession.model_validate({"owner_key": owner, "keep_last": command.keep_last})
            except ValidationError:
                return "That was not done: /compact keeps 0 to 1000 messages."
            done = await turns.compact_session(agent, session_id, system, who.caller, body)
            if not done.removed:
                return f"There is nothing to compact: {done.kept} messages stay as they are."
            return (
                f"A summary stands for {done.removed} messages now, {done.kept} stay as they are. "
                f"Lines added to the daily note: {done.flushed}."
            )
        case "status":
            return await _status(system, request, session_id)


async def _status(system: Runtime, request: ChatRequest, session_id: str) -> str:
    who = request.connection
    whose = {"owner_key": who.owner_key}
    session = await sessions.get_session(who.agent_id, session_id, system, who.caller, Owner.model_validate(whose))
    query = TurnsQuery.model_validate({**whose, "session_id": session_id, "limit": _LAST_TURNS})
    lately = (await turns.list_turns(who.agent_id, system, who.caller, query)).turns
    return "\n".join(
        [
            f"Session: {session.session_id}",
            f"Messages: {session.message_count}",
            f"Tokens: {session.tokens}",
            f"Compactions: {session.compactions}",
            *_injected(lately),
        ]
    )


def _injected(lately: list[TurnBody]) -> list[str]:
    """What was injected in some turns, newest first, each memory once."""
    memories = {memory.id: memory for turn in lately for memory in turn.injected if memory.text is not None}
    if not memories:
        return ["Injected lately: nothing"]
    lines = []
    for memory in list(memories.values())[:_SHOWN_MEMORIES]:
        text = for_prompt(" ".join((memory.text or "").split()))
        lines.append(f"- {memory.source}: {text[:_SHOWN_CHARS]}{'…' if len(text) > _SHOWN_CHARS else ''}")
    return ["Injected lately:", *lines]
