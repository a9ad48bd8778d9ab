"""The routes of facts and contradictions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.facts import read_facts, reading
from tests.talks import ADA, Talk

from reverie_server.runtime import Runtime

AGENT = "/api/v1/agents/wren"


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(reading(runtime))


@pytest.fixture
async def http(talk: Talk, serve_runtime: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=await serve_runtime(talk.runtime), verify=PLAIN, timeout=30) as client:
        yield client


async def facts(http: httpx.AsyncClient, **params: Any) -> list[dict[str, Any]]:
    answer = await http.get(f"{AGENT}/facts", params={"owner_key": ADA, **params})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["facts"]
    return found


async def post(http: httpx.AsyncClient, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = await http.post(f"{AGENT}/{path}", json={"owner_key": ADA, **body})
    assert answer.status_code == status, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def test_facts_are_listed_by_trust_and_votes_move_them(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.say("home of user = Rome.", "Yes.", "car of user = blue.", "Yes.")
    await read_facts(talk)
    first, second = await facts(http)
    assert {first["object"], second["object"]} == {"Rome", "blue"}
    assert first["trust"] == pytest.approx(0.5, abs=0.001)
    rated = await post(http, f"facts/{second['id']}/feedback", kind="helpful", turn_id="t1")
    assert (rated["helpful"], rated["trust"]) == (1, pytest.approx(0.6, abs=0.001))
    assert [fact["id"] for fact in await facts(http)] == [second["id"], first["id"]]
    again = await post(http, f"facts/{second['id']}/feedback", kind="unhelpful", turn_id="t1")
    assert (again["helpful"], again["unhelpful"]) == (0, 1)
    assert [fact["id"] for fact in await facts(http)] == [first["id"], second["id"]]
    back = await post(http, f"facts/{second['id']}/feedback", kind="none", turn_id="t1")
    assert (back["helpful"], back["unhelpful"]) == (0, 0)


async def test_pages_go_through_all_facts_once(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.put("notes/a.md", "\n".join(f"- number {n} of user = {n}.\n" for n in range(7)))
    await read_facts(talk)
    seen: list[str] = []
    cursor = None
    while True:
        params = {"owner_key": ADA, "limit": 3, **({"cursor": cursor} if cursor else {})}
        page = (await http.get(f"{AGENT}/facts", params=params)).json()
        seen += [fact["id"] for fact in page["facts"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert len(seen) == len(set(seen)) == 7


async def test_filters(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.put("memory/2023-05-04.md", "- home of user = Rome.\n")
    await talk.put("memory/2024-05-04.md", "- home of user := Milan.\n")
    await read_facts(talk)
    assert [fact["object"] for fact in await facts(http, state="current")] == ["Milan"]
    assert [fact["object"] for fact in await facts(http, state="superseded")] == ["Rome"]
    assert [fact["object"] for fact in await facts(http, as_of="2023-12-01T00:00:00Z")] == ["Rome"]
    assert [fact["object"] for fact in await facts(http, q="milan HOME")] == ["Milan"]
    assert await facts(http, min_trust=0.9) == []
    [rome] = await facts(http, state="superseded")
    [milan] = await facts(http, state="current")
    assert (rome["superseded_by"], rome["source"]["path"]) == (milan["id"], "memory/2023-05-04.md")


async def test_what_is_over_says_so(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.say("partner of user = Dana.", "Yes.", "partner of user -= Dana.", "Oh.")
    await read_facts(talk)
    assert [(fact["predicate"], fact["object"], fact["state"]) for fact in await facts(http, state="current")] == [
        ("no_longer_partner", "Dana", "current")
    ]
    assert [fact["predicate"] for fact in await facts(http, state="superseded")] == ["partner"]


async def test_another_owner_sees_nothing_of_it(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    [fact] = await facts(http)
    assert await facts(http, owner_key="user:bob") == []
    for way in ("confirm", "forget"):
        answer = await http.post(f"{AGENT}/facts/{fact['id']}/{way}", json={"owner_key": "user:bob"})
        assert answer.status_code == 404


async def test_confirming_is_noted(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    [fact] = await facts(http)
    confirmed = await post(http, f"facts/{fact['id']}/confirm")
    assert confirmed["last_confirmed_at"] is not None
    assert confirmed["confirmed_by"] == "user"


async def test_an_edit_changes_exactly_its_line(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.put("notes/home.md", "# Home\n\n- home of user = Rome.\n- car of user = blue.\n")
    await read_facts(talk)
    [rome] = await facts(http, q="Rome")
    edited = await post(http, f"facts/{rome['id']}/edit", text="home of user = Milan.")
    assert (edited["object"], edited["source"]["path"], edited["source"]["start_line"]) == ("Milan", "notes/home.md", 3)
    present = (await http.get(f"{AGENT}/files/notes/home.md", params={"owner_key": ADA})).json()["content"]
    assert present == "# Home\n\n- home of user = Milan.\n- car of user = blue.\n"
    await read_facts(talk)
    states = {fact["object"]: fact["state"] for fact in await facts(http)}
    assert states == {"Milan": "current", "blue": "current"}


async def test_words_that_nobody_understands_stay_a_fact_after_an_edit(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.put("notes/home.md", "- home of user = Rome.\n")
    await read_facts(talk)
    [rome] = await facts(http)
    edited = await post(http, f"facts/{rome['id']}/edit", text="Somewhere by the sea")
    await read_facts(talk)
    await talk.put("notes/home.md", "Sorted.\n\n- Somewhere by the sea\n")
    await read_facts(talk)
    assert [(fact["id"], fact["state"]) for fact in await facts(http)] == [(edited["id"], "current")]


async def test_the_edit_of_what_was_only_said_goes_into_the_memory(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await read_facts(talk)
    [rome] = await facts(http)
    edited = await post(http, f"facts/{rome['id']}/edit", text="home of user = Milan.")
    assert edited["source"]["path"] == "MEMORY.md"
    await read_facts(talk)
    states = {fact["object"]: (fact["state"], fact["superseded_by"]) for fact in await facts(http)}
    assert states == {"Milan": ("current", None), "Rome": ("superseded", edited["id"])}


async def test_forgetting_a_fact_takes_its_statement_and_nothing_else(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.put("notes/home.md", "- home of user = Rome.\n- car of user = blue.\n")
    await talk.say("home of user = Rome. car of user = blue.", "Yes.")
    await read_facts(talk)
    [rome] = await facts(http, q="Rome")
    await post(http, f"facts/{rome['id']}/forget")
    await read_facts(talk)
    assert [fact["object"] for fact in await facts(http)] == ["blue"]
    present = (await http.get(f"{AGENT}/files/notes/home.md", params={"owner_key": ADA})).json()["content"]
    assert "Rome" not in present
    assert "blue" in present


async def contradicted(talk: Talk) -> None:
    """Two files of one day that say something else of the same."""
    await talk.put("memory/2023-05-04.md", "- home of user = Rome.\n- home of user = Milan.\n")
    await read_facts(talk)


async def test_a_contradiction_is_decided_once_in_facts_and_files(talk: Talk, http: httpx.AsyncClient) -> None:
    await contradicted(talk)
    listed = (await http.get(f"{AGENT}/contradictions", params={"owner_key": ADA})).json()["contradictions"]
    [pair] = listed
    assert pair["description"] == 'user: "Rome" vs "Milan"'
    decided = await post(http, f"contradictions/{pair['id']}/resolve", keep="b")
    assert (decided["state"], decided["keep"], decided["fact_a"]["state"]) == ("resolved", "b", "superseded")
    await post(http, f"contradictions/{pair['id']}/resolve", status=409, keep="a")
    present = (await http.get(f"{AGENT}/files/memory/2023-05-04.md", params={"owner_key": ADA})).json()["content"]
    assert present == "- home of user = Milan.\n"
    await read_facts(talk)
    assert {fact["object"]: fact["state"] for fact in await facts(http)} == {"Milan": "current"}
    names = (await http.get(f"{AGENT}/files", params={"owner_key": ADA, "prefix": "memory/archive"})).json()["files"]
    [archive] = names
    kept = (await http.get(f"{AGENT}/files/{archive['path']}", params={"owner_key": ADA})).json()["content"]
    assert "home of user = Rome." in kept


async def test_ignoring_is_final_for_the_pair(talk: Talk, http: httpx.AsyncClient) -> None:
    await contradicted(talk)
    [pair] = (await http.get(f"{AGENT}/contradictions", params={"owner_key": ADA})).json()["contradictions"]
    assert (await post(http, f"contradictions/{pair['id']}/resolve", keep="ignore"))["state"] == "ignored"
    await talk.put("memory/2023-05-04.md", "- home of user = Milan.\n- home of user = Rome.\n")
    await read_facts(talk)
    assert (await http.get(f"{AGENT}/contradictions", params={"owner_key": ADA})).json()["contradictions"] == []
    assert {fact["state"] for fact in await facts(http)} == {"current"}
    await post(http, f"contradictions/{pair['id']}/resolve", status=409, keep="a")


async def test_merging_writes_the_text_in_the_place_of_both(talk: Talk, http: httpx.AsyncClient) -> None:
    await contradicted(talk)
    [pair] = (await http.get(f"{AGENT}/contradictions", params={"owner_key": ADA})).json()["contradictions"]
    await post(http, f"contradictions/{pair['id']}/resolve", status=422, keep="merge")
    await post(http, f"contradictions/{pair['id']}/resolve", keep="merge", text="home of user = Rome and Milan.")
    present = (await http.get(f"{AGENT}/files/memory/2023-05-04.md", params={"owner_key": ADA})).json()["content"]
    assert present == "- home of user = Rome and Milan.\n"
    await read_facts(talk)
    assert {fact["object"]: fact["state"] for fact in await facts(http)} == {"Rome and Milan": "current"}


async def test_search_filters_facts_by_path_and_category(talk: Talk, http: httpx.AsyncClient) -> None:
    await talk.say("home of user = Rome.", "Yes.", "car of user = blue.", "Yes.")
    await read_facts(talk)

    async def found(**body: Any) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = (await post(http, "memory/search", query="home car Rome", **body))["results"]
        return results

    both = await found(path_prefix="facts/")
    assert {(result["tier"], result["text"]) for result in both} == {
        ("fact", "home of user = Rome."),
        ("fact", "car of user = blue."),
    }
    assert [result["id"] for result in await found(path_prefix=both[0]["path"])] == [both[0]["id"]]
    assert {result["tier"] for result in await found(path_prefix="sessions/")} == {"message"}
    assert {result["tier"] for result in await found(tags=["profile"])} == {"fact"}
    assert await found(path_prefix="facts/", tags=["preference"]) == []


async def test_a_fact_has_those_that_it_replaced_and_what_replaced_it(talk: Talk, http: httpx.AsyncClient) -> None:
    for year, text in ((2023, "= Rome"), (2024, ":= Bergen"), (2025, ":= Lund")):
        await talk.put(f"memory/{year}-05-04.md", f"- home of user {text}.\n")
    await read_facts(talk)
    current = next(fact for fact in await facts(http, state="current") if fact["object"] == "Lund")
    [old] = await facts(http, q="Bergen")
    answer = (await http.get(f"{AGENT}/facts/{old['id']}", params={"owner_key": ADA})).json()
    assert answer["fact"]["id"] == old["id"]
    assert [fact["object"] for fact in answer["chain"]] == ["Rome", "Bergen", "Lund"]
    assert answer["chain"][-1]["id"] == current["id"]
    refused = await http.get(f"{AGENT}/facts/{old['id']}", params={"owner_key": "user:9"})
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert (await http.get(f"{AGENT}/facts/fact-x", params={"owner_key": ADA})).status_code == 404


async def test_facts_are_cleared_alone_where_they_are_asked_for_and_what_they_ended_holds_again(
    talk: Talk, http: httpx.AsyncClient
) -> None:
    await talk.say("home of user = Rome.", "Yes.")
    await replace(talk, session_id="web:2").say("home of user := Oslo.", "Yes.")
    await read_facts(talk)
    assert [fact["object"] for fact in await facts(http, state="current")] == ["Oslo"]
    chosen = {"tiers": ["fact"], "path_prefix": "sessions/web:2"}
    assert (await post(http, "memory/clear", **chosen))["removed"] == {"fact": 1}
    assert [fact["object"] for fact in await facts(http, state="current")] == ["Oslo"]
    assert (await post(http, "memory/clear", **chosen, dry_run=False))["removed"] == {"fact": 1}
    assert [fact["object"] for fact in await facts(http, state="current")] == ["Rome"]
    # What stated it is there, and it is not read a second time.
    await read_facts(talk)
    assert [fact["object"] for fact in await facts(http, state="current")] == ["Rome"]
    found = await post(http, "memory/search", query="Oslo", tiers=["message"])
    assert "Oslo" in found["results"][0]["text"]
