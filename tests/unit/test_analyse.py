"""The analyser: what a text becomes in the index and in a query."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text.analyse import (
    MAX_TERM_CHARS,
    analyse,
    analyse_query,
    holds_exactly,
    language_name,
    written,
)


def test_words_are_folded_stemmed_and_freed_of_stop_words() -> None:
    assert analyse("The Painters were PAINTING Caroline's ﬁelds") == ["painter", "paint", "carolin", "field"]


def test_stop_words_stay_when_nothing_else_remains() -> None:
    assert analyse("to be or not to be") == ["to", "be", "or", "not", "to", "be"]
    assert analyse("Who are you?") == ["who", "are", "you"]


def test_contractions_leave_no_remnants() -> None:
    assert analyse("I'm sure you've said we'll bake, don’t worry") == ["sure", "said", "bake", "worri"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main", "py"]),
        ("PROJ-1234", ["proj-1234", "proj", "1234"]),
        ("rotateKeys", ["rotatekey", "rotat", "key"]),
        ("XMLHttpRequest", ["xmlhttprequest", "xml", "http", "request"]),
        ("foo_bar", ["foo_bar", "foo", "bar"]),
        ("2026-04-03", ["2026-04-03", "2026", "04", "03"]),
        ("std::vector", ["std::vector", "std", "vector"]),
    ],
)
def test_an_identifier_is_kept_whole_and_in_parts(text: str, terms: list[str]) -> None:
    assert analyse(text) == terms


def test_a_part_finds_the_identifier_and_the_identifier_finds_its_spelling() -> None:
    assert set(analyse("keys")) <= set(analyse("call rotateKeys() now"))
    assert set(analyse_query("ROTATEKEYS").terms) <= set(analyse("call rotateKeys() now"))


def test_cjk_gives_overlapping_bigrams_and_a_run_of_one_gives_itself() -> None:
    assert analyse("黑豹队") == ["黑豹", "豹队"]
    assert analyse("茶 a1") == ["茶", "a1"]
    assert analyse("カメラ") == ["カメ", "メラ"]
    assert analyse("한국어") == ["한국", "국어"]


def test_thai_lao_khmer_and_burmese_give_overlapping_trigrams() -> None:
    assert analyse("ภาษา") == ["ภาษ", "าษา"]
    assert analyse("ລາວ") == ["ລາວ"]
    assert len(analyse("ភាសាខ្មែរ")) == len("ភាសាខ្មែរ") - 2
    assert len(analyse("မြန်မာ")) == len("မြန်မာ") - 2


def test_mixed_scripts_are_split_where_the_script_changes() -> None:
    assert analyse("用rotateKeys换") == ["用", "rotatekey", "rotat", "key", "换"]


def test_vowel_signs_stay_inside_their_word() -> None:
    assert analyse("हिन्दी", "simple") == ["हिन्दी"]


@pytest.mark.parametrize("ignored", ["\u00ad", "\u200b", "\u2060", "\ufeff"])
def test_what_nobody_sees_divides_no_word(ignored: str) -> None:
    text = 'The spoonbill of src/app/main.py said "blue harbour" in 東京 on 2026-04-03, ภาษา and café'
    with_ignored = ignored.join(unicodedata.normalize("NFD", text))
    assert analyse(with_ignored) == analyse(text)
    assert analyse_query(with_ignored) == analyse_query(text)
    assert [word for word, _ in written(with_ignored)] == [word for word, _ in written(text)]
    assert holds_exactly(with_ignored, analyse_query(text).exact)


def test_joiners_are_a_part_of_words() -> None:
    """In Persian and Hindi they make another word, and one picture of several."""
    assert analyse("می\u200cخواهم", "simple") == ["می", "خواهم"]
    assert analyse("क्\u200dष", "simple") != analyse("क्ष", "simple")


def test_the_language_decides_stems_and_stop_words() -> None:
    assert analyse("Die Rechnungen der Kinder", "german") == analyse("Rechnung Kind", "de")
    assert analyse("las casas", "es") == analyse("la casa", "es") == ["cas"]
    assert analyse("the houses", "simple") == ["the", "houses"]


def test_an_unknown_language_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ValidationFailed, match="english"):
        language_name("klingon")


def test_a_term_longer_than_an_index_entry_keeps_its_identity() -> None:
    [one], [same], [other] = analyse("a" * 5000), analyse("A" * 5000), analyse("a" * 4999 + "b")
    assert len(one) <= MAX_TERM_CHARS
    assert one == same != other


def test_quoted_phrases_identifiers_and_paths_are_to_be_found_to_the_letter() -> None:
    query = analyse_query('Where is "Blue  Harbour" in src/app/main.py, and PROJ-12? a well-known word')
    assert query.exact == ("blue harbour", "src/app/main.py", "proj-12")


def test_a_passage_holds_an_identifier_only_as_a_whole() -> None:
    exact = analyse_query("PROJ-12").exact
    assert holds_exactly("see proj-12.", exact)
    assert not holds_exactly("see PROJ-123", exact)
    assert not holds_exactly("see XPROJ-12", exact)
    assert not holds_exactly("anything", ())


@given(st.text(max_size=300))
def test_a_query_equal_to_a_text_shares_all_its_terms(text: str) -> None:
    """One analyser for both sides: analysing never raises and is the same for index and query."""
    terms = analyse(text)
    assert list(dict.fromkeys(terms)) == list(analyse_query(text).terms)
    assert all(term and len(term) <= MAX_TERM_CHARS for term in terms)


@given(st.text(max_size=120))
def test_folding_does_not_depend_on_case_or_composition(text: str) -> None:
    assert analyse(unicodedata.normalize("NFD", text)) == analyse(unicodedata.normalize("NFC", text))
