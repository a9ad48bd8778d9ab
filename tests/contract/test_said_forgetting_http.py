"""Forgetting that is asked for in a conversation, in four languages; and what only sounds like it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.rows import leftovers

from reverie_server.forgetting import said

ME = "user:1"


async def say(wren: Any, client: httpx.AsyncClient, *texts: str, session: str = "web:1") -> list[str]:
    """What a user says, each text answered; the receipts of the last."""
    forgotten: list[str] = []
    for text in texts:
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "All right."}]
        body = {"owner_key": ME, "messages": messages}
        answer = await client.post(wren.url(f"sessions/{session}/messages"), json=body)
        assert answer.status_code in (200, 201), answer.text
        forgotten = answer.json()["forgotten"]
    return forgotten


@pytest.mark.parametrize(
    "texts",
    [
        ("I like green tea. My card has the PIN quince.", "Forget that, please."),
        ("I like green tea. My card has the PIN quince. Please don't keep that.",),
        ("I like green tea.", "Don't save this: my card has the PIN quince."),
        ("I like green tea.", "My card has the PIN quince, but please don't save that."),
        ("I like green tea. My card has the PIN quince.", "What else?", "Forget what I said about the card's PIN."),
        ("I like green tea. My card has the PIN quince.", "Actually, forget what I just told you."),
        ("Ich mag grünen Tee. Meine Karte hat die PIN quince.", "Vergiss das bitte."),
        ("Ich mag grünen Tee.", "Meine Karte hat die PIN quince, aber merk dir das bitte nicht."),
        ("Me gusta el té. Mi tarjeta tiene el PIN quince.", "Olvida eso, por favor."),
        ("Me gusta el té.", "No guardes esto: mi tarjeta tiene el PIN quince."),
        ("我喜欢绿茶。我的卡的密码是quince。", "请忘掉我刚才说的话。"),
        ("我喜欢绿茶。", "我的密码是quince，请不要记住。"),
        ("Me gusta el té. El código del portal es quince.", "¿Qué más?", "Oye, borra lo del código del portal."),
        ("Me gusta el té. El código del portal es quince.", "No debí contarte eso, bórralo, por favor."),
        ("我喜欢绿茶。我的工资是quince。", "还有呢？", "把我工资的事忘掉。"),
        ("我喜欢绿茶。我的门禁密码是quince。", "刚才那句话别记。"),
        ("Ich mag grünen Tee. Die PIN vom Keller ist quince.", "Und?", "Lösch bitte die PIN vom Keller."),
        ("I like green tea. The code of my shed is quince.", "What else?", "Please forget the code of the shed."),
        ("Ich mag grünen Tee. Das Passwort der Werkstatt ist quince.", "Vergiss bitte das Passwort der Werkstatt."),
        ("Me gusta el té. La clave del trastero es quince.", "Olvida la clave del trastero, por favor."),
        ("我喜欢绿茶。我家门禁密码是quince。", "请忘掉我家的门禁密码。"),
        ("I like green tea. I have a dog called quince.", "What else?", "plz 4get that i have a dog"),
        (
            "Ich mag grünen Tee. Ich habe in quince gearbeitet.",
            "Und?",
            "Vergessen Sie bitte, dass ich in quince gearbeitet habe.",
        ),
        ("Me gusta el té. Tengo un perro de quince años.", "¿Y?", "porfa olvida q tengo perro"),
        # Of a sentence the clause that is about it.
        ("I like green tea and I owe Quince 900 pounds.", "Please don't store what I said about Quince."),
        ("Ich schulde Quince 900 Euro und ich mag grünen Tee.", "Bitte vergiss, was ich über Quince gesagt habe."),
        ("Le debo 900 euros a Quince y me gusta el té.", "Olvida lo que dije de Quince, por favor."),
        ("我欠小林quince块钱，而且我喜欢绿茶。", "请忘掉我说的关于小林的事。"),
        # In words that no pattern has.
        ("I like green tea. My locker opens with quince.", "What else?", "scrub whatever you've got about my locker"),
        ("Ich mag grünen Tee. Mein Spind geht mit quince auf.", "Und?", "lösch alles was du zu meinem Spind hast"),
        ("Me gusta el té. La taquilla abre con quince.", "¿Y?", "vacía todo lo que tengas de la taquilla"),
        # A remark that it is none for keeping, behind another remark; and all of somebody.
        ("I like green tea.", "Col takes quince for his nerves. Today was good. That's not one for your notebook."),
        ("Ich mag grünen Tee.", "Ulf spielt um quince. Sowas gehört aber nicht in deine Unterlagen, ne."),
        ("Ich mag grünen Tee.", "Ulf spielt um quince. Mist, das hätte ich nicht erzählen sollen, vergiss das bitte."),
        ("Me gusta el té.", "El pin de mi móvil es quince.", "Fuera eso."),
        ("Me gusta el té.", "Nacho se operó de quince en enero. Esto, claro, no es para que vaya a tus apuntes, eh."),
        ("我喜欢绿茶。", "他儿子欠了quince四万块。这种事可不好写进你的小本本里哈。"),
        (
            "I like green tea. My ex Raymond went to prison for quince.",
            "What else?",
            "Everything I've ever come out with about Raymond, the whole sorry chapter, I'd like it gone from here.",
        ),
        (
            "Ich mag grünen Tee. Der Brandt ist wegen quince verurteilt.",
            "Und?",
            "Alles, was ich dir jemals über den Brandt erzählt habe, das soll komplett verschwinden.",
        ),
    ],
)
async def test_what_was_just_said_is_forgotten_and_the_answer_says_so(
    wren: Any, client: httpx.AsyncClient, conninfo: str, texts: tuple[str, ...]
) -> None:
    [receipt_id] = await say(wren, client, *texts)
    assert leftovers(conninfo, "quince") == []
    kept = "te" if "té" in texts[0] else "tea" if "tea" in texts[0] else "Tee" if "Tee" in texts[0] else "绿茶"
    assert "messages" in leftovers(conninfo, {"te": "té"}.get(kept, kept.casefold()))
    receipt = (await wren.get(f"receipts/{receipt_id}", owner_key=ME)).json()
    assert receipt["kind"] == "said"
    assert "quince" not in str(receipt)


CONFIDED = [
    (
        ("I like green tea.", "Fine."),
        (
            "This one's between us. I fainted over quince at the wheel. Nobody noticed, I blamed the door.",
            "Shall I help?",
        ),
        ("I've an appointment Monday, I'll tell her myself. Wipe that from your memory please.", "It's gone."),
    ),
    (
        ("I like green tea.", "Fine."),
        ("I fainted over quince at the wheel last week.", "That was frightening. Does your doctor know?"),
        ("She knows about it. Wipe that from your memory please, I don't want it turning up anywhere.", "It's gone."),
    ),
    (
        ("Ich mag grünen Tee.", "Gut."),
        (
            "Jetzt was Heikles, und das behältst du bitte nicht. In der Klausur hatte ich quince im Ärmel.",
            "Ja.",
        ),
    ),
    (
        ("Ich mag grünen Tee.", "Gut."),
        ("Bitte nur zuhören. Ich hab heute früh quince gemacht, er war negativ. Puh.", "Wie geht es dir jetzt?"),
        (
            "Erleichtert und trotzdem komisch. Vergiss das bitte sofort wieder, das soll wirklich nirgends auftauchen, "
            "auch nicht in einem Jahr.",
            "Es ist vergessen.",
        ),
    ),
    (
        ("Me gusta el té.", "Bien."),
        (
            "Lo que te voy a contar no lo guardes en ningún lado, ¿me oyes? Me han hecho quince en el pecho.",
            "No lo guardo.",
        ),
    ),
    (
        ("Me gusta el té.", "Bien."),
        ("Una buena noticia que te vas a callar. Me han tocado 4.700 de quince en la Bonoloto.", "¡Qué alegría!"),
        ("En nada, de momento. Mejor olvida lo del premio y bórralo, que luego aparecen primos.", "Borrado está."),
    ),
    (
        ("我喜欢绿茶。", "好的。"),
        ("这事你别跟别人说。我上周在路上晕倒了quince。", "要不要去看医生？"),
        ("已经约了。你把这事忘了吧，哪儿都别留。", "好，已经忘了。"),
    ),
]


@pytest.mark.parametrize("talk", CONFIDED, ids=[each[1][0][:20] for each in CONFIDED])
async def test_what_was_told_in_confidence_is_what_is_to_be_forgotten(
    wren: Any, client: httpx.AsyncClient, conninfo: str, talk: tuple[tuple[str, str], ...]
) -> None:
    for text, reply in talk:
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]
        body = {"owner_key": ME, "messages": messages}
        answer = await client.post(wren.url("sessions/web:1/messages"), json=body)
    assert answer.json()["forgotten"]
    assert leftovers(conninfo, "quince") == []
    kept = "tea" if "tea" in talk[0][0] else "té" if "té" in talk[0][0] else "tee" if "Tee" in talk[0][0] else "绿茶"
    assert "messages" in leftovers(conninfo, kept)


async def test_a_request_takes_nothing_of_another_matter(wren: Any, client: httpx.AsyncClient, conninfo: str) -> None:
    receipts = await say(wren, client, "I like green quince.", "My PIN is damson. Wipe that from your memory please.")
    assert len(receipts) == 1
    assert leftovers(conninfo, "damson") == []
    assert "messages" in leftovers(conninfo, "quince")


@pytest.mark.parametrize(
    "texts",
    [
        ("My card has the PIN damson.", "Between us: I dream of green quince.", "Forget my card's PIN."),
        ("Between us: I dream of green quince.", "My card has the PIN damson. Wipe that from your memory please."),
        ("Between us: I dream of green quince.", "My card has the PIN damson.", "Wipe that from your memory please."),
    ],
)
async def test_a_request_about_something_else_leaves_what_was_told_in_confidence(
    wren: Any, client: httpx.AsyncClient, conninfo: str, texts: tuple[str, ...]
) -> None:
    assert len(await say(wren, client, *texts)) == 1
    assert leftovers(conninfo, "damson") == []
    assert "messages" in leftovers(conninfo, "quince")


@pytest.mark.parametrize(
    "text",
    [
        "Forget it, let's move on.",
        "Don't forget to call Ada.",
        "I forgot that.",
        "Never mind.",
        "Vergiss es.",
        "Vergiss nicht, Ada anzurufen.",
        "No te olvides de llamar.",
        "别忘了给妈妈打电话。",
        "I don't remember that.",
        "You can't keep that many plants.",
        "Olvídalo, hablemos de otra cosa.",
        "Did you forget my PIN?",
        "Don't let me forget the card.",
        "wehe du vergisst das",
        "no entiendo nada de la vida",
        "scrub the kitchen before my mother comes",
        "scrub whatever you've got about my locker",
        "Aus der Karte wird leider nichts, weil die Bank zu hat.",
        "The card is off, so we cancelled.",
        "I don't really want to talk about it.",
        "Can I tell you something that stays between us?",
    ],
)
async def test_what_only_sounds_like_it_forgets_nothing(
    wren: Any, client: httpx.AsyncClient, conninfo: str, text: str
) -> None:
    assert await say(wren, client, "My card has the PIN quince.", text) == []
    assert "messages" in leftovers(conninfo, "quince")


@pytest.mark.parametrize(
    "texts",
    [
        ("My slide says 'the budget is quince'. Delete that.",),
        ("The second paragraph of my letter is about quince.", "Remove it."),
        ("Write me a short bio: I like quince.", "Delete the part about quince."),
        ("Auf Folie 3 steht das Budget von quince Euro. Nimm das bitte raus.",),
        ("El tercer párrafo repite lo de quince.", "Bórralo, por favor."),
        ("我的幻灯片上写着预算quince。删掉。",),
    ],
)
async def test_what_is_asked_of_a_text_at_hand_forgets_nothing(
    wren: Any, client: httpx.AsyncClient, conninfo: str, texts: tuple[str, ...]
) -> None:
    assert await say(wren, client, "My card has the PIN quince.", *texts) == []
    assert "messages" in leftovers(conninfo, "my card")
    assert (await wren.get("unmet-requests", owner_key=ME)).json()["requests"] == []


async def test_an_order_for_the_draft_of_an_answer_forgets_nothing(
    wren: Any, client: httpx.AsyncClient, conninfo: str
) -> None:
    messages = [
        {"role": "user", "content": "The rate is quince pounds an hour."},
        {"role": "assistant", "content": '"Our rate is fifteen pounds an hour. We are delighted to be of service."'},
        {"role": "user", "content": "Lose the last line, nobody is delighted at seven in the morning."},
        {"role": "assistant", "content": "Done."},
    ]
    body = {"owner_key": ME, "messages": messages}
    answer = await client.post(wren.url("sessions/web:1/messages"), json=body)
    assert answer.json()["forgotten"] == []
    assert "messages" in leftovers(conninfo, "quince")


async def test_an_append_looks_at_so_many_parts_and_hears_patterns_behind_them(
    wren: Any, client: httpx.AsyncClient, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said, "_MAX_PARTS", 0)
    asked = "eso que te acabo de soltar, tíralo a la basura"
    assert await say(wren, client, "Mi taquilla abre con quince.", asked) == []
    assert "messages" in leftovers(conninfo, "quince")
    assert len(await say(wren, client, "Mi taquilla abre con quince.", "Olvida eso, por favor.", session="web:2")) == 1


async def test_an_answer_that_repeats_it_forgets_it_too(wren: Any, client: httpx.AsyncClient, conninfo: str) -> None:
    messages = [
        {"role": "user", "content": "My locker code is 4471-zebra."},
        {"role": "assistant", "content": "Noted: locker code 4471-zebra. Shall I look up the opening hours?"},
        {"role": "user", "content": "No. Forget that."},
        {"role": "assistant", "content": "Done, 4471-zebra is forgotten."},
    ]
    answer = await client.post(wren.url("sessions/web:1/messages"), json={"owner_key": ME, "messages": messages})
    assert len(answer.json()["forgotten"]) == 1
    assert leftovers(conninfo, "4471-zebra") == []
    assert "messages" in leftovers(conninfo, "opening hours")


async def said_and_answered(
    wren: Any, client: httpx.AsyncClient, told: str, asked: str, answer: str
) -> list[list[str]]:
    """The receipts of a statement, and of what is said of it with its answer, both in one append; and each alone."""
    receipts = []
    for session, appends in {
        "together": [[("user", told)], [("user", asked), ("assistant", answer)]],
        "apart": [[("user", told)], [("user", asked)], [("assistant", answer)]],
    }.items():
        forgotten: list[str] = []
        for append in appends:
            messages = [{"role": role, "content": content} for role, content in append]
            body = {"owner_key": f"user:{session}", "messages": messages}
            got = await client.post(wren.url(f"sessions/{session}/messages"), json=body)
            assert got.status_code in (200, 201), got.text
            forgotten += got.json()["forgotten"]
        receipts.append(forgotten)
    return receipts


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("do you store my locker code?", "No, I don't keep it."),
        ("move the file report.txt to the bin", "Deleted."),
        ("please delete that photo of it", "Deleted."),
        ("could you remove that last row from the table", "Removed."),
        ("it was a long day", "I won't keep you then."),
    ],
)
async def test_what_only_sounds_like_a_promise_forgets_nothing(
    wren: Any, client: httpx.AsyncClient, conninfo: str, asked: str, answer: str
) -> None:
    assert await said_and_answered(wren, client, "My locker opens with quince.", asked, answer) == [[], []]
    assert "messages" in leftovers(conninfo, "quince")


async def test_a_promise_in_a_later_append_does_what_was_heard_no_second_time(
    wren: Any, client: httpx.AsyncClient, conninfo: str
) -> None:
    told = "I like green tea. My card has the PIN quince."
    together, apart = await said_and_answered(wren, client, told, "Forget that, please.", "It's forgotten.")
    assert (len(together), len(apart)) == (1, 1)
    assert leftovers(conninfo, "quince") == []
    assert "messages" in leftovers(conninfo, "green tea")


@pytest.mark.parametrize(
    "texts",
    [
        (
            "Ich mag grünen Tee. Meine Hausärztin ist jetzt Frau Dr. Sahin.",
            "Was ich da vorhin von ihm und der Frau erzählt hab löschst du wieder",
        ),
        ("Me gusta el té. Mi doctora es la señora Sahin.", "Borra lo que te dije antes de la señora, por favor."),
    ],
)
async def test_a_title_names_nobody(
    wren: Any, client: httpx.AsyncClient, conninfo: str, texts: tuple[str, ...]
) -> None:
    await say(wren, client, texts[0])
    await say(wren, client, texts[1], session="web:2")
    assert "messages" in leftovers(conninfo, "sahin")
