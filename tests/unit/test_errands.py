"""What is to be done once, which is for the day and no line of MEMORY.md, and what only sounds like it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.extract import notable_lines
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.requests.errands import is_errand
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.sessions.model import Message

AT = datetime(2026, 10, 1, tzinfo=UTC)
ERRANDS = """
don't forget to buy milk
remind me at 5 to call mum
remember to call the bank tomorrow
dont forget to pay the rent on friday
remind me tomorrow to take the bins out
please remember to pick up the kids at 4
don't let me forget to email Tom
don't forget the milk
remind me to cancel netflix
vergiss nicht die milch
denk dran mich um 5 anzurufen
denk dran, milch zu kaufen
erinner mich um 5 an die wäsche
erinner mich morgen daran die miete zu überweisen
vergiss bitte nicht, morgen das paket abzuholen
que no se me olvide comprar pañales
no olvides comprar pan
acuérdate de llamar a mi madre a las 5
recuérdame comprar leche mañana
recuérdame mañana llamar al banco
no te olvides de recoger a los niños
recordame sacar la basura
记得提醒我五点给妈妈打电话
别忘了买牛奶
提醒我明天交房租
记得明天去取快递
"""
LASTING = """
please remember to always answer in english
remember to use metric units with me
remember to call me sam
don't forget to call me by my nickname sam
don't forget i have a dentist appointment on may 3
don't forget my birthday is on may 3
don't forget the code is 4471
remind me that the rent is due on the 3rd
remember that i'm allergic to nuts
remember to text me in german
remind me every monday to water the plants
don't forget my allergies
don't forget the wifi password: 1234abcd
remind me what my locker is
remind me of my trip
vergiss nicht dass ich vegan bin
vergiss nicht, mich immer zu duzen
denk dran dass ich vegan bin
vergiss nicht meine allergie
vergiss nicht die pin 1234
merk dir: pin ist 1234
denk dran, ich kaufe nie fleisch
erinner mich daran, dass ich allergisch bin
recuerda que soy celíaca
recuérdame que soy celíaca
no olvides que soy celíaca
no olvides tutearme siempre
recuerda llamarme Nacho
acuérdate de que mi madre vive en lugo
记得我对花生过敏
别忘了我的生日是五月三日
记得以后都用中文
请记住我的密码是1234
提醒我密码是8841
"""


@pytest.mark.parametrize("said", ERRANDS.strip().splitlines())
def test_an_errand_is_no_request_to_remember(said: str) -> None:
    assert is_errand(aligned(said))
    assert split_request(said).kind == "none"


@pytest.mark.parametrize("said", LASTING.strip().splitlines())
def test_what_lasts_is_no_errand(said: str) -> None:
    assert not is_errand(aligned(said))


@pytest.mark.parametrize(
    ("language", "asked", "changed"),
    [
        ("german", "merk dir: pin ist 1234", "pin hat sich geändert, jetzt 5678"),
        ("english", "remember: pin is 1234", "pin changed its now 5678"),
        ("spanish", "recuerda: pin es 1234", "el pin ha cambiado, ahora es 5678"),
    ],
)
def test_a_value_without_an_article_is_known_by_its_name(language: str, asked: str, changed: str) -> None:
    first, second = read_facts([Utterance(asked, AT), Utterance(changed, AT)], language)
    assert (first.subject, first.predicate, first.object) == ("pin", "is", "1234")
    assert (second.subject, second.predicate, second.object) == ("pin", "is", "5678")
    assert second.change is not None
    assert second.change.kind == "replaces"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "don't forget to buy milk"),
        ("german", "vergiss nicht die milch"),
        ("german", "denk dran mich um 5 anzurufen"),
        ("spanish", "que no se me olvide comprar pañales"),
        ("chinese", "记得提醒我五点给妈妈打电话"),
    ],
)
def test_an_errand_is_a_line_of_the_day(language: str, said: str) -> None:
    message = Message(1, "user", said, AT, 20)
    assert memorable_of([message], language, "UTC").lines == []
    assert notable_lines([message]) == [said]
