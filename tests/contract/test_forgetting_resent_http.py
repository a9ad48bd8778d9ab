"""What asks to forget is done once: transcripts that are sent again, and requests that wait, take nothing more."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from reverie_indexer.errors import Conflict
from reverie_server.forgetting import said
from reverie_server.forgetting.forget import Forgetting

ME = "user:1"


async def send(wren: Any, client: httpx.AsyncClient, *messages: tuple[str, str], key: str = "m") -> list[str]:
    """Send messages with ids by their place; the receipts."""
    body = {
        "owner_key": ME,
        "messages": [
            {"role": role, "content": content, "id": f"{key}{number}"}
            for number, (role, content) in enumerate(messages)
        ],
    }
    answer = await client.post(wren.url("sessions/web:1/messages"), json=body)
    assert answer.status_code in (200, 201), answer.text
    return list(answer.json()["forgotten"])


async def kept(wren: Any) -> str:
    """All that the session still has."""
    return str((await wren.get("sessions/web:1/messages", owner_key=ME)).json())


async def test_a_transcript_that_is_sent_again_as_it_grows_forgets_once(wren: Any, client: httpx.AsyncClient) -> None:
    talk = [
        ("user", "My sister Anna lives in Bonn."),
        ("user", "I work as a nurse in Kiel."),
        ("user", "My PIN is 4471."),
        ("user", "Forget that."),
    ]
    assert len(await send(wren, client, *talk)) == 1
    for more in ("How is the weather?", "Thanks a lot."):
        talk.append(("user", more))
        assert await send(wren, client, *talk) == []
    text = await kept(wren)
    assert "4471" not in text
    assert "Anna lives in Bonn" in text
    assert "nurse in Kiel" in text


async def test_a_turn_that_is_sent_again_with_its_answer_forgets_once(wren: Any, client: httpx.AsyncClient) -> None:
    await send(wren, client, ("user", "My sister Anna lives in Bonn."), ("user", "My PIN is 4471."), key="a")
    assert len(await send(wren, client, ("user", "Forget that."), key="b")) == 1
    assert await send(wren, client, ("user", "Forget that."), ("assistant", "It is forgotten."), key="b") == []
    assert "Anna lives in Bonn" in await kept(wren)


async def test_what_waits_for_the_next_message_is_the_only_thing_that_is_done_then(
    wren: Any, client: httpx.AsyncClient
) -> None:
    await send(
        wren,
        client,
        ("user", "My sister Anna lives in Bonn."),
        ("user", "My PIN is 4471."),
        ("user", "Forget that. And don't save what I say next."),
        key="a",
    )
    await send(wren, client, ("user", "My aunt Berta is ill again."), key="b")
    text = await kept(wren)
    assert "Anna lives in Bonn" in text
    assert "4471" not in text
    assert "Berta" not in text


async def test_a_word_of_assent_is_not_what_is_meant_and_goes_nowhere(wren: Any, client: httpx.AsyncClient) -> None:
    await wren.put("MEMORY.md", "# Notes\n\n- Anna said yes to the job.\n- ok\n", owner_key=ME)
    await send(wren, client, ("user", "My PIN is 4471 for the card."), ("user", "Ok. Delete my last message."), key="a")
    assert "4471" not in await kept(wren)
    await send(wren, client, ("user", "Don't save what I say next."), ("user", "Ok. My aunt Berta is ill."), key="b")
    assert "Berta" not in await kept(wren)
    await send(wren, client, ("user", "Yes"), key="c")
    assert await send(wren, client, ("user", "Delete my last message."), key="d") == []
    memory = (await wren.get("files/MEMORY.md", owner_key=ME)).json()["content"]
    assert "Anna said yes to the job." in memory
    assert "- ok" in memory


async def test_what_an_answer_said_before_the_forgotten_statement_stays(wren: Any, client: httpx.AsyncClient) -> None:
    await send(
        wren,
        client,
        ("user", "When was it?"),
        ("assistant", "The birthday of your sister Anna is on the third of May."),
        ("user", "My sister Anna has lost 500 euros at cards."),
        ("assistant", "Anna lost 500 euros, I see."),
        ("user", "Forget that."),
    )
    text = await kept(wren)
    assert "third of May" in text
    assert "500 euros" not in text


async def test_a_request_is_heard_behind_the_block_that_memory_put_into_it(
    wren: Any, client: httpx.AsyncClient
) -> None:
    block = "<memory-context>\nAnna lives in Bonn.\n</memory-context>\n"
    assert len(await send(wren, client, ("user", "My PIN is 4471."), ("user", f"{block}Forget that."))) == 1
    assert "4471" not in await kept(wren)


async def test_a_message_of_more_statements_than_go_at_once_is_for_a_person_to_look_at(
    wren: Any, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said, "_MAX_STATEMENTS", 3)
    long = " ".join(f"The number of locker {number} is {number}471." for number in range(2, 7))
    await send(wren, client, ("user", long), ("user", "Delete my last message."))
    unmet = (await wren.get("unmet-requests", owner_key=ME)).json()
    assert [each["message_id"] for each in unmet["requests"]] == ["m1"]


async def test_what_fails_is_for_a_person_to_look_at_and_what_was_done_before_it_is_said(
    wren: Any, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_statements = Forgetting.forget_statements

    async def failing(self: Forgetting, grant: Any, place: Any, texts: Any) -> Any:
        if any("8812" in text for text in texts):
            raise Conflict("somebody writes it back")
        return await forget_statements(self, grant, place, texts)

    monkeypatch.setattr(Forgetting, "forget_statements", failing)
    talk = [
        ("user", "My PIN is 4471."),
        ("user", "Forget that."),
        ("user", "My code is 8812."),
        ("user", "Forget that."),
    ]
    assert len(await send(wren, client, *talk)) == 1
    unmet = (await wren.get("unmet-requests", owner_key=ME)).json()
    assert [each["message_id"] for each in unmet["requests"]] == ["m3"]
