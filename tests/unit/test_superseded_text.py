"""Texts without what does not hold any more, or with the day until which it did."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.search.superseded_text import Superseded, current_text, without_said

TEXT = "I train on Tuesdays. I live in Leith. The club is great."
UNTIL = datetime(2026, 3, 4, 9, tzinfo=UTC)


def over(sentence: str, *, is_likely: bool = False, holding: tuple[str, ...] = ()) -> dict[bytes, Superseded]:
    [span] = keyed_sentences(sentence)
    return {span.key: Superseded(1, UNTIL, 2, holding, is_likely)}


@pytest.mark.parametrize(
    ("superseded", "marked", "expected"),
    [
        (over("I train on Tuesdays."), False, "I live in Leith. The club is great."),
        (
            over("I train on Tuesdays."),
            True,
            "I train on Tuesdays. (until 2026-03-04) I live in Leith. The club is great.",
        ),
        (
            over("I live in Leith.", is_likely=True),
            False,
            "I train on Tuesdays. I live in Leith. (until 2026-03-04) The club is great.",
        ),
        (
            over("I live in Leith.", holding=("I live with Ann.",)),
            False,
            "I train on Tuesdays. I live with Ann. The club is great.",
        ),
        (
            over("I train on Tuesdays.") | over("I live in Leith.", is_likely=True),
            False,
            "I live in Leith. (until 2026-03-04) The club is great.",
        ),
    ],
)
def test_what_is_surely_over_goes_and_what_likely_is_stays_with_the_day(
    superseded: dict[bytes, Superseded], marked: bool, expected: str
) -> None:
    assert " ".join(current_text(TEXT, superseded, marked=marked).split()) == expected


def test_a_day_is_told_once() -> None:
    superseded = over("I live in Leith.", is_likely=True)
    once = current_text("I live in Leith.", superseded, marked=False)
    assert once == "I live in Leith. (until 2026-03-04)"


def test_a_guess_is_marked_as_one() -> None:
    [(key, fact)] = over("I live in Leith.", is_likely=True).items()
    guessed = {key: replace(fact, is_guessed=True)}
    assert current_text("I live in Leith.", guessed, marked=False) == f"I live in Leith. (until {UNTIL.date()}?)"


def test_what_a_model_found_stands_with_what_it_takes_for_the_new_state() -> None:
    [(key, fact)] = over("I live in Leith.", is_likely=True).items()
    signed = replace(fact, is_guessed=True, replacing="Signed for the Otley place!!")
    until = f"I live in Leith. (until {UNTIL.date()}?) [then: Signed for the Otley place!!]"
    assert current_text("I live in Leith.", {key: signed}, marked=False) == until
    long = current_text("I live in Leith.", {key: replace(signed, replacing="a " * 200)}, marked=False)
    assert len(long) < 200
    assert long.endswith("a …]")
    certain = replace(signed, is_likely=False, is_guessed=False)
    assert current_text("I live in Leith.", {key: certain}, marked=True) == f"I live in Leith. (until {UNTIL.date()})"


@pytest.mark.parametrize(
    ("text", "said", "left"),
    [
        ("Do you like tea? Yes, very much.", "Do you like tea?", "Do you like tea? Yes, very much."),
        ("¿Te gusta el té? Sí, mucho, cada día.", "¿Te gusta el té?", "¿Te gusta el té? Sí, mucho, cada día."),
        ("Magst du Tee? Ja, sehr gern.", "Magst du Tee?", "Magst du Tee? Ja, sehr gern."),
        ("你喜欢茶吗？非常喜欢，每天喝。", "你喜欢茶吗？", "你喜欢茶吗？非常喜欢，每天喝。"),
        ("The code is:\n\n```\nopen 1234\n```", "The code is:", "The code is:\n\n```\nopen 1234\n```"),
        ("密码是：\n```\nopen 1234\n```", "密码是：", "密码是：\n```\nopen 1234\n```"),
        ("Agreed:\n- Tom pays.\n- Ada cooks.", "Agreed:\n- Tom pays.", "Agreed:\n- Ada cooks."),
        (
            "[09:00] User: When is it? | Assistant: On Thursday the 4th.",
            "When is it?",
            "[09:00] User: When is it? | Assistant: On Thursday the 4th.",
        ),
        # What nothing rests on goes.
        ("Is that so? Tom pays. Ada cooks.", "Is that so? Tom pays.", "Ada cooks."),
        ("Agreed:\n- Tom pays.\n\nAda cooks.", "Agreed:\n- Tom pays.", "Ada cooks."),
    ],
)
def test_no_answer_is_left_without_its_question_and_nothing_without_what_leads_up_to_it(
    text: str, said: str, left: str
) -> None:
    assert without_said(text, {span.key for span in keyed_sentences(said)}) == left
