"""A careless client sends back whatever a turn gave it, turn after turn: none of it becomes memory."""

from __future__ import annotations

import psycopg
import pytest
from tests.talks import Talk

from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage
from reverie_server.text.fences import CLOSE_FENCE, OPEN_FENCE, OPEN_FILES

FACT = "The lighthouse stands on the northern pier."
PROFILE = "Ada repairs clocks in Bergen."
TURNS = 50
COUNTS = {
    "marks in messages": "SELECT count(*) FROM messages WHERE content ~* 'memory-(context|files)|context summary'",
    "marks in the index": "SELECT count(*) FROM chunks WHERE text ~* 'memory-(context|files)|context summary'",
    "the fact in messages": "SELECT count(*) FROM messages WHERE content LIKE '%northern pier%'",
    "the fact in the index": "SELECT count(*) FROM chunks WHERE text LIKE '%northern pier%'",
    "the profile in messages": "SELECT count(*) FROM messages WHERE content LIKE '%repairs clocks%'",
    "the profile in the index": "SELECT count(*) FROM chunks WHERE text LIKE '%repairs clocks%'",
    "the fact in summaries": "SELECT count(*) FROM compactions WHERE summary LIKE '%northern pier%'",
    "files with the fact": "SELECT count(DISTINCT document_id) FROM versions WHERE content LIKE '%northern pier%'",
}


async def careless(talk: Talk, turns: int) -> int:
    """Converse; how often the fact was given."""
    prompt, given = "You are Wren.", 0
    for number in range(turns):
        question = f"Question {number}: where does the lighthouse stand?"
        turn = await talk.context(question, system_prompt=prompt)
        prompt = turn.system_prompt
        whole = "\n".join([prompt, *(message["content"] for message in turn.messages)])
        assert [whole.count(mark) for mark in (OPEN_FENCE, CLOSE_FENCE, OPEN_FILES)] in ([1, 1, 1], [0, 0, 1])
        assert prompt.startswith(f"You are Wren.\n\n{OPEN_FILES}\n--- AGENTS.md ---")
        assert [prompt.count("--- AGENTS.md ---"), whole.count(PROFILE)] == [1, 1]
        assert whole.count(FACT) <= 1
        given += whole.count(FACT)
        echoes = [
            NewMessage("system", prompt),
            *(NewMessage("user", m["content"]) for m in turn.messages[:1] if "context summary" in m["content"]),
            NewMessage("user", f"{prompt}\n\n{question}" if number % 2 else f"{turn.injection.section}\n\n{question}"),
            NewMessage("assistant", f"{turn.injection.section}\nAnswer {number}."),
        ]
        await talk.add(echoes)
    return given


@pytest.mark.parametrize("conversations", [1, pytest.param(20, marks=pytest.mark.slow)])
async def test_nothing_that_memory_gave_is_taken_in_again(runtime: Runtime, conninfo: str, conversations: int) -> None:
    await runtime.agents.put("default", "wren", None, None, {"auto_inject_threshold": 0.0, "seeds_in_prompt": True})
    team = Talk(runtime, owner_key=None)
    await team.put("places/coast.md", FACT)
    await team.put("PROFILE.md", PROFILE)
    for number in range(conversations):
        assert await careless(Talk(runtime, f"web:{number}", f"user:{number}"), TURNS) >= 10
    await runtime.compactions.idle()
    with psycopg.connect(conninfo) as connection:
        found = {name: connection.execute(query).fetchone() for name, query in COUNTS.items()}  # type: ignore[arg-type]
        stored = connection.execute("SELECT count(*), max(length(content)) FROM messages").fetchone()
    assert {name: row[0] for name, row in found.items() if row} == {
        **dict.fromkeys(COUNTS, 0),
        "the fact in the index": 1,
        "the profile in the index": 1,
        "files with the fact": 1,
    }
    assert stored is not None
    assert stored[0] <= 3 * TURNS * conversations
    assert stored[1] < 200
