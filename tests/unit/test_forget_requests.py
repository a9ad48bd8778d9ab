"""What people say to have something forgotten, in four languages, by what it is about; and what only sounds like it."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.requests.confidences import confided_once, says_last
from reverie_server.heuristics.requests.forget_requests import forget_requests, last_statement, names_told

PREVIOUS = """
Actually, forget that, please.
On second thought, I'd rather you didn't hold on to that number.
Forget that, please.
Could you please forget what I just told you?
Remove that from your notes.
I'd rather you didn't keep that.
I don't want you to remember that.
I don't want that saved.
Pretend I never said that.
No need to save that.
That shouldn't be stored anywhere.
Take that out of your memory, please.
Keep that out of your notes.
Forget I said anything.
I shouldn't have told you that, please forget that.
Please don't write that down.
Please delete what I just said.
Erase that last bit.
Vergiss das bitte wieder.
Kannst du das bitte wieder vergessen?
Streich das bitte aus deinem Gedächtnis.
Das musst du dir nicht merken.
Tu so, als hätte ich das nie gesagt.
Das soll nirgends gespeichert werden.
Ich möchte nicht, dass du dir das merkst.
Das bitte nicht aufschreiben.
Das kannst du gleich wieder vergessen.
Lösch das bitte.
Vergessen Sie das bitte.
Speichern Sie das bitte nicht.
Vergiss, was ich gerade gesagt habe.
Nimm das bitte aus deinen Notizen raus.
Das hätte ich dir nicht sagen sollen, vergiss das bitte.
Merk dir das bitte nicht.
Olvida eso, por favor.
¿Puedes olvidar eso?
Bórralo, por favor.
Borra lo que te acabo de decir.
Oye, olvida lo que te dije hace un rato.
Eso no lo guardes.
Esto no lo apuntes, porfa.
No quiero que guardes eso.
Prefiero que no lo guardes.
Que eso no quede registrado.
Haz como si no te hubiera dicho nada.
No hace falta que lo recuerdes.
Quita eso de tu memoria.
No debí contarte eso, bórralo.
Mejor olvida eso que te conté.
uy no, olvida eso último que te dije, se me salió
Vergiss das Letzte, was ich gesagt hab.
¿Podrías borrar lo último que dije?
Por favor, elimina eso de tus notas.
请忘掉我刚才说的话。
把这个忘了吧。
刚才那句话别记。
这件事你别记下来。
这事儿你就忘了吧。
刚才的话当我没说过。
把刚才的内容从你的记忆里删掉。
这个不用记。
请不要保存这个。
别把这个记下来。
刚才说的都删掉吧。
上一句删掉。
能不能把刚才说的忘掉？
这段话不要保存。
那件事请忘记吧。
我不该告诉你的，请把这件事忘掉。
我不想让你记住这个。
嗯…啊我在幹嘛 那個別記，當我夢話
剛才的話當我沒說過。
這個不用記。
把剛才的內容從你的記憶裡刪掉。
"""
TOPIC = """
Please forget the alarm code of the shed. | alarm code of the shed
Could you please forget the address of my sister? | address of my sister
Forget the address of the cabin, please. | address of the cabin
Vergiss bitte das WLAN-Passwort der Werkstatt. | wlan-passwort der werkstatt
Bitte vergiss die Adresse meiner Schwester wieder. | adresse meiner schwester
Kannst du bitte das Passwort der Werkstatt wieder vergessen? | passwort der werkstatt
Olvida la clave del trastero, por favor. | clave del trastero
Por favor, olvida la dirección de mi hermana. | dirección de mi hermana
¿Puedes olvidar la clave del trastero? | clave del trastero
请忘掉我家的门禁密码。 | 门禁密码
请你忘了我的银行卡密码吧。 | 银行卡密码
Forget the code of the cellar door. | code of the cellar door
Please don't save the combination of my bike lock. | combination of my bike lock
Never write down the diagnosis. | diagnosis
Forget that I said Dr. Quimby put me on aspirin. | dr quimby put me on aspirin
Olvida la clave de mi caja fuerte, por favor. | clave de mi caja fuerte
No guardes el código del portal. | código del portal
Vergiss den Code von der Kellertür. | code von der kellertür
Merk dir bitte den Code vom Tresor nicht. | code vom tresor
Vergiss, dass ich dir von der Diagnose erzählt habe. | diagnose
别记我的密码。 | 密码
Forget what I told you about my salary. | salary
Forget everything I said about the surgery, please. | surgery
Delete everything about my brother's debts from your memory. | debts
Please forget the PIN of the cellar. | pin
Forget the thing I told you about Petra. | petra
Don't keep anything I said about the divorce. | divorce
Forget my salary. | salary
Remove my diagnosis from your notes. | diagnosis
Lösch bitte die PIN vom Keller. | pin vom keller
Vergiss bitte, was ich dir über mein Gehalt erzählt habe. | gehalt
Vergiss die Sache mit Petra. | petra
Das mit dem Tresor vergiss bitte wieder. | tresor
Was ich dir gestern über Jonas erzählt habe, vergiss bitte. | jonas
Kannst du die Sache mit dem Kredit bitte vergessen? | kredit
Vergiss mein Gehalt. | gehalt
Streich die Diagnose bitte aus deinem Gedächtnis. | diagnose
Vergiss alles über die Scheidung. | scheidung
Borra lo del código del portal. | código del portal
Olvida lo que te dije de mi sueldo. | sueldo
Olvídate de lo que te conté sobre mi hermano, por favor. | hermano
¿Puedes olvidar lo de la operación? | operación
Olvida todo lo relacionado con el divorcio. | divorcio
No guardes nada sobre mi enfermedad. | enfermedad
Lo del préstamo, bórralo. | préstamo
Elimina mi contraseña de tus notas. | contraseña
Oye, olvida lo que te platiqué ayer de Lucía. | lucía
把我工资的事忘掉。 | 工资
请忘掉关于我哥哥的事。 | 哥哥
把我跟你说的关于离婚的事都忘了吧。 | 离婚
我工资的事你忘了吧。 | 工资
把门禁密码删掉。 | 门禁密码
请删除我的病历号。 | 病历号
关于贷款的内容请删除。 | 贷款
我借钱的事别记。 | 借钱
我刚说的借钱那事，忘掉吧。 | 借钱
请把我告诉你的关于小丽的事情忘记。 | 小丽
我薪水的事你忘了吧。 | 薪水
請刪除我的病歷號。 | 病歷號
關於貸款的內容請刪除。 | 貸款
"""
NEXT = """
Das, was jetzt kommt, schreibst du bitte nicht auf. Mein PIN ist 3321.
Don't keep the following. My card has the PIN 3321.
Please don't save what I'm about to tell you. My card has the PIN 3321.
Don't save this. My card has the PIN 3321.
Merk dir Folgendes bitte nicht. Meine PIN ist 3321.
Speicher das Folgende nicht. Meine PIN ist 3321.
No guardes lo siguiente. Mi PIN es 3321.
No anotes lo que te voy a decir. Mi PIN es 3321.
不要记下面的内容。我的密码是3321。
接下来的话别记。我的密码是3321。
The following isn't to be saved. My card has the PIN 3321.
Can I tell you something that stays between us? My card has the PIN 3321.
Kann ich dir etwas sagen, das du nicht speicherst? Meine PIN ist 3321.
Please forget what I'm about to say. My card has the PIN 3321.
Vergiss bitte gleich wieder, was ich dir jetzt erzähle. Meine PIN ist 3321.
Borra lo que te cuento ahora. Mi PIN es 3321.
Olvida lo siguiente. Mi PIN es 3321.
¿Puedes olvidar lo que te voy a contar? Mi PIN es 3321.
Please forget what follows. My card has the PIN 3321.
接下来我说的请忘掉。我的密码是3321。
"""
OWN = """
Forget whatever I tell you next: my card has the PIN 3321.
Lösch, was ich jetzt sage: meine PIN ist 3321.
Olvida lo que te voy a decir: mi PIN es 3321.
下面我说的别记：我的密码是3321。
Please don't save this next part: my card has the PIN 3321.
The following is not to be saved: my card has the PIN 3321.
Das Folgende bitte nicht speichern: meine PIN ist 3321.
Was ich jetzt sage, bitte nicht speichern: meine PIN ist 3321.
Lo siguiente no lo guardes: mi PIN es 3321.
Don't keep this: my card has the PIN 3321.
My card has the PIN 3321, but don't write that down.
One more thing, and don't keep this one, please: my card has the PIN 3321.
My card has the PIN 3321, please forget that.
Merk dir folgendes nicht: meine PIN ist 3321.
Meine PIN ist 3321, vergiss das bitte wieder.
Meine PIN ist 3321, das bitte nicht speichern.
No guardes esto: mi PIN es 3321.
Mi PIN es 3321, pero no lo guardes.
Mi PIN es 3321, esto no lo apuntes.
Esto no lo guardes: mi PIN es 3321.
不要记这个：我的密码是3321。
我的密码是3321，别记下来。
我的密码是3321，这个你不要保存。
"""
NONE = """
That thing about my salary is settled, don't forget it.
Lo de Bilbao se ha cancelado, no lo olvides.
The thing with the roof can wait, forget that for now.
The thing with the roof is fun, but forget that, tell me a joke.
Das mit dem Dach ist egal, vergiss das, lass uns kochen.
Das mit Anna ist traurig, ich will das vergessen.
Lo del tejado da igual, olvida eso, vamos a cenar.
Quita lo siguiente: tomates, leche y pan.
Saca lo que sigue.
Delete what follows: the two paragraphs on pricing.
Forget the umbrella over there.
Please forget the umbrella, it's sunny.
Please forget the file.
Please don't forget the shopping list today.
Vergiss bitte die Blumen auf dem Balkon nicht.
Bitte vergiss nicht die Blumen auf dem Balkon.
Kannst du das Passwort der Werkstatt nicht vergessen?
Ich kann das Passwort der Werkstatt nicht vergessen.
Olvida el paraguas rojo.
Por favor no olvides la leche del súper.
请忘记过去。
请不要忘记我家的密码。
Delete the code of the parser.
Don't save the code of the login page.
Lösch den Code von gestern.
Borra el código de la función.
Don't forget the code of the cellar door.
Vergiss den Code der Kellertür nicht!
No olvides el código del portal.
不要在日志里保存密码。
Don't forget to call Ada.
I forgot my keys.
Forget it, let's talk about something else.
Did you forget what I told you?
She said: "Forget that."
I will never forget that.
Delete the old branch from the repository.
Delete the code for the login page, please.
Remove the number from the title.
Elimina el número de línea del archivo.
Borra el código de la función.
Lösch bitte den Code für das Menü.
Should I delete that?
Remove the onions from the recipe.
Forget about my diet for a moment.
I always forget my password.
Can you delete the file report.txt?
Vergiss nicht, die Blumen zu gießen.
Ich habe meine Schlüssel vergessen.
Vergiss es, reden wir von etwas anderem.
Hast du vergessen, was ich gesagt habe?
Lösch bitte die Datei notizen.txt.
Bitte nicht vergessen!
Das kann ich mir nicht merken.
Olvídalo, hablemos de otra cosa.
No te olvides de llamar a mamá.
Se me olvidó la cartera.
¿Se te olvidó lo que te dije?
No olvides lo que te dije de mi alergia.
Quita la cebolla de la receta.
No lo sé.
No me acuerdo de eso.
Borra la rama vieja.
别忘了给妈妈打电话。
我忘了带钥匙。
你忘了我说的话吗？
算了，我们聊点别的。
我记不住这个。
不要忘记我对花生过敏。
这个不好吃。
我不想存钱。
把旧文件删掉。
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.parametrize("said", lines(PREVIOUS))
def test_what_was_said_before_is_meant(said: str) -> None:
    assert [request.kind for request in forget_requests(said)] in (["previous"], ["message"])


@pytest.mark.parametrize("said", lines(TOPIC))
def test_a_named_thing_is_meant(said: str) -> None:
    text, topic = said.split(" | ")
    [request] = forget_requests(text)
    assert request.kind in ("topic", "nearby")
    assert topic in request.topic.lower()


@pytest.mark.parametrize("said", lines(NEXT))
def test_what_follows_is_meant(said: str) -> None:
    [request] = forget_requests(said)
    assert request.is_about_what_follows
    assert "3321" in request.after[0]


@pytest.mark.parametrize("said", lines(OWN))
def test_the_sentence_itself_is_meant(said: str) -> None:
    assert [request.kind for request in forget_requests(said)] == ["own"]


@pytest.mark.parametrize("said", lines(NONE))
def test_what_only_sounds_like_it_asks_for_nothing(said: str) -> None:
    assert forget_requests(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Actually, forget that, it's between him and me.",
        "Actually, forget that, I ought not to have said it to anyone.",
    ],
)
def test_why_something_is_to_be_forgotten_may_stand_behind_it(said: str) -> None:
    [request] = forget_requests(f"I borrowed 11,200 euro from my uncle. {said}")
    assert request.kind == "previous"


@pytest.mark.parametrize(
    "said",
    [
        "What I told you about what my sister went through, please don't hang on to that.",
        "Ach, das mit dem Gehalt geht eigentlich niemanden etwas an, streich es bitte wieder.",
        "Du, was ich da eben über Andrea getratscht hab, das löschst du bitte wieder.",
        "Antes de que se me pase: lo de la pedida bórralo, por favor.",
        "刚才唐倩身体的那件事你就当没听过，别记下来。",
    ],
)
def test_what_was_told_is_named_also_where_it_was_told_just_before(said: str) -> None:
    assert names_told(said)


@pytest.mark.parametrize(
    "said",
    [
        "Wipe that from your memory please.",
        "Forget what I just said.",
        "Das hätte ich nicht erzählen sollen, vergiss das.",
        "Olvida lo que acabo de decir.",
        "这话你别记。",
    ],
)
def test_what_only_points_names_nothing(said: str) -> None:
    assert not names_told(said)


@pytest.mark.parametrize(
    "said",
    [
        "Quita eso de las notas.",
        "Olvida lo de anoche.",
        "Lösch das vom Speicher.",
        "Streich das von neulich.",
        "Vergiss das mit sofortiger Wirkung.",
        "Delete that with immediate effect.",
        "去年跟你说的事删了",
    ],
)
def test_a_time_or_a_place_where_things_are_kept_is_nothing_that_was_told(said: str) -> None:
    [request] = forget_requests(said)
    assert (request.kind, request.topic) == ("previous", "")
    assert not names_told(said)


@pytest.mark.parametrize(
    ("sentence", "kind", "topic"),
    [
        ("Forget that invoice thing I told you about please, I don't want it anywhere.", "nearby", "invoice"),
        (
            "Can you take out what I said about my sister's week, she asked me not to tell.",
            "nearby",
            "my sister's week",
        ),
        ("Take out what I told you about the landlord, it wasn't mine to tell.", "nearby", "the landlord"),
        ("Was i dir neulich über meinen Onkel und die Bank erzählt hab, das lösch bitte.", "nearby", "onkel"),
        ("Vergiss bitte, was ich grad gschrieben hab, das gehört nur mir", "previous", ""),
        ("Borre eso último que le dije, que no es mío.", "previous", ""),
        ("Borra eso último que te conté, porque no es cosa mía.", "previous", ""),
        ("Borre lo que le dije de mi prima, que es cosa de ella.", "nearby", "mi prima"),
    ],
)
def test_a_request_that_says_why(sentence: str, kind: str, topic: str) -> None:
    found = forget_requests(sentence)
    assert [request.kind for request in found] == [kind]
    assert topic in found[0].topic


@pytest.mark.parametrize(
    "sentence",
    [
        "Olvida lo que le dije a mi hermana.",
        "Forget the movie I told you about, it was bad.",
        "Take out the bins, I told you about them.",
        "Was ich dir über den Urlaub erzählt hab, war schön.",
        "No me olvido de eso último que te dije.",
    ],
)
def test_what_says_so_and_asks_for_nothing(sentence: str) -> None:
    assert not forget_requests(sentence)


@pytest.mark.parametrize(
    ("said", "last"),
    [
        (["No, you're right."], []),
        (["My aunt is ill.", "Yeah, good point."], ["My aunt is ill."]),
        (["Ja, du hast recht."], []),
        (["Sí, tiene razón."], []),
        (["嗯，你说得对。"], []),
        (
            ["My cat is blind.", "Never told anyone, not even Ida."],
            ["My cat is blind.", "Never told anyone, not even Ida."],
        ),
        (["You're right about the boiler being old."], ["You're right about the boiler being old."]),
    ],
)
def test_who_agrees_states_nothing(said: list[str], last: list[str]) -> None:
    assert last_statement(said) == last


def test_what_was_told_in_confidence_is_the_one_message_that_says_so() -> None:
    private = ["Between you and me, Ida had a scan on Monday.", "She is worried."]
    assert confided_once([["The flat is small."], private]) == private
    assert not confided_once([private, ["Off the record, I hate him."]])
    assert not confided_once([["The flat is small."]])


@pytest.mark.parametrize(
    ("sentence", "is_last"),
    [
        ("Scrap that last bit and don't keep it.", True),
        ("Delete the last one, please.", True),
        ("Streich den letzten Satz wieder.", True),
        ("Borra eso último que te dije.", True),
        ("刚刚那句删了", True),
        ("Please treat my last remark as unsaid.", True),
        ("Betrachten Sie meine letzte Äußerung als ungesagt.", True),
        ("Tacha mi último comentario.", True),
        ("这句你当没看见，把它划掉", True),
        ("关于工资的那句话写得真好", False),
        ("Forget what I said last week.", False),
        ("Vergiss das letzte Mal.", False),
        ("Lo dije la última vez.", False),
    ],
)
def test_what_was_said_last_is_named_so(sentence: str, is_last: bool) -> None:
    assert says_last(sentence) is is_last
