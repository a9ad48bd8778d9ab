"""Who wrote each line of a file over HTTP, of which messages, and whether it holds."""

from __future__ import annotations

from typing import Any

import httpx
from tests.contract.test_access_http import Client, code, with_key

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

__all__ = ["with_key"]

MEMORY = "/agents/wren/files/MEMORY.md"
MINE = {"owner_key": "user:1"}


async def said(client: httpx.AsyncClient, runtime: Runtime, session: str, text: str) -> None:
    """The message is said, and the background work goes through it."""
    url = f"/agents/wren/sessions/{session}"
    await client.post(f"{url}/messages", json={"messages": [{"role": "user", "content": text}], **MINE})
    await client.post(f"{url}/complete", json=MINE)
    await drain(runtime)


async def lines_of(client: httpx.AsyncClient, **params: Any) -> list[dict[str, Any]]:
    answer = await client.get(f"{MEMORY}/sources", params={**MINE, **params})
    assert answer.status_code == 200, answer.text
    lines: list[dict[str, Any]] = answer.json()["lines"]
    return lines


async def test_a_line_says_who_wrote_it_and_what_was_said(client: httpx.AsyncClient, runtime: Runtime) -> None:
    await client.put(MEMORY, json={"content": "# Memory\n\n- My sister is Ines.\n", **MINE})
    await said(client, runtime, "web:1", "Please remember: my locker is number 34.")
    by_text = {line["text"]: line for line in await lines_of(client)}
    own = by_text["- My sister is Ines."]
    assert (own["line"], own["written_by"], own["sources"], own["holds"]) == (3, "person", [], True)
    [other] = [line for text, line in by_text.items() if "locker" in text]
    assert (other["written_by"], other["method"]) == ("extraction", "extractive")
    [source] = other["sources"]
    assert (source["session_id"], [message["seq"] for message in source["messages"]]) == ("web:1", [1])


async def test_a_line_that_no_longer_holds_names_what_took_its_place(
    client: httpx.AsyncClient, runtime: Runtime
) -> None:
    # A person's line stays as they wrote it, whatever is said later.
    await client.put(MEMORY, json={"content": "- I work at Aldi.\n- I like tea.\n", **MINE})
    await drain(runtime)
    await said(client, runtime, "web:1", "I work at Lidl now.")
    lines = {line["text"]: line for line in await lines_of(client)}
    old = lines["- I work at Aldi."]
    assert (old["holds"], lines["- I like tea."]["holds"]) == (False, True)
    facts = (await client.get("/agents/wren/facts", params={**MINE, "q": "Lidl"})).json()["facts"]
    assert old["superseded_by"] in [fact["id"] for fact in facts]


async def test_lines_of_a_part_of_a_file(client: httpx.AsyncClient) -> None:
    await client.put(MEMORY, json={"content": "".join(f"- line {n}\n" for n in range(1, 10)), **MINE})
    found = await lines_of(client, from_line=4, lines=2)
    assert [(line["line"], line["text"]) for line in found] == [(4, "- line 4"), (5, "- line 5")]
    assert await lines_of(client, from_line=100) == []
    whole = (await client.get(f"{MEMORY}/sources", params=MINE)).json()
    assert (whole["line_count"], whole["total_lines"], len(whole["lines"])) == (9, 9, 9)


async def test_who_may_see_where_lines_come_from(client: httpx.AsyncClient, with_key: Client) -> None:
    await client.put(MEMORY, json={"content": "- mine\n", **MINE})
    assert code(await client.get(f"{MEMORY}/sources", params={**MINE, "lines": 501})) == (422, "validation_error")
    assert code(await client.get("/agents/wren/files/no.md/sources", params=MINE)) == (404, "not_found")
    async with await with_key("viewer", owner_key="user:2") as bound:
        assert code(await bound.get(f"{MEMORY}/sources", params=MINE)) == (403, "forbidden")
        answer = await bound.get(f"{MEMORY}/sources")
        assert "mine" not in answer.text
