"""Every copy of a sentence has the key of the sentence; another sentence has another key."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.heuristics.fact_sentences import copy_keys, keyed_sentences, sentence_key
from reverie_server.heuristics.requests.fact_requests import split_request
from reverie_server.sessions.daily_log import log_text

NOW = datetime(2026, 4, 3, tzinfo=UTC)
PIECES = (
    "- I live in Oslo. ", "(2026-01-02)", "\n", "\r\n", "\u2028", "\x1c", "User: hi | Assistant: yes", "[10:02] ",
    "Remember that: x is 4711 (until 2026-02-03).", "“q”", "。", "我住在北京。", "# H", "\n\n", " ", "Dr. ", "**b** ",
)  # fmt: skip
SAID = "I moved from Leeds to York in March."


@pytest.mark.parametrize(
    "copy",
    [
        "I moved from Leeds to York in March",
        "- I moved from Leeds to York in March.",
        "- User: I moved from Leeds to York in March.",
        "* I moved from Leeds to York in March. (2026-03-04)",
        "- [ ] I moved from Leeds to York in March (2026-03-04, 2026-03-09)",
        "1. **I moved from Leeds to York in March.**",
        "Please remember that I moved from Leeds to York in March.",
        "Remember: I moved from Leeds to York in March.",
        "i moved from Leeds  to York in March, please remember that.",
        "I moved from Leeds to York in March (until 2026-05-01)",
        "> I moved from Leeds to York in March!",
        "And I moved from Leeds to York in March (until 2026-05-01?).",
        "- Oh, by the way, I moved from Leeds to York in March.",
    ],
)
def test_a_copy_has_the_key_of_the_sentence(copy: str) -> None:
    assert sentence_key(copy) == sentence_key(SAID)


@pytest.mark.parametrize(
    ("copy", "said"),
    [
        ("而且我在成都住了十年。", "我在成都住了十年"),
        ("不过，我在成都住了十年。", "我在成都住了十年"),
        ("还有我在成都住了十年。", "我在成都住了十年"),
        ("Und Svenja fängt am 1. Mai an.", "Svenja fängt am 1. Mai an."),
        ("Pero bueno, vivo en Gijón desde junio.", "Vivo en Gijón desde junio."),
        ("Oh, by the way, I live in Leeds.", "I live in Leeds."),
        ("Y en urgencias casi me lían.", "En urgencias casi me lían."),
        ("Y Inés se va a Berlín en mayo.", "Inés se va a Berlín en mayo."),
    ],
)
def test_words_that_lead_on_are_none_of_the_sentence(copy: str, said: str) -> None:
    assert sentence_key(copy) == sentence_key(said)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Na Li lives in Berlin.", "Li lives in Berlin."),
        ("So Young works there.", "Young works there."),
        ("不过敏的东西我都可以吃的。", "敏的东西我都可以吃的。"),
        ("还有三天就要放暑假了。", "三天就要放暑假了。"),
    ],
)
def test_words_that_only_look_like_it_are(one: str, other: str) -> None:
    assert sentence_key(one) != sentence_key(other)


@pytest.mark.parametrize(
    "other",
    [
        "I moved from Leeds to York in May.",
        "I did not move from Leeds to York in March.",
        "Did I move from Leeds to York in March?",
        "I moved from Leeds to York in March?",
        "Boss: I moved from Leeds to York in March.",
    ],
)
def test_another_sentence_has_another_key(other: str) -> None:
    assert sentence_key(other) != sentence_key(SAID)


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("Merk dir bitte: Der Code ist 4711.", "Der Code ist 4711."),
        ("Der Code ist 4711, bitte merken.", "Der Code ist 4711."),
        ("Recuerda que el código es 4711.", "El código es 4711."),
        ("El código es 4711, apúntalo por favor.", "El código es 4711."),
        ("请记住：门的密码是4711。", "门的密码是4711。"),
        ("门的密码是4711，帮我记一下。", "门的密码是4711。"),
    ],
)
def test_a_request_to_remember_is_no_part_of_the_sentence(asked: str, plain: str) -> None:
    assert sentence_key(asked) == sentence_key(plain)


def test_a_name_before_a_sentence_is_a_label_only_where_it_is_known() -> None:
    assert sentence_key("Dana: I live in York.", names=["Dana"]) == sentence_key("I live in York.")
    assert sentence_key("Dana: I live in York.") != sentence_key("I live in York.")
    assert sentence_key("Boss: Petra") != sentence_key("Colleague: Petra")


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Please remember that.", "before"),
        ("Remember this!", "before"),
        ("Can you remember that for me?", "before"),
        ("Keep that in mind.", "before"),
        ("Please remember the following:", "next"),
        ("Merk dir das bitte.", "before"),
        ("Bitte merken!", "before"),
        ("Vergiss das nicht.", "before"),
        ("Por favor, recuérdalo.", "before"),
        ("No lo olvides.", "before"),
        ("请记住这一点。", "before"),
        ("帮我记一下。", "before"),
        ("Remember to call my mum.", "none"),
        ("Remember to always answer in French.", "inside"),
        ("I remember that day in Rome.", "none"),
        ("Do you remember my sister?", "none"),
        ("I can't remember that name.", "none"),
    ],
)
def test_what_a_request_is_about(sentence: str, kind: str) -> None:
    assert split_request(sentence).kind == kind


def test_the_sentences_of_a_log_line_and_of_a_list() -> None:
    line = f"[09:15] {log_text('Hi! ' + SAID + ' My boss is Petra.', 'Noted. How is York?')}"
    text = f"# 2026-03-04\n\n{line}\n\n- {SAID} (2026-03-04)\n"
    found = {text[span.start : span.end]: span.key for span in keyed_sentences(text)}
    assert found[SAID] == sentence_key(SAID)
    assert found[f"{SAID} (2026-03-04)"] == sentence_key(SAID)
    assert list(found) == [
        "2026-03-04", "Hi!", SAID, "My boss is Petra.", "Noted.", "How is York?", f"{SAID} (2026-03-04)",
    ]  # fmt: skip


def test_a_sentence_that_the_log_cuts_off_is_found_by_its_beginning() -> None:
    long = "I work at the harbour office, " + "where the ships from the north come in and " * 5 + "nobody sleeps."
    message = f"Hello. {long} I like tea."
    logged = log_text(message, "Good.")
    keys = copy_keys(long, message)
    assert len(keys) > 1
    assert {span.key for span in keyed_sentences(f"[09:15] {logged}")} & keys
    assert copy_keys("I like tea.", message) == {sentence_key("I like tea.")}


def test_sentences_without_capitals_and_without_spaces_are_apart() -> None:
    text = "i live in york now. my boss is petra, approx. since may. 我住在北京。我喜欢茶。"
    assert [text[span.start : span.end] for span in keyed_sentences(text)] == [
        "i live in york now.", "my boss is petra, approx. since may.", "我住在北京。", "我喜欢茶。",
    ]  # fmt: skip


def test_a_line_of_marks_has_no_sentences() -> None:
    assert keyed_sentences("---\n\n* \n…\n") == []


def test_an_abbreviation_ends_no_sentence_of_a_log_line() -> None:
    line = f"[09:14] User: Good morning. {SAID} | Assistant: Dr. Moe is there, too. How nice!"
    assert [line[span.start : span.end] for span in keyed_sentences(line)] == [
        "Good morning.", SAID, "Dr. Moe is there, too.", "How nice!",
    ]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_the_lines_of_a_long_text_are_read_as_the_whole(pieces: list[str]) -> None:
    text = f"{'I live in Oslo. ' * 140}\n{''.join(pieces)}"
    # With a name nothing is remembered of a line.
    assert keyed_sentences(text) == keyed_sentences(text, names=["Nobody"])


def test_a_name_leads_on_to_nothing() -> None:
    assert sentence_key("So Young called me today.") != sentence_key("Young called me today.")
