"""The route that searches memory for a turn's prompt."""

from __future__ import annotations

import time

from fastapi import APIRouter, Depends

from reverie_indexer.errors import DatabaseUnavailable, DataDamaged, MemoryDisabled
from reverie_server.access.audit import counted
from reverie_server.access.gate import Grant
from reverie_server.http.context import Agent, System, Who, no_query
from reverie_server.http.problems import may_answer
from reverie_server.http.schemas.inject import InjectBody, InjectResponse, inject_response
from reverie_server.inject.inject import InjectRequest, no_injection
from reverie_server.prompt.contents import prompt_contents
from reverie_server.prompt.turn_log import TurnRecord
from reverie_server.runtime import Runtime
from reverie_server.text.query import check_not_blank

router = APIRouter(
    prefix="/agents/{a}/memory", tags=["Memory"], responses=may_answer(400, 401, 403, 404, 409, 413, 422, 503)
)


@router.post("/inject", response_model_exclude_unset=True, dependencies=[Depends(no_query)])
async def inject(a: Agent, body: InjectBody, system: System, who: Who) -> InjectResponse:
    """Find what memory has for a message, as a section for the prompt; empty where it has nothing that helps.

    An agent that is not there yet has an empty memory, for a key that may make it, and is not made by this.
    """
    check_not_blank(body.message)
    body.checked_session()
    try:
        grant = await system.gate.for_turn(who, a, body.resolved_owner())
        system.injector.begin(grant, body.message)
        begun = time.perf_counter()
        injection = await system.injector.inject(grant, await _request(system, grant, body))
        seconds = time.perf_counter() - begun
        if not body.explain:
            record = TurnRecord(
                kind="inject",
                message=body.message,
                injection=injection,
                session_id=body.session_id,
                seconds=seconds,
            )
            system.turn_log.note(grant, record)
        counted(injection.injected)
        return inject_response(injection, explain=body.explain)
    except MemoryDisabled:
        return inject_response(no_injection("disabled"))
    except (DatabaseUnavailable, DataDamaged) as error:
        # A turn goes on without its memory.
        return inject_response(no_injection("no_match", warnings=[f"memory could not be searched ({error.code})"]))


async def _request(system: Runtime, grant: Grant, body: InjectBody) -> InjectRequest:
    # Where injection is off there is no search, and nothing of the prompt is read for it.
    session_id = body.checked_session() if grant.settings.auto_inject_enabled else None
    texts, in_session = ([], None) if session_id is None else await prompt_contents(system.database, grant, session_id)
    return InjectRequest(
        body.message,
        recent_user_messages=body.recent_user_messages,
        prompt_texts=texts,
        in_prompt=body.in_prompt,
        in_session=in_session,
        max_tokens=body.max_tokens,
        threshold=body.threshold,
    )
