"""The filters of search over HTTP: tags, times, relevance, and the paths of facts."""

from __future__ import annotations

from typing import Any

import pytest


async def test_tags_stand_in_texts_headings_and_front_matter(wren: Any) -> None:
    await wren.put("a.md", "The quagga grazes. #Food\n\nThe quagga sleeps. #food-chain #travel/kenya")
    await wren.put("b.md", "# Trips #travel\n\nThe quagga walks.\n")
    await wren.put("c.md", '---\ntitle: x\ntags: [Food, "Two Words"]\n---\n\nThe quagga drinks.\n')
    await wren.put("d.md", "No quagga has see://x#food or a&#food; tag.")

    async def texts(*tags: str) -> set[str]:
        answer = await wren.search("quagga", tags=list(tags), max_results=100)
        return {line for result in answer["results"] for line in result["text"].splitlines() if "quagga" in line}

    assert await texts("food") == {"The quagga grazes. #Food", "The quagga drinks."}
    assert await texts("#TRAVEL") == {"The quagga sleeps. #food-chain #travel/kenya", "The quagga walks."}
    assert await texts("food-chain", "travel/kenya") == {"The quagga sleeps. #food-chain #travel/kenya"}
    assert await texts("two words") == {"The quagga drinks."}
    assert await texts("food", "travel") == set()
    assert await texts(".*") == set()


async def test_since_and_until_go_by_the_day_of_a_note_and_the_time_of_what_was_said(wren: Any) -> None:
    for day in (1, 2, 3):
        await wren.put(f"memory/2026-04-0{day}.md", f"The quagga grazes, day {day}.", owner_key="user:1")
    await wren.put("a.md", "The quagga was written of today.", owner_key="user:1")
    messages = [
        {"role": "user", "content": f"The quagga sleeps at {hour}.", "at": f"2026-04-02T{hour:02}:00:00Z"}
        for hour in (8, 12, 20)
    ]
    session = wren.url("sessions/web:1")
    assert (await wren.http.put(session, json={"owner_key": "user:1"})).is_success
    assert (await wren.http.post(f"{session}/messages", json={"messages": messages})).is_success

    async def found(**body: Any) -> set[str]:
        answer = await wren.search("quagga", owner_key="user:1", max_results=100, **body)
        return {result["text"].splitlines()[-1] for result in answer["results"]}

    assert "The quagga grazes, day 1." not in await found(since="2026-04-02T00:00:00Z")
    assert "The quagga was written of today." in await found(since="2026-04-02T00:00:00Z")
    assert await found(until="2026-04-01T23:00:00Z") == {"The quagga grazes, day 1."}
    noon = {"since": "2026-04-02T12:00:00Z", "until": "2026-04-02T12:00:00Z"}
    assert await found(**noon) == {"The quagga grazes, day 2.", "The quagga sleeps at 12."}
    assert await found(tiers=["message"], until="2026-04-02T12:00:00Z") == {
        "The quagga sleeps at 8.",
        "The quagga sleeps at 12.",
    }
    assert await found(since="2026-04-03T00:00:00Z", until="2026-04-02T00:00:00Z") == set()


async def test_what_is_less_relevant_than_asked_for_is_left_out(wren: Any) -> None:
    await wren.put("a.md", "The quagga grazes by the river.\n\nAn okapi sleeps.\n\nWe bought paint.")
    everything = (await wren.search("Where does the quagga graze?", max_results=100))["results"]
    # Ranked in memory or in PostgreSQL, a cosine differs in the eighth place.
    bound = everything[0]["relevance"] - 1e-6
    assert min(result["relevance"] for result in everything) < bound
    kept = (await wren.search("Where does the quagga graze?", max_results=100, min_relevance=bound))["results"]
    assert [result["id"] for result in kept] == [r["id"] for r in everything if r["relevance"] >= bound]


@pytest.mark.parametrize(
    "body",
    [
        {"min_relevance": 1.1},
        {"min_relevance": "high"},
        {"tags": "food"},
        {"tags": [""]},
        {"tags": ["# "]},
        {"tags": ["x" * 65]},
        {"tags": ["x"] * 21},
        {"since": "2026-04-01"},
        {"since": 5},
        {"until": "2026-04-01T00:00:00"},
    ],
    ids=str,
)
async def test_a_filter_out_of_range_is_refused(wren: Any, problem: Any, body: dict[str, Any]) -> None:
    response = await wren.http.post(wren.url("memory/search"), json={"query": "x", **body})
    problem(response, 422, "validation_error")
