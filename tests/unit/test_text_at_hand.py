"""To delete is asked of texts and programs, too: what is asked of a text at hand forgets nothing."""

from __future__ import annotations

import pytest

from reverie_server.forgetting.possible_requests import not_of_text, read_requests
from reverie_server.heuristics.requests.forget_requests import forget_requests


@pytest.mark.parametrize(
    "message",
    [
        "My slide says 'our budget is 40k'. Delete that.",
        "The second paragraph is too long. Remove it.",
        "The second paragraph is too long. It rambles. Remove it.",
        "The intro mentions our old office in Leeds. Take that out.",
        "The last line of my poem is 'I remember the sea'. Remove it.",
        "There's a typo in the title. Delete it and write a new one.",
        "Here's my bio: 'I live in Leeds. I like cats.' Drop the part about cats.",
        "Delete the part about my divorce from the draft.",
        "the second paragraph is too long, remove it",
        "Im dritten Satz steht 'unser Umsatz sinkt'. Lösch das.",
        "Der letzte Absatz ist zu lang. Nimm ihn raus.",
        "Meine Überschrift lautet 'Alles neu'. Streich das.",
        "Auf Folie 3 steht das Budget von 40.000 Euro. Nimm das bitte raus.",
        "In meiner Bewerbung steht, dass ich geschieden bin. Lösch das.",
        "El segundo punto dice 'somos líderes'. Quítalo.",
        "La frase final suena fatal. Bórrala.",
        "Mi diapositiva dice 'el presupuesto es 40k'. Borra eso.",
        "En la función de abajo hay una variable 'edad'. Quita eso.",
        "第二段写的是“我们亏损了”。把它删掉。",
        "我的幻灯片上写着“预算四十万”。删掉。",
        "第三段太长了，删掉它。",
        "die Geschichte vom Junggesellenabschied muss aus der Hochzeitsrede verschwinden",
        "lo de la despedida de soltero no pega en el brindis, elimínalo",
        "the bit about the stag do has to come out of the wedding speech",
    ],
)
def test_an_order_for_a_text_is_no_request_to_forget(message: str) -> None:
    requests, _, likely = read_requests(message)
    assert requests == []
    assert likely == []


@pytest.mark.parametrize(
    "message",
    [
        "My slide is done. My PIN is 3321. Delete that.",
        "My slide says 40k. Forget what I said about the budget.",
        "My speech is on Friday. My PIN is 3321. Delete that.",
        "The last line of my poem is bad. Delete that from your memory.",
        "My thesis is about bees. Delete that, please.",
        "My e-mail is ada@example.org. Please delete that.",
        "Mein Code ist 4411. Lösch das bitte.",
        "Der Satz von eben mit dem Kredit kann weg.",
        "Mi primer jefe se llama Juan. Borra eso, por favor.",
        "我的工资是两万。删掉这个吧。",
    ],
)
def test_a_request_beside_a_text_or_without_one_is_a_request(message: str) -> None:
    assert len(forget_requests(message)) == 1


DRAFT = 'Done: "Dear Ms Hartnell, thank you for asking us to quote for your move. We\'d be delighted to be of service."'


@pytest.mark.parametrize(
    "message",
    [
        "Lose the last line, nobody round here is delighted at seven in the morning.",
        "in die küche schaut mir keiner. streich den letzten satz",
        "Hala, sin problema. Con pena, más bien. Quita eso.",
    ],
)
def test_an_order_behind_a_draft_is_about_the_draft(message: str) -> None:
    requests = forget_requests(message)
    assert len(requests) == 1
    assert not_of_text(requests, "ok", DRAFT) == []
    assert not_of_text(requests, "ok", "Noted.") == requests


@pytest.mark.parametrize(
    "message",
    [
        "My PIN at the bank is 4471. Delete that.",
        "Forget what I said about my boss.",
        "Scratch what I just said about failing, I don't want it kept anywhere.",
        "Borra lo que te dije de mi jefe.",
    ],
)
def test_what_somebody_told_is_forgotten_behind_a_draft_too(message: str) -> None:
    requests = forget_requests(message)
    assert len(requests) == 1
    assert not_of_text(requests, "ok", DRAFT) == requests
