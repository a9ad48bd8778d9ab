"""What was heard of a user before a request: the statements that it may be about, and where each stands. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from reverie_server.sessions.model import Message
from reverie_server.text.questions import is_question

MAX_HEARD = 48
"""So many statements are weighed for one request."""
_MAX_OF_MEMORY = 16
# What was said longer ago is of another conversation.
_SAME_TALK = timedelta(hours=12)
WAITS = ""
"""Stands for what is not said yet: whether the next message is meant."""
Where = Literal["before", "own", "after", "earlier", "memory", "next"]


@dataclass(frozen=True, slots=True)
class Heard:
    """A statement that a request may be about, `where` it stands.

    `back` counts the user's messages between (1: the one before that of the request); `number` is its place in its
    message, of `count`. `previous` and `following` are the statements beside it there, "" where there is none;
    `is_reply` says that its message replies to a question.
    """

    text: str
    where: Where
    back: int = 0
    number: int = 0
    count: int = 1
    previous: str = ""
    following: str = ""
    is_reply: bool = False


@dataclass(frozen=True, slots=True)
class NearStatement:
    """A statement: said in a message, `at` a time, or in a file (None); `previous` and `following` stand beside it
    there, "" where nothing does."""

    text: str
    at: datetime | None
    previous: str = ""
    following: str = ""


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """The sentences of a message of the user, and whether it replies to a question."""

    sentences: Sequence[str]
    is_reply: bool = False


@dataclass(frozen=True, slots=True)
class HeardBefore:
    """What a user said before a request, the newest first: the messages of the same talk, and statements of another
    day."""

    talk: Sequence[HeardMessage]
    older: Sequence[str]


def heard_of(
    message: HeardMessage,
    number: int,
    earlier: Sequence[HeardMessage],
    memory: Sequence[str] = (),
    following: HeardMessage | None = None,
) -> list[Heard]:
    """The statements that the request which is sentence `number` of a message may mean.

    They are those of the message, of `earlier` ones of the talk (the newest first), of the `memory`, and of the
    `following` message, or WAITS where there is none yet. Each text is there once, at most MAX_HEARD;
    of a message that has more, those about the request.
    """
    first = max(0, number - MAX_HEARD // 2)
    found = [
        _heard(message, at, "own" if at == number else "before" if at < number else "after")
        for at in range(first, min(first + MAX_HEARD, len(message.sentences)))
    ]
    if following is not None:
        found += [_heard(following, at, "next") for at in range(min(MAX_HEARD, len(following.sentences)))]
    else:
        found.append(Heard(WAITS, "next"))
    others = [Heard(text, "memory") for text in memory[:_MAX_OF_MEMORY]]
    for back, each in enumerate(earlier, 1):
        some = range(min(MAX_HEARD, len(each.sentences)))
        found += [replace(_heard(each, at, "earlier"), back=back) for at in some]
    once: dict[str, Heard] = {}
    for heard in [*found[: MAX_HEARD - len(others)], *others]:
        once.setdefault(heard.text, heard)
    return list(once.values())


def heard_before(page: Sequence[Message], index: int, sentences_of: Callable[[int], Sequence[str]]) -> HeardBefore:
    """What the user said before the message at `index` of a page; `sentences_of` parts the message at a place.

    A message that is the first of its day goes on from the talk before. Nothing is heard of messages before those that
    have MAX_HEARD sentences.
    """
    talk: list[HeardMessage] = []
    older: list[str] = []
    count = 0
    until = page[index].at
    for at in range(index - 1, -1, -1):
        if count >= MAX_HEARD:
            break
        said = sentences_of(at) if page[at].role == "user" else ()
        count += len(said)
        if said and not talk:
            until = page[at].at
        if until - page[at].at > _SAME_TALK:
            older += said
        elif said:
            talk.append(heard_at(page, at, said))
    return HeardBefore(talk, older)


def heard_at(page: Sequence[Message], index: int, sentences: Sequence[str]) -> HeardMessage:
    """The sentences of the message at `index` of a page, and whether it replies to a question."""
    before = page[index - 1] if index else None
    return HeardMessage(sentences, before is not None and before.role == "assistant" and is_question(before.content))


def _heard(message: HeardMessage, at: int, where: Where) -> Heard:
    said = message.sentences
    previous, following = said[at - 1] if at else "", said[at + 1] if at + 1 < len(said) else ""
    return Heard(said[at], where, 0, at, len(said), previous, following, message.is_reply)
