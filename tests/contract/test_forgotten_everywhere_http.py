"""A statement that went through the whole pipeline is forgotten in every row of every table, and does not come back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.rows import leftovers

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

ME = "user:1"
SECRET = "My locker code at the climbing gym is quince-4711."
TALK = (
    f"Remember that: {SECRET} I prefer window seats on trains.",
    "My name is Ada Lind and I work at Norrhavn Shipyard in Oslo.",
    "We decided to use Postgres for the project Orion because backups are easy.",
    "As I said, my locker code at the climbing gym is quince-4711. I prefer tea in the morning.",
    "I moved to Bergen in May and my sister Petra lives there too.",
)
LATER = timedelta(days=3)


async def say(wren: Any, client: httpx.AsyncClient, session: str, at: datetime) -> None:
    messages = []
    for number, text in enumerate(TALK):
        time = (at + timedelta(minutes=number)).isoformat()
        messages.append({"role": "user", "content": text, "at": time})
        messages.append({"role": "assistant", "content": "I see, I have noted that down.", "at": time})
    url = wren.url(f"sessions/{session}/messages")
    assert (await client.post(url, json={"owner_key": ME, "messages": messages})).status_code in (200, 201)
    await client.post(wren.url(f"sessions/{session}/complete"), json={"owner_key": ME, "trigger_source": "web"})


async def forget(wren: Any, client: httpx.AsyncClient, by: str) -> None:
    url = wren.url("memory/forget")
    body: dict[str, Any] = {"owner_key": ME, "dry_run": False}
    if by == "text":
        body["text"] = "quince-4711"
    else:
        looked = await client.post(url, json={"owner_key": ME, "query": "What is my locker code at the climbing gym?"})
        body["items"] = [item["id"] for item in looked.json()["items"] if "quince" in item["text"]]
    answer = await client.post(url, json=body)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("by", ["text", "query"])
async def test_nothing_is_left_in_any_table_and_it_does_not_come_back(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, conninfo: str, by: str
) -> None:
    begun = datetime.now(UTC) - timedelta(days=2)
    await wren.put("notes.md", f"# Notes\n\n- {SECRET}\n- Ada likes skiing.\n", owner_key=ME)
    await say(wren, client, "web:1", begun)
    await drain(runtime, until=datetime.now(UTC) + LATER)
    # Another conversation, whose jobs are still to come when the statement is forgotten.
    await say(wren, client, "web:2", begun + timedelta(hours=1))
    snapshot = await wren.get("workspace/memory/export", owner_key=ME)
    assert snapshot.status_code == 200
    assert len(leftovers(conninfo, "quince")) > 4
    await forget(wren, client, by)
    assert leftovers(conninfo, "quince") == []
    await drain(runtime, until=datetime.now(UTC) + LATER)
    assert leftovers(conninfo, "quince") == []
    # The same transcript again, in the same session and in another; and the snapshot of before.
    await say(wren, client, "web:1", begun)
    await say(wren, client, "web:9", begun)
    imported = await client.post(
        wren.url("workspace/memory/import"),
        content=snapshot.content,
        headers={"Content-Type": "application/zip"},
        params={"owner_key": ME},
    )
    assert imported.status_code == 200, imported.text
    await drain(runtime, until=datetime.now(UTC) + LATER)
    assert leftovers(conninfo, "quince") == []
    # What else was said is there.
    for kept in ("window seats", "skiing", "tea in the morning", "norrhavn"):
        assert leftovers(conninfo, kept) != []
    # A person may write it anew.
    await wren.put("again.md", SECRET, owner_key=ME)
    assert "quince" in (await wren.read("again.md", owner_key=ME))["content"]


@pytest.mark.parametrize(
    ("sentence", "query", "kept"),
    [
        ("The gate code of the shed is quince-4711, and I prefer plain answers.", "gate code of the shed", "plain"),
        ("I prefer plain answers; the gate code of the shed is quince-4711.", "gate code of the shed", "plain"),
        ("Der Code vom Schuppen ist quince-4711 und ich mag klare Antworten.", "Code vom Schuppen", "klare"),
        ("El código de la nave es quince-4711 y prefiero el café de la mañana solo.", "código de la nave", "café"),
        ("仓库的报警密码是quince-4711，我喜欢简短的回答。", "仓库的报警密码", "简短"),
    ],
)
async def test_what_else_the_sentence_says_is_left_in_every_table(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, conninfo: str, sentence: str, query: str, kept: str
) -> None:
    messages = [{"role": "user", "content": sentence}, {"role": "assistant", "content": "Noted."}]
    await client.post(wren.url("sessions/web:1/messages"), json={"owner_key": ME, "messages": messages})
    await client.post(wren.url("sessions/web:1/complete"), json={"owner_key": ME, "trigger_source": "web"})
    await drain(runtime, until=datetime.now(UTC) + LATER)
    before = set(leftovers(conninfo, kept))
    looked = (await client.post(wren.url("memory/forget"), json={"owner_key": ME, "query": query})).json()
    items = [item["id"] for item in looked["items"] if "quince" in item["text"]]
    assert len(items) == len(looked["items"]), "nothing else is listed"
    body = {"owner_key": ME, "items": items, "dry_run": False}
    assert (await client.post(wren.url("memory/forget"), json=body)).status_code == 200
    await drain(runtime, until=datetime.now(UTC) + LATER)
    assert leftovers(conninfo, "quince") == []
    assert {"facts", "messages", "versions"} <= before <= set(leftovers(conninfo, kept))


async def test_an_answer_that_is_nothing_but_the_value_goes_with_it_also_when_it_is_sent_again(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, conninfo: str
) -> None:
    said = [
        ("user", "My debit card PIN is 77021. Please remember that."),
        ("assistant", "Noted, 77021."),
        ("user", "I moved to Bergen. What was it again?"),
        ("assistant", "77021. What else can I do?"),
    ]
    at = datetime.now(UTC) - timedelta(hours=1)
    talk = [{"role": role, "content": content, "at": at.isoformat()} for role, content in said]
    body = {"owner_key": ME, "messages": talk}
    await client.post(wren.url("sessions/web:1/messages"), json=body)
    other = [{**talk[0], "content": "My order number is 77021."}, {**talk[1], "content": "Fine."}]
    await client.post(wren.url("sessions/web:2/messages"), json={"owner_key": ME, "messages": other})
    await client.post(wren.url("sessions/web:1/complete"), json={"owner_key": ME, "trigger_source": "web"})
    await drain(runtime, until=datetime.now(UTC) + LATER)
    looked = (await client.post(wren.url("memory/forget"), json={"owner_key": ME, "query": "debit card PIN"})).json()
    items = [item["id"] for item in looked["items"] if "order" not in item["text"]]
    assert {"77021.", "Noted, 77021."} <= {item["text"] for item in looked["items"]}
    await client.post(wren.url("memory/forget"), json={"owner_key": ME, "items": items, "dry_run": False})
    await drain(runtime, until=datetime.now(UTC) + LATER)
    await client.post(wren.url("sessions/web:3/messages"), json={**body, "messages": [talk[0], talk[1]]})
    await drain(runtime, until=datetime.now(UTC) + LATER)
    kept = (await wren.get("sessions/web:1/messages", owner_key=ME)).json()["messages"]
    assert [message["content"] for message in kept] == [
        "",
        "",
        "I moved to Bergen. What was it again?",
        "What else can I do?",
    ]
    again = (await wren.get("sessions/web:3/messages", owner_key=ME)).json()["messages"]
    assert "77021" not in str(again)
    note = (await wren.read(f"memory/{at.date().isoformat()}.md", owner_key=ME))["content"]
    assert note.count("77021") == 1, "the order"
    assert "My order number is 77021." in note
    assert "I moved to Bergen." in note


async def test_what_is_said_anew_later_is_kept_again_and_an_answer_alone_brings_nothing_back(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, conninfo: str
) -> None:
    said = "The gym locker code is quince-5531. Please remember that."

    async def tell(session: str, *messages: tuple[str, str]) -> None:
        talk = [{"role": role, "content": content} for role, content in messages]
        await client.post(wren.url(f"sessions/{session}/messages"), json={"owner_key": ME, "messages": talk})
        await client.post(wren.url(f"sessions/{session}/complete"), json={"owner_key": ME, "trigger_source": "web"})
        await drain(runtime, until=datetime.now(UTC) + LATER)

    soup = (("user", "By the way, could you suggest a soup for tonight?"), ("assistant", "How about leek?"))
    await tell("web:1", ("user", said), ("assistant", "Noted."), *soup)
    before = leftovers(conninfo, "quince")
    assert "quince" in (await wren.read("MEMORY.md", owner_key=ME))["content"]
    looked = (await client.post(wren.url("memory/forget"), json={"owner_key": ME, "query": "gym locker code"})).json()
    body = {"owner_key": ME, "items": [item["id"] for item in looked["items"]], "dry_run": False}
    await client.post(wren.url("memory/forget"), json=body)
    assert leftovers(conninfo, "quince") == []
    await tell("web:2", ("user", "What do you know?"), ("assistant", "The gym locker code is quince-5531."), *soup)
    assert "quince" not in (await wren.read("MEMORY.md", owner_key=ME))["content"]
    await tell("web:3", ("user", said), ("assistant", "Noted."), *soup)
    assert "quince" in (await wren.read("MEMORY.md", owner_key=ME))["content"]
    assert set(before) <= set(leftovers(conninfo, "quince"))
