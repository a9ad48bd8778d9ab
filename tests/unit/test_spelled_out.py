"""Requests as they are typed and said: abbreviated, in dialect, in formal address, and by a clause of what is meant."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.extract import asks_to_remember
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.heuristics.requests.spelled_out import spelled_out


@pytest.mark.parametrize(
    ("message", "kind", "topic"),
    [
        ("plz 4get what i said abt the couch", "topic", "couch"),
        ("the thing about my old couch has to go", "nearby", "old couch"),
        ("would u mind forgetting that my sister is in rehab", "topic", "my sister is in rehab"),
        ("Please forget that I have a dog.", "told", ""),
        ("das mit dem Bart muss weg", "topic", "bart"),
        ("vergiss des mit dem Auto", "nearby", "auto"),
        ("kannste das mit der Kündigung wieder vergessen?", "nearby", "kündigung"),
        ("Vergessen Sie bitte, dass ich geschieden bin.", "told", ""),
        ("Könnten Sie bitte vergessen, dass ich in Bochum gearbeitet habe?", "told", ""),
        ("Streichen Sie bitte, was ich über meinen Nachbarn gesagt habe.", "nearby", "nachbarn"),
        ("lo de mi sofá viejo tiene que irse", "nearby", "sofá viejo"),
        ("porfa olvida q tengo perro", "told", ""),
        ("Olvide, por favor, que le dije mi edad.", "told", ""),
        ("Le ruego que olvide lo que le conté de mi jefe.", "nearby", "jefe"),
        ("Borra de tu memoria que trabajo en Telefónica.", "told", ""),
        ("那个关于沙发的事删掉吧", "nearby", "沙发"),
        ("这事儿别写进去：我其实讨厌我婆婆", "own", ""),
        ("Between us, and don't save this: I'm thinking about quitting.", "own", ""),
        ("merk das nicht an", "previous", ""),
        ("schreib das nicht auf", "previous", ""),
    ],
)
def test_a_request_is_read_however_it_is_spelt(message: str, kind: str, topic: str) -> None:
    [request] = forget_requests(message)
    assert (request.kind, request.sentence) == (kind, message)
    assert topic in request.topic


@pytest.mark.parametrize(
    "message",
    [
        "Olvide mi contraseña, ¿qué hago?",
        "olvide la clave otra vez",
        "Please forget that I'm your boss and be honest.",
        "Please forget that I exist.",
        "Vergiss bitte, dass ich dein Chef bin, und sei ehrlich.",
        "Por favor, olvida que soy tu jefe y sé sincero.",
        "Manchmal vergessen sie, dass ich hier wohne.",
        "u forgot abt me",
    ],
)
def test_what_has_such_words_alone_is_no_request(message: str) -> None:
    assert forget_requests(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "Bitte vermerken Sie, dass ich Linkshänder bin.",
        "u need to remember im vegan",
        "acuerdate d q el martes tengo dentista",
        "您记一下，我对青霉素过敏",
    ],
)
def test_a_request_to_remember_is_read_however_it_is_spelt(message: str) -> None:
    assert asks_to_remember(message)


def test_a_sentence_in_the_words_of_patterns_stays_as_it_is() -> None:
    assert spelled_out("Forget what I said about Ada.") == "Forget what I said about Ada."
    assert spelled_out("Vergessen Sie bitte mein Gehalt.") == "vergiss bitte mein gehalt."
    assert spelled_out("Das D von Ada und das q.") == "Das D von Ada und das q."


@pytest.mark.parametrize(
    "message",
    [
        "Ich bitte Sie zu vergessen, dass ich Schulden habe.",
        "Don't keep what I'm telling you now: I cheated on the test.",
        "我坐过牢的事，希望您能忘掉。",
        "别再记着我跟你说的我爸的病了。",
        "偷偷告诉你，别记录：我中了彩票。",
        "Ayer robé una chocolatina. Ni se te ocurra apuntarlo.",
    ],
)
def test_a_request_in_words_between_is_one(message: str) -> None:
    assert len(forget_requests(message)) == 1


def test_what_need_not_be_remembered_is_not_to_be_kept() -> None:
    assert not asks_to_remember("u dont need 2 remember my ex's birthday anymore")
