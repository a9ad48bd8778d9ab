"""The prompt of a turn and the compaction of a session over HTTP: shapes, errors, who may what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from reverie_server.runtime import Runtime
from reverie_server.text.fences import SUMMARY_MARK

ADA = {"owner_key": "user:ada"}
DECISION = "We decided to use PostgreSQL 17 for the kite project."
SECTIONS = ("system_prompt", "shared_files", "profile", "long_term_memory", "todays_notes", "recent_context")


async def say(wren: Any, *texts: str, session: str = "web:1", **who: Any) -> None:
    messages = [
        {"role": "user" if number % 2 == 0 else "assistant", "content": text} for number, text in enumerate(texts)
    ]
    body = {"messages": messages, **(who or ADA)}
    response = await wren.http.post(wren.url(f"sessions/{session}/messages"), json=body)
    assert response.status_code in (200, 201), response.text


async def context(wren: Any, message: str = "And now?", **body: Any) -> dict[str, Any]:
    response = await wren.http.post(wren.url("context"), json={"message": message, **body})
    assert response.status_code == 200, response.text
    return response.json()


async def compact(wren: Any, session: str = "web:1", **body: Any) -> dict[str, Any]:
    response = await wren.http.post(wren.url(f"sessions/{session}/compact"), json=body)
    assert response.status_code == 200, response.text
    return response.json()


class TestContext:
    async def test_it_answers_with_the_prompt_to_send(self, wren: Any) -> None:
        await say(wren, "Where is the lighthouse?", "On the northern pier.")
        await wren.put("MEMORY.md", "- Likes tea.", **ADA)
        await wren.put("AGENTS.md", "Be brief.")
        answer = await context(wren, session_id="web:1", system_prompt="You are Wren.", **ADA)
        assert answer.keys() == {"system_prompt", "messages", "sections", "injection", "tokens", "compacted"}
        assert answer["messages"] == [
            {"role": "user", "content": "Where is the lighthouse?"},
            {"role": "assistant", "content": "On the northern pier."},
            {"role": "user", "content": "And now?"},
        ]
        assert answer["system_prompt"].startswith("You are Wren.\n\n")
        assert "- Likes tea." in answer["system_prompt"]
        assert [s["name"] for s in answer["sections"]] == [
            *("system_prompt", "shared_files", "long_term_memory"),
            *("messages", "message"),
        ]
        assert all(s.keys() == {"name", "tokens"} and s["tokens"] > 0 for s in answer["sections"])
        assert answer["injection"].keys() >= {
            *("section", "injected", "match_count", "top_score", "tokens", "skipped", "memories"),
        }
        assert (type(answer["tokens"]), answer["compacted"]) == (int, False)

    async def test_it_stores_nothing(self, wren: Any, problem: Any) -> None:
        await wren.put("a.md", "makes the agent")
        await context(wren, session_id="web:1", **ADA)
        problem(await wren.get("sessions/web:1", **ADA), 404, "not_found")
        assert not [f for f in (await wren.get("files", **ADA)).json()["files"] if f["path"].startswith("memory/")]

    async def test_end_user_id_is_short_for_the_owner(self, wren: Any) -> None:
        await wren.put("MEMORY.md", "- Likes tea.", owner_key="api:ada")
        assert "- Likes tea." in (await context(wren, end_user_id="ada"))["system_prompt"]
        assert "- Likes tea." not in (await context(wren))["system_prompt"]

    async def test_where_memory_is_switched_off_the_turn_goes_on(self, wren: Any) -> None:
        await say(wren, "one", "two")
        await wren.http.put("/agents/wren", json={"settings": {"memory_enabled": False}})
        answer = await context(wren, session_id="web:1", system_prompt="You are Wren.", **ADA)
        assert answer["system_prompt"] == "You are Wren."
        assert answer["messages"] == [{"role": "user", "content": "And now?"}]
        assert answer["injection"]["skipped"] == "disabled"
        assert answer["injection"]["section"] == ""
        assert [s["name"] for s in answer["sections"]] == ["system_prompt", "message"]

    async def test_the_first_prompt_of_a_new_agent_has_an_empty_memory_and_makes_nothing(
        self, wren: Any, problem: Any
    ) -> None:
        for who in ({}, ADA):
            answer = await context(
                wren, "Where is the lighthouse?", system_prompt="You are Wren.", session_id="web:1", **who
            )
            assert answer["system_prompt"] == "You are Wren."
            assert answer["messages"] == [{"role": "user", "content": "Where is the lighthouse?"}]
            assert (answer["injection"]["skipped"], answer["injection"]["warnings"]) == ("no_match", [])
        for path in ("files", "sessions", "pipeline"):
            problem(await wren.get(path), 404, "not_found")
        assert (await wren.http.get("/agents")).json()["agents"] == []

    async def test_a_new_agent_sees_what_all_agents_share(self, wren: Any, agent_of: Any) -> None:
        await agent_of("crow").put("HOUSE.md", "The lighthouse is closed on Mondays.", scope="global", enabled=True)
        await agent_of("crow").put("crow.md", "The lighthouse of the crow.", enabled=True)
        answer = await context(wren, "When is the lighthouse closed?")
        assert "closed on Mondays" in answer["system_prompt"]
        assert "of the crow" not in answer["system_prompt"]

    @pytest.mark.parametrize(
        "body",
        [{}, {"message": ""}, {"message": None}, {"message": 1}, {"message": "a\x00b"}, {"message": "x", "query": "y"},
         {"message": "x", "model_max_tokens": 0}, {"message": "x", "model_max_tokens": "9"},
         {"message": "x", "session_id": ""}, {"message": "x", "session_id": "a b"},
         {"message": "x", "session_id": "a/b"},
         {"message": "x", "emergency": 1}, {"message": "x", "owner_key": "nobody"},
         {"message": "x", "owner_key": "api:a", "end_user_id": "b"}],
    )  # fmt: skip
    async def test_what_makes_no_sense_is_422(self, wren: Any, problem: Any, body: dict[str, Any]) -> None:
        await wren.put("a.md", "makes the agent")
        problem(await wren.http.post(wren.url("context"), json=body), 422, "validation_error")

    async def test_a_query_parameter_of_the_body_is_422(self, wren: Any, problem: Any) -> None:
        await wren.put("a.md", "makes the agent")
        url = wren.url("context?owner_key=user:ada")
        problem(await wren.http.post(url, json={"message": "x"}), 422, "validation_error")

    async def test_a_message_as_long_as_a_body_may_be_is_answered(self, wren: Any) -> None:
        await wren.put("a.md", "makes the agent")
        message = "lighthouse " * 50_000
        assert (await context(wren, message))["messages"][-1]["content"] == message

    async def test_emergency_and_the_models_window_are_honoured(self, wren: Any) -> None:
        await say(wren, *(f"text {number}" for number in range(12)))
        short = await context(wren, session_id="web:1", emergency=True, **ADA)
        assert [m["content"] for m in short["messages"]] == ["text 8", "text 9", "text 10", "text 11", "And now?"]
        assert short["compacted"]
        least = await context(wren, session_id="web:1", model_max_tokens=1, **ADA)
        assert [m["content"] for m in least["messages"]] == ["text 11", "And now?"]


class TestCompact:
    async def test_it_says_what_it_did_and_the_summary_stands_in_the_prompt(self, wren: Any) -> None:
        await say(wren, DECISION, "Noted.", "asking", "answering")
        done = await compact(wren, keep_last=2, **ADA)
        assert done.keys() == {"removed", "kept", "summary", "flushed", "method"}
        assert (done["removed"], done["kept"], done["flushed"], done["method"]) == (2, 2, 1, "extractive")
        answer = await context(wren, session_id="web:1", **ADA)
        assert [m["content"] for m in answer["messages"]] == [
            f"{SUMMARY_MARK}\n{done['summary']}",
            *("asking", "answering", "And now?"),
        ]
        assert answer["compacted"]
        session = (await wren.get("sessions/web:1", **ADA)).json()
        assert (session["compactions"], session["message_count"]) == (1, 4)
        assert len((await wren.get("sessions/web:1/messages", **ADA)).json()["messages"]) == 4
        [note] = (await wren.get("files", prefix="memory/", **ADA)).json()["files"]
        assert f"- {DECISION}" in (await wren.read(note["path"], **ADA))["content"]

    async def test_without_a_body_it_keeps_twenty(self, wren: Any) -> None:
        await say(wren, *(f"text {number}" for number in range(24)), owner_key=None)
        response = await wren.http.post(wren.url("sessions/web:1/compact"))
        assert response.status_code == 200, response.text
        assert (response.json()["removed"], response.json()["kept"]) == (4, 20)

    async def test_with_nothing_to_compact_nothing_is_removed(self, wren: Any) -> None:
        await say(wren, "one", "two")
        assert await compact(wren, **ADA) == {
            **{"removed": 0, "kept": 2, "summary": "", "flushed": 0},
            "method": "extractive",
        }

    async def test_what_is_not_there_is_404(self, wren: Any, problem: Any) -> None:
        url = wren.url("sessions/web:9/compact")
        problem(await wren.http.post(url, json=ADA), 404, "not_found")
        await say(wren, "one", "two")
        problem(await wren.http.post(url, json=ADA), 404, "not_found")
        problem(
            await wren.http.post(wren.url("sessions/web:1/compact"), json={"owner_key": "user:b"}), 404, "not_found"
        )

    @pytest.mark.parametrize("body", [{"keep_last": -1}, {"keep_last": 1001}, {"keep_last": "2"}, {"keep": 2}])
    async def test_what_makes_no_sense_is_422(self, wren: Any, problem: Any, body: dict[str, Any]) -> None:
        await say(wren, "one", "two")
        problem(await wren.http.post(wren.url("sessions/web:1/compact"), json={**ADA, **body}), 422, "validation_error")

    async def test_where_memory_is_switched_off_it_is_403(self, wren: Any, problem: Any) -> None:
        await say(wren, "one", "two")
        await wren.http.put("/agents/wren", json={"settings": {"memory_enabled": False}})
        problem(await wren.http.post(wren.url("sessions/web:1/compact"), json=ADA), 403, "memory_disabled")


class TestMembers:
    async def test_a_member_gets_prompts_and_keeps_sessions_of_its_own(self, wren: Any, problem: Any) -> None:
        await wren.put("house.md", "The leader's house.", enabled=True)
        await wren.http.put("/agents/member", json={"leader_agent_id": "wren"})
        response = await wren.http.post("/agents/member/context", json={"message": "x", "session_id": "web:1", **ADA})
        assert "The leader's house." in response.json()["system_prompt"]
        refused = await wren.http.post("/agents/member/sessions/web:1/compact", json=ADA)
        problem(refused, 404, "not_found")


class TestAccess:
    @pytest.fixture
    async def with_key(
        self, client: httpx.AsyncClient, runtime: Runtime
    ) -> Callable[..., Awaitable[httpx.AsyncClient]]:
        async def make(role: str, **bound: Any) -> httpx.AsyncClient:
            _, key = await runtime.keys.create("default", role, **bound)  # type: ignore[arg-type]
            return httpx.AsyncClient(base_url=client.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=30)

        return make

    async def test_who_may_what(self, wren: Any, with_key: Any, problem: Any) -> None:
        await say(wren, "the blue lantern", "yes")
        prompt, notes = "/agents/wren/context", "/agents/wren/sessions/web:1/compact"
        asked = {"message": "x", "session_id": "web:1", **ADA}
        async with (
            await with_key("viewer") as viewer,
            await with_key("member", owner_key="user:ben") as ben,
            await with_key("member", agent_ids=["crow"]) as of_crow,
        ):
            for url, body in ((prompt, asked), (notes, ADA)):
                problem(await wren.http.post(url, json=body), 401, "unauthorized")
                problem(await ben.post(url, json=body), 403, "forbidden")
                problem(await of_crow.post(url, json=body), 403, "forbidden")
            assert len((await viewer.post(prompt, json=asked)).json()["messages"]) == 3
            problem(await viewer.post(notes, json=ADA), 403, "forbidden")
            mine = await ben.post(prompt, json={"message": "x", "session_id": "web:1"})
            assert mine.json()["messages"] == [{"role": "user", "content": "x"}]
            problem(await ben.post(notes, json={}), 404, "not_found")

    async def test_who_may_not_make_an_agent_gets_no_prompt_of_a_new_one(self, with_key: Any, problem: Any) -> None:
        async with (
            await with_key("viewer") as viewer,
            await with_key("member", owner_key="user:ben") as ben,
            await with_key("member", agent_ids=["crow"]) as of_crow,
        ):
            for path in ("context", "memory/inject"):
                url, asked = f"/agents/wren/{path}", {"message": "Where is the lighthouse?"}
                problem(await viewer.post(url, json=asked), 404, "not_found")
                problem(await of_crow.post(url, json=asked), 403, "forbidden")
                problem(await ben.post(url, json={**asked, **ADA}), 403, "forbidden")
                assert (await ben.post(url, json=asked)).status_code == 200


async def test_sections_that_are_explained_say_where_they_stand(client: httpx.AsyncClient) -> None:
    await client.put("/agents/wren/files/PROFILE.md", json={"content": "# Profile\n\n- Ada\n", "owner_key": "user:1"})
    body = {"message": "Hello there, Wren.", "owner_key": "user:1", "system_prompt": "You are Wren."}
    answer = (await client.post("/agents/wren/context", json={**body, "explain": True})).json()
    spans = {
        s["name"]: answer["system_prompt"][s["start"] : s["end"]] for s in answer["sections"] if s["start"] is not None
    }
    assert spans["system_prompt"] == "You are Wren."
    assert spans["profile"].startswith("## Profile")
    assert [s["name"] for s in answer["sections"] if s["start"] is None] == ["message"]
    plain = (await client.post("/agents/wren/context", json=body)).json()
    assert all(s.keys() == {"name", "tokens"} for s in plain["sections"])
