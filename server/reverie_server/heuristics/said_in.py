"""The message that a line about a conversation was made of. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.text.analyse import analyse
from reverie_server.sessions.model import Message


class SaidIn:
    """The messages of a conversation, prepared for finding the message of each of many lines."""

    def __init__(self, messages: Sequence[Message], language: str) -> None:
        self._language = language
        self._words = [(message, frozenset(analyse(message.content, language))) for message in messages]

    def message_of(self, line: str) -> Message:
        """The message that has most of a line's words; of equals the user's, then the later one."""
        words = frozenset(analyse(line, self._language))
        return max(
            self._words,
            key=lambda pair: (len(words & pair[1]), pair[0].role == "user", pair[0].seq),
        )[0]
