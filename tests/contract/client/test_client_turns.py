"""Conversations and turns through the Python client."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import reverie_client

LATER = datetime(2026, 4, 3, 9, 30, 7, tzinfo=UTC)
TALK = [
    {"role": "user", "content": "When is the review with Ada?", "id": "m-1", "at": "2026-04-03T09:30:00Z"},
    {"role": "assistant", "content": "The review is on Thursday.", "id": "m-2", "at": LATER},
]


async def said(memory: Any, session_id: str, **options: Any) -> list[str]:
    return [message.content async for message in memory.messages(session_id, **options)]


async def test_what_is_said_is_there_to_be_read_and_found(me: Any) -> None:
    appended = await me.add_messages("telegram:17", TALK)
    assert appended.stored == 2
    session = appended.session
    assert (session.session_id, session.owner_key, session.channel, session.chat_id) == (
        "telegram:17",
        "user:42",
        "telegram",
        "17",
    )
    assert (session.state, session.message_count, session.compactions) == ("active", 2, 0)
    assert session == await me.session("telegram:17")
    first, second = [message async for message in me.messages("telegram:17")]
    assert (first.seq, first.id, first.role, first.content) == (1, "m-1", "user", "When is the review with Ada?")
    assert (first.at, first.compacted, first.tool_calls) == (LATER - timedelta(seconds=7), False, None)
    assert (second.seq, second.at, first.tokens + second.tokens) == (2, LATER, session.tokens)
    [hit] = [hit for hit in await me.search("review with Ada", tiers=["message"]) if "When" in hit.text]
    assert (hit.tier, hit.path, hit.scope, hit.updated_at) == ("message", "sessions/telegram:17", "personal", first.at)
    assert "The review is on Thursday." in (await me.read("memory/2026-04-03.md")).content


async def test_a_repeated_message_is_stored_once(me: Any) -> None:
    await me.add_messages("web:1", TALK)
    again = await me.add_messages("web:1", [*TALK, {"role": "user", "content": "Thank you."}])
    assert (again.stored, again.session.message_count) == (1, 3)


async def test_messages_come_in_pages_in_their_order(me: Any) -> None:
    texts = [f"Message {n}." for n in range(7)]
    await me.add_messages("web:1", [{"role": "user", "content": text} for text in texts])
    assert await said(me, "web:1", page_size=3) == texts
    assert await said(me, "web:1") == texts


async def test_a_call_of_a_tool_is_kept_as_it_was(me: Any) -> None:
    call = {"id": "call-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    await me.add_messages(
        "web:1",
        [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "Nothing.", "tool_call_id": "call-1", "name": "look"},
        ],
    )
    asked, told = [message async for message in me.messages("web:1")]
    assert (asked.content, list(asked.tool_calls)) == ("", [call])
    assert (told.role, told.content, told.tool_call_id, told.name) == ("tool", "Nothing.", "call-1", "look")


async def test_a_conversation_is_its_owners(reverie: Any, me: Any) -> None:
    other, team = reverie.agent("me", owner_key="user:7"), reverie.agent("me")
    await me.add_messages("web:1", TALK)
    with pytest.raises(reverie_client.NotFound):
        await other.session("web:1")
    with pytest.raises(reverie_client.NotFound):
        await team.session("web:1")
    await other.add_messages("web:1", [{"role": "user", "content": "Something else."}])
    assert (await team.put_session("web:1")).owner_key is None
    assert [(await one.session("web:1")).message_count for one in (me, other, team)] == [2, 1, 0]


async def test_state_and_metadata_are_changed_apart(me: Any) -> None:
    made = await me.put_session("web:1", metadata={"title": "The review", "tags": ["a"]})
    assert (made.state, made.metadata) == ("active", {"title": "The review", "tags": ["a"]})
    ended = await me.put_session("web:1", state="terminated")
    assert (ended.state, ended.metadata) == ("terminated", made.metadata)
    with pytest.raises(reverie_client.Conflict):
        await me.add_messages("web:1", TALK)
    assert (await me.put_session("web:1", state="active", metadata={})).metadata == {}
    assert (await me.add_messages("web:1", TALK)).stored == 2


async def test_what_is_cleared_or_deleted_is_gone(me: Any) -> None:
    await me.add_messages("web:1", TALK)
    await me.clear_messages("web:1")
    assert await said(me, "web:1") == []
    assert (await me.session("web:1")).message_count == 0
    assert len(await me.search("review with Ada", tiers=["message"])) == 0
    await me.delete_session("web:1")
    for missing in (me.session("web:1"), me.clear_messages("web:1"), me.delete_session("web:1")):
        with pytest.raises(reverie_client.NotFound):
            await missing


async def test_a_compaction_leaves_a_summary_and_every_message(me: Any) -> None:
    fact = "Please remember: the launch of Project Heron is on 2026-05-11 in Lisbon."
    await me.add_messages("web:1", [{"role": "user", "content": fact}, *TALK])
    compacted = await me.compact_session("web:1", keep_last=1)
    assert (compacted.removed, compacted.kept, compacted.method) == (2, 1, "extractive")
    assert "Heron" in compacted.summary
    assert [message.compacted async for message in me.messages("web:1")] == [True, True, False]
    assert (await me.session("web:1")).compactions == 1
    assert (await me.compact_session("web:1")).removed == 0


async def test_a_conversation_is_complete_once_for_what_was_said(me: Any) -> None:
    await me.add_messages("web:1", TALK)
    jobs = (await me.complete_session("web:1", trigger_source="web")).jobs
    assert [job.kind for job in jobs] == ["facts", "episodic", "extraction"]
    assert (await me.complete_session("web:1")).jobs == ()


async def test_a_turn_is_the_prompt_to_send(me: Any) -> None:
    await me.write("MEMORY.md", "Ada keeps bees on the roof of the library.")
    await me.add_messages("web:1", TALK)
    turn = await me.context("Where does Ada keep her bees?", session_id="web:1", system_prompt="You are Wren.")
    assert turn.system_prompt.startswith("You are Wren.")
    assert "Ada keeps bees" in turn.system_prompt
    assert [message["content"] for message in turn.messages] == [
        *(message["content"] for message in TALK),
        "Where does Ada keep her bees?",
    ]
    assert turn.for_model() == [{"role": "system", "content": turn.system_prompt}, *turn.messages]
    assert {section.name for section in turn.sections} >= {"system_prompt", "long_term_memory", "messages", "message"}
    assert sum(section.tokens for section in turn.sections) <= turn.tokens
    assert not turn.compacted
    assert (await me.session("web:1")).message_count == 2


async def test_an_emergency_leaves_older_messages_out(me: Any) -> None:
    texts = [f"Message {n}." for n in range(12)]
    roles = ["user", "assistant"] * 6
    talk = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    await me.add_messages("web:1", talk)
    whole = await me.context("And now?", session_id="web:1")
    short = await me.context("And now?", session_id="web:1", emergency=True)
    assert (whole.compacted, len(whole.messages)) == (False, 13)
    assert (short.compacted, len(short.messages)) == (True, 5)


async def test_memory_for_a_prompt_of_ones_own(me: Any) -> None:
    await me.write("notes/bees.md", "Ada keeps bees on the roof of the library.")
    asked = "Where does Ada keep her bees?"
    found = await me.inject(asked, threshold=0.1, max_tokens=500)
    memory = found.memories[0]
    assert (found.injected, found.skipped) == (len(found.memories), None)
    assert (memory.tier, memory.source) == ("document", "notes/bees.md")
    assert memory.text in found.section
    assert found.section.startswith("<memory-context>")
    assert found.top_score >= memory.score > 0.1
    assert 0 < found.tokens <= 500
    for named in (memory.id, memory.source):
        again = await me.inject(asked, in_prompt=[named], threshold=0.1, max_tokens=500)
        assert memory.text not in again.section
    nothing = await me.inject(asked, threshold=1.0)
    assert (nothing.section, nothing.injected, nothing.skipped) == ("", 0, "no_match")
    assert (await me.inject("Hello!", recent_user_messages=[asked])).skipped == "trivial"
    with pytest.raises(reverie_client.ValidationError):
        await me.inject(asked, threshold=2.0)
