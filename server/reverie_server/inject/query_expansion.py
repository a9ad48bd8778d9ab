"""The queries made of a message: the message itself, its salient sentences, and the messages before it. Pure.

A message of several sentences is about several things: its vector is near to none of them, and no passage has many of
its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.heuristics.small_talk import MIN_WORDS, Reading, outside_code, read
from reverie_server.text.query import MAX_QUERY_CHARS

MAX_SENTENCES = 2
# The number of the user's last messages that help with the present one, and the characters that are used of each.
RECENT_MESSAGES = 2
RECENT_CHARS = 300
# A message with more words that carry a meaning is understood without the messages before it.
MAX_DEPENDENT_WORDS = 5
_UNSEARCHABLE = re.compile("[\x00\ud800-\udfff]")
_SENTENCE_END = re.compile(r"(?<=[.!?…؟])\s+|(?<=[。！？｡।])|\n+")
_GAP = "\n"


def shortened(message: str, max_chars: int = MAX_QUERY_CHARS) -> str:
    """The message without characters that no search takes, cut in the middle to `max_chars`: the question stands at
    either end."""
    text = _UNSEARCHABLE.sub(" ", message).strip()
    if len(text) <= max_chars:
        return text
    tail = max_chars // 2
    return f"{text[: max_chars - tail - len(_GAP)]}{_GAP}{text[-tail:]}".strip()


def salient_sentences(message: str, language: str = "english") -> list[str]:
    """At most MAX_SENTENCES sentences of a message, in its order; none for a message that is one sentence.

    Questions are chosen first, then sentences with a name, then those with the most words that have a meaning; of
    equals the later one, because a message comes to its point in the end. Code is no sentence.
    """
    pieces = [piece.strip() for piece in _SENTENCE_END.split(outside_code(message))]
    sentences = [piece for piece in pieces if piece]
    if not sentences or sentences == [message.strip()]:
        return []
    readings = [(read(sentence, language), index) for index, sentence in enumerate(sentences)]
    ranked = sorted(((*_rank(reading), index) for reading, index in readings if _is_salient(reading)), reverse=True)
    return [sentences[index] for index in sorted(index for *_, index in ranked[:MAX_SENTENCES])]


def with_recent_messages(message: str, recent: Sequence[str], language: str = "english") -> str | None:
    """The user's last messages, oldest first, and the message as one text; None for a message that is understood by
    itself, and for the first one.

    A message of few words depends on the conversation: "and how long does it take?". The messages before it are
    shortened, so that it stays in view of a model that reads the beginning of a text.
    """
    before = [short for short in (shortened(text, RECENT_CHARS) for text in recent[-RECENT_MESSAGES:]) if short]
    if not before or read(message, language).words > MAX_DEPENDENT_WORDS:
        return None
    return "\n".join([*before, message])


def _rank(reading: Reading) -> tuple[bool, bool, int]:
    return reading.asks, reading.names, reading.words


def _is_salient(reading: Reading) -> bool:
    return reading.asks or reading.names or reading.words >= MIN_WORDS
