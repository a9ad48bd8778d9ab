"""The judge of the benchmark of truth, on a small life."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

from reverie_bench.truth.dump import words_in
from reverie_bench.truth.judge import Judge, holds
from reverie_bench.truth.life import Life, Message, Session, Statement, load_lives

_STATEMENTS = (
    Statement("I live in Hereford.", "old"),
    Statement("I left Hereford for Ludlow, since Edie got a school there.", "worth"),
    Statement("My sister Martha cannot eat peanuts.", "kin", ("Martha", "sister")),
    Statement("What a rainy day.", "filler"),
)
_AT = datetime(2025, 3, 3, tzinfo=UTC)
_SESSION = Session(_AT, _AT, (Message("user", " ".join(each.text for each in _STATEMENTS), _STATEMENTS),))
_TAGGED = (Message("user", "Lisbon's off.", (Statement("Lisbon's off.", "true"), Statement("Good.", "filler"))),)
_JUDGE = Judge(Life("made-up", "english", False, (_SESSION,), (), {}, (), ()))


def superseded(text: str) -> str | None:
    return _JUDGE.has_superseded(text, ("Hereford",), ("Ludlow",))


def test_a_superseded_statement_stands_there_unless_it_is_marked() -> None:
    assert superseded("- I live in Hereford.") is not None
    assert superseded("- I live in Hereford. (until 2025-03-26)") is None


def test_the_date_and_the_place_before_a_line_are_none_of_its_words() -> None:
    life = Life("made-up", "english", False, (Session(_AT, _AT, _TAGGED),), (), {}, (), ())
    assert Judge(life).has_superseded("- (2025-03-03, sessions/web:1) Lisbon's off.", ("Lisbon",), ("Wales",)) is None


def test_what_holds_and_stands_marked_is_counted_once_and_what_held_is_not() -> None:
    text = (
        "- I live in Hereford. (until 2025-03-26)\n"
        "- (2025-03-03, sessions/web:1) My sister Martha cannot eat peanuts. (until 2025-03-26)\n"
        "- I left Hereford for Ludlow, since Edie got a school there.\n"
        "- What a rainy day. (until 2025-03-26)"
    )
    assert _JUDGE.falsely_marked(text) == ["My sister Martha cannot eat peanuts."]
    then = "- I like tea. (until 2026-03-09) [then: My sister Martha cannot eat peanuts.]"
    assert _JUDGE.falsely_marked(then) == []


def test_the_mark_of_a_sentence_with_an_ordinal_is_seen() -> None:
    marked = "- Die Feier bei Dr. Lenz ist am 22. November. (until 2024-11-13)"
    assert _JUDGE.has_superseded(marked, ("22.",), ("29.",)) is None


def test_a_question_and_the_statement_of_the_change_are_not_superseded() -> None:
    assert superseded("Is the market in Hereford open?") is None
    assert superseded("I left Hereford for Ludlow.") is None


def test_a_line_is_worth_what_its_sentence_is() -> None:
    lines = [
        "- I left Hereford for Ludlow, since Edie got a school there.",
        "- I live in Hereford.",
        "- I live in Hereford. (until 2025-03-26)",
        "- Martha cannot eat peanuts.",
        "- Cannot eat peanuts.",
        "- What a rainy day.",
        "- Owns a boat.",
    ]
    worths = ["useful", "wrong_in_time", "past", "useful", "about_others", "filler", "unknown"]
    assert [_JUDGE.line(line).worth for line in lines] == worths


def test_a_line_with_what_was_to_be_remembered_is_useful_whatever_sentence_names_it() -> None:
    talk = "Could you note down the new Wi-Fi password for me? It is marigold-58."
    message = Message("user", talk, (Statement("Could you note down the new Wi-Fi password for me?", "filler"),))
    session = Session(_AT, _AT, (message,))
    judge = Judge(Life("made-up", "english", False, (session,), (), {}, (("marigold-58",),), ()))
    assert judge.line("- The new Wi-Fi password is marigold-58.").worth == "useful"
    assert judge.line("- The new Wi-Fi password is for me.").worth == "filler"


def test_an_answer_is_held_as_whole_words_but_in_scripts_without_spaces() -> None:
    assert not holds("a cooperative", ["Coop"])
    assert holds("我住在成都。", ["成都"])
    assert holds("推到4月26号了", ["4月26号"])
    assert not holds("推到14月26号了", ["4月26号"])


def test_a_number_in_a_random_id_is_none_of_what_was_to_be_forgotten() -> None:
    wanted = ("7719", "Biopsia")
    assert list(words_in("8729e6eb67719065", wanted)) == []
    assert list(words_in({"said": "the code is 7719, la biopsia"}, wanted)) == ["7719", "Biopsia"]
    assert list(words_in(gzip.compress("密码是7719。".encode()), wanted)) == ["7719"]


def test_the_lives_of_development_can_be_read() -> None:
    for life in load_lives():
        assert life.questions
        assert all(message.statements for session in life.sessions for message in session.messages)


def test_every_answer_and_all_that_is_to_be_remembered_or_forgotten_is_said_by_somebody() -> None:
    # Counts alone: lives that are held back are not shown, not even by a test that fails.
    missing = 0
    for life in (*load_lives(), *load_lives(held=True)):
        said = "\n".join(message.text for session in life.sessions for message in session.messages)
        answers = [answer for question in life.questions for answer in (*question.current, *question.old)]
        words = [*life.forgotten, *(word for words in life.remembered for word in words)]
        missing += sum(not holds(said, [each]) for each in (*answers, *words))
        missing += sum(not holds(said, values) for values in life.profile.values())
    assert missing == 0


def test_there_are_lives_in_four_languages_on_both_sides_each_of_kinds_of_questions() -> None:
    for held in (False, True):
        lives = load_lives(held=held)
        assert {life.language for life in lives} == {"english", "german", "spanish", "chinese"}
        assert all(question.kind != "other" for life in lives for question in life.questions)
