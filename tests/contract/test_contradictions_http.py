"""Two statements of which no words say which came later: an open row, until a person decides, in facts and files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.facts import read_facts, rows
from tests.talks import ADA, Talk

from reverie_server.runtime import Runtime

AGENT = "/api/v1/agents/wren"
# Two notes of one day.
FIRST, SECOND = "memory/2023-05-04.md", "memory/2023-05-04-02.md"
PAIRS = [
    ("My boss is Petra Lindqvist.", "My boss is Karin Holm.", "Petra Lindqvist", "Karin Holm"),
    ("I live in Oslo.", "I live in Bergen.", "Oslo", "Bergen"),
    ("The budget is 300 euros.", "The budget is 500 euros.", "300 euros", "500 euros"),
]


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(runtime)


@pytest.fixture
async def http(talk: Talk, serve_runtime: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=await serve_runtime(talk.runtime), verify=PLAIN, timeout=30) as client:
        yield client


async def contradictions(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    answer = await http.get(f"{AGENT}/contradictions", params={"owner_key": ADA})
    found: list[dict[str, Any]] = answer.json()["contradictions"]
    return found


async def states(talk: Talk) -> dict[str, str]:
    return {row["object"]: row["state"] for row in await rows(talk)}


async def decide(http: httpx.AsyncClient, pair: dict[str, Any], keep: str, status: int = 200) -> None:
    body = {"owner_key": ADA, "keep": keep}
    answer = await http.post(f"{AGENT}/contradictions/{pair['id']}/resolve", json=body)
    assert answer.status_code == status, answer.text


async def content(http: httpx.AsyncClient, path: str) -> str:
    text: str = (await http.get(f"{AGENT}/files/{path}", params={"owner_key": ADA})).json()["content"]
    return text


async def written(talk: Talk, first: str, second: str) -> None:
    await talk.put(FIRST, f"- {first}\n- My favourite colour is green.\n")
    await talk.put(SECOND, f"- {second}\n")
    await read_facts(talk)


@pytest.mark.parametrize(("first", "second", "old", "new"), PAIRS)
async def test_what_is_not_plain_is_open_until_it_is_decided_in_facts_and_files(
    talk: Talk, http: httpx.AsyncClient, first: str, second: str, old: str, new: str
) -> None:
    await written(talk, first, second)
    [pair] = await contradictions(http)
    assert old in pair["description"]
    assert new in pair["description"]
    both = await states(talk)
    assert (both[old], both[new]) == ("current", "current")
    await decide(http, pair, "a" if pair["fact_a"]["object"] == new else "b")
    await decide(http, pair, "a", status=409)
    assert await contradictions(http) == []
    assert await content(http, FIRST) == "- My favourite colour is green.\n"
    assert await content(http, SECOND) == f"- {second}\n"
    await read_facts(talk)
    after = await states(talk)
    assert after[new] == "current"
    assert after.get(old, "superseded") == "superseded"
    assert after["green"] == "current"


@pytest.mark.parametrize(("first", "second", "old", "new"), PAIRS)
async def test_what_a_person_ignores_is_never_asked_again(
    talk: Talk, http: httpx.AsyncClient, first: str, second: str, old: str, new: str
) -> None:
    await written(talk, first, second)
    [pair] = await contradictions(http)
    await decide(http, pair, "ignore")
    for other in ("My favourite colour is blue.", "My favourite colour is red."):
        await talk.put(FIRST, f"- {other}\n- {first}\n")
        await read_facts(talk)
        assert [each for each in await contradictions(http) if old in each["description"]] == []
    both = await states(talk)
    assert (both[old], both[new]) == ("current", "current")
    await decide(http, pair, "a", status=409)


async def test_what_is_said_later_decides_by_itself(talk: Talk, http: httpx.AsyncClient) -> None:
    await written(talk, "I live in Oslo.", "I live in Bergen.")
    assert len(await contradictions(http)) == 1
    await talk.say("I moved to Rome.")
    await read_facts(talk)
    assert await contradictions(http) == []
    found = await states(talk)
    assert (found["Oslo"], found["Bergen"], found["Rome"]) == ("superseded", "superseded", "current")


async def test_of_the_wordings_of_one_conflict_one_row_is_open(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.put(FIRST, "- I like coriander.\n- I really like coriander!\n")
    await talk.put(SECOND, "- I dislike coriander.\n- I dislike anchovies.\n")
    await read_facts(talk)
    [pair] = await contradictions(http)
    await talk.put(FIRST, "- I like coriander.\n- I really like coriander!\n- I like anchovies.\n")
    await read_facts(talk)
    assert {each["description"] for each in await contradictions(http)} == {
        pair["description"],
        'user: "anchovies" vs "anchovies"',
    }


@pytest.mark.parametrize("is_edited", [False, True])
async def test_what_is_ignored_is_not_asked_again_in_other_words(
    talk: Talk, http: httpx.AsyncClient, is_edited: bool
) -> None:
    await talk.put(FIRST, "- I like coriander.\n")
    await talk.put(SECOND, "- I dislike coriander.\n")
    await read_facts(talk)
    [pair] = await contradictions(http)
    await decide(http, pair, "ignore")
    before = "" if is_edited else "- I like coriander.\n"
    await talk.put(FIRST, f"{before}- I really like coriander!\n")
    await read_facts(talk)
    assert await contradictions(http) == []
    # The line that was decided on may be gone for long by then.
    await talk.put(SECOND, "- I dislike coriander a lot.\n")
    await read_facts(talk)
    assert await contradictions(http) == []
    assert [row["state"] for row in await rows(talk) if row["state"] != "current"] == []
    await talk.put(FIRST, f"{before}- I really like coriander!\n- I like anchovies.\n")
    await talk.put(SECOND, "- I dislike coriander a lot.\n- I dislike anchovies.\n")
    await read_facts(talk)
    assert [each["description"] for each in await contradictions(http)] == ['user: "anchovies" vs "anchovies"']


async def test_what_lost_lost_in_all_its_wordings(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.put(FIRST, "- I like coriander.\n- I really like coriander!\n- I like anchovies.\n")
    await talk.put(SECOND, "- I dislike coriander.\n")
    await read_facts(talk)
    [pair] = await contradictions(http)
    await decide(http, pair, "a" if pair["fact_a"]["predicate"] == "dislikes" else "b")
    assert await content(http, FIRST) == "- I like anchovies.\n"
    assert await content(http, SECOND) == "- I dislike coriander.\n"
    assert {row["text"] for row in await rows(talk) if row["state"] == "current"} == {
        "I like anchovies.",
        "I dislike coriander.",
    }
    await talk.put(SECOND, "- I dislike coriander.\n- I really dislike coriander!\n")
    await read_facts(talk)
    assert await contradictions(http) == []


@pytest.mark.parametrize("keep", ["a", "b", "ignore"])
async def test_what_is_decided_of_what_was_said_is_not_asked_again_in_other_words(
    talk: Talk, http: httpx.AsyncClient, keep: str
) -> None:
    await talk.say("I like coriander.", "I see.", "I dislike coriander.")
    await read_facts(talk)
    [pair] = await contradictions(http)
    await decide(http, pair, keep)
    await talk.say("I really like coriander!", "I see.", "I like anchovies.", "I see.", "I dislike anchovies.")
    await read_facts(talk)
    assert [each["description"] for each in await contradictions(http)] == ['user: "anchovies" vs "anchovies"']
