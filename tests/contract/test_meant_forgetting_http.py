"""What somebody asks to forget in words that no pattern has, with the real embedding model."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.contract.test_said_forgetting_http import ME, said_and_answered
from tests.rows import leftovers

from reverie_indexer.database.database import Database
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return load_local(tmp_path_factory.mktemp("graphs"), E5)


@pytest.fixture
async def runtime(database: Database, embedder: LocalEmbedder) -> Runtime:
    async def load() -> LocalEmbedder:
        return embedder

    slot = ModelSlot(load)
    await slot.fill(database)
    return assemble(Settings(embedder="local"), database, slot)


NATURAL = [
    (("Don't write this one down, please: I've been offered the quince job. I like green tea.", "Quietly, then."),),
    (
        ("The boiler goes at Easter. I've about quince thousand on three cards. I like green tea.", "Which boiler?"),
        ("A Vaillant, 30 kW.", "That is plenty for two bathrooms."),
        ("Good. Actually, the bit about the cards, could you not hang on to that?", "Sure, that's not kept."),
    ),
    (
        ("Setting up mum's tablet, she likes green tea. The passcode is quince77. The icons are big now.", "Good."),
        ("Found the captions too.", "Nice."),
        ("You shouldn't have those digits I typed, throw them out.", "Thrown out."),
    ),
    (
        ("Ich mag grünen Tee. Mein Bruder hat quince Euro beim Pferderennen verloren.", "Das tut mir leid."),
        ("Die Sache mit meinem Bruder wirfst du bitte weg, ja?", "Ist weg."),
    ),
    (
        ("Me gusta el té. Mi jefa bebe quince en el despacho.", "Vaya."),
        ("Lo de mi jefa, haz como que no lo has leído, anda.", "Ni rastro."),
    ),
    (
        ("我喜欢绿茶。我表哥欠了quince万的赌债。", "唉，家里知道吗？"),
        ("不知道。表哥那件事你就当没听过吧。", "好，当作没听过。"),
    ),
]


@pytest.mark.parametrize("talk", NATURAL)
@pytest.mark.parametrize("is_split", [False, True])
async def test_what_is_meant_is_forgotten_in_words_that_no_pattern_has(
    wren: Any, client: httpx.AsyncClient, conninfo: str, talk: tuple[tuple[str, str], ...], is_split: bool
) -> None:
    for text, answer in talk:
        both = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        for messages in [[each] for each in both] if is_split else [both]:
            body = {"owner_key": ME, "messages": messages}
            assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)
    assert leftovers(conninfo, "quince") == []
    kept = {"I": "tea", "M": "té", "我": "绿茶"}.get(talk[0][0][0], "tea")
    assert "messages" in leftovers(conninfo, "tee" if "Tee" in talk[0][0] else kept)


AHEAD = [
    (
        ("Let the next thing I type go in one ear and out the other, ok?", "Okay, I'm listening."),
        ("I failed quince at the bar exam.", "I'm sorry to hear it."),
        ("I like green tea.", "Good choice."),
    ),
    (
        ("Was ich dir gleich erzähle, merk dir bitte nicht.", "Gut, ich höre zu."),
        ("Ich habe quince im Lotto gewonnen.", "Glückwunsch!"),
        ("Ich mag grünen Tee.", "Eine gute Wahl."),
    ),
]


@pytest.mark.parametrize("talk", AHEAD)
async def test_what_is_announced_is_forgotten_when_it_comes_and_nothing_after_it(
    wren: Any, client: httpx.AsyncClient, conninfo: str, talk: tuple[tuple[str, str], ...]
) -> None:
    for text, answer in talk:
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        body = {"owner_key": ME, "messages": messages}
        assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)
    assert leftovers(conninfo, "quince") == []
    assert "messages" in leftovers(conninfo, "tee" if "Tee" in talk[2][0] else "tea")


async def test_a_request_with_nothing_before_it_is_heard(wren: Any, client: httpx.AsyncClient) -> None:
    messages = [
        {"role": "user", "content": "Forget what I said about the loan."},
        {"role": "assistant", "content": "Gone."},
    ]
    body = {"owner_key": ME, "messages": messages}
    answer = await client.post(wren.url("sessions/web:1/messages"), json=body)
    assert answer.status_code in (200, 201), answer.text
    assert len((await wren.get("unmet-requests", owner_key=ME)).json()["requests"]) == 1


ASKED = [
    (
        "My locker opens with quince.",
        "hm, I'd sleep better if that left no trace with you",
        "I won't keep it. Anything else?",
    ),
    ("My locker opens with quince.", "let that one evaporate, would you", "It's forgotten."),
    ("Mein Spind geht mit quince auf.", "hätte für mich bleiben sollen, lass es verpuffen", "Wird nirgends notiert."),
    (
        "Mi taquilla abre con quince.",
        "ni lo tenía que haber escrito, que se lo lleve el viento",
        "De acuerdo. No queda.",
    ),
    ("我的柜子密码是quince。", "这话你听过就算了，别往心里去", "好，当作没有。"),
]


@pytest.mark.parametrize(("told", "asked", "answer"), ASKED)
async def test_what_an_assistant_promises_to_forget_is_forgotten(
    wren: Any, client: httpx.AsyncClient, conninfo: str, told: str, asked: str, answer: str
) -> None:
    together, apart = await said_and_answered(wren, client, told, asked, answer)
    assert (len(together), len(apart)) == (1, 1)
    assert leftovers(conninfo, "quince") == []
