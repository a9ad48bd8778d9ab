"""Untidy conversations in four languages, each with one private statement: forgotten in each way, it is nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.rows import leftovers

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

ME, OTHER = "user:1", "user:2"


@dataclass(frozen=True)
class Talk:
    """What a person says; one of its statements is private, and `words` are what nobody else says.

    `query` is how one asks for it, `request` how one asks in the conversation that it be forgotten, `kept` what else
    was said.
    """

    says: Sequence[str]
    words: str
    query: str
    request: str
    kept: Sequence[str]


TALKS: Mapping[str, Talk] = {
    "en-clinic": Talk(
        (
            "hey, long day. I like rye bread with cheese. By the way, Dr. Quimby put me on sertralinex last week. "
            "My sister Nora lives in Leeds.",
        ),
        "sertralinex",
        "Which medicine did Dr. Quimby put me on?",
        "Forget that I said Dr. Quimby put me on sertralinex.",
        ("rye bread", "leeds"),
    ),
    "en-salary": Talk(
        (
            "I work at Harbour Optics as a lens grinder!! we decided to paint the workshop green.",
            "So, I earn 73911 a year.",
        ),
        "73911",
        "How much do I earn a year?",
        "Forget that, please.",
        ("harbour optics", "green"),
    ),
    "en-door": Talk(
        ("My bike is a red Kalkhoff. The code of the cellar door is 9137#blip. I swim on Tuesdays...",),
        "9137#blip",
        "What is the code of the cellar door?",
        "Don't keep the code of the cellar door.",
        ("kalkhoff", "tuesdays"),
    ),
    "de-streit": Talk(
        ("na du. Ich wohne jetzt in Görlitz. Mein Bruder Veit hat wieder zu spielhallern angefangen.",),
        "spielhallern",
        "Womit hat mein Bruder Veit wieder angefangen?",
        "vergiss das bitte wieder",
        ("görlitz",),
    ),
    "de-konto": Talk(
        ("Ich trinke am liebsten Rooibos. Meine Kontonummer ist 55802-grumbel. Am Freitag gehe ich zum Chor.",),
        "grumbel",
        "Wie ist meine Kontonummer?",
        "Vergiss bitte meine Kontonummer.",
        ("rooibos", "chor"),
    ),
    "es-salud": Talk(
        ("uf qué semana. Trabajo en una imprenta de Gijón. El lunes me operan de la zorbitis.",),
        "zorbitis",
        "¿De qué me operan el lunes?",
        "eso no lo guardes",
        ("imprenta",),
    ),
    "es-clave": Talk(
        ("Me encanta el gazpacho. La clave de mi caja fuerte es tejon-8080. Mi prima Lola vive en Cádiz.",),
        "tejon-8080",
        "¿Cuál es la clave de mi caja fuerte?",
        "Olvida la clave de mi caja fuerte, por favor.",
        ("gazpacho", "cádiz"),
    ),
    "zh-bing": Talk(
        ("我在苏州的图书馆工作。我上个月确诊了蓝嗪症。",),
        "蓝嗪症",
        "我上个月确诊了什么病？",
        "这个别记",
        ("苏州",),
    ),
    "zh-mima": Talk(
        ("我喜欢爬山。我的保险箱密码是竹影七三。我妹妹住在成都。",),
        "竹影七三",
        "我的保险箱密码是什么？",
        "把我的保险箱密码忘掉。",
        ("爬山", "成都"),
    ),
}  # fmt: skip
WAYS = ("query", "text", "said", "session")


async def tell(
    wren: Any, client: httpx.AsyncClient, session: str, says: Sequence[str], owner: str, at: datetime
) -> Any:
    messages = []
    for number, text in enumerate(says):
        time = (at + timedelta(minutes=number)).isoformat()
        messages.append({"role": "user", "content": text, "at": time})
        messages.append({"role": "assistant", "content": "I see. Anything else?", "at": time})
    answer = await client.post(
        wren.url(f"sessions/{session}/messages"), json={"owner_key": owner, "messages": messages}
    )
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def live(wren: Any, client: httpx.AsyncClient, at: datetime) -> None:
    for name, talk in TALKS.items():
        await tell(wren, client, f"web:{name}", talk.says, ME, at)
        body = {"owner_key": ME, "trigger_source": "web"}
        await client.post(wren.url(f"sessions/web:{name}/complete"), json=body)
        at += timedelta(hours=1)


async def forget(wren: Any, client: httpx.AsyncClient, name: str, way: str) -> str:
    talk, url = TALKS[name], wren.url("memory/forget")
    body: dict[str, Any] = {"owner_key": ME, "dry_run": False}
    if way == "said":
        answer = await tell(wren, client, f"web:{name}", [talk.request], ME, datetime.now(UTC))
        return "" if answer["forgotten"] else f"{name}: {talk.request!r} forgets nothing"
    if way == "query":
        looked = (await client.post(url, json={"owner_key": ME, "query": talk.query})).json()["items"]
        body["items"] = [item["id"] for item in looked if talk.words in item["text"]]
        if not body["items"]:
            return f"{name}: {talk.query!r} does not list it: {[item['text'] for item in looked]}"
    elif way == "session":
        body["session_id"] = f"web:{name}"
    else:
        body["text"] = talk.words
    answer = await client.post(url, json=body)
    return "" if answer.status_code == 200 else f"{name}: {answer.text}"


def _ways(first: int) -> dict[str, str]:
    """Each conversation with a way, beginning with another one in each run."""
    return {name: WAYS[(first + number) % len(WAYS)] for number, name in enumerate(TALKS)}


@pytest.mark.parametrize(
    "first", [pytest.param(n, marks=[] if n == 0 else [pytest.mark.slow]) for n in range(len(WAYS))]
)
async def test_the_private_words_are_nowhere_and_the_rest_is_there(
    wren: Any, client: httpx.AsyncClient, runtime: Runtime, conninfo: str, first: int
) -> None:
    begun = datetime.now(UTC) - timedelta(days=2)
    await live(wren, client, begun)
    # Somebody else's word stays, whatever this person forgets.
    await tell(wren, client, "web:else", ["My cellar has a blip of mould. My locker code is heron-5150."], OTHER, begun)
    await drain(runtime, until=datetime.now(UTC) + timedelta(days=2))
    snapshot = await wren.get("workspace/memory/export", owner_key=ME)
    faults = []
    ways = _ways(first)
    for name, way in ways.items():
        assert leftovers(conninfo, TALKS[name].words) != []
        if fault := await forget(wren, client, name, way):
            faults.append(fault)
        elif where := leftovers(conninfo, TALKS[name].words):
            faults.append(f"{name} by {way}: left in {where}")
    # The same transcripts again, and the snapshot of before.
    for again in ("web", "import"):
        for name, talk in TALKS.items():
            if ways[name] != "session":
                await tell(wren, client, f"{again}:{name}", talk.says, ME, begun)
    await client.post(
        wren.url("workspace/memory/import"),
        content=snapshot.content,
        headers={"Content-Type": "application/zip"},
        params={"owner_key": ME},
    )
    await drain(runtime, until=datetime.now(UTC) + timedelta(days=4))
    for name, talk in TALKS.items():
        where = leftovers(conninfo, talk.words)
        if where:
            faults.append(f"{name} by {ways[name]}: came back in {where}")
        if ways[name] != "session":
            faults += [
                f"{name} by {ways[name]}: {kept!r} is gone" for kept in talk.kept if not leftovers(conninfo, kept)
            ]
    faults += [f"{word!r} of somebody else is gone" for word in ("blip", "heron-5150") if not leftovers(conninfo, word)]
    assert not faults, "\n".join(faults)
