"""The messages of a chat completion request: strip the memory of earlier turns, and put in that of this one. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie_indexer.errors import ValidationFailed
from reverie_server.prompt.window import divide
from reverie_server.proxy.kept import Kept, kept, text_of
from reverie_server.sessions.model import Message, Role, fields_of
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


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a caller, in the form of the protocol, without the memory that earlier turns had put into them.

    `system` is the index of the system prompt, `current` that of the user's message that this turn answers; None:
    there is none. `before` stands for what was said before the first message, where the provider has that.
    """

    messages: Sequence[Mapping[str, Any]]
    system: int | None
    current: int | None
    before: str = ""

    @property
    def system_prompt(self) -> str:
        """The caller's own system prompt; "" without one."""
        return "" if self.system is None else _text_of(self.messages[self.system])

    @property
    def current_text(self) -> str:
        """The words of the user's message that this turn answers; "" without one."""
        return "" if self.current is None else _text_of(self.messages[self.current])

    def history(self, count: CountTokens, at: datetime) -> list[Message]:
        """The messages but the current one and those of the system; `seq` is the index among `messages`."""
        return [message for message in self._said(count, at) if message.seq != self.current]

    def last_pairs(self, count: CountTokens, at: datetime) -> Conversation:
        """The conversation cut to its last two pairs, with its system messages and no call of tools without results."""
        last = self.last_indexes(count, at)
        indexes = [index for index, message in enumerate(self.messages) if index in last or _role(message) == "system"]
        return Conversation(
            [self.messages[index] for index in indexes],
            None if self.system is None else indexes.index(self.system),
            indexes.index(self.current) if self.current in indexes else None,
            self.before,
        )

    def last_indexes(self, count: CountTokens, at: datetime) -> set[int]:
        """The indexes of the messages of the last two pairs."""
        return {message.seq for message in divide(self._said(count, at))[1]}

    def request(self, body: Mapping[str, Any], system_prompt: str, user_section: str) -> dict[str, Any]:
        """The body to send: that of the caller, with the messages of `with_memory` in it."""
        return {**body, "messages": self.with_memory(system_prompt, user_section)}

    def with_memory(self, system_prompt: str, user_section: str) -> list[dict[str, Any]]:
        """The messages to send: with `system_prompt`, which begins with the caller's own, in the place of that, and
        `user_section` before the current message; "" for none."""
        messages = [dict(message) for message in self.messages]
        if user_section and self.current is not None:
            content = messages[self.current].get("content")
            messages[self.current]["content"] = (
                [_part(user_section), *content] if isinstance(content, list) else f"{user_section}\n\n{content}"
            )
        if self.system is None:
            return [{"role": "system", "content": system_prompt}, *messages] if system_prompt else messages
        content = messages[self.system].get("content")
        if not isinstance(content, list):
            messages[self.system]["content"] = system_prompt
        elif added := system_prompt.removeprefix(self.system_prompt).strip("\n"):
            # Parts may carry marks of their own for the provider's cache.
            messages[self.system]["content"] = [*content, _part(added)]
        return messages

    def session_id(self, owner_key: str | None) -> str:
        """The id of a session for a conversation whose caller names none.

        It follows from the beginning of the conversation, which every later request repeats, and from the owner: two
        owners who begin with the same words have two sessions.
        """
        hashes = self._prefix_hashes()
        first = next((index for index in hashes if _role(self.messages[index]) == "user"), None)
        beginning = hashes[first] if first is not None else next(iter(hashes.values()), "")
        return f"proxy:{hash_of(json.dumps([owner_key, beginning]))}"

    def new_messages(self, at: datetime) -> Kept:
        """The messages of the user and of tools since the last answer, as a session keeps them.

        The id of each follows from the conversation up to it and its own content, so that a request that is tried again
        has the same ids.
        """
        hashes = self._prefix_hashes()
        indexes = list(hashes)
        while indexes and _role(self.messages[indexes[-1]]) == "assistant":
            indexes.pop()  # the beginning of the answer, which the caller prescribes
        answers = [i for i, index in enumerate(indexes) if _role(self.messages[index]) == "assistant"]
        new = [(hashes[index], self.messages[index]) for index in indexes[answers[-1] + 1 if answers else 0 :]]
        found = [kept(_role(message), message.get("content"), message, name, at) for name, message in new]
        missing = dict.fromkeys(missing for _, missing in found if missing is not None)
        return Kept([message for message, _ in found], tuple(missing))

    def _said(self, count: CountTokens, at: datetime) -> list[Message]:
        """The messages but those of the system, as those of a session, numbered by their index."""
        messages = []
        for index, message in enumerate(self.messages):
            if _role(message) == "system":
                continue
            text, extra = _text_of(message), fields_of(message)
            tokens = message_tokens(text, extra, count)
            messages.append(Message(index, _role(message), text, at, tokens, extra=extra))
        return messages

    def _prefix_hashes(self) -> dict[int, str]:
        """A hash of the conversation up to and with each message, by its index; system messages are left out."""
        hashes: dict[int, str] = {}
        before = self.before
        for index, message in enumerate(self.messages):
            if _role(message) == "system":
                continue  # it may contain the time of day
            parts = [before, message.get("role"), message.get("content"), *(message.get(name) for name in _EXTRA)]
            before = hashes[index] = hash_of(json.dumps(parts, sort_keys=True))
        return hashes


def conversation_of(body: Mapping[str, Any]) -> Conversation:
    """The conversation in the body of a request.

    ValidationFailed where `messages` is no list of messages with a known role.
    """
    messages = without_memory(_checked_messages(body.get("messages")))
    kept = [message for message in messages if message is not None]
    return Conversation(kept, *places_of(kept))


def without_memory(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any] | None]:
    """Each message without injected memory; None for one that was nothing else, unless it is the user's last."""
    last_user = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=None)
    return [_stripped(message, keep=index == last_user) for index, message in enumerate(messages)]


def places_of(messages: Sequence[Mapping[str, Any]]) -> tuple[int | None, int | None]:
    """The index of the system prompt, and that of the last message of the user; None without one."""
    system = next((index for index, message in enumerate(messages) if _role(message) == "system"), None)
    current = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=None)
    return system, current


def _checked_messages(messages: Any) -> list[dict[str, Any]]:
    if not isinstance(messages, list) or not messages:
        raise ValidationFailed("body.messages: a list of at least one message")
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in list(_ROLES):
            raise ValidationFailed(f"body.messages.{index}: an object with a role of {', '.join(_ROLES)}")
        if not isinstance(message.get("content"), str | list | None):
            raise ValidationFailed(f"body.messages.{index}.content: a text, or a list of parts")
    return messages


def _stripped(message: Mapping[str, Any], *, keep: bool) -> Mapping[str, Any] | None:
    """The message without injected memory; None for one that was nothing else.

    With `keep` such a message stays, with its marks defused.
    """
    content = message.get("content")
    if isinstance(content, list):
        parts = [stripped for part in content for stripped in _stripped_parts(part)]
        remaining: Any = parts if parts or not keep else content
    elif isinstance(content, str):
        remaining = _stripped_text(content) or (neutralise(content) if keep else "")
    else:
        return message
    if remaining == content:
        return message
    if not remaining and "tool_calls" not in message and _role(message) != "tool":
        return None
    return {**message, "content": remaining}


def _stripped_parts(part: Any) -> list[Any]:
    """The part without injected memory, as a list; empty for one that was nothing else."""
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return [part]
    text = _stripped_text(part["text"])
    return [part] if text == part["text"] else [{**part, "text": text}] if text else []


def _stripped_text(text: str) -> str:
    stripped = strip_injected(text)
    return text if stripped == text else stripped.strip("\n")


def _text_of(message: Mapping[str, Any]) -> str:
    return text_of(message.get("content"))


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _role(message: Mapping[str, Any]) -> Role:
    return _ROLES[message["role"]]


def hash_of(text: str) -> str:
    """The name of a text in ids of sessions and messages."""
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_CHARS]
