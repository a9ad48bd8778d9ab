"""Edits of markdown: what each changes, what it never touches, and that doing it twice changes nothing more."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reverie_indexer.errors import AmbiguousMatch, NotFound, PayloadTooLarge, ValidationFailed
from reverie_server.text.markdown_edit import append, lines_of, replace_section, replace_text, unified_diff, upsert_kv

LINES = st.sampled_from(
    ["", "  ", "text", "text  ", "# Top", "## lang", "## language", "##  lang  ##", "### lang", "lang\n----", "## C #",
     "- item", "  - nested", "```", "~~~", "```python", "    ## lang", "<!-- open", "-->", "> ## lang", "k: v",
     "- k: v", "  k: other", "key two:", "a:b", "http://x", "\u2028x: y", "---", "***", "\ufeff## lang", "[a]: /b",
     "| a | b |"]
)  # fmt: skip
ENDINGS = st.sampled_from(["\n", "\r\n", "\n\n"])
TEXTS = st.lists(st.tuples(LINES, ENDINGS), max_size=12).map(lambda parts: "".join(a + b for a, b in parts))
TEXTS = TEXTS | TEXTS.map(lambda text: text.rstrip("\n")) | st.text(max_size=40)


def without_blank_end(text: str) -> list[str]:
    lines = [line.rstrip("\r\n") for line in lines_of(text)]
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return lines


class TestAppend:
    @pytest.mark.parametrize(
        ("text", "addition", "expected"),
        [
            (None, "a", "a\n"),
            ("", "a", "a\n"),
            ("\n \n", "a", "a\n"),
            ("a", "b", "a\n\nb\n"),
            ("a\n", "b\n", "a\n\nb\n"),
            ("a\n\n\n\n", "\n\nb\n\n", "a\n\nb\n"),
            ("a  \n", "b", "a  \n\nb\n"),
            ("a\r\n", "b\nc", "a\r\n\r\nb\r\nc\r\n"),
            ("a\n", "  - nested", "a\n\n  - nested\n"),
            ("a\n", " \n  - nested\n \n", "a\n\n  - nested\n"),
            ("a\u3000", "b", "a\u3000\n\nb\n"),
        ],
    )
    def test_one_blank_line_stands_between(self, text: str | None, addition: str, expected: str) -> None:
        assert append(text, addition, "a.md") == expected

    @pytest.mark.parametrize("text", [None, "", "\n"])
    def test_a_new_daily_note_starts_with_its_date(self, text: str | None) -> None:
        assert append(text, "- tea", "memory/2026-04-03.md") == "# 2026-04-03\n\n- tea\n"
        assert append(text, "# 2026-04-03\n\n- tea", "memory/2026-04-03.md") == "# 2026-04-03\n\n- tea\n"
        assert append(text, "# 2026-04-03-b", "memory/2026-04-03.md") == "# 2026-04-03\n\n# 2026-04-03-b\n"

    def test_other_files_and_old_notes_get_no_date(self) -> None:
        assert append("- tea\n", "- ink", "memory/2026-04-03.md") == "- tea\n\n- ink\n"
        for path in ("a.md", "memory/2026-04-03.txt", "memory/2026-04-03-plan.md", "memory/٢٠٢٦-٠٤-٠٣.md"):
            assert append(None, "- tea", path) == "- tea\n"

    @pytest.mark.parametrize("addition", ["", "  ", "\n\n"])
    def test_nothing_is_refused(self, addition: str) -> None:
        with pytest.raises(ValidationFailed):
            append("a", addition, "a.md")

    @given(TEXTS, TEXTS.filter(str.strip))
    def test_every_earlier_line_stays_as_it_was(self, text: str, addition: str) -> None:
        earlier = without_blank_end(text)
        after = [line.rstrip("\r\n") for line in lines_of(append(text, addition, "a.md"))]
        assert after[: len(earlier)] == earlier
        assert without_blank_end("\n".join(after))[-1] == without_blank_end(addition)[-1]


class TestReplaceSection:
    def test_lang_never_hits_language(self) -> None:
        text = "## language\n\nGerman\n\n## lang\n\nold\n"
        assert replace_section(text, "new", "lang") == "## language\n\nGerman\n\n## lang\n\nnew\n"
        assert replace_section("## language\n\nGerman\n", "new", "## lang").startswith(
            "## language\n\nGerman\n\n## lang"
        )
        assert replace_section("## Lang\n\nx\n", "new", "lang").startswith("## Lang\n\nx\n")

    @pytest.mark.parametrize(
        ("text", "content", "section", "expected"),
        [
            (None, "x", "A", "## A\n\nx\n"),
            ("", "## A\nx", None, "## A\nx\n"),
            ("intro\n", "x", "# A", "intro\n\n# A\n\nx\n"),
            ("## A\n\nold\n", "## A\n\nnew", None, "## A\n\nnew\n"),
            ("## A\nold\n## B\ny\n", "new", "A", "## A\n\nnew\n\n## B\ny\n"),
            ("## A\n\nold\n\n# B\n\ny\n", "new", "A", "## A\n\nnew\n\n# B\n\ny\n"),
            ("## A\n\n### sub\n\nold\n\n## B\n", "new", "A", "## A\n\nnew\n\n## B\n"),
            ("### A\n\nold\n\n### B\n", "new", "A", "### A\n\nnew\n\n### B\n"),
            ("## A\n\none\n\n## A\n\ntwo\n", "new", "A", "## A\n\nnew\n\n## A\n\ntwo\n"),
            ("A\n---\n\nold\n\nB\n---\n\ny\n", "new", "A", "A\n---\n\nnew\n\nB\n---\n\ny\n"),
            ("```\n## A\n```\n\n## A\n\nold\n", "new", "A", "```\n## A\n```\n\n## A\n\nnew\n"),
            ("## A\n\n```\n## B\n```\n\nold\n", "new", "A", "## A\n\nnew\n"),
            ("> ## A\n\n## A\n\nold\n", "new", "A", "> ## A\n\n## A\n\nnew\n"),
            ("## A\r\n\r\nold\r\n\r\n## B\r\n", "one\ntwo", "A", "## A\r\n\r\none\r\ntwo\r\n\r\n## B\r\n"),
            ("## A ##\n\nold\n", "new", "## A", "## A ##\n\nnew\n"),
            ("## C\n\nold\n", "new", "C #", "## C\n\nnew\n"),
            ("## A\n\nold\n\n## B\n", "", "A", "## A\n\n## B\n"),
            ("## A\n\nold", "  - new  \n", "A", "## A\n\n  - new  \n"),
            ("## A\n\nold\n", "```\n## not me\n```", "A", "## A\n\n```\n## not me\n```\n"),
        ],
    )
    def test_the_section_and_nothing_else(
        self, text: str | None, content: str, section: str | None, expected: str
    ) -> None:
        assert replace_section(text, content, section) == expected
        assert replace_section(expected, content, section) == expected

    def test_the_heading_of_the_content_is_of_its_own_level(self) -> None:
        text = "# lang\n\nall of the file\n\n## a\n"
        assert replace_section(text, "## lang\n\nnew", None) == f"{text}\n## lang\n\nnew\n"

    def test_the_level_of_the_file_stays_where_the_name_has_none(self) -> None:
        text = "# Top\n\n### lang\n\nold\n\n### other\n\nkept\n"
        assert replace_section(text, "## lang\n\nnew", "lang") == "# Top\n\n### lang\n\nnew\n\n### other\n\nkept\n"

    @pytest.mark.parametrize(
        ("text", "content", "section"),
        [
            ("", "# Title\n\n## lang\n\nx", None),
            ("", "intro\n\n## lang\n\nx", None),
            ("", "## lang\n\nx\n\n## other\n\ny", None),
            ("", "x\n\n## other\n\ny", "lang"),
            ("### lang\n\nx\n", "### other\n\ny", "lang"),
            ("## lang\n\nold\n\n## other\n\nkept\n", "```\nleft open", "lang"),
            ("## lang\n\nold\n\n## other\n\nkept\n", "<!-- left open", "lang"),
            ("text\n\n```\nleft open\n", "x", "lang"),
            ("", "x", "a\rb"),
            ("", "x", "##"),
            ("", "no heading", None),
        ],
    )
    def test_what_would_double_or_swallow_text_is_refused(self, text: str, content: str, section: str | None) -> None:
        with pytest.raises(ValidationFailed):
            replace_section(text, content, section)

    @settings(max_examples=300)
    @given(
        TEXTS, TEXTS, st.sampled_from([None, "lang", "## lang", "# Top", "language", "C #", "```", "k: v", "- item"])
    )
    @example("## lang\n\n```\nopen", "x", "lang")
    def test_twice_is_once(self, text: str, content: str, section: str | None) -> None:
        try:
            once = replace_section(text, content, section)
        except ValidationFailed:
            return
        assert replace_section(once, content, section) == once

    @settings(max_examples=300)
    @given(TEXTS, TEXTS)
    def test_no_line_outside_the_section_changes(self, text: str, content: str) -> None:
        before, after = "# before\n\nkept 1\n\n", "# after\n\nkept 2  \n\n## lang\n\nkept too\n"
        try:
            replaced = replace_section(f"{before}## lang\n\nfrom before\n\n{after}", content, "## lang")
            appended = replace_section(text, content, "## never there")
        except ValidationFailed:
            return
        assert replaced.startswith(before)
        assert replaced.endswith(f"\n\n{after}")
        assert "from before" not in replaced
        earlier = without_blank_end(text)
        assert [line.rstrip("\r\n") for line in lines_of(appended)][: len(earlier)] == earlier


class TestUpsert:
    @pytest.mark.parametrize(
        ("text", "content", "expected"),
        [
            (None, "k: v", "k: v\n"),
            (None, "- k: v", "- k: v\n"),
            ("k: old\n", "k: v", "k: v\n"),
            ("k :   old\nother: x  \n", "k: v", "k: v\nother: x  \n"),
            ("- k: old\n", "k: v\nnew: 1", "- k: v\n- new: 1\n"),
            ("# T\n\nprose\n\nk: old", "new: 1", "# T\n\nprose\n\nk: old\nnew: 1\n"),
            ("k: old\r\nl: x\r\n", "k: v\nn: 1", "k: v\r\nl: x\r\nn: 1\r\n"),
            ("```\nk: old\n```\nk: real\n", "k: v", "```\nk: old\n```\nk: v\n"),
            ("k: one\nk: two\n", "k: v", "k: v\nk: two\n"),
            ("keys: x\nK: x\n", "k: v", "keys: x\nK: x\nk: v\n"),
            ("k: old\n", "k:", "k:\n"),
            ("", "k: 1\n\nk: 2", "k: 2\n"),
            ("see http://x\n", "http: v", "see http://x\nhttp: v\n"),
            ("k: a\u2028l: b\n", "l: v", "k: a\u2028l: b\nl: v\n"),
            ("  nested:\n", "k: v", "  nested:\nk: v\n"),
        ],
    )
    def test_in_place_or_at_the_end(self, text: str | None, content: str, expected: str) -> None:
        assert upsert_kv(text, content) == expected
        assert upsert_kv(expected, content) == expected

    @pytest.mark.parametrize("content", ["", "\n", "prose", "k: v\nprose", ": v", "a:b", "- : v"])
    def test_what_is_no_pair_is_refused(self, content: str) -> None:
        with pytest.raises(ValidationFailed):
            upsert_kv("k: v", content)

    def test_a_file_that_ends_inside_a_fence_is_refused(self) -> None:
        with pytest.raises(ValidationFailed):
            upsert_kv("```\ntext\n", "k: v")

    @settings(max_examples=300)
    @given(TEXTS, TEXTS)
    def test_twice_is_once_and_other_lines_stay(self, text: str, content: str) -> None:
        try:
            once = upsert_kv(text, content)
        except ValidationFailed:
            return
        assert upsert_kv(once, content) == once
        keys = {line.lstrip("-*+ \t").partition(":")[0].rstrip() for line in lines_of(content)}
        for old, new in zip(lines_of(text), lines_of(once), strict=False):
            if old.rstrip("\r\n") != new.rstrip("\r\n"):
                assert old.lstrip("-*+ \t").partition(":")[0].rstrip() in keys

    def test_a_long_line_costs_no_more_than_its_length(self) -> None:
        upsert_kv("a" + " " * 300_000 + "\n", "k: v")
        upsert_kv(" " * 300_000 + "\n", "k: v")


class TestReplaceText:
    def test_one_or_all(self) -> None:
        assert replace_text("a b", "a", "c", replace_all=False) == ("c b", 1)
        assert replace_text("aaaa", "aa", "b", replace_all=True) == ("bb", 2)

    def test_refusals(self) -> None:
        for arguments, error in [(("a", "b", "c"), NotFound), (("a", "", "c"), ValidationFailed),
                                 (("a", "a", "a"), ValidationFailed), (("a a", "a", "b"), AmbiguousMatch)]:  # fmt: skip
            with pytest.raises(error):
                replace_text(*arguments, replace_all=False)

    def test_a_terabyte_is_refused_before_it_is_made(self) -> None:
        with pytest.raises(PayloadTooLarge):
            replace_text("a" * 2**20, "a", "b" * 2**20, replace_all=True)


class TestDiff:
    def test_by_hand(self) -> None:
        assert unified_diff("a\nb\nc\n", "a\nB\nc", "x", "y") == (
            "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n"
        )
        assert unified_diff("a\n", "a\n", "x", "y") == ""

    def test_only_a_newline_ends_a_line(self) -> None:
        assert "No newline" not in unified_diff("a\u2028b\x0cc\rd\n", "e\u2028f\r\n", "x", "y")

    def test_many_changed_lines_are_told_one_by_one(self) -> None:
        old = [f"line {i}\n" for i in range(300)]
        new = [line for i, line in enumerate(old) if i not in (10, 150)]
        new[200:200] = ["new\n"]
        new = ["first\n", *new, "last"]
        found = unified_diff("".join(old), "".join(new), "x", "y")
        assert [line for line in found.splitlines() if line[0] in "+-@" and line[:3] not in ("---", "+++")] == [
            *("@@ -1,3 +1,4 @@", "+first", "@@ -8,7 +9,6 @@", "-line 10", "@@ -148,7 +148,6 @@", "-line 150"),
            *("@@ -200,6 +199,7 @@", "+new", "@@ -298,3 +298,4 @@", "+last"),
        ]

    def test_very_many_changed_lines_are_one_block_and_quick(self) -> None:
        old = ["same\n", *(f"old {i}\n" for i in range(50_000)), "end\n"]
        new = ["same\n", *(f"old {i}\n" for i in reversed(range(50_000))), "end\n"]
        found = unified_diff("".join(old), "".join(new), "x", "y").splitlines(keepends=True)
        assert found[:5] == ["--- x\n", "+++ y\n", "@@ -1,50002 +1,50002 @@\n", " same\n", "-old 0\n"]
        assert found[-2:] == ["+old 0\n", " end\n"]


def test_two_occurrences_that_overlap_are_two() -> None:
    with pytest.raises(AmbiguousMatch):
        replace_text("aaa", "aa", "b", replace_all=False)
    assert replace_text("aaa", "aa", "b", replace_all=True) == ("ba", 1)
