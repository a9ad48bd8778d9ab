"""Messages as a prompt has them: no echo of injected memory, no fence, no call of a tool without a result. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reverie_server.sessions.model import Message
from reverie_server.text.fences import for_prompt, strip_injected


def visible(live: Sequence[Message], caller: str, message: Message) -> list[Message]:
    """The live messages as a prompt has them: nothing twice, no fence and no controls in them.

    Left out: a system message that is in the caller's system prompt or comes a second time; the user's last message
    where it is the current one, stored before it was answered; calls of tools without a result, which no model takes.
    """
    answered = {stored.extra.get("tool_call_id") for stored in live if stored.role == "tool"} - {None}
    messages: list[Message] = []
    system_texts: set[str] = set()
    for stored in live:
        content = for_prompt(stored.content)
        if stored.role == "system":
            if content.strip() in caller or content in system_texts:
                continue
            system_texts.add(content)
        extra = _visible_extra(stored.extra, answered)
        if "tool_calls" in stored.extra and "tool_calls" not in extra and not content.strip():
            continue
        messages.append(replace(stored, content=content, extra=extra))
    if messages and messages[-1].role == "user" and messages[-1].content.strip() == message.content.strip():
        messages.pop()
    return messages


def _visible_extra(extra: Mapping[str, Any], answered: Collection[Any]) -> dict[str, Any]:
    """The fields of a message as a prompt has them: a clean name, and the calls of tools that are `answered`."""
    visible_extra = dict(extra)
    if isinstance(name := extra.get("name"), str):
        visible_extra["name"] = for_prompt(name)
    if (calls := extra.get("tool_calls")) is not None:
        del visible_extra["tool_calls"]
        if answered_calls := [call for call in calls if isinstance(call, dict) and call.get("id") in answered]:
            visible_extra["tool_calls"] = answered_calls
    return visible_extra


def without_echoes(message: str) -> str:
    """The user's message without injected memory; a message that is nothing else stays, with its marks defused."""
    stripped = strip_injected(message)
    return for_prompt(stripped if stripped == message else stripped.strip("\n") or message)
