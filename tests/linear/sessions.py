"""How the functions of sessions, prompts and the proxy are called: the text as messages, stored and sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.growth import Reading
from tests.linear.texts import NOW, count, lines_of_talk, message, new_talk, talk

from reverie_server.heuristics import notes
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.prompt import visible_messages, window
from reverie_server.proxy import chat, commands, items, kept, passing
from reverie_server.sessions import chunk, daily_log, transcript, validate
from reverie_server.sessions.model import Message
from reverie_server.settings.agent import AgentSettings

SETTINGS = AgentSettings()
LOGGED = "[10:00] User: {} | Assistant: {}"


def _body(text: str) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}, {"type": "text", "text": "Ada"}]
    turns = [{"role": "user", "content": line[:200]} for line in text.split("\n")[:2000]]
    return {
        "messages": [
            {"role": "system", "content": text},
            *turns,
            {"role": "assistant", "content": text, "tool_calls": [{"id": text[:50]}]},
            {"role": "tool", "content": text, "tool_call_id": text[:50]},
            {"role": "user", "content": parts},
            {"role": "user", "content": text},
        ]
    }


def _conversation(text: str) -> chat.Conversation:
    return chat.conversation_of(_body(text))


def _input(text: str) -> dict[str, Any]:
    said = [
        {"role": "user", "content": [{"type": "input_text", "text": line[:200]}]} for line in text.split("\n")[:2000]
    ]
    return {
        "instructions": text,
        "input": [
            *said,
            {"type": "reasoning", "summary": [text]},
            {"type": "function_call", "call_id": text[:50], "name": "look", "arguments": text},
            {"type": "function_call_output", "call_id": text[:50], "output": text},
            {"role": "developer", "content": text},
            {"role": "user", "content": [{"type": "input_text", "text": text}]},
        ],
    }


def _items(text: str) -> items.Items:
    return items.items_of(_input(text), "once")


def _calls(text: str) -> list[Message]:
    """As many calls of tools as there are messages, all of one id, with their results."""
    found: list[Message] = []
    for one in lines_of_talk(text):
        call = {"tool_calls": [{"id": "a"}]} if one.role == "assistant" else {"tool_call_id": "a"}
        found.append(Message(one.seq, "assistant" if one.role == "assistant" else "tool", "", NOW, 1, extra=call))
    return found


TABLE: Mapping[str, Reading] = {
    "reverie_server.proxy.chat.conversation_of": _conversation,
    "reverie_server.proxy.commands.command_of": lambda text: commands.command_of(_conversation(text)),
    "reverie_server.proxy.commands.read_command": lambda text: commands.read_command(f"/compact {text}"),
    "reverie_server.proxy.chat.Conversation.history": lambda text: _conversation(text).history(count, NOW),
    "reverie_server.proxy.chat.Conversation.last_pairs": lambda text: _conversation(text).last_pairs(count, NOW),
    "reverie_server.proxy.chat.Conversation.with_memory": lambda text: _conversation(text).with_memory(text, text),
    "reverie_server.proxy.chat.Conversation.session_id": lambda text: _conversation(text).session_id("ada"),
    "reverie_server.proxy.chat.Conversation:new_messages": lambda text: _conversation(text).new_messages(NOW),
    "reverie_server.proxy.chat.Conversation.last_indexes": lambda text: _conversation(text).last_indexes(count, NOW),
    "reverie_server.proxy.chat.Conversation.request": lambda text: _conversation(text).request(_body(text), text, text),
    "reverie_server.proxy.chat.without_memory": lambda text: chat.without_memory(_body(text)["messages"]),
    "reverie_server.proxy.chat.places_of": lambda text: chat.places_of(_body(text)["messages"]),
    "reverie_server.proxy.chat.hash_of": lambda text: chat.hash_of(text.encode("utf-8", "replace").decode()),
    "reverie_server.proxy.items.items_of": _items,
    "reverie_server.proxy.items.Items.request": lambda text: _items(text).request(_input(text), text, text),
    "reverie_server.proxy.items.Items.last_pairs": lambda text: _items(text).last_pairs(count, NOW),
    "reverie_server.proxy.items.Items.session_id": lambda text: _items(text).session_id("ada"),
    "reverie_server.proxy.passing.is_too_long": lambda text: passing.is_too_long(text.encode("utf-8", "replace")),
    "reverie_server.proxy.passing.error_event": lambda text: passing.error_event(
        LanguageModelUnavailable("timeout", text)
    ),
    "reverie_server.proxy.passing.passed_headers": lambda text: passing.passed_headers(
        {text: text, "x-request-id": text}
    ),
    "reverie_server.proxy.kept.text_of": lambda text: kept.text_of([{"type": "text", "text": text}]),
    "reverie_server.proxy.kept.kept": lambda text: kept.kept(
        "user", text, {"name": text, "tool_calls": [{"id": text}]}, "m", NOW
    ),
    "reverie_server.sessions.chunk.chunk_messages": lambda text: chunk.chunk_messages(SETTINGS, [message(text)]),
    "reverie_server.sessions.daily_log.entries": lambda text: daily_log.entries(talk(text), "Europe/Oslo"),
    "reverie_server.sessions.daily_log.entries:lines": lambda text: daily_log.entries(lines_of_talk(text), "UTC"),
    "reverie_server.sessions.daily_log.log_text": lambda text: daily_log.log_text(text, text),
    "reverie_server.sessions.daily_log.exchange_with": lambda text: daily_log.exchange_with(
        text, text, is_of_user=False
    ),
    "reverie_server.sessions.daily_log.excerpt": lambda text: daily_log.excerpt(text, 200),
    "reverie_server.sessions.daily_log.parts_of": daily_log.parts_of,
    "reverie_server.sessions.daily_log.parts_of:logged": lambda text: daily_log.parts_of(LOGGED.format(text, text)),
    "reverie_server.sessions.daily_log.repeats": lambda text: daily_log.repeats(LOGGED.format(text, text), text),
    "reverie_server.sessions.daily_log.cut_off": lambda text: daily_log.cut_off(text, ["Ada", text[:250], text]),
    "reverie_server.sessions.daily_log.cut_off:lines": lambda text: daily_log.cut_off(text, text.split("\n")[:2000]),
    "reverie_server.sessions.validate.check_messages": lambda text: validate.check_messages(new_talk(text), NOW),
    "reverie_server.sessions.validate.is_message_id": validate.is_message_id,
    "reverie_server.sessions.validate.check_json": lambda text: validate.check_json(
        {"a": text, text[:100]: [text, {"b": text.split("\n")}]}, validate.MAX_CONTENT_BYTES, "the metadata"
    ),
    "reverie_server.sessions.validate.cleaned": lambda text: validate.cleaned(new_talk(text)),
    "reverie_server.sessions.validate.with_content": lambda text: validate.with_content(new_talk("Ada")[0], text),
    "reverie_server.sessions.transcript.transcript": lambda text: transcript.transcript(talk(text), "notes"),
    "reverie_server.sessions.transcript.transcript:summary": lambda text: transcript.transcript(
        lines_of_talk(text), "summary"
    ),
    "reverie_server.sessions.transcript.parts": lambda text: transcript.parts(lines_of_talk(text), 5),
    "reverie_server.heuristics.notes.note_lines": lambda text: notes.note_lines([text, *text.split("\n")]),
    "reverie_server.heuristics.notes.new_lines": lambda text: notes.new_lines(text.split("\n"), f"x{text}"),
    "reverie_server.heuristics.notes.bullets": lambda text: notes.bullets(text.split("\n")),
    "reverie_server.sessions.transcript.clipped": lambda text: transcript.clipped(text, 500, count),
    "reverie_server.sessions.transcript.clipped:all": lambda text: transcript.clipped(text, count(text) // 2, count),
    "reverie_server.prompt.window.Window.is_filling": lambda text: window.Window(1000, 10).is_filling(
        lines_of_talk(text)
    ),
    "reverie_server.prompt.window.tokens_of": lambda text: window.tokens_of(lines_of_talk(text)),
    "reverie_server.prompt.window.units_of": lambda text: window.units_of(_calls(text)),
    "reverie_server.prompt.window.divide": lambda text: window.divide(lines_of_talk(text)),
    "reverie_server.prompt.window.trim": lambda text: window.trim(_calls(text), 1000),
    "reverie_server.prompt.window.all_but_last": lambda text: window.all_but_last(_calls(text), 5),
    "reverie_server.prompt.visible_messages.visible": lambda text: visible_messages.visible(
        [*lines_of_talk(text), *_calls(text)], text, message(text)
    ),
    "reverie_server.prompt.visible_messages.without_echoes": visible_messages.without_echoes,
}

EXEMPT: Mapping[str, str] = {
    "reverie_server.proxy.items.previous_of": "looks a field up",
    "reverie_server.sessions.chunk.check_passages": "counts passages and reads none",
    "reverie_server.sessions.daily_log.local_day": "takes a time and the name of a zone",
}
