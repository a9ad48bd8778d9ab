"""Forgetting over HTTP: a query looks, a person chooses statements, nothing else goes, and a receipt stays."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

ME = "user:1"
CODE = "My gym locker code is 4471."
SAID = f"{CODE} I prefer window seats on trains. I drink oat milk in my coffee."
OTHER = "On Friday I go to the gym with Petra. We take the early bus."
NOTE = "# Notes\n\n- The gym locker code is 4471\n- I prefer green tea.\n"


@pytest.fixture
async def said(wren: Any, client: httpx.AsyncClient) -> Any:
    """A code, two preferences and the gym in other words, in messages and in a file."""
    await client.put(wren.url("sessions/web:1"), json={"owner_key": ME})
    for number, text in enumerate((SAID, OTHER)):
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Fine."}]
        path = f"sessions/web:{number}/messages"
        answer = await client.post(wren.url(path), json={"owner_key": ME, "messages": messages})
        assert answer.status_code < 300, answer.text
    await wren.put("notes.md", NOTE, owner_key=ME)
    return wren


async def forget(wren: Any, client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    return await client.post(wren.url("memory/forget"), json={"owner_key": ME, **body})


async def everything(wren: Any, client: httpx.AsyncClient) -> str:
    texts = [str((await wren.read("notes.md", owner_key=ME))["content"])]
    for number in (0, 1):
        listed = await client.get(wren.url(f"sessions/web:{number}/messages"), params={"owner_key": ME})
        texts += [message["content"] for message in listed.json()["messages"]]
    return "\n".join(texts)


async def test_a_query_by_itself_only_ever_looks(said: Any, client: httpx.AsyncClient) -> None:
    for dry_run in (True, False):
        looked = (await forget(said, client, query="gym locker code number 4471", dry_run=dry_run)).json()
        assert looked["dry_run"] is True
        assert looked["receipt_id"] is None
        assert {item["text"] for item in looked["items"]} >= {CODE}
    assert SAID in await everything(said, client)
    assert (await said.get("receipts", owner_key=ME)).json()["receipts"] == []


async def test_what_is_chosen_goes_and_nothing_else(said: Any, client: httpx.AsyncClient) -> None:
    """Seen elsewhere: forgetting a code by a query of five words took two preferences and a message of another day."""
    looked = (await forget(said, client, query="gym locker code number 4471")).json()
    chosen = [item["id"] for item in looked["items"] if "4471" in item["text"]]
    assert len({item["id"] for item in looked["items"]}) == len(looked["items"])
    done = (await forget(said, client, items=chosen, dry_run=False)).json()
    assert done["receipt_id"]
    left = await everything(said, client)
    assert "4471" not in left
    assert "locker" not in left
    for kept in ("I prefer window seats on trains.", "I drink oat milk in my coffee.", OTHER, "- I prefer green tea."):
        assert kept in left


async def test_a_stale_item_removes_nothing(said: Any, client: httpx.AsyncClient, problem: Any) -> None:
    looked = (await forget(said, client, query="gym locker code number 4471")).json()
    ids = [item["id"] for item in looked["items"]]
    await said.put("notes.md", NOTE.replace("4471", "4472"), owner_key=ME)
    before = await everything(said, client)
    problem(await forget(said, client, items=ids, dry_run=False), 409, "stale_selection")
    problem(await forget(said, client, items=["nothing"], dry_run=False), 409, "stale_selection")
    other = {"owner_key": "user:2", "items": ids, "dry_run": False}
    await said.put("notes.md", "x", owner_key="user:2")
    problem(await client.post(said.url("memory/forget"), json=other), 409, "stale_selection")
    assert await everything(said, client) == before


async def test_an_item_is_chosen_once(said: Any, client: httpx.AsyncClient, problem: Any) -> None:
    looked = (await forget(said, client, query="gym locker code number 4471")).json()
    chosen = [item["id"] for item in looked["items"] if "4471" in item["text"]]
    # The query may stand beside the items of its list.
    again = {"query": "gym locker code number 4471", "items": chosen, "dry_run": False}
    assert (await forget(said, client, **again)).status_code == 200
    problem(await forget(said, client, **again), 409, "stale_selection")


async def test_a_word_takes_its_statement_and_leaves_no_stump(said: Any, client: httpx.AsyncClient) -> None:
    await said.put("keys.md", "# Keys\n\n- The spare key is in the drawer.\n- The car is blue.\n", owner_key=ME)
    dry = (await forget(said, client, text="spare key")).json()
    assert [item["text"] for item in dry["items"]] == ["The spare key is in the drawer."]
    await forget(said, client, text="spare key", dry_run=False)
    assert (await said.read("keys.md", owner_key=ME))["content"] == "# Keys\n\n- The car is blue.\n"


@pytest.mark.parametrize(
    ("code", "request_", "left"),
    [
        ("The alarm code of the shed is 8812.", " Please remember that.", ""),
        ("Das WLAN-Passwort der Werkstatt ist ahorn-77.", " Bitte merk dir das. Es regnet.", "Es regnet."),
        ("La clave del trastero es 5519.", " Acuérdate, por favor.", ""),
        ("我家门禁密码是2046。", "请记住。", ""),
        ("The alarm code of the shed is 8812.", " Please remember: it is green.", "Please remember: it is green."),
        ("Das WLAN-Passwort der Werkstatt ist ahorn-77.", " Ich merke mir das nie.", "Ich merke mir das nie."),
    ],
)
async def test_a_request_to_remember_goes_with_what_it_asks_for(
    wren: Any, client: httpx.AsyncClient, code: str, request_: str, left: str
) -> None:
    """Left alone it would ask to remember whatever was said before."""
    messages = [{"role": "user", "content": "I live in Oslo."}, {"role": "user", "content": f"{code}{request_}"}]
    path = wren.url("sessions/web:1/messages")
    await client.post(path, json={"owner_key": ME, "messages": messages})
    dry = (await forget(wren, client, text=code)).json()
    await forget(wren, client, text=code, dry_run=False)
    listed = (await client.get(path, params={"owner_key": ME})).json()["messages"]
    assert [message["content"] for message in listed] == ["I live in Oslo.", left]
    [gone] = {item["text"] for item in dry["items"] if item["tier"] == "message"}
    assert gone == f"{code}{request_}".removesuffix(left).strip()


async def test_a_receipt_says_when_by_whom_from_where_and_how_many_and_never_the_text(
    said: Any, client: httpx.AsyncClient, problem: Any
) -> None:
    done = (await forget(said, client, text="4471", dry_run=False)).json()
    [receipt] = (await said.get("receipts", owner_key=ME)).json()["receipts"]
    assert receipt["id"] == done["receipt_id"]
    assert (receipt["kind"], receipt["by"], receipt["owner_key"]) == ("text", "user", ME)
    assert {place["tier"] for place in receipt["places"]} >= {"document", "message"}
    assert receipt["removed"] == done["removed"]
    one = await said.get(f"receipts/{receipt['id']}", owner_key=ME)
    assert one.json() == receipt
    assert "locker" not in one.text
    problem(await said.get(f"receipts/{receipt['id']}", owner_key="user:2"), 404, "not_found")
    assert (await said.get("receipts", owner_key="user:2")).json()["receipts"] == []


async def test_an_earlier_receipt_does_not_keep_a_name_that_is_forgotten_later(
    said: Any, client: httpx.AsyncClient
) -> None:
    await said.put("notes/quince-4712.md", "My bike is red.\n\nMy tram leaves at nine.\n", owner_key=ME)
    await said.put("bikes.md", "My bike is red.\n", owner_key=ME)
    first = (await forget(said, client, text="My bike is red.", dry_run=False)).json()["receipt_id"]
    before = (await said.get(f"receipts/{first}", owner_key=ME)).json()
    assert {"notes/quince-4712.md", "bikes.md"} <= {place["path"] for place in before["places"]}
    await said.put("pin.md", "My PIN is quince-4712.\n", owner_key=ME)
    await forget(said, client, text="quince-4712", dry_run=False)
    after = (await said.get(f"receipts/{first}", owner_key=ME)).json()
    assert "quince" not in str(after)
    assert [place["count"] for place in after["places"]] == [place["count"] for place in before["places"]]
    assert "bikes.md" in {place["path"] for place in after["places"]}


async def test_a_session_is_forgotten_with_what_was_said_in_it_alone(said: Any, client: httpx.AsyncClient) -> None:
    body = {"owner_key": ME, "messages": [{"role": "user", "content": "We take the early bus. My tailor is Mr Voss."}]}
    await client.post(said.url("sessions/web:2/messages"), json=body)
    await said.put("tailor.md", "My tailor is Mr Voss.\n\nWe take the early bus.\n", owner_key=ME)
    dry = (await forget(said, client, session_id="web:2")).json()
    assert {item["text"] for item in dry["items"]} == {"My tailor is Mr Voss."}
    done = (await forget(said, client, session_id="web:2", dry_run=False)).json()
    assert done["receipt_id"]
    assert (await said.read("tailor.md", owner_key=ME))["content"] == "We take the early bus.\n"
    gone = await client.get(said.url("sessions/web:2"), params={"owner_key": ME})
    assert gone.status_code == 404


@pytest.mark.parametrize(
    "body", [{}, {"text": "ab", "query": "c"}, {"items": []}, {"entity_id": "ent-1", "session_id": "web:1"}]
)
async def test_exactly_one_thing_is_meant(
    said: Any, client: httpx.AsyncClient, problem: Any, body: dict[str, Any]
) -> None:
    problem(await forget(said, client, **body), 422, "validation_error")
