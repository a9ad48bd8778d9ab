"""Forgetting a fact: it takes the statement of this fact, and what others say stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.facts import read_facts
from tests.talks import ADA, Talk, contents

from reverie_server.runtime import Runtime

AGENT = "/api/v1/agents/wren"


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(runtime)


@pytest.fixture
async def http(talk: Talk, serve_runtime: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=await serve_runtime(talk.runtime), verify=PLAIN, timeout=30) as client:
        yield client


async def facts(http: httpx.AsyncClient) -> dict[tuple[str, str], dict[str, Any]]:
    """All facts, by subject and object."""
    answer = await http.get(f"{AGENT}/facts", params={"owner_key": ADA})
    return {(fact["subject"], fact["object"]): fact for fact in answer.json()["facts"]}


async def forget(http: httpx.AsyncClient, fact: dict[str, Any]) -> dict[str, Any]:
    answer = await http.post(f"{AGENT}/facts/{fact['id']}/forget", json={"owner_key": ADA})
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


async def content(http: httpx.AsyncClient, path: str) -> str:
    answer = await http.get(f"{AGENT}/files/{path}", params={"owner_key": ADA})
    return str(answer.json()["content"])


@pytest.mark.parametrize(
    ("line", "fact", "note"),
    [
        (
            "My sister lives in Lyon",
            ("user's sister", "Lyon"),
            "My sister lives in Lyon County, Nevada, with her husband Tom. I like coffee.",
        ),
        ("I am vegan", ("user", "vegan"), "I am vegan only on Mondays since the doctor said so. I like coffee."),
    ],
)
async def test_a_line_without_a_full_stop_takes_no_sentence_that_begins_with_it(
    talk: Talk, http: httpx.AsyncClient, line: str, fact: tuple[str, str], note: str
) -> None:
    await talk.put("notes/family.md", f"- {line}\n- I like tea.\n")
    await read_facts(talk)
    await talk.put("notes/other.md", f"{note}\n")
    await forget(http, (await facts(http))[fact])
    assert await content(http, "notes/family.md") == "- I like tea.\n"
    assert await content(http, "notes/other.md") == f"{note}\n"


async def test_the_receipt_counts_all_that_was_removed(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.put("notes/family.md", "- Remember that my sister lives in Lyon\n")
    await talk.say("My sister lives in Lyon. I like coffee.", "Nice.")
    await read_facts(talk)
    receipt = await forget(http, (await facts(http))["user's sister", "Lyon"])
    assert receipt["removed"]["document"]["files"] == 2, "the note and the daily log"
    assert receipt["removed"]["message"]["versions"] == 1
    assert receipt["removed"]["fact"]["files"] == 1
    listed = (await http.get(f"{AGENT}/receipts", params={"owner_key": ADA})).json()["receipts"]
    assert [each["id"] for each in listed] == [receipt["receipt_id"]], "one forgetting"
    assert listed[0]["kind"] == "text"
    assert contents(await talk.everything())[0] == "I like coffee."


@pytest.mark.parametrize(
    "sentence", ["I moved to Bergen and my dog is called Rex.", "My dog is called Rex, and I moved to Bergen."]
)
async def test_of_a_sentence_with_two_facts_the_other_clause_stays(
    talk: Talk, http: httpx.AsyncClient, sentence: str
) -> None:
    await talk.put("notes/me.md", f"- {sentence}\n")
    await talk.say(sentence, "Nice.")
    await read_facts(talk)
    await talk.put("notes/other.md", "I moved to Bergen County, Nevada, last year. I like coffee.\n")
    await forget(http, (await facts(http))["user", "Bergen"])
    await read_facts(talk)
    assert ("user", "Rex") in await facts(http)
    assert ("user", "Bergen") not in await facts(http)
    assert await content(http, "notes/other.md") == "I moved to Bergen County, Nevada, last year. I like coffee.\n"
    assert "Bergen" not in (await content(http, "notes/me.md")) + contents(await talk.everything())[0]
    assert (await content(http, "notes/me.md")).strip("- .\n").lower() == "my dog is called rex"
    assert contents(await talk.everything())[0].strip(".").lower() == "my dog is called rex"
