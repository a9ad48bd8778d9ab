"""What was asked in a conversation to forget and nothing was found for: listed, met later, or dismissed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.contract.test_said_forgetting_http import ME, say
from tests.rows import leftovers

ASKED = "Forget what I said about the zeppelin."


async def unmet(wren: Any, owner: str = ME) -> list[dict[str, Any]]:
    """The open requests of an owner; the summary counts as many."""
    requests: list[dict[str, Any]] = (await wren.get("unmet-requests", owner_key=owner)).json()["requests"]
    assert (await wren.get("summary", owner_key=owner)).json()["unmet_requests"] == len(requests)
    return requests


@pytest.mark.parametrize(
    "text",
    [
        ASKED,
        "Forget that.",
        "Vergiss, was ich über den Zeppelin gesagt habe.",
        "Olvida eso, por favor.",
        "lo de los dineros, olvídalo",
        "Olvida lo que dije del zepelín.",
        "忘掉我说的飞艇的事。",
    ],
)
async def test_a_request_for_which_nothing_is_found_is_listed_by_its_message(
    wren: Any, client: httpx.AsyncClient, conninfo: str, text: str
) -> None:
    assert await say(wren, client, text) == []
    [request] = await unmet(wren)
    assert (request["session_id"], request["seq"], request["message_id"]) == ("web:1", 1, None)
    assert request["owner_key"] == ME
    assert (await wren.get(f"unmet-requests/{request['id']}", owner_key=ME)).json() == request
    # What it asks stands in its message, and in nothing that the request has.
    assert text not in str(request)
    assert "unmet_requests" not in leftovers(conninfo, text.casefold())


@pytest.mark.parametrize(
    ("stated", "asked"),
    [
        ("My new locker code is quince-7741.", "Delete that loan stuff."),
        ("Mein neuer Spind hat den Code quince-7741.", "Das mit dem Kredit vergisst du bitte wieder."),
        ("El código nuevo de mi taquilla es quince-7741.", "Borra lo del préstamo."),
    ],
)
async def test_a_request_that_names_something_else_takes_no_statement_before_it(
    wren: Any, client: httpx.AsyncClient, conninfo: str, stated: str, asked: str
) -> None:
    assert await say(wren, client, stated, asked) == []
    assert {"chunks", "messages"} <= set(leftovers(conninfo, "quince"))
    assert len(await unmet(wren)) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ("I like tea.", "Thanks, see you."),
        ("Forget it, let's move on.",),
        ("The zeppelin lands at nine.", ASKED),
        ("Don't forget to call Ada.",),
    ],
)
async def test_what_is_done_and_what_asks_for_nothing_waits_for_nobody(
    wren: Any, client: httpx.AsyncClient, texts: tuple[str, ...]
) -> None:
    await say(wren, client, *texts)
    assert await unmet(wren) == []


async def test_nobody_else_sees_or_dismisses_it(wren: Any, client: httpx.AsyncClient, problem: Any) -> None:
    await say(wren, client, ASKED)
    [request] = await unmet(wren)
    assert await unmet(wren, "user:2") == []
    for owner in ({"owner_key": "user:2"}, {}):
        problem(await wren.get(f"unmet-requests/{request['id']}", **owner), 404, "not_found")
        answer = await client.delete(wren.url(f"unmet-requests/{request['id']}"), params=owner)
        problem(answer, 404, "not_found")
    assert await unmet(wren) == [request]


async def test_it_is_dismissed_once_and_its_message_stays(wren: Any, client: httpx.AsyncClient, problem: Any) -> None:
    await say(wren, client, ASKED)
    [request] = await unmet(wren)
    url = wren.url(f"unmet-requests/{request['id']}")
    assert (await client.delete(url, params={"owner_key": ME})).status_code == 204
    assert await unmet(wren) == []
    problem(await client.delete(url, params={"owner_key": ME}), 404, "not_found")
    messages = (await wren.get("sessions/web:1/messages", owner_key=ME)).json()["messages"]
    assert messages[0]["content"] == ASKED


@pytest.mark.parametrize("path", ["sessions/web:1", "sessions/web:1/messages"])
async def test_it_goes_with_its_message(wren: Any, client: httpx.AsyncClient, path: str) -> None:
    await say(wren, client, ASKED)
    await say(wren, client, "Forget that.", session="web:2")
    assert [each["session_id"] for each in await unmet(wren)] == ["web:2", "web:1"]
    assert (await client.delete(wren.url(path), params={"owner_key": ME})).status_code == 204
    assert [each["session_id"] for each in await unmet(wren)] == ["web:2"]


async def test_forgetting_by_hand_what_the_message_says_meets_it(wren: Any, client: httpx.AsyncClient) -> None:
    await say(wren, client, f"I have a plan. {ASKED}")
    assert len(await unmet(wren)) == 1
    body = {"owner_key": ME, "text": "the zeppelin", "dry_run": True}
    await client.post(wren.url("memory/forget"), json=body)
    assert len(await unmet(wren)) == 1
    await client.post(wren.url("memory/forget"), json={**body, "text": ASKED, "dry_run": False})
    assert await unmet(wren) == []


async def test_clearing_old_messages_takes_it_along(wren: Any, client: httpx.AsyncClient) -> None:
    await say(wren, client, ASKED)
    body = {"owner_key": ME, "tiers": ["message"], "dry_run": False}
    answer = await client.post(wren.url("memory/clear"), json=body)
    assert answer.status_code == 200, answer.text
    assert await unmet(wren) == []


async def test_pages_go_from_the_newest_to_the_oldest(wren: Any, client: httpx.AsyncClient) -> None:
    for number in range(3):
        await say(wren, client, "Forget that.", session=f"web:{number}")
    first = (await wren.get("unmet-requests", owner_key=ME, limit=2)).json()
    assert [each["session_id"] for each in first["requests"]] == ["web:2", "web:1"]
    rest = (await wren.get("unmet-requests", owner_key=ME, limit=2, cursor=first["next_cursor"])).json()
    assert [each["session_id"] for each in rest["requests"]] == ["web:0"]
    assert rest["next_cursor"] is None


async def test_an_id_that_no_request_has_is_not_found(wren: Any, client: httpx.AsyncClient) -> None:
    await say(wren, client, ASKED)
    answer = await client.get(wren.url("unmet-requests/ask-x"), params={"owner_key": ME})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


DOUBTFUL = "Maybe the therapist had better not be in your notes."


async def test_what_may_be_no_request_deletes_nothing_and_is_shown_to_a_person(
    wren: Any, client: httpx.AsyncClient, conninfo: str
) -> None:
    assert await say(wren, client, "I owe my therapist 900 pounds, Harbour Lane.", DOUBTFUL) == []
    assert {"chunks", "messages"} <= set(leftovers(conninfo, "harbour lane"))
    assert [each["seq"] for each in await unmet(wren)] == [3]


async def test_what_may_be_no_request_and_names_nothing_is_shown_to_nobody(
    wren: Any, client: httpx.AsyncClient
) -> None:
    assert await say(wren, client, "My desk is by the window.", DOUBTFUL) == []
    assert await unmet(wren) == []
