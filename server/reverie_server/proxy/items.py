"""The input of a request of the responses API as a conversation: with the memory of this turn, without that of earlier
ones. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie_indexer.errors import ValidationFailed
from reverie_server.proxy.chat import Conversation, hash_of, places_of, without_memory
from reverie_server.text.tokens import CountTokens

_ROLES = ("user", "assistant", "system", "developer")
_CALL, _RESULT = "function_call", "_call_output"


@dataclass(frozen=True, slots=True)
class Items(Conversation):
    """A conversation whose messages are the instructions of a request, if it has any, and items of its input.

    `places` has for each message but the instructions which item of `items` it is. Other items, such as what a model
    thought, are no messages. `conversation_id` is the provider's name of a conversation that it keeps.
    """

    items: Sequence[Any] = ()
    places: Sequence[int] = ()
    conversation_id: str | None = None

    @property
    def has_instructions(self) -> bool:
        """Whether the first message is not in the input."""
        return len(self.messages) > len(self.places)

    def request(self, body: Mapping[str, Any], system_prompt: str, user_section: str) -> dict[str, Any]:
        """The body to send: a system prompt that stands nowhere in the input is its instructions."""
        messages = self.with_memory(system_prompt, user_section)
        sent = {name: value for name, value in body.items() if name != "instructions"}
        if len(messages) > len(self.places):
            sent["instructions"] = messages.pop(0)["content"]
        items, own_messages = list(self.items), self.messages[int(self.has_instructions) :]
        for place, message, own in zip(self.places, messages, own_messages, strict=True):
            if message["content"] != own["content"]:
                items[place] = {**items[place], "content": _as_input(message["content"])}
        return {**sent, "input": items} if "input" in body else sent

    def last_pairs(self, count: CountTokens, at: datetime) -> Conversation:
        """The conversation cut to its last two pairs, with its system messages and what stands among these.

        Itself where the provider has what was said before: nothing of that can be left out.
        """
        if self.before:
            return self
        last, skipped = self.last_indexes(count, at), int(self.has_instructions)
        said = {self.places[index - skipped] for index in last}
        of_system = {place for place in self.places if self.items[place].get("role") in ("system", "developer")}
        first = min(said, default=0)
        items = [item for place, item in enumerate(self.items) if place >= first or place in of_system]
        instructions = self.messages[0]["content"] if self.has_instructions else None
        return _conversation(instructions, items, self.before, self.conversation_id)

    def session_id(self, owner_key: str | None) -> str:
        """The id of a session for a conversation whose caller names none, as that of a chat, or of the provider's."""
        if self.conversation_id is None:
            return Conversation.session_id(self, owner_key)
        return f"proxy:{hash_of(json.dumps([owner_key, 'conversation', self.conversation_id]))}"


def items_of(body: Mapping[str, Any], once: str) -> Items:
    """The conversation in the body of a request.

    `once` names this request: in a conversation that the provider keeps the same words are said again, where no
    earlier answer is named. ValidationFailed for instructions, an input or an item that is none.
    """
    instructions, conversation = body.get("instructions"), body.get("conversation")
    if not isinstance(instructions, str | None):
        raise ValidationFailed("body.instructions: a text")
    named = conversation.get("id") if isinstance(conversation, dict) else conversation
    conversation_id = named if isinstance(named, str) and named else None
    before = previous_of(body) or ("" if conversation_id is None else once)
    return _conversation(instructions, _checked(body.get("input")), before, conversation_id)


def previous_of(body: Mapping[str, Any]) -> str:
    """The id of the answer that a request goes on from; "" for none."""
    previous = body.get("previous_response_id")
    return previous if isinstance(previous, str) else ""


def _conversation(instructions: str | None, items: Sequence[Any], before: str, conversation_id: str | None) -> Items:
    read = [_message(item) for item in items]
    first = [] if instructions is None else [{"role": "system", "content": instructions}]
    stripped = iter(without_memory([*first, *(message for message in read if message is not None)]))
    messages = [message for _ in first if (message := next(stripped)) is not None]
    kept: list[Any] = []
    places: list[int] = []
    for item, message in zip(items, read, strict=True):
        if message is None:
            kept.append(item)
        elif (own := next(stripped)) is not None:
            messages.append(own)
            places.append(len(kept))
            kept.append(item if own is message else {**item, _words_of(item): own["content"]})
    return Items(messages, *places_of(messages), before, kept, places, conversation_id)


def _checked(given: Any) -> Sequence[Any]:
    """The items of an input, of which a text is one of the user's; none for none."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if given is None:
        return []
    if not isinstance(given, list):
        raise ValidationFailed("body.input: a text, or a list of items")
    for index, item in enumerate(given):
        if not isinstance(item, dict):
            raise ValidationFailed(f"body.input.{index}: an object")
        if not _is_message(item):
            continue
        if item.get("role") not in _ROLES:
            raise ValidationFailed(f"body.input.{index}: an object with a role of {', '.join(_ROLES)}")
        if not isinstance(item.get("content"), str | list):
            raise ValidationFailed(f"body.input.{index}.content: a text, or a list of parts")
    return given


def _message(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The item in the form of chat completions; None for one that nobody said."""
    if _is_message(item):
        return {"role": item["role"], "content": item["content"]}
    if item["type"] == _CALL:
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if _words_of(item) == "output" and isinstance(item.get("output"), str | list):
        return {"role": "tool", "content": item["output"], "tool_call_id": item.get("call_id")}
    return None


def _is_message(item: Mapping[str, Any]) -> bool:
    return str(item.get("type", "message")) == "message"


def _words_of(item: Mapping[str, Any]) -> str:
    """The field that has the words of an item."""
    return "output" if str(item.get("type")).endswith(_RESULT) else "content"


def _as_input(content: Any) -> Any:
    """A content with parts that were added to it, which are those of a chat, as parts of an input."""
    if not isinstance(content, list):
        return content
    return [
        {**part, "type": "input_text"} if isinstance(part, dict) and part.get("type") == "text" else part
        for part in content
    ]
