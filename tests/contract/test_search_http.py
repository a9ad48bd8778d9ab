"""Search over HTTP keeps the contract of its route."""

import httpx


async def put(client: httpx.AsyncClient, path: str, content: str, **body: object) -> dict:
    response = await client.put(f"/agents/wren/files/{path}", json={"content": content, **body})
    assert response.status_code in (200, 201), response.text
    return response.json()


async def search(client: httpx.AsyncClient, query: str, **body: object) -> dict:
    response = await client.post("/agents/wren/memory/search", json={"query": query, **body})
    assert response.status_code == 200, response.text
    return response.json()


async def test_search_gives_the_passage_with_its_file_and_lines(client: httpx.AsyncClient) -> None:
    await put(client, "memory/2026-04-03.md", "# 2026-04-03\n\nAda moved the review to Thursday.\n\nBought flour.\n")
    answer = await search(client, "the review with Ada", max_results=1)
    result = answer["results"][0]
    assert (result["path"], result["start_line"], result["end_line"]) == ("memory/2026-04-03.md", 1, 3)
    assert result["text"] == "# 2026-04-03\n\nAda moved the review to Thursday."
    assert (answer["count"], answer["mode"], answer["fallback"], answer["warnings"]) == (1, "hybrid", None, [])
    assert set(answer["timing_ms"]) == {"embed", "database", "total"}
    assert "explain" not in result


async def test_an_unknown_field_is_rejected(client: httpx.AsyncClient) -> None:
    await put(client, "a.md", "text")
    response = await client.post("/agents/wren/memory/search", json={"query": "x", "max_result": 3})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "validation_error"


async def test_an_unknown_agent_is_not_found_and_not_made_by_a_search(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        response = await client.post("/agents/nobody/memory/search", json={"query": "x"})
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
