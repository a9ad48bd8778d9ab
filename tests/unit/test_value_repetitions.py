"""What a conversation says again of what is forgotten: a code, a number or a name, and nothing else."""

from __future__ import annotations

import pytest

from reverie_server.forgetting.echoes import repetitions
from reverie_server.sessions.daily_log import exchange_with

PIN = "My debit card PIN is 7702."


@pytest.mark.parametrize(
    ("text", "message", "repeated"),
    [
        (PIN, "7702.", "7702."),
        (PIN, "It's 7702.", "It's 7702."),
        (PIN, "7702. What else can I do?", "7702."),
        (PIN, "Your PIN is 7702.", "Your PIN is 7702."),
        ("Die PIN meiner Bankkarte ist 2290.", "Es ist die 2290.", "Es ist die 2290."),
        ("El PIN de mi tarjeta es 2290.", "Es el 2290.", "Es el 2290."),
        ("我银行卡的密码是2290。", "是2290。", "是2290。"),
        ("The combination is 7-19-33.", "7-19-33.", "7-19-33."),
        ("The password is Maple.", "Maple!", "Maple!"),
        ("我的猫叫咪咪。", "咪咪。", "咪咪。"),
    ],
)
def test_a_value_alone_belongs_to_its_statement(text: str, message: str, repeated: str) -> None:
    assert repetitions(message, [text], is_answer=False) == [repeated]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PIN, "My order number is 7702."),
        (PIN, "Bus 7702."),
        (PIN, "Is it 7702?"),
        (PIN, "Yes."),
        (PIN, PIN),
        ("The combination is 7-19-33.", "33."),
        ("I like coffee.", "Coffee."),
        ("I moved on the 13th of March.", "13."),
        ("My sister is called Ada.", "Ada loves orchids."),
        (f"{PIN} Please remember that.", "I like tea. Please remember that."),
        ("我银行卡的密码是2290。请记住。", "我喜欢喝茶。请记住。"),
    ],
)
def test_what_says_something_else_is_none(text: str, message: str) -> None:
    assert repetitions(message, [text], is_answer=False) == []


def test_the_answer_to_the_statement_may_acknowledge_it() -> None:
    assert repetitions("Noted, 7702.", [PIN], is_answer=True) == ["Noted, 7702."]
    assert repetitions("Noted, 7702.", [PIN], is_answer=False) == []
    assert repetitions("7702 people came to the fair.", [PIN], is_answer=True) == []


def test_the_line_of_an_exchange_keeps_what_was_said_before_the_question() -> None:
    asked = "I live in Bonn. What was it?"
    assert exchange_with(asked, "7702.", is_of_user=False) == "What was it? | Assistant: 7702."
    assert exchange_with("7702", "Fine.", is_of_user=True) == "7702 | Assistant: Fine."
    assert exchange_with("", "7702.", is_of_user=False) == ""
