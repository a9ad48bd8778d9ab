"""The messages of a chat completion request: what memory had put into them taken out, and what it puts in now. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie_indexer.errors import ValidationFailed
from reverie_server.prompt.window import divide
from reverie_server.sessions.model import Message, NewMessage, Role
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.tokens import CountTokens, message_tokens

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_EXTRA = ("tool_calls", "tool_call_id", "name")
_HASH_CHARS = 40
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a caller sends, without what memory had put into it.

    `messages` are its own, in the form of the protocol. `system` is the place of its system prompt and `current` that
    of the user's message that this turn is about; None: there is none.
    """

    messages: Sequence[Mapping[str, Any]]
    system: int | None
    current: int | None

    @property
    def system_prompt(self) -> str:
        """The caller's own system prompt; "" without one."""
        return "" if self.system is None else text_of(self.messages[self.system])

    @property
    def current_text(self) -> str:
        """The words of the user's message that this turn is about; "" without one."""
        return "" if self.current is None else text_of(self.messages[self.current])

    def said(self, count: CountTokens, at: datetime) -> list[Message]:
        """What was said besides the current message, system messages left out; `seq` is the place among `messages`."""
        return [
            message for message in self._spoken(count, at) if message.seq != self.current and message.role != "system"
        ]

    def last_pairs(self, count: CountTokens, at: datetime) -> Conversation:
        """The conversation cut to its last two pairs, with its system messages and no call of tools without results."""
        spoken = [message for message in self._spoken(count, at) if message.role != "system"]
        kept = {message.seq for message in divide(spoken)[1]}
        places = [place for place, message in enumerate(self.messages) if place in kept or _role(message) == "system"]
        return Conversation(
            [self.messages[place] for place in places],
            None if self.system is None else places.index(self.system),
            places.index(self.current) if self.current in places else None,
        )

    def with_memory(self, prompt: str, beside: str) -> list[dict[str, Any]]:
        """The messages to send: `prompt`, which begins with the system prompt, in its place; `beside` with the user."""
        sent = [dict(message) for message in self.messages]
        if beside and self.current is not None:
            content = sent[self.current].get("content")
            put = [_part(beside), *content] if isinstance(content, list) else f"{beside}\n\n{content}"
            sent[self.current]["content"] = put
        if self.system is None:
            return [{"role": "system", "content": prompt}, *sent] if prompt else sent
        content = sent[self.system].get("content")
        if not isinstance(content, list):
            sent[self.system]["content"] = prompt
        elif rest := prompt.removeprefix(self.system_prompt).strip("\n"):
            # Parts may carry marks of their own for the provider's cache.
            sent[self.system]["content"] = [*content, _part(rest)]
        return sent

    def session_id(self, owner_key: str | None) -> str:
        """A session for the conversation where none is named: by how it began, which every later request repeats.

        An owner's is never that of others, or of nobody, who began with the same words.
        """
        chain = self._chain()
        first = next((place for place in chain if _role(self.messages[place]) == "user"), None)
        beginning = chain[first] if first is not None else next(iter(chain.values()), "")
        return f"proxy:{_hash(json.dumps([owner_key, beginning]))}"

    def new_messages(self, at: datetime) -> list[NewMessage]:
        """What was said since the last answer, by the user and by tools.

        Ids follow from the conversation up to and with each message: who asks again says the same.
        """
        chain = self._chain()
        places = list(chain)
        while places and _role(self.messages[places[-1]]) == "assistant":
            places.pop()  # the beginning of the answer, given to the model
        start = max((i + 1 for i, place in enumerate(places) if _role(self.messages[place]) == "assistant"), default=0)
        new = []
        for place in places[start:]:
            message = self.messages[place]
            extra = {name: message[name] for name in _EXTRA if message.get(name) is not None}
            text = storable(text_of(message))
            if text.strip() or _role(message) == "tool":
                new.append(NewMessage(_role(message), text, chain[place], at, extra))
        return new

    def _spoken(self, count: CountTokens, at: datetime) -> list[Message]:
        spoken = []
        for place, message in enumerate(self.messages):
            text = text_of(message)
            extra = {name: message[name] for name in _EXTRA if message.get(name) is not None}
            spoken.append(Message(place, _role(message), text, at, message_tokens(text, extra, count), extra=extra))
        return spoken

    def _chain(self) -> dict[int, str]:
        """By the place of each message that is no system message, a hash of the conversation up to and with it."""
        found: dict[int, str] = {}
        before = ""
        for place, message in enumerate(self.messages):
            if _role(message) == "system":
                continue  # it may hold the time of day
            parts = [before, message.get("role"), message.get("content"), *(message.get(name) for name in _EXTRA)]
            before = found[place] = _hash(json.dumps(parts, sort_keys=True))
        return found


def conversation_of(body: Mapping[str, Any]) -> Conversation:
    """The conversation in a request; ValidationFailed where `messages` is no list of messages with a known role."""
    given = body.get("messages")
    if not isinstance(given, list) or not given:
        raise ValidationFailed("body.messages: a list of at least one message")
    for place, message in enumerate(given):
        if not isinstance(message, dict) or message.get("role") not in list(_ROLES):
            raise ValidationFailed(f"body.messages.{place}: an object with a role of {', '.join(_ROLES)}")
        if not isinstance(message.get("content"), str | list | None):
            raise ValidationFailed(f"body.messages.{place}.content: a text, or a list of parts")
    last_user = max((place for place, message in enumerate(given) if message["role"] == "user"), default=None)
    messages: list[Mapping[str, Any]] = []
    system = current = None
    for place, message in enumerate(given):
        own = _own(message, keep=place == last_user)
        if own is None:
            continue
        if _role(own) == "system" and system is None:
            system = len(messages)
        if place == last_user:
            current = len(messages)
        messages.append(own)
    return Conversation(messages, system, current)


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message: its content, or the texts among its parts, one a line."""
    content = message.get("content")
    return "\n".join(_texts(content)) if isinstance(content, list) else content or ""


def storable(text: str) -> str:
    """The text as the database can hold it."""
    return _SURROGATE.sub("\ufffd", text).replace("\x00", "")


def _own(message: Mapping[str, Any], *, keep: bool) -> Mapping[str, Any] | None:
    """The message without what memory had put into it; None when it was nothing else.

    `keep`: it stays then too, with its marks defused.
    """
    content = message.get("content")
    if isinstance(content, list):
        parts = [own for part in content for own in _own_parts(part)]
        left: Any = parts if parts or not keep else content
    elif isinstance(content, str):
        left = _own_text(content) or (neutralise(content) if keep else "")
    else:
        return message
    if left == content:
        return message
    if not left and "tool_calls" not in message and _role(message) != "tool":
        return None
    return {**message, "content": left}


def _own_parts(part: Any) -> list[Any]:
    """The part without what memory had put into it; none when it was nothing else."""
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return [part]
    own = _own_text(part["text"])
    return [part] if own == part["text"] else [{**part, "text": own}] if own else []


def _own_text(text: str) -> str:
    own = strip_injected(text)
    return text if own == text else own.strip("\n")


def _texts(parts: Sequence[Any]) -> list[str]:
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _role(message: Mapping[str, Any]) -> Role:
    return _ROLES[message["role"]]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_CHARS]
