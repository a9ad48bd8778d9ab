"""Messages cut into passages for search, by the settings of an agent. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.errors import PayloadTooLarge
from reverie_indexer.model import Passage
from reverie_indexer.text.passages import Rules, passages_of_message
from reverie_server.sessions.daily_log import local_day
from reverie_server.sessions.model import Message
from reverie_server.settings.agent import AgentSettings

# Other messages are not between people.
INDEXED_ROLES = ("user", "assistant")
# All that one call brings is stored in one transaction, which must not take longer than a statement may.
MAX_PASSAGES = 10_000


def chunk_messages(settings: AgentSettings, messages: Sequence[Message]) -> list[list[Passage]]:
    """The passages of each message, in order; none for messages of tools and of the system."""
    rules = Rules(chunk_max_chars=settings.chunk_max_chars, language=settings.language)
    return [
        passages_of_message(message.content, local_day(message.at, settings.time_zone), rules, message.speaker)
        if settings.index_messages and message.role in INDEXED_ROLES
        else []
        for message in messages
    ]


def check_passages(passages: Sequence[Sequence[Passage]]) -> None:
    """Raise PayloadTooLarge where the messages of one call fall into more than MAX_PASSAGES passages."""
    count = sum(map(len, passages))
    if count > MAX_PASSAGES:
        raise PayloadTooLarge(f"the messages of one call have at most {MAX_PASSAGES} passages; these have {count}")
