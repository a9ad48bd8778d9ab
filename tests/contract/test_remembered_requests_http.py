"""What somebody asks to remember in words that no pattern has, with the real embedding model: what is meant is kept."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.contract.test_meant_forgetting_http import ME, embedder, runtime

__all__ = ["embedder", "runtime"]

ASKED = [
    (
        [
            ("My blood group is AB negative, the nurse nearly fell off her chair. I had a biscuit.", "A rare one!"),
            ("She said so. Nice nurse, name of Bev.", "A good day to be you."),
            ("The blood thing, keep hold of it for me, I never know it when they ask.", "It's safe with me."),
        ],
        "AB negative",
        "Bev",
    ),
    (
        [
            ("Der Haupthahn ist hinter dem Schuhschrank. Der Klempner war nett, er heißt Rolf.", "Gut zu wissen."),
            ("Das mit dem Hahn hebst du bitte für mich auf, das finde ich sonst nie wieder.", "Ist aufgehoben."),
        ],
        "Schuhschrank",
        "Rolf",
    ),
    (
        [
            (
                "El alquiler se paga al alias tucan.mate.lluvia. Perdí una caja de cubiertos.",
                "Qué alias poético.",
            ),
            ("Ese alias guárdamelo a mano, que todos los meses te lo voy a pedir.", "A mano queda."),
        ],
        "tucan.mate.lluvia",
        "cubiertos",
    ),
    (
        [
            ("院门那把锁在石榴树后头，密码6618。旁边还有条狗，不咬人。", "有狗看门，放心。"),
            ("刚才说那个锁的密码，你给我收好，夜里回来我要问你。", "收好了，随时问我。"),
        ],
        "6618",
        "不咬人",
    ),
]


@pytest.mark.parametrize(("talk", "kept", "left"), ASKED)
async def test_what_is_meant_is_kept_and_neither_the_request_nor_what_stands_beside_it(
    wren: Any, client: httpx.AsyncClient, talk: list[tuple[str, str]], kept: str, left: str
) -> None:
    messages = [
        {"role": role, "content": content}
        for pair in talk
        for role, content in zip(("user", "assistant"), pair, strict=True)
    ]
    body = {"owner_key": ME, "messages": messages}
    assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)
    summarize = wren.url("").rstrip("/").replace("/agents/", "/memory/") + "/summarize/web:1"
    assert (await client.post(summarize, json={"owner_key": ME})).status_code == 200
    memory = (await wren.get("files/MEMORY.md", owner_key=ME)).json()["content"]
    assert kept in memory
    assert left not in memory
    assert talk[-1][0].split()[0] not in memory.split("\n- ")[1:]


@pytest.mark.parametrize(
    ("said", "answer", "kept"),
    [
        ("The yard gate opens with 2714 these days. Hang on to that for me, would you?", "Safe with me.", "2714"),
        ("Der Keller geht jetzt mit 8815 auf. Das hebst du mir bitte gut auf.", "Ist aufgehoben.", "8815"),
        ("院门那把锁换了，现在按6618。你给我收好，夜里回来我要问你。", "收好了，随时问我。", "6618"),
        ("The yard gate is painted 2714 green these days, it looks dreadful.", "It will fade.", None),
        # It may ask, by its words, and does not.
        ("Es la 2714. La necesito cada vez y cada vez la busco.", "Vaya.", None),
    ],
)
async def test_a_request_in_other_words_is_enough_of_a_conversation(
    wren: Any, client: httpx.AsyncClient, said: str, answer: str, kept: str | None
) -> None:
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": answer}]
    body = {"owner_key": ME, "messages": messages}
    assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)
    summarize = wren.url("").rstrip("/").replace("/agents/", "/memory/") + "/summarize/web:1"
    assert (await client.post(summarize, json={"owner_key": ME})).status_code == 200
    found = await wren.get("files/MEMORY.md", owner_key=ME)
    memory = found.json().get("content", "")
    assert kept in memory if kept else "2714" not in memory
