"""What an assistant says again as it keeps it was asked for, wherever it stands in the message."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.requested_lines import is_request_alone, requests_of
from reverie_server.heuristics.requests.said_again import promises_last, said_again
from reverie_server.heuristics.requests.said_before import points_back, what_was_said
from reverie_server.sessions.model import Message

AT = datetime(2026, 3, 3, tzinfo=UTC)


def asked(*talk: str) -> list[str]:
    """The lines that a talk asks for; its messages are by the user and the assistant in turn."""
    messages = [
        Message(number, "assistant" if number % 2 == 0 else "user", text, AT, 1) for number, text in enumerate(talk, 1)
    ]
    return [text for _, _, text in requests_of(messages, {})]


@pytest.mark.parametrize(
    ("answer", "said", "expected"),
    [
        ("Kept: your aunt's birthday is June 4.", ["Her birthday is June 4.", "I forgot it once."], [0]),
        ("Both kept: locker 3091, router pelican77.", ["The locker has 3091.", "The router is pelican77."], [0, 1]),
        ("I've got that and I'll keep it: Nora is allergic to latex.", ["Fine.", "Nora is allergic to latex."], [1]),
        ("It's in safe hands: permit 88-1203.", ["The form is long.", "My permit is 88-1203."], [1]),
        ("Der 7. Mai ist notiert.", ["Jonas hat am 7. Mai Geburtstag.", "Letztes Jahr war ich zu spät."], [0]),
        ("Hände keine, aber vermerkt ist es: Tante Idas Siebziger am 9. Juni.", ["Tante Ida wird am 9. Juni 70."], [0]),
        ("Gespeichert, das neue Schloss hat 6120.", ["6120 am Keller.", "Bitte, sonst steh ich davor."], [0]),
        ("Guardado: tu póliza es la 551209.", ["Mi póliza es la 551209.", "Siempre la pierdo."], [0]),
        ("No se me olvida: su hija es alérgica al níquel.", ["Mi hija es alérgica al níquel.", "Casi se muere."], [0]),
        ("记好了，你表妹对花生过敏。", ["我表妹对花生过敏，一吃就肿。", "上次吓死我了。"], [0]),
        ("Noted: never any nuts for Jonas.", ["Jonas can't have nuts.", "He swells up."], [0]),
        # It keeps nothing, asks, or is about something else.
        ("The file was saved: report 2031.", ["The report is number 2031."], []),
        ("Shall I keep it: 3091?", ["The locker has 3091."], []),
        ("Deleted, nothing is kept: 3091.", ["The locker has 3091."], []),
        ("Noted.", ["The locker has 3091."], []),
        ("Kept: blue paint.", ["The locker is in the hall."], []),
        ("Für vier Teller nimmst du 400 g Kartoffeln.", ["Ich habe 400 g Kartoffeln."], []),
        ("Borrado, no queda guardado.", ["Mi póliza es la 551209."], []),
        ("已写好：请假条，8月12日。", ["我8月12日请假。"], []),
        ("", ["The locker has 3091."], []),
    ],
)
def test_what_an_answer_says_again(answer: str, said: Sequence[str], expected: list[int]) -> None:
    assert said_again(answer, said) == expected


def test_the_last_statement_is_promised_unless_another_is_said_again() -> None:
    last, number = "The boiler is old.", "Its number is HX-20417."
    assert promises_last("I've made a note of that.", number, f"{last} {number}")
    assert promises_last("Saved: number HX-20417.", number, f"{last} {number}")
    assert not promises_last("I've saved it: HX-20417.", last, f"{number} {last}")
    assert not promises_last("A new one costs a lot.", last, f"{number} {last}")


def test_the_statement_that_is_said_again_is_remembered_and_not_the_last() -> None:
    assert asked("My aunt's birthday is June 4. I forgot it once.", "Kept: your aunt's birthday is June 4.") == [
        "My aunt's birthday is June 4."
    ]
    assert asked("The locker has 3091. And the router is pelican77.", "Both kept: locker 3091, router pelican77.") == [
        "The locker has 3091.",
        "And the router is pelican77.",
    ]
    assert asked("The locker has 3091. It is green.", "What a colour!") == []


def test_an_answer_tells_what_a_request_means_that_was_mistaken() -> None:
    first, second = "My aunt is Ida.", "Her day is June 4, that one has to stick for good."
    talk = [(first, "I see."), (second, "Kept: Ida's day is June 4.")]
    messages = [
        Message(2 * at + number, ("user", "assistant")[number], text, AT, 1)
        for at, pair in enumerate(talk)
        for number, text in enumerate(pair)
    ]
    assert [text for _, _, text in requests_of(messages, {second: [first]})] == [second]


@pytest.mark.parametrize(
    ("sentence", "thing"),
    [
        ("Oh and what I said about Mum's tablets before, do remember that for me.", "mum's tablets before"),
        ("Please remember what I just told you about the boiler.", "the boiler"),
        ("Acuérdese de lo que le acabo de decir del perro, de la dosis.", "perro"),
        ("No olvides lo que te dije de la caldera.", "la caldera"),
        ("Merk dir bitte, was ich dir vorhin über die Therme gesagt hab.", ""),
        ("Das mit der Salbe, was i grad gsagt hab, behalt das bitte.", ""),
        ("刚才说的我爸那个药你要记到哈", "我爸那个药"),
        # They ask whether it is known, or ask for nothing.
        ("Do you remember what I told you about the boiler?", None),
        ("He keeps saying what I said about the boiler.", None),
        ("Weißt du noch, was ich dir über die Therme gesagt hab?", None),
        ("Ich merke, was ich über die Therme gesagt hab.", None),
        ("¿Se acuerda de lo que le dije de la caldera?", None),
        ("Remember the boiler.", None),
        ("你记得我刚才说的那个药吗", None),
    ],
)
def test_what_was_said_before_is_named(sentence: str, thing: str | None) -> None:
    plain = aligned(sentence)
    found = what_was_said(plain)
    assert (found is None) is (thing is None)
    assert thing is None or thing in str(found)
    assert points_back(plain) is (thing is not None)


def test_what_was_said_of_a_thing_is_remembered() -> None:
    talk = [
        "The dog takes half a Zyloprin with his food. Mum hates it.",
        "Hide it in cheese.",
        "Cheese works. My sister has the spare key.",
        "Good.",
        "Please remember what I told you about the dog, I'll ask again.",
        "Kept, with the food.",
    ]
    assert asked(*talk) == ["The dog takes half a Zyloprin with his food."]
    assert asked("我岳父有痛风，海鲜碰都不能碰", "那就吃素。", "刚才说的我岳父那个病你要记到哈", "记到了。") == [
        "我岳父有痛风，海鲜碰都不能碰"
    ]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        # A request behind a greeting is about what follows.
        ("Good. Please never lose this one because it went wrong. Nora is allergic to latex.", "Nora is allergic"),
        # Behind a statement a habit or a condition says why.
        ("Jonas verträgt keine Mandeln. Bitte merk dir das gut, beim Backen bin ich immer im Stress.", "Mandeln"),
        ("Tante Ida wird am 9. Juni siebzig. Schreib dir das hinter die Ohren, wenn du welche hast.", "Ida"),
        ("Nora can't have latex. Remember that, I always forget.", "latex"),
        # The verb of a request may stand alone.
        ("Die Laube hat jetzt 6120. Bitte abspeichern bevor Ida wieder davorsteht.", "6120"),
        ("Jonas hat am 7. Mai Geburtstag. Darfst du nicht vergessen.", "7. Mai"),
        ("Größe 44 in weit. Falls ich wieder frage.", "44"),
        ("Ida ist allergisch gegen Nüsse. Das merkst du dir für alle Kuchen. Hatten wir schon.", "Nüsse"),
        ("My sizes are 40 and 36. Remember those for me, the man has lost them already.", "40 and 36"),
    ],
)
def test_which_statement_a_request_is_about(message: str, line: str) -> None:
    found = asked(message)
    assert len(found) == 1
    assert line in found[0]


@pytest.mark.parametrize(
    ("sentence", "is_alone"),
    [
        ("Acuérdese de lo que le acabo de decir del perro.", True),
        ("Bitte merk dir das gut, beim Backen bin ich immer im Stress.", True),
        ("Please remember what I told you about the dog.", True),
        ("Remember that the dog takes half a pill.", False),
        ("刚才说的我爸那个药你要记到哈", True),
    ],
)
def test_a_request_that_says_nothing_of_what_it_means(sentence: str, is_alone: bool) -> None:
    assert is_request_alone(sentence) is is_alone


def test_a_habit_alone_is_what_is_to_be_remembered() -> None:
    assert asked("Merk dir das gut, beim Lesen trage ich immer eine Brille.") == [
        "Beim Lesen trage ich immer eine Brille."
    ]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Notier dir das bitte gleich: die Rahmennummer ist KX5120", "Die Rahmennummer ist KX5120"),
        ("Du, bevor ich's wieder verschwitze, mein Keller ist die Nummer 31.", "Mein Keller ist die Nummer 31."),
        ("Sonst vergess ichs wieder: Tante Ida wird am 9. Juni siebzig.", "Tante Ida wird am 9. Juni siebzig."),
        ("Künftig alle Mengen in Gramm, ja?", "Künftig alle Mengen in Gramm"),
        ("From today give me everything in metric.", "From today give me everything in metric."),
        ("From now on call me Kit.", "From now on call me Kit."),
        ("A partir de hoy háblame de usted.", "A partir de hoy háblame de usted."),
        ("以后回我最多两句话", "以后回我最多两句话"),
    ],
)
def test_a_request_with_what_it_means(message: str, line: str) -> None:
    assert asked(message) == [line]


@pytest.mark.parametrize(
    "message",
    [
        "Ab jetzt antworte ich schneller.",
        "Ab morgen bin ich im Büro.",
        "From today I work in Leeds.",
        "Desde hoy trabajo en casa.",
        "以后我最多吃一碗",
        "Darfst du das vergessen?",
        "Ich merk mir alle Rezepte.",
    ],
)
def test_what_is_no_request(message: str) -> None:
    assert asked(message) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("new locker too. dont let me lose this one. locker code is 7046 now", ["locker code is 7046 now"]),
        ("the net man came. note this down. wifi is reedblock77", ["wifi is reedblock77"]),
        ("Apúntate una cosa, que ayer me quedé fuera. La alarma es el 5523.", ["La alarma es el 5523."]),
        # What was said has a number itself, or is "that".
        ("My locker is 7046. Note this down. The other one was 3318.", ["My locker is 7046."]),
        ("Edie is allergic to sesame. Remember that. The code is 4431.", ["Edie is allergic to sesame."]),
        ("Edie is allergic to sesame. Note this down. Do you know the code 4431?", ["Edie is allergic to sesame."]),
    ],
)
def test_this_is_the_code_that_follows(text: str, expected: list[str]) -> None:
    assert asked(text) == expected


def test_why_something_is_not_to_be_forgotten_is_not_what_is_kept() -> None:
    allergy = "Noa es alérgica al kiwi."
    assert asked(f"{allergy} Que no se te olvide nunca, que ya hemos acabado en urgencias.") == [allergy]
    assert asked("Que no se te olvide que Noa es alérgica al kiwi.") == [allergy]


def test_what_only_points_back_is_not_what_is_kept() -> None:
    assert asked("Oye, lo que te he puesto antes, el numerico del seguro. Que quede guardado.") == []
