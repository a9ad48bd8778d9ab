"""Search over HTTP: what a request may say, what an answer says, and whose memory is searched."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import httpx
import pytest

from reverie_indexer.embed import Embedder
from reverie_indexer.errors import EmbedderUnavailable
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.app.pending_jobs import drain
from reverie_server.files.files import Workspace
from reverie_server.runtime import Runtime
from reverie_server.search.memory_search import MemorySearch
from reverie_server.search.request import SearchRules
from reverie_server.search.search import Search

RESULT_FIELDS = {
    *("said_at", "relevance", "superseded_by", "valid_to"),
    "id", "tier", "path", "start_line", "end_line", "text", "score", "text_score", "vector_score", "boost", "scope",
    "owner_key", "updated_at",
}  # fmt: skip


async def refused(wren: Any, problem: Any, **body: Any) -> dict[str, Any]:
    response = await wren.http.post(wren.url("memory/search"), json=body)
    return problem(response, 422, "validation_error")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": None},
        {"query": ""},
        {"query": " \n\t"},
        {"query": "x" * 8001},
        {"query": ["x"]},
        {"query": "x", "max_results": 0},
        {"query": "x", "max_results": 101},
        {"query": "x", "max_results": 1.5},
        {"query": "x", "min_score": -0.1},
        {"query": "x", "min_score": 1.21},
        {"query": "x", "min_score": "high"},
        {"query": "x", "tiers": []},
        {"query": "x", "tiers": ["documents"]},
        {"query": "x", "tiers": "document"},
        {"query": "x", "mode": "semantic"},
        {"query": "x", "limit": 5},
        {"query": "x", "explain": "maybe"},
    ],
    ids=lambda body: str(body)[:40],
)
async def test_a_bad_request_is_refused_even_of_an_unknown_agent(wren: Any, problem: Any, body: dict[str, Any]) -> None:
    await refused(wren, problem, **body)


async def test_the_widest_request_is_taken(wren: Any) -> None:
    await wren.put("a.md", "x")
    for body in (
        {"query": "x" * 8000},
        {"query": "é" * 8000, "max_results": 100, "min_score": 1.2},
        {"query": "x", "max_results": 1, "min_score": 0, "tiers": ["message"], "mode": "vector", "path_prefix": ""},
        {"query": "?!", "owner_key": None, "end_user_id": "ada", "explain": True},
    ):
        await wren.search(**body)


async def test_an_answer_has_the_fields_of_the_contract_and_no_others(wren: Any) -> None:
    await wren.put("notes/a.md", "# Plan\n\nThe quagga grazes.\n", owner_key="user:42")
    answer = await wren.search("quagga", owner_key="user:42", max_results=1)
    assert answer.keys() == {"results", "count", "mode", "fallback", "warnings", "timing_ms"}
    assert answer["timing_ms"].keys() == {"embed", "database", "total"}
    assert all(value >= 0 for value in answer["timing_ms"].values())
    (result,) = answer["results"]
    assert result.keys() == RESULT_FIELDS
    assert isinstance(result["id"], str)
    assert (result["tier"], result["path"], result["start_line"], result["end_line"]) == (
        "document",
        "notes/a.md",
        1,
        3,
    )
    assert (result["scope"], result["owner_key"], result["boost"]) == ("personal", "user:42", 1.2)
    assert result["updated_at"].endswith("Z")
    datetime.fromisoformat(result["updated_at"])
    assert 0 <= result["text_score"] <= 1
    assert 0 <= result["vector_score"] <= 1
    base = 0.3 * result["text_score"] + 0.7 * result["vector_score"]
    assert result["score"] == pytest.approx(1.2 * base, abs=0.3), "context evidence may shift it, within bounds"
    assert 0 <= result["score"] <= 1.2


async def test_explain_adds_how_the_score_came_about(wren: Any) -> None:
    await wren.put("a.md", "The quagga grazes.", owner_key="user:42")
    (result,) = (await wren.search("does a quagga graze", owner_key="user:42", max_results=1, explain=True))["results"]
    why = result["explain"]
    assert why.keys() >= {
        "matched_terms", "bm25", "similarity", "text_weight", "vector_weight", "base_score", "boosts", "relevance",
        "contrast", "idf_share", "named",
    }  # fmt: skip
    assert sorted(why["matched_terms"]) == ["graze", "quagga"]
    assert why["bm25"] > 0
    assert why["text_weight"] + why["vector_weight"] == pytest.approx(1)
    assert why["boosts"]["owner"] == 1.2
    assert 0 <= why["relevance"] <= 1
    assert result["score"] == pytest.approx(why["base_score"] * 1.2)


def _rounded(result: dict[str, Any]) -> dict[str, Any]:
    """A result that was ranked in memory, or in PostgreSQL, which adds up cosines in another order."""
    return {
        name: pytest.approx(value, abs=1e-6) if isinstance(value, float) else value for name, value in result.items()
    }


async def test_results_come_in_the_order_of_their_score_and_the_same_each_time(wren: Any) -> None:
    for number in range(12):
        await wren.put(f"{number}.md", f"quagga {'and okapi ' * number}number {number}")
    first = await wren.search("quagga and okapi", max_results=100)
    scores = [result["score"] for result in first["results"]]
    assert scores == sorted(scores, reverse=True)
    assert first["count"] == len(first["results"])
    again = (await wren.search("quagga and okapi", max_results=100))["results"]
    assert [_rounded(result) for result in again] == [_rounded(result) for result in first["results"]]
    best = (await wren.search("quagga and okapi", max_results=3))["results"]
    assert [_rounded(result) for result in best] == [_rounded(result) for result in first["results"][:3]]
    assert (await wren.search("quagga and okapi"))["count"] == 6, "six unless told"


async def test_a_path_prefix_filters_before_the_limit(wren: Any) -> None:
    for number in range(60):
        await wren.put(f"crowd/{number}.md", f"quagga quagga quagga {number}")
    await wren.put("quiet/one.md", "one quagga among many other words about the weather and the sea")
    for mode in ("hybrid", "text", "vector"):
        assert await wren.found_paths("quagga", path_prefix="quiet/", mode=mode, max_results=1) == ["quiet/one.md"], (
            mode
        )
    assert await wren.found_paths("quagga", path_prefix="qu_et/") == []
    assert await wren.found_paths("quagga", path_prefix="%") == []


async def test_tiers_that_hold_nothing_find_nothing(wren: Any) -> None:
    await wren.put("a.md", "The quagga grazes.")
    assert (await wren.search("quagga", tiers=["episodic", "message"]))["results"] == []
    assert (await wren.search("quagga", tiers=["document"]))["count"] > 0


async def test_a_threshold_keeps_what_is_weak_out_and_what_is_exact_in(wren: Any) -> None:
    await wren.put("a.md", "Ticket PROJ-1234 waits for review, among many words that say nothing of it at all.")
    await wren.put("b.md", "The quagga grazes.")
    assert await wren.found_paths("weather of tomorrow", min_score=0.95) == []
    assert await wren.found_paths("what became of PROJ-1234 since last week", min_score=1.0) == ["a.md"]


async def test_the_mode_says_what_was_done(wren: Any) -> None:
    await wren.put("a.md", "The quagga grazes.")
    for asked, query, done in [
        ("hybrid", "quagga", "hybrid"),
        ("text", "quagga", "text"),
        ("vector", "quagga", "vector"),
        ("hybrid", "xylophone", "vector"),
    ]:
        answer = await wren.search(query, mode=asked)
        assert (answer["mode"], answer["warnings"]) == (done, []), (asked, query)
    assert (await wren.search("xylophone", mode="text"))["results"] == []
    by_meaning = (await wren.search("xylophone", mode="vector", explain=True))["results"]
    assert by_meaning
    for parts in (result["explain"] for result in by_meaning):
        assert (parts["text_weight"], parts["vector_weight"]) == (0.0, 1.0)
        total = (parts["vector_evidence"] + 0.05 * parts["telling"]) / 1.05
        with_file = total + parts["context_weight"] * parts["document_evidence"]
        assert parts["base_score"] == pytest.approx(with_file / (1 + parts["context_weight"]))


async def test_personal_team_and_global_are_searched_together_and_nothing_else(wren: Any, agent_of: Any) -> None:
    await wren.put("mine.md", "quagga of mine", owner_key="user:1")
    await wren.put("team.md", "quagga of the team")
    await wren.put("world.md", "quagga of the world", scope="global")
    await wren.put("theirs.md", "quagga of theirs", owner_key="user:2")
    await agent_of("robin").put("robin.md", "quagga of robin")
    only = {"mode": "text", "max_results": 100}
    assert set(await wren.found_paths("quagga", owner_key="user:1", **only)) == {"mine.md", "team.md", "world.md"}
    assert set(await wren.found_paths("quagga", **only)) == {"team.md", "world.md"}
    assert set(await wren.found_paths("quagga", end_user_id="1", **only)) == {"team.md", "world.md"}
    assert set(await agent_of("robin").found_paths("quagga", owner_key="user:1", **only)) == {"robin.md", "world.md"}


async def test_what_is_the_owners_counts_more_and_no_more_than_once(wren: Any) -> None:
    await wren.put("mine.md", "The quagga grazes in the morning.", owner_key="user:1")
    await wren.put("team.md", "The quagga grazes at night.")
    boosts = {
        r["path"]: r["boost"] for r in (await wren.search("quagga", owner_key="user:1", max_results=2))["results"]
    }
    assert boosts == {"mine.md": 1.2, "team.md": 1.0}
    assert (await wren.search("quagga", max_results=1))["results"][0]["boost"] == 1.0


async def test_a_personal_copy_shadows_the_shared_one(wren: Any) -> None:
    await wren.put("a.md", "The quagga grazes.")
    await wren.put("copy.md", "The QUAGGA grazes.", owner_key="user:1")
    assert await wren.found_paths("quagga", owner_key="user:1", mode="text") == ["copy.md"], "the same text"
    await wren.put("a.md", "The quagga sleeps.", owner_key="user:1")
    await wren.delete("copy.md", owner_key="user:1")
    found = (await wren.search("quagga", owner_key="user:1", mode="text"))["results"]
    both = {("The quagga sleeps.", "personal"), ("The quagga grazes.", "team")}
    assert {(r["text"], r["scope"]) for r in found} == both, "the same path and lines, and another text"
    assert all(r["score"] <= 1.2 for r in found)
    assert [r["text"] for r in (await wren.search("quagga", mode="text"))["results"]] == ["The quagga grazes."]


async def test_the_fallback_tells_that_nothing_is_the_owners(wren: Any) -> None:
    await wren.put("team.md", "The quagga grazes.")
    await wren.put("mine.md", "The okapi sleeps.", owner_key="user:1")
    assert (await wren.search("quagga", owner_key="user:2"))["fallback"] == "global"
    assert (await wren.search("okapi sleeps", owner_key="user:1"))["fallback"] is None
    assert (await wren.search("quagga"))["fallback"] is None


@pytest.fixture
async def without_model(
    database: Any, runtime: Runtime, serve_runtime: Callable[[Runtime], Awaitable[str]]
) -> Callable[[ModelSlot], Awaitable[str]]:
    """Serve the same memory with another slot for the model; the base URL."""

    async def serve(models: ModelSlot) -> str:
        pipeline = Pipeline(database, models, Rules(embed_wait_seconds=0.05))
        search = Search(database, models, SearchRules())
        workspace = Workspace(database, pipeline)
        return await serve_runtime(
            replace(
                runtime,
                models=models,
                pipeline=pipeline,
                search=search,
                memory_search=MemorySearch(runtime.gate, search, runtime.recalls),
                workspace=workspace,
            )
        )

    return serve


async def loading() -> Embedder:
    raise EmbedderUnavailable("the endpoint does not answer")


@pytest.mark.parametrize("state", ["none", "loading", "failed"])
async def test_without_a_model_search_goes_by_words_and_says_why(
    without_model: Callable[[ModelSlot], Awaitable[str]], database: Any, state: str
) -> None:
    models = ModelSlot(None if state == "none" else loading)
    if state == "failed":
        await models.fill(database)
    base_url = await without_model(models)
    async with httpx.AsyncClient(base_url=base_url, timeout=30) as client:
        url = "/api/v1/agents/wren"
        written = await client.put(f"{url}/files/a.md", json={"content": "The quagga grazes."})
        assert (written.status_code, written.json()["embedded"]) == (201, False)
        for mode in ("hybrid", "vector", "text"):
            answer = (await client.post(f"{url}/memory/search", json={"query": "quagga", "mode": mode})).json()
            assert (answer["mode"], [r["path"] for r in answer["results"]]) == ("text", ["a.md"])
            assert len(answer["warnings"]) == (0 if mode == "text" else 1)
            assert all("searched by words" in warning for warning in answer["warnings"])
        ready = await client.get("/readyz")
        assert ready.status_code == (200 if state == "none" else 503)
        assert ready.json()["embedder"] == state
        assert len(ready.json()["reasons"]) == (0 if state == "none" else 1)
        assert (await client.get("/healthz")).status_code == 200


async def test_a_result_names_the_passages_that_it_stands_for(client: httpx.AsyncClient, runtime: Runtime) -> None:
    text = "Please remember: the lantern hangs in the east boathouse."
    said = {"messages": [{"role": "user", "content": text}], "owner_key": "user:1"}
    await client.post("/agents/wren/sessions/web:1/messages", json=said)
    await client.post("/agents/wren/sessions/web:1/complete", json={"owner_key": "user:1"})
    await drain(runtime)
    body = {"query": "east boathouse lantern", "owner_key": "user:1", "explain": True}
    results = (await client.post("/agents/wren/memory/search", json=body)).json()["results"]
    copies = [(result["tier"], copy) for result in results for copy in result["explain"]["copies"]]
    assert copies
    shown = {result["id"] for result in results}
    assert all(copy["id"] not in shown and copy["path"] and copy["start_line"] >= 1 for _, copy in copies)
