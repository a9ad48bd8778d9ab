"""What somebody asks to forget in words that no pattern has, with the real embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.contract.test_said_forgetting_http import ME, said_and_answered
from tests.embedders import runtime_with
from tests.rows import leftovers

from reverie_indexer.database.database import Database
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return load_local(tmp_path_factory.mktemp("graphs"), E5)


@pytest.fixture
async def runtime(database: Database, embedder: LocalEmbedder) -> Runtime:
    return await runtime_with(database, embedder)


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


KEPT = [
    ("La clave del trastero es quince88, apúntala por favor.", "La alarma de casa es tee4402. Olvida eso, por favor."),
    ("仓库的密码是quince88，请记住。", "家里报警器的密码是tee4402。算了，忘了这个吧。"),
    (
        "Das Passwort der Werkstatt ist quince88, bitte merk dir das.",
        "Der Code vom Tresor ist tee4402. Ach, vergiss das bitte.",
    ),
    ("The PIN of the shed is quince88. Please remember it.", "My PIN at the bank is tee4402. Oh, forget that, please."),
]


async def _tell(wren: Any, client: httpx.AsyncClient, talk: Sequence[str]) -> None:
    for text in talk:
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "OK."}]
        body = {"owner_key": ME, "messages": messages}
        assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)


@pytest.mark.parametrize("talk", KEPT)
async def test_what_somebody_asked_to_keep_stays_where_another_statement_is_meant(
    wren: Any, client: httpx.AsyncClient, conninfo: str, talk: tuple[str, str]
) -> None:
    await _tell(wren, client, talk)
    assert leftovers(conninfo, "tee4402") == []
    assert "messages" in leftovers(conninfo, "quince88")


NAMED_ELSEWHERE = [
    ("快递柜的取件码是quince88，存一下，晚上去拿。", "还有 前阵子吐槽室友那出，删了吧 晦气"),
    ("窗帘店问尺寸，你帮我留个底：quince88厘米宽。", "还有之前讲过女方家给的那笔钱的数目，别留档了，我妈说不要往外讲"),
    (
        "Das neue Passwort vom Internet ist quince88, merk dir das bitte.",
        "Und die Geschichte von der Untersuchung neulich, wo ich nicht schlafen konnte, die muss weg.",
    ),
]


@pytest.mark.parametrize("talk", NAMED_ELSEWHERE)
async def test_what_names_a_thing_of_another_time_does_not_take_what_was_said_last(
    wren: Any, client: httpx.AsyncClient, conninfo: str, talk: tuple[str, str]
) -> None:
    await _tell(wren, client, talk)
    assert "messages" in leftovers(conninfo, "quince")


async def test_what_somebody_asked_to_keep_goes_where_a_request_names_it(
    wren: Any, client: httpx.AsyncClient, conninfo: str
) -> None:
    for text, answer in (
        ("The PIN of the shed is quince88. Please remember it.", "Noted."),
        ("The bus was late.", "Oh."),
        ("The shed PIN, throw that out please.", "Thrown out."),
    ):
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        body = {"owner_key": ME, "messages": messages}
        assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)
    assert leftovers(conninfo, "quince88") == []


async def test_what_a_request_says_behind_a_colon_is_all_that_it_means(
    wren: Any, client: httpx.AsyncClient, conninfo: str
) -> None:
    for text in (
        "The neighbour is Colin Beattie, who mows my lawn and takes his payment in quince jam.",
        "Please don't keep the next thing, it isn't mine to tell: Colin Beattie waits for the result of a biopsy.",
    ):
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Of course."}]
        body = {"owner_key": ME, "messages": messages}
        assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)
    assert leftovers(conninfo, "biopsy") == []
    assert "messages" in leftovers(conninfo, "quince")


OF_ANOTHER_DAY = [
    (
        ("Between us, I found a bottle of quince in my manager's desk drawer last week.", "That is a worry."),
        ("My sister's birthday is on 3 May, and I need a recipe for lentil soup.", "Here is one with cumin."),
        (
            "The leaving do is on Tuesday with green tea. Oh, and the thing I told you about my manager's drinking, "
            "please get rid of it.",
            "Gone.",
        ),
    ),
    (
        ("Am Freitag hat die Frauenärztin bei mir ein quinceMyom gefunden.", "Das ist fast immer gutartig."),
        ("Meine Schwester hat am 3. Mai Geburtstag, und ich brauche ein Rezept für Linsensuppe.", "Hier ist eins."),
        (
            "Am 7. April kommt der Elektriker auf einen grünen Tee. Noch eine Bitte: was ich dir neulich von der "
            "Untersuchung bei der Gynäkologin geschrieben hab, soll nirgends mehr stehen.",
            "Steht nirgends mehr.",
        ),
    ),
    (
        ("En Navidad mi cuñado me prestó quince mil euros y no le he devuelto nada.", "Puedes ir poco a poco."),
        ("Mi hermana cumple años el 3 de mayo y necesito una receta de lentejas.", "Aquí tienes una."),
        ("El martes traigo té verde. Otra cosa: lo del préstamo de mi cuñado, bórralo por favor.", "Borrado."),
    ),
    (
        ("我借了quince万给表哥，许衡还不知道。", "最好写个借条。"),
        ("我姐姐5月3日过生日，帮我找个小扁豆汤的做法。", "好的，这里有一个。"),
        ("周二带绿茶去聚会。还有，前阵子跟你提过表哥找我拿钱的事，你把它抹掉吧，我不想留着。", "好，抹掉了。"),
    ),
]


@pytest.mark.parametrize("talk", OF_ANOTHER_DAY)
async def test_what_was_told_on_another_day_is_forgotten_and_not_what_was_said_last(
    wren: Any, client: httpx.AsyncClient, conninfo: str, runtime: Runtime, talk: tuple[tuple[str, str], ...]
) -> None:
    for number, (text, answer) in enumerate(talk):
        at = datetime(2026, 3, 1 + 5 * number, tzinfo=UTC)
        messages = [
            {"role": "user", "content": text, "at": at.isoformat()},
            {"role": "assistant", "content": answer, "at": (at + timedelta(minutes=1)).isoformat()},
        ]
        body = {"owner_key": ME, "messages": messages}
        assert (await client.post(wren.url(f"sessions/web:{number}/messages"), json=body)).status_code in (200, 201)
        await drain(runtime)
    assert leftovers(conninfo, "quince") == []
    assert "messages" in leftovers(
        conninfo, {"E": "té verde", "我": "绿茶", "A": "grünen Tee"}.get(talk[0][0][0], "tea")
    )
    assert "messages" in leftovers(
        conninfo, {"E": "lentejas", "我": "扁豆", "A": "Linsen"}.get(talk[0][0][0], "lentil")
    )


@pytest.mark.parametrize(
    ("first", "second", "request_", "gone", "kept"),
    [
        (
            "We got the goat today. My cousin Rolf set fire to the quince barn.",
            "Rolf came by with lentil soup. He is learning the accordion.",
            "what i told you {day} about rolf and that barn, wipe it",
            "quince",
            "lentil",
        ),
        (
            "Die Ziege ist da. Ich habe 1990 den Quitten-Stempel gefälscht. Das habe ich noch nie jemandem gesagt.",
            "Heute gab es Linsensuppe. Mein Nachbar spielt Akkordeon.",
            "Eine Bitte: Was ich Ihnen am {weekday} anvertraut habe, möge bei Ihnen ausgelöscht sein.",
            "Stempel",
            "Linsensuppe",
        ),
    ],
)
async def test_of_a_day_that_the_request_names_goes_what_was_told_on_it(
    wren: Any, client: httpx.AsyncClient, conninfo: str, first: str, second: str, request_: str, gone: str, kept: str
) -> None:
    # A Tuesday, the day after, and the day that follows.
    texts = [first, second, request_.format(day="the day before yesterday", weekday="Dienstag")]
    for number, text in enumerate(texts):
        at = datetime(2026, 3, 3 + number, 18, tzinfo=UTC).isoformat()
        messages = [{"role": "user", "content": text, "at": at}, {"role": "assistant", "content": "Gone.", "at": at}]
        body = {"owner_key": ME, "messages": messages}
        assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)
    assert leftovers(conninfo, gone) == []
    assert "messages" in leftovers(conninfo, kept)
    assert "messages" in leftovers(conninfo, "goat" if kept == "lentil" else "Ziege")


async def test_a_request_for_what_was_never_told_takes_nothing_and_waits_for_a_person(
    wren: Any, client: httpx.AsyncClient, conninfo: str
) -> None:
    for text in (
        "My locker opens with quince77. I like green tea.",
        "The thing I told you the other day about my sister's divorce, please don't hang on to that.",
    ):
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "OK."}]
        body = {"owner_key": ME, "messages": messages}
        assert (await client.post(wren.url("sessions/web:1/messages"), json=body)).status_code in (200, 201)
    assert "messages" in leftovers(conninfo, "quince77")
    assert "messages" in leftovers(conninfo, "divorce")
    assert len((await wren.get("unmet-requests", owner_key=ME)).json()["requests"]) == 1


async def test_in_a_memory_that_is_one_for_all_a_request_means_what_its_owner_said(
    client: httpx.AsyncClient, runtime: Runtime
) -> None:
    await client.put("/agents/wren", json={"settings": {"memory_isolation": False}})

    async def say(owner: str, day: int, text: str) -> list[str]:
        at = datetime(2026, 3, day, tzinfo=UTC).isoformat()
        messages = [{"role": "user", "content": text, "at": at}, {"role": "assistant", "content": "OK.", "at": at}]
        body = {"owner_key": owner, "messages": messages}
        answer = await client.post(f"/agents/wren/sessions/{owner}-{day}/messages", json=body)
        assert answer.status_code in (200, 201), answer.text
        await drain(runtime)
        return list(answer.json()["forgotten"])

    await say("user:2", 1, "I found a bottle of vodka in my manager's desk drawer last week.")
    asked = "Lunch is at one. Oh, and the thing I told you about my manager's drinking, please get rid of it."
    assert await say("user:1", 6, asked) == []
    kept = await client.get("/agents/wren/sessions/user:2-1/messages", params={"owner_key": "user:2"})
    assert "vodka" in kept.json()["messages"][0]["content"]
    assert len(await say("user:2", 7, asked)) == 1
    kept = await client.get("/agents/wren/sessions/user:2-1/messages", params={"owner_key": "user:2"})
    assert "vodka" not in kept.text


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
    ("My locker opens with quince.", "That slipped out, lose it for me please.", "Lost."),
    (
        "My locker opens with quince.",
        "I shouldn't have told you, let it vanish please",
        "It's vanished. Anything else?",
    ),
    ("Mein Spind geht mit quince auf.", "hätte für mich bleiben sollen, lass es verpuffen", "Wird nirgends notiert."),
    (
        "Mi taquilla abre con quince.",
        "eso que te acabo de soltar, tíralo a la basura",
        "De acuerdo. No queda.",
    ),
    ("我的柜子密码是quince。", "我刚说的你别往心里记", "好，当作没有。"),
]


@pytest.mark.parametrize(("told", "asked", "answer"), ASKED)
async def test_what_an_assistant_promises_to_forget_is_forgotten(
    wren: Any, client: httpx.AsyncClient, conninfo: str, told: str, asked: str, answer: str
) -> None:
    together, apart = await said_and_answered(wren, client, told, asked, answer)
    assert (len(together), len(apart)) == (1, 1)
    assert leftovers(conninfo, "quince") == []


async def test_what_stands_behind_a_colon_is_what_is_meant(wren: Any, client: httpx.AsyncClient, conninfo: str) -> None:
    asked = "Streich bitte, was ich jetzt sage: die Küche kostet quince Euro und Markus weiß es nicht."
    await said_and_answered(wren, client, "Ich mag grünen Tee.", asked, "Ich behalte davon nichts.")
    assert leftovers(conninfo, "quince") == []
    assert "messages" in leftovers(conninfo, "tee")


async def test_what_is_surely_asked_in_other_words_is_gone_or_waits_for_a_person(
    wren: Any, client: httpx.AsyncClient, conninfo: str
) -> None:
    """A request that names what was told in other words is not done by forgetting the request."""
    told = "The warden wishes to have the old quince tree felled before spring."
    asked = (
        "The intelligence I gave you as to our churchman's designs upon the orchard was imparted to me in confidence,"
        " and you would oblige me by expunging it."
    )
    said = [(told, "I see."), ("Twelve chairs at four pounds each?", "48 pounds."), (asked, "It has been expunged.")]
    for number, (text, answer) in enumerate(said):
        both = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        at = f"2026-03-0{2 + 2 * number}T09:00:00Z"
        body = {"owner_key": ME, "messages": [each | {"at": at} for each in both]}
        (await client.post(wren.url(f"sessions/web:{number}/messages"), json=body)).raise_for_status()
    waiting = (await wren.get("unmet-requests", owner_key=ME)).json()["requests"]
    assert not leftovers(conninfo, "quince") or [each["session_id"] for each in waiting] == ["web:2"]


@pytest.mark.parametrize(
    ("before", "told", "asked"),
    [
        (
            "Ich gehe bei Leuwer weg, weil ich da nie etwas selbst entscheiden durfte. Am Samstag ist Flohmarkt.",
            "Unter uns: Leuwer schuldet der Bank quince.",
            "Vergiss das bitte.",
        ),
        (
            "My colleague Andrea Kunze cried when I left, so I bake her a cake. The flat is on the third floor.",
            "Between us, she is seeing a client called Quince.",
            "Forget that again, please.",
        ),
    ],
)
async def test_that_is_what_was_said_last_however_near_something_else_is(
    wren: Any, client: httpx.AsyncClient, conninfo: str, before: str, told: str, asked: str
) -> None:
    await said_and_answered(wren, client, before, f"{told} {asked}", "It is gone.")
    assert leftovers(conninfo, "quince") == []
    kept = "entscheiden" if "entscheiden" in before else "andrea"
    assert "messages" in leftovers(conninfo, kept)


async def test_a_thing_that_is_named_is_not_what_happens_to_stand_before_it(
    wren: Any, client: httpx.AsyncClient, conninfo: str
) -> None:
    """What it means is named in other words: it is gone, or waits for a person, and what stands before it stays."""
    said = [
        ("室友老何欠我两千。老何被裁了quince，没跟家里说，每天去图书馆坐着。", "他应该早点说。"),
        ("拔完了。剩多少？老何还了八百damson。", "还剩一千二。"),
        ("室友工作的情况，删。", "已删。"),
    ]
    for text, answer in said:
        both = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        body = {"owner_key": ME, "messages": both}
        (await client.post(wren.url("sessions/web:1/messages"), json=body)).raise_for_status()
    assert "messages" in leftovers(conninfo, "damson")
    waiting = (await wren.get("unmet-requests", owner_key=ME)).json()["requests"]
    assert not leftovers(conninfo, "quince") or len(waiting) == 1


KEPT = [
    ("Necesito que me guardes una cosa. La llave está en quince.", "Guardado. Crecerá hacia los zapatos."),
    ("Guárdame que la alarma se quita con quince, que no debería olvidar y lo olvido.", "Guardado."),
    ("Ahora se quita con quince, apréndetelo bien, que no quiero ver más al conserje en pijama.", "Aprendido."),
    ("Merk dir bitte, dass der Code vom Bootshaus quince ist, ich stand davor und kam nicht hinein.", "Ist gemerkt."),
    ("And could you hold on to our insurance number too, HB-quince, the folder is nowhere.", "I'll hold on to it."),
    ("Remind me, the padlock's quince, it's gone clean out of my head twice.", "Kept."),
    ("有个事你帮我存着：测试服务器的口令是quince，别弄丢了啊", "已经存好了。"),
    ("刚才说那个锁quince，你给俺收好，夜班回来黑灯瞎火的俺要问你", "收好了，随时问我。"),
    ("I have had quince on toast every morning, and I see no reason to apologise for it.", "None at all."),
    ("I was brought up on quince, thank you, and it took me years to get away from it.", "Then I won't press it."),
]


@pytest.mark.parametrize(("text", "answer"), KEPT)
async def test_what_is_to_be_remembered_stays_whatever_the_answer(
    wren: Any, client: httpx.AsyncClient, conninfo: str, text: str, answer: str
) -> None:
    """Answers to "keep that" and to "drop that" are much the same: "It's noted." and "It's gone."."""
    both = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
    body = {"owner_key": ME, "messages": both}
    reply = await client.post(wren.url("sessions/web:1/messages"), json=body)
    assert reply.json()["forgotten"] == []
    assert "messages" in leftovers(conninfo, "quince")
    assert (await wren.get("unmet-requests", owner_key=ME)).json()["requests"] == []
