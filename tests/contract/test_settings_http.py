"""The numbers of the behaviour are settings: what is set is what is done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.contract.conftest import Agent

from reverie_indexer.database.database import Database
from reverie_indexer.errors import SetupError
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.jobs.nights_due import nightly_at
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

Serve = Callable[..., Awaitable[Agent]]


@pytest.fixture
async def serve(runtime: Runtime, database: Database, serve_runtime: ServeRuntime) -> AsyncIterator[Serve]:
    """Serve the same memory under other settings."""
    async with AsyncExitStack() as stack:

        async def served(**settings: Any) -> Agent:
            slot: ModelSlot = runtime.models
            base_url = await serve_runtime(assemble(Settings(embedder="hashing", **settings), database, slot))
            client = httpx.AsyncClient(base_url=f"{base_url}/api/v1", timeout=30, verify=PLAIN)
            return Agent(await stack.enter_async_context(client))

        yield served


async def test_the_night_begins_at_its_hour(serve: Serve) -> None:
    wren = await serve(nightly_hour=4, time_zone="Asia/Tokyo")
    await wren.put("a.md", "makes the agent")
    data = (await wren.http.get("/memory/wren/dreaming/status")).json()["data"]
    assert data["cron"] == "0 4 * * *"
    following = datetime.fromisoformat(data["next_run"]).astimezone(ZoneInfo("Asia/Tokyo"))
    assert (following.hour, following.minute) == (4, 0)
    assert nightly_at(following.date(), "Asia/Tokyo", 4) == following.astimezone(UTC)


async def test_a_keyword_search_looks_into_as_many_files_as_it_may(serve: Serve) -> None:
    wren = await serve(keyword_max_files=2)
    for number in range(4):
        await wren.put(f"{number}.md", "the lantern is lit")
    answer = await wren.http.post(wren.url("memory/keyword-search"), json={"query": "lantern"})
    assert answer.json()["total_hits"] == 2


async def test_bm25_weighs_length_and_repetition_as_set(serve: Serve) -> None:
    texts = {
        "short.md": "lantern",
        "long.md": "lantern " + "harbour " * 60,
        "many.md": "lantern lantern lantern lantern",
    }

    async def scores(wren: Agent) -> dict[str, float]:
        found = await wren.search("lantern", mode="text", explain=True)
        return {each["path"]: each["explain"]["bm25"] for each in found["results"]}

    wren = await serve()
    for path, text in texts.items():
        await wren.put(path, text)
    usual = await scores(wren)
    assert usual["short.md"] > usual["long.md"]
    without_length = await scores(await serve(bm25_b=0.0))
    assert without_length["short.md"] == pytest.approx(without_length["long.md"])
    without_count = await scores(await serve(bm25_k1=0.0))
    assert without_count["many.md"] == pytest.approx(without_count["short.md"])


async def test_so_many_backups_are_kept(serve: Serve) -> None:
    wren = await serve(memory_backups_kept=1)
    for number in range(3):
        twice = f"- Likes green tea, number {number}.\n" * 3
        await wren.put("MEMORY.md", f"# Long-term Memory\n\n## Notes\n\n{twice}")
        done = (await wren.http.post(wren.url("memory/compact"), json={})).json()
        assert done["compacted"] is True, done
    assert len((await wren.get("memory/backups")).json()["backups"]) == 1


async def test_a_snapshot_holds_as_many_entries_as_it_may(serve: Serve, problem: Any) -> None:
    wren = await serve(snapshot_max_entries=6)
    await wren.put("memory/2026-04-03.md", "one")
    whole = await wren.get("workspace/memory/export")
    assert whole.status_code == 200, whole.text
    await wren.put("memory/2026-04-04.md", "two")
    problem(await wren.get("workspace/memory/export"), 413, "payload_too_large")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"nightly_hour": 24}, "nightly_hour: Input should be less than or equal to 23"),
        ({"emergence_frequency_weight": 0.5}, "the five emergence_.*_weight must be 1 together"),
        ({"memory_max_loss": 1.5}, "memory_max_loss: Input should be less than or equal to 1"),
        ({"bm25_b": -0.1}, "bm25_b: Input should be greater than or equal to 0"),
        ({"trusted_proxies": "10.0.0.0/8, proxy"}, "trusted_proxies: .*'proxy' does not appear to be"),
        ({"prune_interval_hours": 0}, "prune_interval_hours: Input should be greater than or equal to 1"),
    ],
)
def test_a_number_out_of_range_is_an_error_at_start(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        Settings.load(**wrong)


async def test_a_candidates_score_is_made_as_set(serve: Serve) -> None:
    parts = ("frequency", "recency", "diversity", "consolidation")
    wren = await serve(emergence_freshness_weight=1.0, **{f"emergence_{part}_weight": 0.0 for part in parts})
    today = datetime.now(UTC).date().isoformat()
    await wren.put(f"memory/{today}.md", f"# {today}\n\n- We decided that the lantern hangs in the hall.\n")
    found = (await wren.http.get("/memory/wren/dreaming/candidates")).json()["data"]
    assert [each["score"] for each in found] == [pytest.approx(each["parts"]["freshness"], abs=0.01) for each in found]
    assert found[0]["score"] > 0.9


async def test_a_night_makes_the_memory_no_longer_than_it_may_be(serve: Serve) -> None:
    today = datetime.now(UTC).date().isoformat()
    memory = "# Long-term Memory\n\n## Notes\n\n" + "".join(f"- Harbour {n:03} has a keeper.\n" for n in range(34))
    note = (
        f"# {today}\n\n- We decided that the blue lantern hangs in the hall of the old house by the pier in winter.\n"
    )
    grown = []
    for max_chars in (8000, 1000):
        wren = await serve(memory_max_chars=max_chars)
        await wren.put("MEMORY.md", memory)
        await wren.put(f"memory/{today}.md", note)
        done = await wren.http.post("/memory/wren/dreaming/focused", json={"topic": "the blue lantern"})
        assert done.status_code == 200, done.text
        grown.append(len((await wren.read("MEMORY.md"))["content"]) - len(memory))
    assert 900 < len(memory) < 1000
    assert (grown[0] > 60, grown[1]) == (True, 0)
