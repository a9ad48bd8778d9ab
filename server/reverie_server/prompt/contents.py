"""The contents of a conversation's prompt without memory: visible messages of its session, and enabled files."""

from __future__ import annotations

from datetime import UTC, datetime

from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound
from reverie_server.access.gate import Grant
from reverie_server.access.principal import place_for
from reverie_server.prompt.context_files import read_prompt_files
from reverie_server.sessions.daily_log import local_day
from reverie_server.sessions.sessions import Sessions


async def prompt_texts(database: Database, sessions: Sessions, grant: Grant, session_id: str) -> list[str]:
    """The texts in the prompt of a session, for a caller that makes the prompt without `Turns`.

    An unknown session has no messages. ValidationFailed for an id that no session may have.
    """
    today = local_day(datetime.now(UTC), grant.settings.time_zone)
    # Which daily notes enter the prompt is the caller's choice; here only enabled ones count.
    files = await read_prompt_files(
        database,
        grant.principal,
        place_for(grant.principal, None),
        today=today,
        recent_days=-1,
        with_seeds=grant.settings.seeds_in_prompt,
    )
    texts = [file.text for file in (*files.shared, *files.personal)]
    try:
        session = await sessions.find(grant.principal, session_id)
    except NotFound:
        return texts
    return texts + [message.content for message in await sessions.live(grant.principal, session)]


async def first_visible_message(sessions: Sessions, grant: Grant, session_id: str) -> tuple[str, int] | None:
    """The id of a session and the number of its first message in the prompt; None for an unknown session.

    ValidationFailed for an id that no session may have.
    """
    try:
        session = await sessions.find(grant.principal, session_id)
    except NotFound:
        return None
    return session.session_id, session.compacted_through + 1
