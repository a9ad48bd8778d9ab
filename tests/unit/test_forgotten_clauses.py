"""Of a sentence that says several things, the clause that is forgotten, where that is plain. No database."""

from __future__ import annotations

import pytest

from reverie_server.forgetting.clauses import clauses_about, clauses_to_forget
from reverie_server.search.query_terms import meaning_of


@pytest.mark.parametrize(
    ("language", "sentence", "query", "clause", "joined"),
    [
        (
            "english",
            "The code of the shed is 8841, and I prefer tea.",
            "code of the shed",
            "The code of the shed is 8841",
            "The code of the shed is 8841, and",
        ),
        (
            "english",
            "I like hiking, and I owe Marcus 900 pounds.",
            "Marcus",
            "I owe Marcus 900 pounds.",
            ", and I owe Marcus 900 pounds",
        ),
        (
            "english",
            "I prefer tea, my cat is called Mog and the code of the shed is 8841.",
            "my cat",
            "my cat is called Mog",
            ", my cat is called Mog",
        ),
        (
            "german",
            "Der Alarmcode vom Lager ist 5520 und ich mag kurze Antworten.",
            "Alarmcode vom Lager",
            "Der Alarmcode vom Lager ist 5520",
            "Der Alarmcode vom Lager ist 5520 und",
        ),
        (
            "spanish",
            "El código del almacén es 6612 y prefiero respuestas cortas.",
            "código del almacén",
            "El código del almacén es 6612",
            "El código del almacén es 6612 y",
        ),
        (
            "chinese",
            "我喜欢简短的回答，仓库的报警密码是7301。",
            "仓库的报警密码",
            "仓库的报警密码是7301。",
            "，仓库的报警密码是7301",
        ),
    ],
)
def test_a_clause_that_says_something_else_stays(
    language: str, sentence: str, query: str, clause: str, joined: str
) -> None:
    [found] = clauses_about(sentence, meaning_of(query, language).terms, language)
    assert (found.text, found.joined) == (clause, joined)
    assert found in clauses_to_forget(sentence, language)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        # What goes on with what was said before.
        ("english", "The code is 8841 and I change it every month."),
        ("english", "I owe Marcus 900 pounds and he wants the money by Friday."),
        ("german", "Der Code ist 5520 und ich ändere das jeden Monat."),
        ("german", "Ich schulde Marcus 900 Euro und der will das Geld."),
        ("spanish", "El código es 6612 y lo cambio cada mes."),
        ("spanish", "El código es 6612 y la uso para el trastero."),
        ("chinese", "我欠小马九千块钱，他很生气。"),
        # What leaves out whose it is.
        ("english", "My locker at the pool is number 212, and the combination is 7-19-33."),
        ("chinese", "健身房柜子是212号，密码是5531。"),
        # When and why.
        ("english", "If you need the code of the gate, I have two."),
        ("english", "The code is 8841, so I set my birthday backwards."),
        ("chinese", "因为仓库的密码是7301，我总是忘记数字。"),
        # No clauses.
        ("english", "I moved to Bergen, Norway."),
        ("english", "My boss, Ada Lind, lives in Leeds."),
        ("english", "I have a dog and like hiking."),
    ],
)
def test_a_sentence_that_is_not_plainly_several_goes_whole(language: str, sentence: str) -> None:
    assert clauses_to_forget(sentence, language) == []


def test_what_may_go_on_with_a_clause_goes_with_it_and_so_does_what_repeats_its_number() -> None:
    told = "I fainted at the wheel, I blamed the door, and my cat is called Mog."
    [found] = clauses_about(told, {"wheel"}, "english")
    assert found.text == "I fainted at the wheel, I blamed the door"
    repeated = "The code of the shed is 8841 and I use 8841 for the gym."
    assert clauses_about(repeated, {"shed"}, "english") == []


def test_each_of_several_clauses_that_are_asked_for_can_be_chosen() -> None:
    found = clauses_about("The code of the shed is 8841, and I prefer tea.", {"code", "tea"}, "english")
    assert [each.text for each in found] == ["The code of the shed is 8841", "I prefer tea."]
