"""Which lines hold the words of a query, what they count and how they are shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.text.analyse import without_ignored
from reverie_server.files.keyword_match import MAX_TERMS, hits_of, patterns_of, score_of, terms_of


def snippets(text: str, query: str) -> list[str]:
    return [hit.snippet for hit in hits_of("a.md", text, terms_of(query))]


class TestTerms:
    @pytest.mark.parametrize(
        ("query", "words", "parts"),
        [
            ("Tea and COFFEE tea", {"tea", "and", "coffee"}, set()),
            ("Straße", {"strasse"}, set()),
            ("项目管理", set(), {"项目", "目管", "管理"}),
            ("茶", set(), {"茶"}),
            ("API文档 v2", {"api", "v2"}, {"文档"}),
            ("カタカナ 東京", set(), {"カタ", "タカ", "カナ", "東京"}),
            ("한국어", set(), {"한국", "국어"}),
            ("src/app_main.py", {"src", "app", "main", "py"}, set()),
            ("สวัสดี ครับ", set(), {"สวัสดี", "ครับ"}),
            ("cafe\u0301", {"café"}, set()),
            ("spoon\u00adbill 项\u200b目", {"spoonbill"}, {"项目"}),
            ("?! -- …", set(), set()),
        ],
    )
    def test_of_a_query(self, query: str, words: set[str], parts: set[str]) -> None:
        terms = terms_of(query)
        assert (terms.words, terms.parts) == (words, parts)

    def test_a_very_long_query_is_looked_for_by_its_first_terms(self) -> None:
        terms = terms_of(" ".join(f"w{n}" for n in range(1000)))
        assert terms.count == MAX_TERMS
        assert {"w0", "w99"} <= terms.words


class TestHits:
    def test_a_line_counts_by_its_distinct_terms(self) -> None:
        found = hits_of("a.md", "tea tea tea\n\ncoffee and tea\nnothing\n", terms_of("tea coffee"))
        assert [(hit.line, hit.score) for hit in found] == [(3, 1.0), (1, 0.5)]

    @pytest.mark.parametrize(
        ("path", "score"),
        [
            ("MEMORY.md", 3.0),
            ("memory.md", 3.0),
            ("PROFILE.md", 2.7),
            ("AGENTS.md", 2.4),
            ("SOUL.md", 2.4),
            ("memory/2026-04-03.md", 1.8),
            ("memory/notes/a.md", 1.8),
            ("DREAMS.md", 1.5),
            ("notes/MEMORY.md", 1.5),
            ("_system/dreaming/a.md", 1.5),
        ],
    )
    def test_files_have_weights(self, path: str, score: float) -> None:
        assert score_of(path, 3) == score
        assert [hit.score for hit in hits_of(path, "one two three\n", terms_of("three two one"))] == [score]

    def test_five_lines_of_a_file_the_best_then_the_first(self) -> None:
        found = hits_of("a.md", "tea\n" * 6 + "tea coffee\n", terms_of("tea coffee"))
        assert [hit.line for hit in found] == [7, 1, 2, 3, 4]

    def test_lines_are_counted_as_reading_counts_them(self) -> None:
        found = hits_of("a.md", "a\u2028b\x0c\r\nc\rtea\n", terms_of("tea"))
        assert [hit.line for hit in found] == [3]

    @pytest.mark.parametrize(
        ("line", "query", "expected"),
        [
            ("Ada likes TEA.", "tea", "Ada likes [[TEA]]."),
            ("steak", "tea", None),
            ("tea-time, tea_time", "time", "tea-[[time]], tea_[[time]]"),
            ("Die STRASSE und die Straße", "straße", "Die [[STRASSE]] und die [[Straße]]"),
            ("ΟΔΟΣ", "οδος", "[[ΟΔΟΣ]]"),
            ("她管理项目管理", "项目管理", "她[[管理]][[项目管理]]"),
            ("她管理大项目管理", "项目管理", "她[[管理]]大[[项目管理]]"),
            ("喝茶", "茶", "喝[[茶]]"),
            ("喝茶", "茶叶", None),
            ("API文档在这里", "api 文档", "[[API]][[文档]]在这里"),
            ("ผมชื่ออาดา", "อาดา", "ผมชื่อ[[อาดา]]"),
            ("naïve", "naive", None),
            ("\ufeffa spoon\u00adbill\u200b of sorts", "spoonbill", "\ufeffa [[spoon\u00adbill]]\u200b of sorts"),
            ("她管\u2060理大", "管理", "她[[管\u2060理]]大"),
            ("می\u200cخواهم", "خواهم", "می\u200c[[خواهم]]"),
            ("a [[tea]]", "tea", "a [[[[tea]]]]"),
        ],
    )
    def test_matches_are_whole_words_and_marked(self, line: str, query: str, expected: str | None) -> None:
        assert snippets(line, query) == ([] if expected is None else [expected])

    def test_80_characters_of_context_on_either_side(self) -> None:
        [snippet] = snippets("l" * 100 + " tea " + "r" * 100, "tea")
        assert snippet == "…" + "l" * 79 + " [[tea]] " + "r" * 79 + "…"

    def test_a_match_beyond_the_context_is_not_marked(self) -> None:
        [snippet] = snippets("tea " + "x" * 79 + " coffee", "tea coffee")
        assert snippet == "[[tea]] " + "x" * 79 + "…"

    def test_a_very_long_match_is_cut(self) -> None:
        [snippet] = snippets("茶" * 100_000, "茶茶")
        assert snippet == f"[[{'茶' * 160}]]{'茶' * 80}…"

    def test_nothing_to_look_for_finds_nothing(self) -> None:
        assert snippets("anything\n", "zzz") == []


LETTERS = st.text(
    st.sampled_from("aAsSßẞfFiIlLtTkK\u212aſ\ufb01\ufb03σςΣιαᾳΑΙйЙ\u0130ıjJ\u030c\u01f0n\u02bc\u0149"),
    min_size=1,
    max_size=7,
)


@given(LETTERS, LETTERS, LETTERS)
def test_wherever_a_term_stands_its_pattern_matches(before: str, word: str, after: str) -> None:
    """The database looks by the pattern first: what it does not match is never read."""
    terms = terms_of(word)
    for pattern in patterns_of(terms):
        folded = next(term for term in terms.words if re.match(pattern, term))
        for line in (f"{before} {word} {after}", f"{word.upper()} {after}", f"{before}-{word.casefold()}"):
            found = [token for token in re.findall(r"[^\s-]+", line) if token.casefold() == folded]
            assert not found or re.search(pattern, line)


@given(st.text(max_size=30), st.text(max_size=200))
def test_every_hit_is_a_line_that_a_pattern_matches(query: str, text: str) -> None:
    terms = terms_of(query)
    hits = hits_of("a.md", text, terms) if terms.count else []
    assert len(hits) <= 5
    for hit in hits:
        assert any(re.search(pattern, without_ignored(text)) for pattern in patterns_of(terms))
        assert "[[" in hit.snippet
