"""The messages of a chat completion: echoes out, memory in, nothing of the caller's changed, ids that follow."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reverie_indexer.errors import ValidationFailed
from reverie_server.proxy.chat import Conversation, conversation_of
from reverie_server.sessions.model import NewMessage
from reverie_server.text.fences import CLOSE_FENCE, HEADER, OPEN_FENCE, SUMMARY_MARK
from reverie_server.text.tokens import estimate_tokens

NOW = datetime(2026, 4, 3, 12, tzinfo=UTC)
SECTION = f"{OPEN_FENCE}\n{HEADER}\n- (2026-04-01, memory/2026-04-01.md) Ada likes tea.\n{CLOSE_FENCE}"
SYSTEM = {"role": "system", "content": "You are Wren."}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: str | None, *calls: str) -> dict[str, Any]:
    given = {
        "tool_calls": [{"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}} for call in calls]
    }
    return {"role": "assistant", "content": content, **(given if calls else {})}


def tool(call: str, content: str = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": content}


def chat(*messages: dict[str, Any]) -> Conversation:
    return conversation_of({"messages": list(messages)})


def new(*messages: dict[str, Any]) -> list[NewMessage]:
    return list(chat(*messages).new_messages(NOW).messages)


def test_without_echoes_nothing_is_changed() -> None:
    messages = [SYSTEM, user("Hi"), assistant(None, "c1"), tool("c1"), assistant("Hello"), user([PICTURE])]
    assert chat(*messages).with_memory("You are Wren.", "") == messages
    assert chat(user("Hi")).with_memory("", "") == [user("Hi")]


def test_memory_stands_in_the_system_prompt_or_beside_the_message() -> None:
    conversation = chat(SYSTEM, user("Hi"), assistant("Hello"), user("And?"))
    sent = conversation.with_memory("You are Wren.\n\nMEMORY", "SECTION")
    assert sent[0] == {"role": "system", "content": "You are Wren.\n\nMEMORY"}
    assert sent[1:] == [user("Hi"), assistant("Hello"), user("SECTION\n\nAnd?")]
    assert conversation.messages[3] == user("And?")


def test_a_developers_prompt_stays_one() -> None:
    [prompt, _] = chat({"role": "developer", "content": "You are Wren."}, user("Hi")).with_memory("You are Wren. M", "")
    assert prompt == {"role": "developer", "content": "You are Wren. M"}


def test_parts_stay_parts() -> None:
    part = {"type": "text", "text": "You are Wren.", "cache_control": {"type": "ephemeral"}}
    conversation = chat({"role": "system", "content": [part]}, user([PICTURE, {"type": "text", "text": "What is it?"}]))
    assert conversation.system_prompt == "You are Wren."
    assert conversation.current_text == "What is it?"
    sent = conversation.with_memory("You are Wren.\n\nMEMORY", "SECTION")
    assert sent[0]["content"] == [part, {"type": "text", "text": "MEMORY"}]
    assert sent[1]["content"][0] == {"type": "text", "text": "SECTION"}
    assert sent[1]["content"][1:] == [PICTURE, {"type": "text", "text": "What is it?"}]


def test_echoes_are_taken_out_and_what_is_nothing_else_goes() -> None:
    conversation = chat(
        {"role": "system", "content": f"You are Wren.\n\n{SECTION}"},
        user(f"{SUMMARY_MARK}\n- User: I like tea."),
        user(f"{SECTION}\n\nHi"),
        assistant(SECTION),
        assistant(SECTION, "c1"),
        tool("c1", SECTION),
        user([{"type": "text", "text": SECTION}, {"type": "text", "text": "And?"}]),
    )
    assert list(conversation.messages) == [
        SYSTEM,
        user("Hi"),
        assistant("", "c1"),
        tool("c1", ""),
        user([{"type": "text", "text": "And?"}]),
    ]
    assert (conversation.system, conversation.current, conversation.current_text) == (0, 4, "And?")


def test_the_current_message_stays_even_if_it_is_an_echo() -> None:
    conversation = chat(SYSTEM, user(SECTION))
    assert conversation.current == 1
    assert "Ada likes tea." in conversation.current_text
    assert OPEN_FENCE not in conversation.current_text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None},
        {"messages": []},
        {"messages": "Hi"},
        {"messages": ["Hi"]},
        {"messages": [{"content": "Hi"}]},
        {"messages": [{"role": "king", "content": "Hi"}]},
        {"messages": [{"role": ["user"], "content": "Hi"}]},
        {"messages": [{"role": "user", "content": 7}]},
    ],
)
def test_what_is_no_conversation_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed, match=r"body\.messages"):
        conversation_of(body)


def test_odd_parts_are_passed_on() -> None:
    odd = user([7, None, "x", {"type": "text"}, {"type": "text", "text": 7}, {}])
    assert chat(odd).with_memory("", "") == [odd]
    assert chat(odd).current_text == ""


def test_what_is_new_is_what_came_since_the_last_answer() -> None:
    history = [SYSTEM, user("one"), assistant("1"), user("two"), user("three")]
    assert [message.content for message in new(*history)] == ["two", "three"]
    assert [message.content for message in new(user("one"), assistant(None, "c1"), tool("c1", "found"))] == ["found"]
    assert new(user("one"), assistant(None, "c1"), tool("c1"))[0].extra == {"tool_call_id": "c1"}
    assert [message.content for message in new(user("one"), assistant("The answer is"))] == ["one"]
    assert new(user("one"), assistant("1"), assistant("2"))[0].content == "one"


def test_ids_follow_from_the_conversation() -> None:
    first = new(SYSTEM, user("one"), assistant("1"), user("two"))
    assert first == new({**SYSTEM, "content": "It is noon."}, user("one"), assistant("1"), user("two"))
    others = [
        new(user("two")),
        new(user("one"), assistant("1"), user("two!")),
        new(user("one"), assistant("2"), user("two")),
        new(user("one"), assistant("1", "c1"), user("two")),
        new(user("one"), assistant("1"), user([{"type": "text", "text": "two"}])),
    ]
    ids = [message.message_id for messages in [first, *others] for message in messages]
    assert len(set(ids)) == len(ids)
    assert len({message.message_id for message in new(user("yes"), user("yes"))}) == 2


def test_a_session_is_told_by_how_it_began_and_whose_it_is() -> None:
    begun = chat(SYSTEM, user("one")).session_id("user:1")
    assert begun.startswith("proxy:")
    assert chat(user("one"), assistant("1"), user("two")).session_id("user:1") == begun
    others = [
        chat(SYSTEM, user("one")).session_id("user:2"),
        chat(SYSTEM, user("one")).session_id(None),
        chat(user("two")).session_id("user:1"),
        chat(assistant("Hello!"), user("one")).session_id("user:1"),
        chat(SYSTEM).session_id("user:1"),
    ]
    assert len({begun, *others}) == len(others) + 1


def test_what_cannot_be_stored_is_replaced() -> None:
    [message] = new(user("a\x00b\ud800c"))
    assert message.content == "ab\ufffdc"
    [message] = new({**user("Hi"), "name": "A\x00da", "tool_call_id": "\ud800"})
    assert message.extra == {"name": "Ada", "tool_call_id": "\ufffd"}


@pytest.mark.parametrize(
    "fields",
    [
        {"name": {"x": 1}},
        {"name": ["a"]},
        {"tool_call_id": 5},
        {"tool_calls": "no list"},
        {"tool_calls": {"id": "c1"}},
        {"tool_calls": [{"id": "a\x00b"}]},
        {"tool_calls": [{"id": "x" * 1_048_576}]},
        {"tool_calls": [{"function": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[7]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}]},
    ],
)
def test_fields_that_cannot_be_read_or_stored_are_left_out(fields: dict[str, Any]) -> None:
    [message] = new({**user("Hi"), **fields})
    assert (message.content, message.extra) == ("Hi", {})


def test_calls_among_what_are_none_are_kept() -> None:
    [message] = new({**user("Hi"), "tool_calls": ["a", {"id": "c1"}, 7], "name": "Ada"})
    assert message.extra == {"tool_calls": [{"id": "c1"}], "name": "Ada"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([PICTURE, PICTURE], "(Without words: a picture.)"),
        ([PICTURE, {"type": "file", "file": {}}, {"type": ["x"]}, 7], "(Without words: a picture, a file.)"),
        ([], "(Without words.)"),
        (" \n", "(Without words.)"),
    ],
)
def test_a_message_without_words_says_so(content: Any, words: str) -> None:
    kept = chat(user(content)).new_messages(NOW)
    assert ([message.content for message in kept.messages], kept.missing) == ([words], ("message_without_words",))
    assert chat(user([PICTURE, {"type": "text", "text": "What is it?"}])).new_messages(NOW).missing == ()


def test_a_text_that_is_too_long_is_cut_and_says_so() -> None:
    kept = chat(user("é" * 600_000), user("Short.")).new_messages(NOW)
    [long, short] = kept.messages
    assert long.content.startswith("é" * 500_000)
    assert long.content.endswith("é\n\n(The rest of this message was too long to be stored.)")
    assert len(long.content.encode()) <= 1_048_576
    assert (short.content, kept.missing) == ("Short.", ("message_cut",))
    assert chat(user("x" * 1_048_576)).new_messages(NOW).missing == ()


def test_the_last_pairs_keep_tools_together_and_every_system_message() -> None:
    late = {"role": "system", "content": "Be brief."}
    pairs = [user("two"), assistant(None, "c1", "c2"), tool("c1"), tool("c2"), assistant("2"), late, user("three")]
    cut = chat(SYSTEM, user("one"), assistant(None, "c0"), tool("c0"), assistant("1"), *pairs).last_pairs(
        estimate_tokens, NOW
    )
    assert list(cut.messages) == [SYSTEM, *pairs]
    assert (cut.system, cut.current) == (0, 7)
    assert cut.system_prompt == "You are Wren."


def test_in_the_middle_of_tools_the_turn_is_kept_whole() -> None:
    turn = [user("three"), assistant(None, "c1"), tool("c1"), assistant(None, "c2"), tool("c2")]
    cut = chat(user("one"), assistant("1"), user("two"), assistant("2"), *turn).last_pairs(estimate_tokens, NOW)
    assert list(cut.messages) == [user("two"), assistant("2"), *turn]
    assert cut.current_text == "three"


def test_what_was_said_is_without_the_current_message() -> None:
    conversation = chat(SYSTEM, user("one"), assistant("1"), user("two"), assistant(None, "c1"), tool("c1", "found"))
    assert [(message.role, message.content) for message in conversation.history(estimate_tokens, NOW)] == [
        ("user", "one"),
        ("assistant", "1"),
        ("assistant", ""),
        ("tool", "found"),
    ]
