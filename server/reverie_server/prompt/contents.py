"""The contents of a conversation's prompt without memory: visible messages of its session, and enabled files."""

from __future__ import annotations

from datetime import UTC, datetime

from reverie_indexer.database.database import Database
from reverie_server.access.gate import Grant
from reverie_server.access.principal import place_for
from reverie_server.prompt.context_files import read_prompt_files
from reverie_server.sessions.daily_log import local_day
from reverie_server.sessions.lookup import Key
from reverie_server.sessions.sessions import live_of, live_statements


async def prompt_contents(
    database: Database, grant: Grant, session_id: str
) -> tuple[list[str], tuple[str, int] | None]:
    """The texts in the prompt of a session, for a caller that makes the prompt without `Turns`; second, the id of the
    session and the number of its first message in the prompt.

    An unknown session has no messages, and None comes second. ValidationFailed for an id that no session may have.
    """
    key = Key.of(grant.principal, session_id)
    now = datetime.now(UTC)
    # Which daily notes enter the prompt is the caller's choice; here only enabled ones count.
    files, answers = await read_prompt_files(
        database,
        grant.principal,
        place_for(grant.principal, None),
        now=now,
        today=local_day(now, grant.settings.time_zone),
        recent_days=-1,
        with_seeds=grant.settings.seeds_in_prompt,
        also=live_statements(key),
    )
    texts = [file.text for file in (*files.shared, *files.personal)]
    found = live_of(key, answers)
    if found is None:
        return texts, None
    session, live = found
    return texts + [message.content for message in live], (session.session_id, session.compacted_through + 1)
