"""Saving to, and correcting, the text of a MEMORY.md."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.memories import contents, texts

from reverie_indexer.errors import AmbiguousMatch, DuplicateDetected, NotFound, ValidationFailed
from reverie_indexer.file_rules import seed_files
from reverie_indexer.text.chunk import chunk
from reverie_server.long_term.memory_text import (
    add_entry,
    contains,
    entry_of,
    new_memory,
    preview_of,
    section_of,
    update_text,
)
from reverie_server.text.markdown_blocks import blocks_of, folded, text_of
from reverie_server.text.markdown_edit import lines_of

LONG = "Prefers tea to coffee in the morning."


def save(text: str | None, content: str, category: str | None = None) -> str:
    return add_entry(text, section_of(category), entry_of(content))


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in blocks_of(text) if block.kind == "heading"]


def entries(text: str) -> list[str]:
    lines = lines_of(text)
    return ["\n".join(text_of(block, lines)) for block in blocks_of(text) if block.kind == "item"]


def bare_lines(text: str) -> list[str]:
    """The lines that are not blank, without indentation; a byte order mark alone is none."""
    return [line.strip() for line in lines_of(text.replace("\ufeff", "")) if line.strip()]


def is_subsequence(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in part)


class TestSave:
    def test_a_new_memory_has_the_title_and_all_sections(self) -> None:
        assert save(None, LONG, "preferences") == (
            "# Long-term Memory\n\n## User Profile\n\n## Preferences\n\n- Prefers tea to coffee in the morning.\n\n"
            "## Interests\n\n## Workflow\n\n## Projects\n\n## Notes\n"
        )
        assert save(" \n", LONG, "preferences") == save(None, LONG, "preferences")

    def test_a_new_memory_is_the_seed(self) -> None:
        assert new_memory() == seed_files()["MEMORY.md"]

    @pytest.mark.parametrize(
        ("category", "section"),
        [
            ("profile", "User Profile"),
            ("preferences", "Preferences"),
            ("interests", "Interests"),
            ("workflow", "Workflow"),
            ("projects", "Projects"),
            ("notes", "Notes"),
            (" Projects ", "Projects"),
            ("hobbies", "Notes"),
            ("", "Notes"),
            (None, "Notes"),
        ],
    )
    def test_categories_are_sections(self, category: str | None, section: str) -> None:
        assert section_of(category) == section

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("## Notes\n- a\n- b\n\n\n## X\n", "## Notes\n- a\n- b\n- new\n\n## X\n"),
            ("## Notes\n- a", "## Notes\n- a\n- new\n"),
            ("## Notes\n\n## X\n- x\n", "## Notes\n\n- new\n\n## X\n- x\n"),
            ("## Notes\ntext", "## Notes\ntext\n\n- new\n"),
            ("## notes\n- a\n", "## notes\n- a\n- new\n"),
            ("Notes\n-----\n- a\n", "Notes\n-----\n- a\n- new\n"),
            ("## Notes\n- a\n\n### Sub\n- s\n", "## Notes\n- a\n- new\n\n### Sub\n- s\n"),
            ("## Notes\n- a\n## X\n## Notes\n- b\n", "## Notes\n- a\n- new\n\n## X\n## Notes\n- b\n"),
            ("## Notes\n- a\n  ## X\n", "## Notes\n- a\n  ## X\n- new\n"),
            ("## Notes\n\n  ## X\ny\n", "## Notes\n\n- new\n\n## X\ny\n"),
            ("```\n## Notes\n```\n", "```\n## Notes\n```\n\n## Notes\n\n- new\n"),
            ("# T\n\n- x\n", "# T\n\n- x\n\n## Notes\n\n- new\n"),
            ("## Notes\r\n- a\r\n", "## Notes\r\n- a\r\n- new\r\n"),
            ("---\na: b\n---\n## Notes\n", "---\na: b\n---\n## Notes\n\n- new\n"),
            ("---\n\n## Notes\n", "\n---\n\n## Notes\n\n- new\n"),
            ("### Notes\n- a\n", "### Notes\n- a\n\n## Notes\n\n- new\n"),
        ],
    )
    def test_the_entry_is_the_last_of_its_sections_own(self, text: str, expected: str) -> None:
        assert save(text, "new") == expected

    def test_a_missing_section_goes_before_those_that_come_later(self) -> None:
        text = "# Long-term Memory\n\n## User Profile\n- a\n\n## Own\n- o\n\n## Projects\n- p\n"
        expected = "## Own\n- o\n\n## Preferences\n\n- new\n\n## Projects\n- p\n"
        assert save(text, "new", "preferences").endswith(expected)
        assert save(text, "new", "notes").endswith("- p\n\n## Notes\n\n- new\n")

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("## Notes\n- a\n\n```\nopen\n## X\n", "## Notes\n\n- new\n\n- a\n\n```\nopen\n## X\n"),
            ("## X\n- a\n\n<!-- open\n", "## Notes\n\n- new\n\n## X\n- a\n\n<!-- open\n"),
            ("~~~\nopen\n", "## Notes\n\n- new\n\n~~~\nopen\n"),
        ],
    )
    def test_a_fence_that_is_left_open_swallows_no_entry(self, text: str, expected: str) -> None:
        assert save(text, "new") == expected

    @pytest.mark.parametrize(
        ("content", "stored"),
        [
            ("x", ["x"]),
            ("  x  \n", ["x"]),
            ("- x", ["x"]),
            ("* x", ["x"]),
            ("- a\n- b", ["a", "b"]),
            ("  - a\n  - b", ["a", "b"]),
            ("- a\n  - b", ["a\n- b"]),
            ("-   a\n    b", ["a\nb"]),
            ("- a\nlazy", ["a\nlazy"]),
            ("Plan:\n- a\n- b", ["Plan:\n- a\n- b"]),
            ("- a\n\nmore", ["a", "more"]),
            ("a\r\nb", ["a\nb"]),
            ("a\n\nb", ["a\n\nb"]),
            ("## Notes\nx", ["\\## Notes\nx"]),
            ("x\n## Notes\n- y", ["x\n\\## Notes\n- y"]),
            ("#tag", ["#tag"]),
            ("```sh\n# comment\n```", ["```sh\n# comment\n```"]),
            ("see:\n```\ncode", ["see:\n```\ncode\n```"]),
            ("- a\n  ~~~\n  b", ["a\n~~~\nb\n~~~"]),
            ("---\nx\n## y", ["\\---\nx\n\\## y"]),
            ("Title\n---\nx", ["Title\n\\---\nx"]),
            ("a | b\n---|---\n1 | 2", ["a \\| b\n---|---\n1 | 2"]),
            ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |\n|---|---|\n| 1 | 2 |"]),
            ("- ---\nx", ["\\- ---\nx"]),
            ("<!-- open", ["<!-- open"]),
            ("1. a\n2. b", ["1. a\n2. b"]),
        ],
    )
    def test_what_an_entry_becomes(self, content: str, stored: list[str]) -> None:
        text = save("## Notes\n\n## Next\n- n\n", content)
        assert headings(text) == [(2, "Notes"), (2, "Next")]
        assert entries(text) == [*stored, "n"]

    @pytest.mark.parametrize(
        "content", ["", " \n\t", "-", "- ", "* * *", "---", "#", "## \n", "\ufeff", "\ufeff \ufeff"]
    )
    def test_nothing_to_remember_is_refused(self, content: str) -> None:
        with pytest.raises(ValidationFailed):
            entry_of(content)

    def test_5000_characters_are_taken_and_one_more_is_not(self) -> None:
        assert "x" * 5000 in save(None, "x" * 5000)
        with pytest.raises(ValidationFailed):
            entry_of("x" * 5001)

    def test_the_preview_is_what_is_stored_up_to_500_characters(self) -> None:
        assert preview_of("short") == "short"
        assert preview_of("x" * 500) == "x" * 500
        assert preview_of("x" * 501) == "x" * 500 + "… (truncated, 501 chars total)"

    @pytest.mark.parametrize(
        "content",
        [
            LONG,
            f"- {LONG}",
            LONG.upper(),
            "prefers  tea\nto   COFFEE in the morning.",
            "tea to coffee in the morning",
        ],
    )
    def test_what_is_there_already_is_a_duplicate(self, content: str) -> None:
        with pytest.raises(DuplicateDetected):
            save(f"Some text.\n\n* {LONG}\n", content)

    def test_it_is_looked_for_in_every_section(self) -> None:
        with pytest.raises(DuplicateDetected):
            save(f"# T\n## Preferences\n- {LONG}\n", LONG, "notes")

    @pytest.mark.parametrize("content", ["x" * 20, "a b c d e f g h i j "])
    def test_up_to_20_characters_are_never_duplicates(self, content: str) -> None:
        once = save(None, content)
        assert len(entries(save(once, content))) == 2

    def test_21_characters_are(self) -> None:
        with pytest.raises(DuplicateDetected):
            save(save(None, "x" * 21), "x" * 21)

    def test_part_of_a_longer_word_is_no_duplicate(self) -> None:
        text = save(None, "The office is on floor 12, room 345.")
        assert "floor 1\n" in save(text, "The office is on floor 1")

    def test_in_chinese_a_word_has_no_edges(self) -> None:
        text = save(None, "这位用户每天早上都喜欢喝一杯热的绿茶而不是咖啡,因为咖啡太苦了")
        with pytest.raises(DuplicateDetected):
            save(text, "这位用户每天早上都喜欢喝一杯热的绿茶而不是咖啡")

    @given(texts(), contents(), st.sampled_from(["notes", "projects", "preferences"]))
    def test_nothing_is_lost_and_the_entry_is_in_its_section(self, text: str, content: str, category: str) -> None:
        entry = entry_of(content)
        section = section_of(category)
        try:
            after = add_entry(text, section, entry)
        except DuplicateDetected:
            return
        assert is_subsequence(bare_lines(text), bare_lines(after))
        wanted = [folded(item) for item in entry.items]
        lines, current, found = lines_of(after), None, []
        for block in blocks_of(after):
            if block.kind == "heading" and block.level <= 2:
                current = folded([block.title])
            elif block.kind == "item" and current == folded([section]):
                found.append(folded(text_of(block, lines)))
        assert is_subsequence(wanted, found)
        before = headings(text) or ([] if text.removeprefix("\ufeff").strip() else headings(new_memory()))
        assert len(headings(after)) - len(before) in (0, 1)
        assert set(before) <= set(headings(after))

    @given(texts(), contents())
    def test_saved_again_it_is_a_duplicate(self, text: str, content: str) -> None:
        entry = entry_of(content)
        assume(len(" ".join(entry.plain.split())) > 20)
        try:
            after = add_entry(text, "Notes", entry)
        except DuplicateDetected:
            return
        with pytest.raises(DuplicateDetected):
            add_entry(after, "Notes", entry_of(content))

    @given(contents())
    def test_no_line_of_an_entry_looks_like_a_heading_outside_a_fence(self, content: str) -> None:
        after = save("## Notes\n\n## Next\n- n\n", content)
        assert headings(after) == [(2, "Notes"), (2, "Next")]
        # Nor does a passage of the index stand under a heading of somebody's entry.
        assert {piece.heading_path for piece in chunk(after)} <= {("Notes",), ("Next",)}

    @given(texts(), contents())
    def test_crlf_stays_crlf(self, text: str, content: str) -> None:
        text = re.sub(r"\r\n|\r|\n", "\r\n", f"# T\n{text}")
        try:
            after = save(text, content)
        except DuplicateDetected:
            return
        assert not re.search(r"(?<!\r)\n|\r(?!\n)", after)


class TestUpdate:
    @pytest.mark.parametrize(
        ("text", "old", "new", "expected"),
        [
            ("- a\n- b\n", "a", "c", "- c\n- b\n"),
            ("- a\n- b\n", "  a \n", "\n c ", "- c\n- b\n"),
            ("- a\n- b\n", "- a", "", "- b\n"),
            ("- a\n- b\n", "a", "", "- b\n"),
            ("- a\n- b\n", "b", " ", "- a\n"),
            ("- a\n  - n\n- b\n", "a", "", "- \n  - n\n- b\n"),
            ("- x\n- a\n  more\n", "a\n", "", "- x\n- \n  more\n"),
            ("- x\n- q\nlazy\n", "q\n", "", "- x\n- \nlazy\n"),
            ("- [ ] task\n- b\n", "task", "", "- b\n"),
            ("a b c\n", "b", "", "a  c\n"),
            ("one\n\ntwo\n\nthree\n", "two", "", "one\n\nthree\n"),
            ("one\n\n\n\n\ntwo\n", "two", "2", "one\n\n2\n"),
            ("\n\n\n\none\n", "one", "1", "\n\n1\n"),
            ("```\na\n\n\n\nb\n```\n\n\n\nc\n", "c", "d", "```\na\n\n\n\nb\n```\n\nd\n"),
            ("- a\r\n  b\r\n- c\r\n", "a\n  b", "x\ny", "- x\r\ny\r\n- c\r\n"),
            ("only", "only", "", ""),
        ],
    )
    def test_one_passage_is_replaced_or_deleted(self, text: str, old: str, new: str, expected: str) -> None:
        assert update_text(text, old, new) == expected

    @pytest.mark.parametrize(("old", "new"), [("", "x"), (" \n", "x"), ("a", "a"), (" a", "a\n")])
    def test_an_empty_old_text_or_equal_texts_are_refused(self, old: str, new: str) -> None:
        with pytest.raises(ValidationFailed):
            update_text("a\n", old, new)

    def test_what_is_not_there_is_not_found(self) -> None:
        with pytest.raises(NotFound):
            update_text("a\n", "A", "b")

    @pytest.mark.parametrize(("text", "count"), [("a b a\n", 2), ("- a\n- a\n- a\n", 3)])
    def test_several_matches_are_ambiguous(self, text: str, count: int) -> None:
        with pytest.raises(AmbiguousMatch) as caught:
            update_text(text, "a", "b")
        assert caught.value.extra == {"count": count}

    def test_so_are_matches_that_overlap(self) -> None:
        with pytest.raises(AmbiguousMatch):
            update_text("xaax xaaax\n", "aa", "b")
        with pytest.raises(AmbiguousMatch):
            update_text("aaa\n", "aa", "b")

    @given(texts(), st.data())
    def test_no_other_line_is_lost(self, text: str, data: st.DataObject) -> None:
        lines = bare_lines(text)
        assume(lines)
        old = data.draw(st.sampled_from(lines)).strip()
        assume(old)
        new = data.draw(st.sampled_from(["", "Something new."]))
        try:
            after = update_text(text, old, new)
        except AmbiguousMatch:
            return
        at = next(number for number, line in enumerate(lines) if old in line)
        assert is_subsequence([*lines[:at], *lines[at + 1 :]], bare_lines(after))
        assert new in after

    @given(texts())
    def test_crlf_stays_crlf(self, text: str) -> None:
        text = re.sub(r"\r\n|\r|\n", "\r\n", f"# T\n{text}\nunique-line\n")
        after = update_text(text, "unique-line", "one\ntwo\r\nthree\rfour")
        assert not re.search(r"(?<!\r)\n|\r(?!\n)", after)


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("floor 12", "floor 1", False),
        ("floor 1.", "floor 1", True),
        ("floor 12 and floor 1", "floor 1", True),
        ("preheat", "heat", False),
        ("c++ is fun", "c++", True),
        ("喜欢喝茶", "欢喝", True),
        ("a", "", True),
    ],
)
def test_words_are_held_as_whole_words(text: str, words: str, expected: bool) -> None:
    assert contains(text, words) is expected
