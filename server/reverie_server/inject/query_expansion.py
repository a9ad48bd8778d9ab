"""What a message is searched by: itself, and of a long one its most telling sentences too. Pure.

A message of several sentences is about several things: its vector is near to none of them, and no passage holds much of
its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.heuristics.small_talk import MIN_WORDS, Reading, outside_code, read
from reverie_server.text.query import MAX_QUERY_CHARS

MAX_SENTENCES = 2
# So many of the user's last messages help with the present one, and so much of each.
RECENT_MESSAGES = 2
RECENT_CHARS = 300
# A message with more words that carry a meaning stands by itself.
LEANING_WORDS = 5
_UNSEARCHABLE = re.compile("[\x00\ud800-\udfff]")
_SENTENCE_END = re.compile(r"(?<=[.!?…؟])\s+|(?<=[。！？｡।])|\n+")
_GAP = "\n"


def shortened(message: str, max_chars: int = MAX_QUERY_CHARS) -> str:
    """The message without what cannot be searched for, cut in the middle: what is asked stands at either end."""
    text = _UNSEARCHABLE.sub(" ", message).strip()
    if len(text) <= max_chars:
        return text
    tail = max_chars // 2
    return f"{text[: max_chars - tail - len(_GAP)]}{_GAP}{text[-tail:]}".strip()


def telling_sentences(message: str, language: str = "english") -> list[str]:
    """At most MAX_SENTENCES sentences to search by as well, in order; none for a message that is one sentence.

    Sentences that ask something come first, then those that name something, then those with the most words that have a
    meaning; of equals the later, which is what a message comes to. Code is no sentence.
    """
    pieces = [piece.strip() for piece in _SENTENCE_END.split(outside_code(message))]
    sentences = [piece for piece in pieces if piece]
    if not sentences or sentences == [message.strip()]:
        return []
    readings = [(read(sentence, language), place) for place, sentence in enumerate(sentences)]
    worth = [(*_rank(reading), place) for reading, place in readings if _is_worth_it(reading)]
    return [sentences[place] for *_, place in sorted(sorted(worth, reverse=True)[:MAX_SENTENCES], key=lambda w: w[-1])]


def with_recent(message: str, recent: Sequence[str], language: str = "english") -> str | None:
    """The message with what the user said before it, oldest first, as one text; None for a message that says enough by
    itself, or where nothing was said before.

    A message of few words leans on the conversation: "and how long does it take?". Long messages are shortened, so that
    the present one stays in view of a model that reads the beginning of a text.
    """
    before = [short for short in (shortened(text, RECENT_CHARS) for text in recent[-RECENT_MESSAGES:]) if short]
    if not before or read(message, language).words > LEANING_WORDS:
        return None
    return "\n".join([*before, message])


def _rank(reading: Reading) -> tuple[bool, bool, int]:
    return reading.asks, reading.names, reading.words


def _is_worth_it(reading: Reading) -> bool:
    return reading.asks or reading.names or reading.words >= MIN_WORDS
