"""Compaction of a memory's text without a model, and the guard over any compaction."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from tests.memories import texts

from reverie_server.long_term.compaction_text import compact_text, guard, is_due
from reverie_server.long_term.memory_text import STANDARD, new_memory
from reverie_server.text.markdown_blocks import blocks_of, folded, text_of
from reverie_server.text.markdown_edit import lines_of

TEA = "Prefers tea to coffee in the morning."
MEMORY = "# Long-term Memory\n\n## Notes\n\n" + "".join(f"- Note number {n} of the user.\n" for n in range(8))


def entries(text: str) -> list[str]:
    lines = lines_of(text)
    return [folded(text_of(block, lines)) for block in blocks_of(text) if block.kind == "item"]


def unmarked(line: str) -> str:
    return folded([re.sub(r"^[ \t]*(?:[-*+](?:[ \t]+|$))*", "", line.rstrip("\r\n").replace("\ufeff", ""))])


class TestCompactText:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("## Notes\n- a\n- b\n- A\n", "## Notes\n\n- a\n- b\n"),
            ("## Notes\n- a  b\n* A B\n", "## Notes\n\n- a  b\n"),
            ("## Notes\n- a\n  more\n- a more\n", "## Notes\n\n- a\n  more\n"),
            ("## Notes\n- a\n\n- b\n\n\n- c\n", "## Notes\n\n- a\n- b\n- c\n"),
            ("## Notes\n* a\n+ b\n", "## Notes\n\n- a\n- b\n"),
            ("## Notes\n-   a\n    b\n", "## Notes\n\n- a\n  b\n"),
            ("## Notes\n- n\n## Preferences\n- p\n", "## Preferences\n\n- p\n\n## Notes\n\n- n\n"),
            ("## Notes\n- a\n## X\n- x\n\n\n* x\n## Notes\n- b\n", "## Notes\n\n- a\n- b\n\n## X\n- x\n\n\n* x\n"),
            ("## Notes\n## Projects\n- p\n", "## Projects\n\n- p\n"),
            ("- a\n## Projects\n- p\n## Notes\n- n\n", "## Projects\n\n- p\n\n## Notes\n\n- a\n- n\n"),
            ("Intro.\n## Notes\n- n\n", "Intro.\n\n## Notes\n\n- n\n"),
            ("## Notes\ntext\n- a\n- a\nmore\n", "## Notes\n\ntext\n\n- a\n- a\n  more\n"),
            ("## Notes\n- a\n### Sub\n- s\n- s\n## Notes\n- b\n", "## Notes\n\n- a\n- b\n\n### Sub\n- s\n- s\n"),
            ("# Other\n## Notes\n- in other\n", "# Other\n## Notes\n- in other\n"),
            ("## Notes\n- a\n\n```\n- a\n\n## X\n```\n", "## Notes\n\n- a\n\n```\n- a\n\n## X\n```\n"),
            ("## Notes\n1. a\n1. a\n", "## Notes\n\n1. a\n1. a\n"),
            ("## Notes\n-\n- a\n", "## Notes\n\n- a\n"),
        ],
    )
    def test_what_becomes_of_sections_and_entries(self, text: str, expected: str) -> None:
        assert compact_text(f"# Long-term Memory\n\n{text}") == f"# Long-term Memory\n\n{expected}"
        assert compact_text(text) == f"# Long-term Memory\n\n{expected}"

    def test_a_text_without_sections_gets_them(self) -> None:
        text = "Likes tea.\nLives in Oslo.\n\n- plays chess\n\n1. one\n2. two\n"
        expected = "# Long-term Memory\n\n## Notes\n\n- Likes tea.\n  Lives in Oslo.\n- plays chess\n\n1. one\n2. two\n"
        assert compact_text(text) == expected

    def test_the_standard_sections_come_first_in_their_order(self) -> None:
        text = "## Own\n- o\n" + "".join(f"## {name}\n- about {name}\n" for name in reversed(STANDARD))
        compacted = compact_text(text)
        assert compacted is not None
        titles = [block.title for block in blocks_of(compacted) if block.kind == "heading"]
        assert titles == ["Long-term Memory", *STANDARD, "Own"]

    def test_long_entries_are_merged_across_sections_and_short_ones_are_not(self) -> None:
        text = f"## Preferences\n- Berlin\n- {TEA}\n## Projects\n- Berlin\n- {TEA.upper()}\n"
        expected = f"# Long-term Memory\n\n## Preferences\n\n- Berlin\n- {TEA}\n\n## Projects\n\n- Berlin\n"
        assert compact_text(text) == expected

    def test_front_matter_stays_on_top(self) -> None:
        text = "---\nowner: ada\n---\n- a\n- a\n"
        assert compact_text(text) == "---\nowner: ada\n---\n\n# Long-term Memory\n\n## Notes\n\n- a\n"

    def test_crlf_stays_crlf(self) -> None:
        assert compact_text("## Notes\r\n- a\r\n- a\r\n") == "# Long-term Memory\r\n\r\n## Notes\r\n\r\n- a\r\n"

    def test_empty_sections_go(self) -> None:
        assert compact_text(new_memory()) == "# Long-term Memory\n"

    @given(texts(max_lines=20))
    def test_no_entry_is_lost_and_none_is_made(self, text: str) -> None:
        compacted = compact_text(text)
        if compacted is None:
            return
        # Bullets may change, the words of lines do not; titles and rules below them are made anew.
        made = {folded([f"## {name}"]) for name in STANDARD} | {"# long-term memory", "notes", "-----", "===", ""}
        before, after = ({unmarked(line) for line in lines_of(one)} - made for one in (text, compacted))
        assert before == after
        assert set(entries(text)) - {""} <= set(entries(compacted))

    @given(texts(max_lines=20))
    def test_twice_is_as_good_as_once(self, text: str) -> None:
        compacted = compact_text(text)
        if compacted is not None:
            assert compact_text(compacted) == compacted

    @given(texts(max_lines=20))
    def test_the_guard_lets_it_pass_whenever_it_is_long_enough(self, text: str) -> None:
        compacted = compact_text(text)
        if compacted is not None:
            assert guard(text, compacted) in (None, "the result has under 50 characters")


class TestGuard:
    def test_the_same_text_passes(self) -> None:
        assert guard(MEMORY, MEMORY) is None

    @pytest.mark.parametrize("length", [0, 20, 49])
    def test_under_50_characters_are_refused(self, length: int) -> None:
        assert (
            guard("- a\n", "# Long-term Memory\n\n".ljust(length, "x")[:length]) == "the result has under 50 characters"
        )

    def test_50_characters_pass(self) -> None:
        assert guard("", "# Long-term Memory\n\n" + "x" * 30) is None

    @pytest.mark.parametrize(
        "after",
        [
            MEMORY.replace("# Long-term Memory", "# Memory", 1),
            MEMORY.replace("# Long-term Memory", "## Long-term Memory", 1),
            MEMORY.replace("# Long-term Memory", "Long-term Memory", 1),
            "```\n" + MEMORY,
        ],
    )
    def test_without_the_header_it_is_refused(self, after: str) -> None:
        reason = guard(MEMORY, after)
        assert reason is not None
        assert "header" in reason

    def test_up_to_a_quarter_of_the_entries_may_go(self) -> None:
        lines = lines_of(MEMORY)
        assert guard(MEMORY, "".join(lines[:-2])) is None
        assert guard(MEMORY, "".join(lines[:-3])) == "the result drops 3 of 8 entries"

    def test_equal_entries_count_once(self) -> None:
        before = MEMORY + "".join("- note NUMBER 0  of the user.\n" for _ in range(20))
        assert guard(before, MEMORY) is None

    def test_entries_may_move_and_be_joined(self) -> None:
        before = f"# Long-term Memory\n\n- {TEA}\n- Lives in Oslo\n"
        after = f"# Long-term Memory\n\n## Preferences\n\n- {TEA.upper()} And lives  in Oslo, too.\n"
        assert guard(before, after) is None

    def test_a_word_that_is_part_of_another_is_not_an_entry_that_was_kept(self) -> None:
        before = "# Long-term Memory\n\n- Likes art\n- Floor 1\n"
        after = "# Long-term Memory\n\n## Notes\n\n- Likes arthropods on Floor 12 of the museum.\n"
        assert guard(before, after) == "the result drops 2 of 2 entries"

    def test_the_sentences_of_a_paragraph_may_become_entries(self) -> None:
        before = "Ada likes tea. She lives in Oslo. 她喜欢喝茶。她住在奥斯陆。\n"
        after = "# Long-term Memory\n\n- She lives in Oslo\n- Ada likes tea\n- 她住在奥斯陆\n- 她喜欢喝茶\n"
        assert guard(before, after) is None

    def test_an_entry_is_dropped_when_one_of_its_lines_is(self) -> None:
        before = "# Long-term Memory\n\n- Plan for the spring:\n  - paint the boat\n  - plant a tree\n"
        assert guard(before, before.replace("  - plant a tree\n", "  - and nothing else\n")) is not None

    def test_headings_and_rules_are_no_entries(self) -> None:
        before = "# Old title\n\n## Old section\n\n---\n\n- Prefers tea to coffee\n"
        assert guard(before, "# Long-term Memory\n\n## Preferences\n\n- Prefers tea to coffee\n") is None


class TestIsDue:
    NOW = datetime(2026, 4, 3, 2, 0, tzinfo=UTC)

    @pytest.mark.parametrize(("chars", "expected"), [(2999, False), (3000, True)])
    def test_from_3000_characters_on(self, chars: int, expected: bool) -> None:
        assert is_due("字" * chars, None, self.NOW) is expected

    @pytest.mark.parametrize(
        ("last", "expected"),
        [
            (datetime(2026, 4, 3, 0, 0, tzinfo=UTC), False),
            (datetime(2026, 4, 2, 23, 59, tzinfo=UTC), True),
            (datetime(2026, 4, 4, 1, 0, tzinfo=UTC), False),
        ],
    )
    def test_at_most_once_a_day(self, last: datetime, expected: bool) -> None:
        assert is_due("x" * 3000, last, self.NOW) is expected

    def test_the_day_is_that_of_the_time_zone(self) -> None:
        last = datetime(2026, 4, 2, 23, 0, tzinfo=UTC)
        assert is_due("x" * 3000, last, self.NOW)
        assert not is_due("x" * 3000, last, self.NOW.astimezone(ZoneInfo("Asia/Tokyo")))
