"""What asks to forget is done once: transcripts that are sent again, and requests that wait, take nothing more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from reverie_indexer.errors import Conflict
from reverie_server.forgetting import judged, said
from reverie_server.forgetting.forget import Forgetting
from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime

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


TALK = (
    ("user", "My sister Anna lives in Bonn."),
    ("user", "My PIN is 4471."),
    ("user", "Forget that."),
    ("user", "How is the weather?"),
)


async def is_refused(wren: Any, client: httpx.AsyncClient, *messages: tuple[str, str]) -> None:
    """Send messages to a server that ends before it answers."""
    with pytest.raises(AssertionError, match="500"):
        await send(wren, client, *messages)


async def ends(*_: Any) -> Any:
    raise RuntimeError("the server ends here")


async def unmet(wren: Any) -> list[str]:
    """The messages whose requests wait for a person."""
    return [each["message_id"] for each in (await wren.get("unmet-requests", owner_key=ME)).json()["requests"]]


async def test_what_was_stored_and_not_heard_is_heard_when_it_is_sent_again(
    wren: Any, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(said.SaidForgetting, "_requests_of", ends)
        await is_refused(wren, client, *TALK)
    assert "4471" in await kept(wren)
    assert await unmet(wren) == []
    assert len(await send(wren, client, *TALK)) == 1
    text = await kept(wren)
    assert "4471" not in text
    assert "Anna lives in Bonn" in text
    # Once, however often it is sent; also with what follows.
    assert await send(wren, client, *TALK) == []
    assert await send(wren, client, *TALK, ("user", "Thanks a lot.")) == []
    assert "Anna lives in Bonn" in await kept(wren)
    assert await unmet(wren) == []


async def test_an_answer_that_was_stored_and_not_heard_is_heard_when_it_is_sent_again(
    wren: Any, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = (("user", "My PIN is 4471."), ("user", "That one had better evaporate."))
    confirmed = (*asked, ("assistant", "I have forgotten it."))
    heard: list[str] = []
    asked_by_answer = said.SaidForgetting._asked_by_answer

    async def hearing(self: said.SaidForgetting, text: str, answer: str, language: str) -> Any:
        heard.append(text)
        return await asked_by_answer(self, text, answer, language)

    await send(wren, client, *asked)
    with monkeypatch.context() as patched:
        patched.setattr(said.SaidForgetting, "_asked_by_answer", ends)
        await is_refused(wren, client, *confirmed)
    monkeypatch.setattr(said.SaidForgetting, "_asked_by_answer", hearing)
    await send(wren, client, *confirmed)
    await send(wren, client, *confirmed)
    assert heard == [asked[1][1]]


async def test_what_breaks_off_while_it_is_done_waits_for_a_person_and_is_not_done_twice(
    wren: Any, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Forgetting, "forget_statements", ends)
        await is_refused(wren, client, *TALK)
    assert await send(wren, client, *TALK) == []
    text = await kept(wren)
    assert "4471" in text
    assert "Anna lives in Bonn" in text
    assert await unmet(wren) == ["m2"]


async def test_what_nobody_sends_again_waits_for_a_person_before_anything_is_made_of_it(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(said.SaidForgetting, "_requests_of", ends)
        await is_refused(wren, client, *TALK)
    extraction = runtime.consolidation.stages["extraction"]
    await extraction.run(Work("extraction", "default", "wren", ME))
    assert await unmet(wren) == []
    monkeypatch.setattr(judged, "_HEARS_WITHIN", timedelta())
    await extraction.run(Work("extraction", "default", "wren", ME))
    assert await unmet(wren) == ["m2"]


async def test_a_request_with_the_words_of_one_that_is_done_before_it_is_done_too(
    wren: Any, client: httpx.AsyncClient
) -> None:
    talk = [
        ("user", "My PIN is 4471."),
        ("user", "My aunt Berta has lost 500 euros at cards."),
        ("user", "Forget my PIN 4471."),
        ("user", "Forget my PIN 4471. And forget what I told you about Berta."),
    ]
    await send(wren, client, *talk)
    text = await kept(wren)
    assert "4471" not in text
    assert "500 euros" not in text
    # Of its two requests the first has nothing left to find.
    assert await unmet(wren) == ["m3"]


async def test_what_waits_for_the_next_message_waits_while_messages_are_sent_again(
    wren: Any, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = [("user", "My PIN is 4471."), ("user", "Forget that.")]
    with monkeypatch.context() as patched:
        patched.setattr(said.SaidForgetting, "_requests_of", ends)
        await is_refused(wren, client, *talk)
    await send(wren, client, ("user", "Don't save what I say next."), key="b")
    assert len(await send(wren, client, *talk)) == 1
    await send(wren, client, ("user", "My aunt Berta has lost 500 euros at cards."), key="c")
    text = await kept(wren)
    assert "4471" not in text
    assert "500 euros" not in text


async def test_what_an_answer_that_nobody_heard_confirms_waits_for_a_person_by_the_message_before_it(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = (("user", "My PIN is 4471."), ("user", "That one had better evaporate."))
    await send(wren, client, *asked)
    with monkeypatch.context() as patched:
        patched.setattr(said.SaidForgetting, "_asked_by_answer", ends)
        await is_refused(wren, client, *asked, ("assistant", "I have forgotten it."))
    monkeypatch.setattr(judged, "_HEARS_WITHIN", timedelta())
    await runtime.consolidation.stages["extraction"].run(Work("extraction", "default", "wren", ME))
    assert await unmet(wren) == ["m1"]
