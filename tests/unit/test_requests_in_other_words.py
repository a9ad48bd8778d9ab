"""Requests to remember: several things, with a reason, in place of what is kept, and what only looks like one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.requests.promises import promises_to_keep, promises_to_remember
from reverie_server.sessions.model import Message, Role

AT = datetime(2026, 4, 3, tzinfo=UTC)


def requested(language: str, *said: str) -> list[str]:
    """What is asked for in a talk in which the user speaks first, and the assistant answers."""
    roles: tuple[Role, Role] = ("user", "assistant")
    messages = [
        Message(number, roles[(number + 1) % 2], text, AT, 1, str(number), {}) for number, text in enumerate(said, 1)
    ]
    return sorted(line.statement.text for line in memorable_of(messages, language, "UTC").lines if line.is_request)


@pytest.mark.parametrize(
    ("language", "said", "lines"),
    [
        (
            "english",
            "What weather! The gate code is 4096 and the shed code is 1177. Remember both, please.",
            ["The gate code is 4096.", "The shed code is 1177."],
        ),
        (
            "english",
            "My bank PIN is 2290. Also, my sister Ada loves orchids. Remember both, please.",
            ["My bank PIN is 2290.", "My sister Ada loves orchids."],
        ),
        ("english", "The tea is Assam. My cat is Una. Keep both, please.", []),
        ("english", "Remember both of my sisters are vegan.", ["Both of my sisters are vegan."]),
        (
            "english",
            "Remember these two things: my shoe size is 43. My PIN is 9921. I like tea.",
            ["My PIN is 9921.", "My shoe size is 43."],
        ),
        (
            "english",
            "Please remember the following:\n- Passport expires 2029-05-01\n- Locker 212\n\nThanks, I feel better.",
            ["Locker 212", "Passport expires 2029-05-01"],
        ),
        (
            "german",
            "Der Torcode ist 4096. Der Schuppencode ist 1177. Merk dir bitte beides.",
            ["Der Schuppencode ist 1177.", "Der Torcode ist 4096."],
        ),
        (
            "spanish",
            "El PIN de mi tarjeta es 2290. A mi hermana Ada le encantan las orquídeas. Recuerda las dos cosas.",
            ["A mi hermana Ada le encantan las orquídeas.", "El PIN de mi tarjeta es 2290."],
        ),
        ("chinese", "大门密码是4096。仓库密码是1177。两个都请记住。", ["仓库密码是1177。", "大门密码是4096。"]),
    ],
)
def test_all_that_is_asked_for_at_once_is_kept(language: str, said: str, lines: list[str]) -> None:
    assert requested(language, said) == lines


@pytest.mark.parametrize(
    ("language", "said", "line"),
    [
        ("english", "The code is 9317 now, so please change it on your side too.", "The code is 9317 now"),
        (
            "german",
            "Ab sofort bin ich unter 0171 39200 erreichbar, bitte tauschen Sie das bei sich aus.",
            "0171 39200 erreichbar",
        ),
        ("german", "Das Rolltor geht jetzt mit 9316 auf, bitte so abspeichern statt dem was du hast.", "9316 auf"),
        ("chinese", "锁也换了新的，你那边存的那个不作数了哈，新家门锁密码是8351。", "新家门锁密码是8351"),
        (
            "english",
            "My glasses are plus 2.25, so you know it next time, because I always ask.",
            "My glasses are plus 2.25",
        ),
        (
            "german",
            "Die wollen sie immer, damit du es beim nächsten Mal weißt, meine Nummer ist 20871.",
            "Nummer ist 20871.",
        ),
        ("german", "Ich brauch Schuhe in Größe 39, behalt das im Hinterkopf, ich bestell dauernd falsch.", "Größe 39"),
        ("english", "I want you to keep the following, because they get it wrong: the piano is at 442.", "is at 442."),
        ("spanish", "Guárdate esto porque siempre se me olvida: mi talla es 42 corta", "Mi talla es 42 corta"),
        ("chinese", "有个事你先帮我记到，我每次站在店头都想不起来：老杜的衬衫要买41码。", "老杜的衬衫要买41码。"),
        ("chinese", "医生说汤圆对鸡肉过敏。这个你帮我记到哈，我买粮老是搞忘看成分。", "医生说汤圆对鸡肉过敏。"),
        (
            "spanish",
            "La tutora se llama Valdivieso. Quédate con eso, que tengo reunión.",
            "La tutora se llama Valdivieso.",
        ),
        ("spanish", "Quédate con eso, que el código es 4471.", "código es 4471."),
        (
            "english",
            "It is important to me that you remember my daughter can't have nuts.",
            "My daughter can't have nuts.",
        ),
        ("german", "Können Sie sich bitte merken, dass meine Schuhgröße 43 ist?", "Meine Schuhgröße ist 43."),
        ("german", "Der Torcode ist 4096. Alles klar, merk dir das.", "Der Torcode ist 4096."),
        ("german", "Ab jetzt immer ohne Aufzählungen, nur ganze Sätze, ja?", "nur ganze Sätze"),
        ("chinese", "以后回答我都不要用感叹号，好吗？", "以后回答我都不要用感叹号"),
        ("french", "N'oublie pas que le code de l'immeuble est 45B9.", "Le code de l'immeuble est 45B9."),
        ("french", "Le code est 45B9. Souviens-t'en, s'il te plaît.", "Le code est 45B9."),
        ("french", "Le code est 45B9. Retiens-le, s'il te plaît.", "Le code est 45B9."),
        ("japanese", "ロッカーの暗証番号は4096です。覚えておいてください。", "ロッカーの暗証番号は4096です。"),
    ],
)
def test_what_is_kept_stands_without_the_words_that_ask(language: str, said: str, line: str) -> None:
    [kept] = requested(language, said)
    assert kept.endswith(line)
    assert len(kept) <= len(line) + 45


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("german", "Erinnerst du dich noch an den Code der Sauna? Ich kann ihn mir nicht merken."),
        ("spanish", "¿Te acuerdas del código de la sauna? Yo no lo recuerdo."),
        ("chinese", "你还记得桑拿房的密码吗？我不记得了。"),
        ("english", "I never want to forget that trip to Oslo."),
        ("chinese", "以后签字都找许蔓。"),
        ("english", "The report is 340 pages long. Update it, please."),
    ],
)
def test_who_only_speaks_of_remembering_asks_for_nothing(language: str, said: str) -> None:
    assert requested(language, said) == []


@pytest.mark.parametrize(
    ("language", "said", "answer", "line"),
    [
        (
            "english",
            "Some thug cut my bike lock, so I bought a new one. The code is 9026 now.",
            "Glad the bike's still there. I've updated the lock code to 9026.",
            "Some thug cut my bike lock, so I bought a new one. The code is 9026 now.",
        ),
        (
            "spanish",
            "Ya cambiaron lo del portón, ahora se abre con 9026. actualízalo porfa",
            "Actualizado: el portón ahora se abre con 9026.",
            "Ya cambiaron lo del portón, ahora se abre con 9026.",
        ),
    ],
)
def test_what_the_answer_puts_in_the_place_of_something_is_kept(
    language: str, said: str, answer: str, line: str
) -> None:
    assert requested(language, said, answer) == [line]


@pytest.mark.parametrize(
    ("language", "said", "asking", "answer"),
    [
        (
            "english",
            "Our storage locker is number 41C. It is full of music.",
            "I keep having to look it up, they are all orange. Can you hang on to that?",
            "I will, I've kept the number of the locker.",
        ),
        (
            "spanish",
            "uy, a Marisol el cilantro le sabe a jabón",
            "ok. oye y lo que te dije de Marisol, te lo puedes quedar pa otras recetas?",
            "Claro, me lo quedo: nada de cilantro cuando cocines para Marisol.",
        ),
        (
            "german",
            "Der Cem ist gegen Wespen allergisch, das Notfallset ist im Auto.",
            "Stimmt, zeig ich ihnen heute. Kannst du dir das merken?",
            "Ja, die Allergie und den Platz vom Notfallset habe ich mir gemerkt.",
        ),
    ],
)
def test_an_answer_names_what_was_said_before(language: str, said: str, asking: str, answer: str) -> None:
    lines = requested(language, said, "Oh!", asking, answer)
    assert any(said.split(".")[0] in line for line in lines)


def test_an_offer_is_no_promise() -> None:
    assert not promises_to_remember("Good to hear. Should I update the code to 9026?", "The code is 9026 now.")


@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [
        ("Claro, me lo quedo: nada de cilantro cuando cocines para Marisol.", True),
        ("I'll keep that, no worries.", True),
        ("I'll keep that between us.", False),
        ("Done, I've deleted it.", False),
        ("Das behalt ich für mich.", False),
        ("记住了。", True),
    ],
)
def test_an_answer_says_that_something_is_kept(answer: str, is_kept: bool) -> None:
    assert promises_to_keep(answer) == is_kept
