"""The auto-injector over HTTP keeps the contract of its route."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from reverie_server.runtime import Runtime

NOTE = "memory/2026-04-03.md"
REVIEW = "Ada moved the quarterly review to Thursday."
QUESTION = "When is the quarterly review that Ada moved?"
NOTHING = {"section": "", "injected": 0, "match_count": 0, "tokens": 0, "memories": []}


async def inject(wren: Any, message: str, **body: Any) -> dict[str, Any]:
    response = await wren.http.post(wren.url("memory/inject"), json={"message": message, **body})
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture
async def ada(wren: Any) -> Any:
    await wren.put(NOTE, f"# 2026-04-03\n\n{REVIEW}\n\nThe boiler makes noises.", owner_key="user:ada")
    return wren


async def test_the_answer_has_every_field_of_the_contract(ada: Any) -> None:
    answer = await inject(ada, QUESTION, owner_key="user:ada")
    memory = answer["memories"][0]
    assert answer == {
        "section": answer["section"],
        "injected": 1,
        "match_count": 1,
        "top_score": memory["score"],
        "tokens": answer["tokens"],
        "skipped": None,
        "memories": [
            {
                "id": memory["id"],
                "tier": "document",
                "text": REVIEW,
                "score": memory["score"],
                "date": "2026-04-03",
                "source": NOTE,
            }
        ],
        "warnings": [],
    }
    assert answer["section"].startswith("<memory-context>\n## Memory Context\n")
    assert answer["section"].endswith(f"\n- (2026-04-03, {NOTE}) {REVIEW}\n</memory-context>")
    assert 0.3 <= memory["score"] <= 1
    assert 0 < answer["tokens"] <= 200


async def test_explained_it_says_what_was_found_and_not_put_in(ada: Any) -> None:
    first = (await inject(ada, QUESTION, owner_key="user:ada"))["memories"][0]
    explained = await inject(ada, QUESTION, owner_key="user:ada", in_prompt=[NOTE], explain=True)
    assert explained["injected"] == 0
    known = [near for near in explained["near"] if near["why"] == "known"]
    assert first["id"] in [near["id"] for near in known]
    missed = await inject(ada, QUESTION, owner_key="user:ada", threshold=1.0, explain=True)
    assert [near["why"] for near in missed["near"] if near["id"] == first["id"]] == ["below"]
    assert all(0 <= near["relevance"] <= 1 for near in missed["near"])
    assert (await inject(ada, QUESTION, owner_key="user:bob", explain=True))["near"] == []


async def test_nothing_is_injected_for_chatter_and_for_other_owners(ada: Any) -> None:
    assert await inject(ada, "ok thanks, sounds great!!", owner_key="user:ada") == {
        **NOTHING,
        "top_score": 0.0,
        "skipped": "trivial",
        "warnings": [],
    }
    for owner in ({}, {"owner_key": "user:bob"}, {"end_user_id": "ada"}):
        answer = await inject(ada, QUESTION, **owner)
        assert (answer["section"], answer["skipped"]) == ("", "no_match")


async def test_what_the_prompt_holds_is_named_by_path_by_id_or_by_session(ada: Any) -> None:
    first = await inject(ada, QUESTION, owner_key="user:ada")
    for held in ({"in_prompt": [NOTE]}, {"in_prompt": [first["memories"][0]["id"]]}):
        answer = await inject(ada, QUESTION, owner_key="user:ada", **held)
        assert {**answer, "top_score": 0} == {**NOTHING, "top_score": 0, "skipped": "no_match", "warnings": []}
        # Ranked in PostgreSQL first, in memory then: cosines are summed in another order.
        assert answer["top_score"] == pytest.approx(first["top_score"], abs=1e-6)
    # An unknown session has no messages, and is no error.
    assert (await inject(ada, QUESTION, owner_key="user:ada", session_id="web:1"))["injected"] == 1
    said = {"messages": [{"role": "user", "content": f"By the way: {REVIEW}"}], "owner_key": "user:ada"}
    response = await ada.http.post(ada.url("sessions/web:1/messages"), json=said)
    assert response.status_code in (200, 201), response.text
    assert (await inject(ada, QUESTION, owner_key="user:ada", session_id="web:1"))["injected"] == 0


async def test_an_enabled_file_is_in_the_prompt_of_a_session(wren: Any) -> None:
    await wren.put("MEMORY.md", f"# Long-term Memory\n\n- {REVIEW}\n", owner_key="user:ada", enabled=True)
    assert (await inject(wren, QUESTION, owner_key="user:ada"))["injected"] == 1
    assert (await inject(wren, QUESTION, owner_key="user:ada", session_id="web:1"))["injected"] == 0


async def test_a_memory_that_is_switched_off_is_no_error(wren: Any) -> None:
    await wren.put("a.md", REVIEW)
    await wren.http.put("/agents/wren", json={"settings": {"memory_enabled": False}})
    expected = {**NOTHING, "top_score": 0.0, "skipped": "disabled", "warnings": []}
    assert await inject(wren, QUESTION) == expected
    await wren.http.put("/agents/wren", json={"settings": {"auto_inject_enabled": False}})
    assert await inject(wren, QUESTION, session_id="web:1") == expected


async def test_a_new_agent_has_an_empty_memory_and_is_not_made(wren: Any, problem: Any) -> None:
    for message, skipped in ((QUESTION, "no_match"), ("thanks", "trivial")):
        expected = {**NOTHING, "top_score": 0.0, "skipped": skipped, "warnings": []}
        assert await inject(wren, message) == expected
        assert await inject(wren, message, session_id="web:1", owner_key="user:ada") == expected
    problem(await wren.get("files"), 404, "not_found")
    problem(await wren.http.post(wren.url("memory/search"), json={"query": QUESTION}), 404, "not_found")


async def test_a_long_message_does_not_break_the_turn(ada: Any) -> None:
    log = "INFO worker started and went on as it did before\n" * 1000
    answer = await inject(ada, f"{log}{QUESTION}", owner_key="user:ada")
    assert REVIEW in answer["section"]


async def test_the_requests_limits_win_over_the_agents(ada: Any) -> None:
    assert (await inject(ada, QUESTION, owner_key="user:ada", max_tokens=10))["skipped"] == "budget"
    assert (await inject(ada, QUESTION, owner_key="user:ada", threshold=1.0))["skipped"] == "no_match"
    answer = await inject(ada, QUESTION, owner_key="user:ada", recent_user_messages=["Hi", "What of the boiler?"])
    assert answer["injected"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": ""},
        {"message": " \n"},
        {"message": "a\u0000b"},
        {"message": QUESTION, "thresold": 0.5},
        {"message": QUESTION, "threshold": 1.5},
        {"message": QUESTION, "max_tokens": 0},
        {"message": QUESTION, "session_id": "with space"},
        {"message": QUESTION, "owner_key": "*"},
        {"message": QUESTION, "in_prompt": "a.md"},
        {"message": QUESTION, "recent_user_messages": [1]},
    ],
)
async def test_what_is_not_allowed_is_refused(ada: Any, problem: Any, body: dict[str, Any]) -> None:
    problem(await ada.http.post(ada.url("memory/inject"), json=body), 422, "validation_error")


async def test_a_request_without_an_owner_learns_of_nobodys_session(ada: Any) -> None:
    body = {"message": QUESTION, "session_id": "web:1"}
    before = (await ada.http.post(ada.url("memory/inject"), json=body)).json()
    for owner in ("user:ada", "user:bob"):
        said = {"messages": [{"role": "user", "content": "hello"}], "owner_key": owner}
        await ada.http.post(ada.url("sessions/web:1/messages"), json=said)
        assert (await ada.http.post(ada.url("memory/inject"), json=body)).json() == before


async def test_outcomes_are_metrics_without_a_name(ada: Any, client: httpx.AsyncClient, runtime: Runtime) -> None:
    for message in (QUESTION, "thanks"):
        await inject(ada, message, owner_key="user:ada")
    await ada.search("boiler", owner_key="user:ada")
    await runtime.recalls.flush()
    text = (await client.get(str(client.base_url).split("/api/")[0] + "/metrics")).text
    for line in (
        'reverie_injections_total{outcome="injected"} 1.0',
        'reverie_injections_total{outcome="trivial"} 1.0',
        'reverie_injections_total{outcome="budget"} 0.0',
        f'reverie_recalls_total{{outcome="written"}} {float(runtime.recalls.written)}',
    ):
        assert line in text.splitlines()
    assert runtime.recalls.written >= 2
    assert "wren" not in text
    assert "ada" not in text.lower()
