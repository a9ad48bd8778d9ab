"""What says of a thing that it must not be lost, in the words of requests to forget."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.requests.not_to_be_lost import is_not_to_be_lost


@pytest.mark.parametrize(
    "text",
    [
        "that about the two shelves, see that it doesn't slip, will you",
        "dont lose the pad code",
        "Whatever happens, don't let it go astray.",
        "que eso no se pierda, por lo que más quieras",
        "eso no lo suelte",
        "que no se te vaya a borrar",
        "Das darf keinesfalls in Vergessenheit geraten.",
        "lass das nich noch mal flöten gehen",
        "vergiss mir das ja nich",
        "verlier mir die Nummer bloß net",
        "vergiss die nummer nicht",
        "dinnae forget that",
        "这个千万别弄丢",
        "可别从你那儿没了",
    ],
)
def test_a_loss_that_is_not_to_happen(text: str) -> None:
    assert is_not_to_be_lost(text)


@pytest.mark.parametrize(
    "text",
    [
        "Lose what I said about the loan.",
        "Don't keep that.",
        "Stow it where the sun don't shine and lose the key.",
        "Don't lose sleep over it, just delete it.",
        "Don't forget to delete that.",
        "Lo mío del despido no lo vaya a recordar.",
        "Vergiss das mit dem Kredit.",
        "Vergiss das mit der Miete, das stimmt nicht.",
        "vergiss die alte nummer gilt nicht mehr",
        "vergiss meine adresse die stimmt nicht mehr",
        "Vergiss meine Allergie und frag nie danach",
        "Vergiss was ich über Anna gesagt hab, nicht dass es wer liest",
        "一个字都别漏给别人",
        "不许记哈，丢人。",
        "别从你这漏出去",
    ],
)
def test_what_asks_to_forget_or_to_keep_a_secret(text: str) -> None:
    assert not is_not_to_be_lost(text)
