"""Taking a text out of a file: where it is found, and what is left."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.text.forgotten_parts import without_forgotten
from reverie_server.text.redact import (
    Targets,
    anchor_of,
    body_of,
    erase,
    essence,
    essences,
    is_in,
    whole_sentence,
)
from reverie_server.text.statement_spans import statements


@pytest.mark.parametrize(
    ("text", "target", "left", "count"),
    [
        ("# A\n\n- Ada's phone is 555\n- b\n", "Ada's phone is 555", "# A\n\n- b\n", 1),
        ("- Ada's  PHONE\n  is 555 (work)\n", "Ada's phone is 555", "- (work)\n", 1),
        ("x\n\nfoo bar\n\ny\n", "foo bar", "x\n\ny\n", 1),
        ("x\r\n\r\nfoo bar\r\n\r\ny\r\n", "foo bar", "x\r\n\r\ny\r\n", 1),
        ("Anna and Ann went", "Ann", "Anna and went", 1),
        ("我叫李明。他也叫李明吗", "李明", "我叫。他也叫吗", 2),
        ("1. foo\n2. bar foo baz foo\n", "foo", "2. bar baz\n", 3),
        ("- [ ] call foo\n- [x] rest\n", "call foo", "- [x] rest\n", 1),
        ("> quoted foo\n> more\n", "quoted foo", "> more\n", 1),
        ("nothing of it", "foo", "nothing of it", 0),
        ("The cafe\u0301 secret.\nkeep\n", "caf\u00e9 secret.", "The\nkeep\n", 1),
        ("hel\u00adlo world, all", "hello world", ", all", 1),
        ("ＡＢＣ is wide", "abc", " is wide", 1),
        ("die STRASSE hier", "straße", "die hier", 1),
    ],
)
def test_what_is_left_by_hand(text: str, target: str, left: str, count: int) -> None:
    assert erase(text, target, by_line=True) == (left, count)


def test_an_accent_makes_another_word() -> None:
    assert not is_in("un cafe\u0301", "cafe")
    assert is_in("un cafe\u0301", "caf\u00e9")


def test_in_other_files_than_markdown_only_the_text_goes() -> None:
    assert erase('{"note": "foo bar", "n": 1}', "foo bar", by_line=False) == ('{"note": "", "n": 1}', 1)


@given(
    st.text(max_size=40), st.text(min_size=2, max_size=12).filter(lambda s: len(s.split()) > 0), st.text(max_size=40)
)
def test_what_was_taken_out_does_not_stand_there_any_more(before: str, target: str, after: str) -> None:
    text = f"{before} {target} {after}"
    left = text
    for _ in range(5):
        left, count = erase(left, target, by_line=True)
        if not count:
            break
    assert not is_in(left, target)


@given(st.text(alphabet="Aa é\u00e9e\u0301ÄßẞＡｱ한글", min_size=2, max_size=12).filter(lambda s: len(s.split()) > 0))
def test_every_unicode_form_of_a_text_is_the_text(target: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        other = unicodedata.normalize(form, target)
        if len(other.split()) == len(target.split()):
            assert is_in(other, target)


def test_the_anchor_is_a_word_that_postgresql_folds_alike() -> None:
    assert anchor_of("The CAFÉ is in Straße Nine") == "cafe\u0301"
    assert anchor_of("Straße") == ""


def test_a_passage_without_its_headings() -> None:
    assert body_of("## H\n\nText\n") == "Text"
    assert body_of("T\n===\nbody") == "body"
    assert body_of("# H") == "# H"


def test_what_is_forgotten_is_left_out_and_nothing_else() -> None:
    text = "# N\n\n- Ada lives in Leeds.\n- B\n"
    assert essence("- Ada lives in Leeds.") == "ada lives in leeds"
    assert "bob" not in essences("- Ada lives in Leeds.\n- Bob")
    assert without_forgotten(text, lambda kept: kept == "ada lives in leeds") == "# N\n\n- B\n"
    assert without_forgotten(text, lambda kept: False) == text


@pytest.mark.parametrize(
    ("text", "statement", "left"),
    [
        (
            "I like tea a lot; the code of the gate is 8841; my cat is called Mog.",
            "the code of the gate is 8841;",
            "I like tea a lot; my cat is called Mog.",
        ),
        ("我喜欢喝绿茶；大门的密码是8841；我的猫叫咪咪。", "大门的密码是8841；", "我喜欢喝绿茶；我的猫叫咪咪。"),
        ("我家大门的密码是八八四一～我喜欢喝绿茶。", "我家大门的密码是八八四一～", "我喜欢喝绿茶。"),
        ("*The code of the gate is 8841.* I like tea a lot.", "*The code of the gate is 8841.*", "I like tea a lot."),
        (
            "The code of the gate is 8841. (2026-11-02) I like tea a lot.",
            "The code of the gate is 8841. (2026-11-02)",
            "I like tea a lot.",
        ),
    ],
)
def test_every_statement_of_a_text_is_found_in_it_whatever_ends_it(text: str, statement: str, left: str) -> None:
    assert statement in statements(text)
    assert Targets([whole_sentence(statement)]).erase_from(text).text == left


@pytest.mark.parametrize("mark", [";", "；", "～", ".", ""])
def test_a_copy_of_a_statement_is_found_whatever_mark_ends_it(mark: str) -> None:
    assert Targets([whole_sentence(f"the code of the gate is 8841{mark}")]).found_in("- The code of the gate is 8841\n")


def test_a_sentence_that_ends_in_brackets_is_not_found_as_the_beginning_of_a_longer_one() -> None:
    assert not is_in("I like my sister (Ada) and her dog.", "I like my sister (Ada).")
