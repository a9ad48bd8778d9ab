"""Extraction of one conversation by hand, over HTTP."""

from __future__ import annotations

import httpx
from tests.talks import ADA, Talk

from reverie_server.runtime import Runtime


async def test_a_conversation_is_extracted_on_request_and_told_in_the_envelope(
    runtime: Runtime, client: httpx.AsyncClient
) -> None:
    talk = Talk(runtime)
    await talk.say("Remember that my locker is 4711.", "Yes.", "It is on the second floor.", "Noted.")
    body = {"owner_key": ADA}
    done = await client.post("/memory/wren/summarize/web:1", json=body)
    assert done.status_code == 200
    answer = done.json()
    assert answer["code"] == 200
    assert (answer["data"]["status"], answer["data"]["report_id"]) == ("completed", None)
    memory = await client.get("/agents/wren/files/MEMORY.md", params=body)
    assert "- My locker is 4711." in memory.json()["content"]
    again = (await client.post("/memory/wren/summarize/web:1", json=body)).json()
    assert (again["data"]["status"], again["data"]["reason"]) == ("skipped", "nothing new was said")
    # The path that such clients have.
    root = client.base_url.copy_with(path="/memory/wren/summarize/web:1")
    assert (await client.post(root, json=body)).json() == again
    for path, owner, status in (("web:2", ADA, 404), ("web:1", "user:bo", 404), ("web:1", "not an owner", 422)):
        failed = await client.post(f"/memory/wren/summarize/{path}", json={"owner_key": owner})
        assert failed.status_code == status
        assert failed.json()["code"] == 500
        assert failed.json()["msg"]
    # An agent that there is not.
    assert (await client.post("/memory/owl/summarize/web:1")).status_code == 404
