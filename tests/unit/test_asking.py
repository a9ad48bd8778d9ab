"""What a message asks about: the past, the life of its writer, what the assistant said."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.own_question import asks_about_self
from reverie_server.heuristics.past import asks_about_past
from reverie_server.heuristics.small_talk import says_nothing
from reverie_server.search.empty_talk import asks_assistant, is_courtesy


@pytest.mark.parametrize(
    "message",
    [
        "Who was my boss before Sunniva?",
        "Where did I live before?",
        "Where did I use to work?",
        "When did I change jobs?",
        "What was my old address?",
        "Which car did I drive back then?",
        "Which bakery did I once drive for?",
        "Where was I working in the spring?",
        "When did the review move?",
        "Wer war mein Chef vor Frau Lindqvist?",
        "Wo haben wir vor Erfurt gewohnt?",
        "Wie hieß der Hund ursprünglich?",
        "Wann wurde der Termin verschoben?",
        "Wie war meine alte Adresse?",
        "Wer war der Vorgänger von Renate?",
        "¿Quién era mi jefe antes de Étienne?",
        "¿Dónde trabajaba yo el año pasado?",
        "¿Cuál era mi antigua dirección?",
        "¿Cuándo cambiamos la fecha de la boda?",
        "我以前住哪儿？",
        "我上一家公司叫什么？",
        "我什么时候换的工作？",
        "婚礼最初定在哪天？",
    ],
)
def test_questions_about_what_was(message: str) -> None:
    assert asks_about_past(message)


@pytest.mark.parametrize(
    "message",
    [
        "Where do I live?",
        "What was my locker code again?",
        "When did the solar course start?",
        "Who is my boss?",
        "Wo wohne ich?",
        "Wie war meine Schließfachnummer noch mal?",
        "Wann habe ich Geburtstag?",
        "¿Cómo se llama mi jefe?",
        "¿Qué día fue la boda?",
        "我现在住哪儿？",
        "前端项目叫什么？",
    ],
)
def test_questions_about_what_is(message: str) -> None:
    assert not asks_about_past(message)


@pytest.mark.parametrize(
    "message",
    [
        "Where do I work?",
        "Remind me, which town am I living in?",
        "How do I take my tea?",
        "my deadline?",
        "Long day. What's the name of our dog?",
        "Was trinke ich am liebsten?",
        "Wie heißt die Apotheke, in der ich arbeite?",
        "¿A qué me dedico?",
        "¿En qué lugar trabajo actualmente?",
        "¿Con quién me casé?",
        "¿En qué ciudad vivíamos antes?",
        "我现在住哪儿？",
        "我们打算什么时候领证？",
        "Do I smoke?",
        "Am I still going to Portugal at Easter?",
        "Esse ich Fleisch?",
        "My Wi-Fi password for the flat in York?",
        'My "secret" code?',
        "¿Fumo?",
    ],
)
def test_questions_about_ones_own_life(message: str) -> None:
    assert asks_about_self(message)


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of Mongolia?",
        "how do i boil eggs so that they don't crack",
        "What should I wear?",
        "My neighbour's daughter Emma needs glasses, which shop would you recommend?",
        "Tell me something funny",
        "I work in Leeds.",
        "Welche Versicherung brauche ich, wenn ich in Kanada ein Auto miete?",
        "Erzähl mir einen Witz",
        "Mein Nachbar Paul hat einen Hund. Was kann er tun?",
        "¿Cómo se hace un gazpacho?",
        "Mi vecina Gloria busca un dentista, ¿cómo se elige uno?",
        "我应该怎么学做饭？",
        "你能告诉我蒙古的首都是哪里吗？",
        "Do I need a visa for Japan?",
        "Am I supposed to tip in Japan?",
        'Cómo se dice "me he perdido" en húngaro',
        "Do we have free will?",
        "Do I tip in Japan?",
        "Gebe ich in Japan Trinkgeld?",
        "Weil ich neu bin, kannst du Python erklären?",
        "Kann ich Reis einfrieren?",
        "¿Tengo que lavar el arroz?",
        "",
    ],
)
def test_questions_about_the_world_and_statements(message: str) -> None:
    assert not asks_about_self(message)


@pytest.mark.parametrize(
    "message",
    ["What did you suggest for the MOT?", "Was hast du mir geraten?", "¿Qué me recomendaste?", "你上次建议我去哪儿？"],
)
def test_questions_about_what_the_assistant_said(message: str) -> None:
    assert asks_assistant(message)


def test_who_asks_about_the_world_does_not_ask_what_the_assistant_said() -> None:
    assert not asks_assistant("Where do I live?")


@pytest.mark.parametrize("text", ["You're welcome.", "Gern geschehen.", "¡De nada!", "不客气", "ok thanks"])
def test_thanks_say_nothing(text: str) -> None:
    assert says_nothing(text, "english")


@pytest.mark.parametrize("text", ["I'm vegan.", "Wir sind Erfurter.", "Soy chef.", "我是工程师。", "PROJ-12"])
def test_a_short_statement_says_something(text: str) -> None:
    assert not says_nothing(text, "english")


@pytest.mark.parametrize(
    "text",
    [
        "Nice to meet you, Des. What can I do for you?",
        "Das ist ja großartig, Katrin!",
        "Where do you live?",
        "Welcome to your new home! Do you need anything noted down?",
        "恭喜搬家！",
    ],
)
def test_what_an_assistant_says_out_of_courtesy(text: str) -> None:
    assert is_courtesy(text, "english")


@pytest.mark.parametrize(
    "text",
    [
        "Your table is at 7.",
        "Bruno is your boss. Anything else?",
        "Public liability insurance, registration and a bookkeeper.",
    ],
)
def test_what_an_assistant_states(text: str) -> None:
    assert not is_courtesy(text, "english")
