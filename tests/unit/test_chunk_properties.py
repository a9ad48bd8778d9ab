"""What holds of the chunks of every text: built markdown, arbitrary characters, and hostile ones."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.markdown_texts import WORDS, built, caps, scrambled, sources

from reverie_indexer.model import Chunk
from reverie_indexer.text.chunk import chunk

SETTINGS = settings(max_examples=150)


def line_of(source: str, at: int) -> int:
    """The line of a character, counted without the chunker's own means."""
    head = source[: at + 1]
    if source[at] in "\r\n":
        head = head[:-1]
    return 1 + head.replace("\r\n", "\n").replace("\r", "\n").count("\n")


@SETTINGS
@given(sources, caps)
@example("- > ---\n  >", 1000)
@example("> - <!--\n>", 1000)
@example("---\n   ", 1)
def test_every_visible_character_lies_in_exactly_one_chunk(source: str, max_chars: int) -> None:
    owners = [0] * len(source)
    for passage in chunk(source, max_chars=max_chars):
        for at in range(passage.char_start, passage.char_end):
            owners[at] += 1
    assert max(owners, default=0) <= 1
    assert [char for char, count in zip(source, owners, strict=True) if not count and not char.isspace()] == []


@SETTINGS
@given(sources, caps)
def test_chunks_are_ordered_numbered_within_the_cap_and_as_written(source: str, max_chars: int) -> None:
    end = 0
    for ordinal, passage in enumerate(chunk(source, max_chars=max_chars)):
        assert passage.ordinal == ordinal
        assert end <= passage.char_start < passage.char_end
        assert passage.char_end - passage.char_start <= max_chars
        assert passage.text == source[passage.char_start : passage.char_end]
        assert passage.text == passage.text.strip()
        assert passage.start_line == line_of(source, passage.char_start)
        assert passage.end_line == line_of(source, passage.char_end - 1)
        end = passage.char_end


@SETTINGS
@given(sources, caps)
def test_the_same_text_gives_the_same_chunks(source: str, max_chars: int) -> None:
    assert chunk(source, max_chars=max_chars) == chunk(source, max_chars=max_chars)


@SETTINGS
@given(
    st.lists(st.sampled_from([*WORDS, "\u0301", "\u200d", "🇩", "\ufe0f", "。"]), min_size=1).map("".join),
    st.integers(16, 40),
)
def test_no_cut_parts_a_base_from_its_mark_or_joined_emoji(source: str, max_chars: int) -> None:
    """Clusters longer than the cap are excepted: a run of marks may be one."""
    pieces = chunk(source, max_chars=max_chars)
    for before, after in pairwise(pieces):
        if before.char_end == after.char_start and len(before.text) < max_chars:
            assert unicodedata.category(after.text[0]) not in ("Mn", "Me", "Mc")
            assert not (before.text[-1] == "\u200d" and after.text[0] > "\u0300")


@SETTINGS
@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=12), st.integers(20, 200))
def test_no_chunk_holds_the_text_of_two_sections(sections: list[tuple[int, bool]], max_chars: int) -> None:
    """Text and title carry the number of their section; the path is worked out here by the levels alone."""
    source = ""
    expected: dict[str, tuple[str, ...]] = {}
    above: list[tuple[int, str]] = []
    for number, (level, has_text) in enumerate(sections):
        above = [(other, title) for other, title in above if other < level] + [(level, f"T{number}")]
        source += f"{'#' * level} T{number}\n" + (f"text{number} more{number}\n\nalso{number}\n" if has_text else "")
        expected[str(number)] = tuple(title for _, title in above)
    for passage in chunk(source, max_chars=max_chars):
        texts = set(re.findall(r"(?:text|more|also)(\d+)", passage.text))
        assert len(texts) <= 1
        section = texts.pop() if texts else re.findall(r"T(\d+)", passage.text)[-1]
        assert passage.heading_path == expected[section]


@SETTINGS
@given(built, st.one_of(built, scrambled), st.sampled_from([300, 1000]))
def test_appending_leaves_all_chunks_but_the_last_few(source: str, addition: str, max_chars: int) -> None:
    # Markers that only what follows decides: front matter begins at the first line, or does not.
    source = "x" + source
    before, after = chunk(source, max_chars=max_chars), chunk(source + addition, max_chars=max_chars)
    kept = max(0, len(before) - 3)
    assert after[:kept] == before[:kept]


def test_appending_to_a_long_last_paragraph_leaves_the_chunks_before_it() -> None:
    source = "# Log\n\nfirst\n\n## Monday\n- a\n- b\n\n" + "A sentence of some length. " * 80
    for addition in ("\n", " And more.", "\n===\n", "\n\n# New\ntext", "\n\n[a]: b\n", "\n| - |", "\n```\n"):
        before, after = chunk(source), chunk(source + addition)
        assert after[: len(before) - 1] == before[:-1]


def texts(chunks: list[Chunk]) -> list[str]:
    return [passage.text for passage in chunks]


def test_what_follows_a_deeply_nested_list_is_still_seen() -> None:
    """At its own nesting cap markdown-it skips to the end of the text."""
    assert texts(chunk("- " + "+ - " * 40 + "deep\n\n# Next\ntext"))[1:] == ["# Next\ntext"]
    assert texts(chunk("- " + "> " * 40 + "deep\n\n# Next\ntext"))[1:] == ["# Next\ntext"]


@pytest.mark.parametrize(
    "source",
    [
        "word and " * 111_111,
        "x" * 1_000_000,
        "漢字。" * 333_333,
        "[" * 1_000_000,
        "`" * 1_000_000,
        "." * 1_000_000,
        ".)" * 500_000,
        "e" + "\u0301" * 1_000_000,
        "\U0001f1e6" * 1_000_000,
        ">" * 10_000,
        "1. " * 100_000,
        "- + " * 100_000,
        "[a]: <" + "é" * 300_000,
        "a" + " " * 1_000_000 + "b",
    ],
    ids=lambda source: ascii(source[:3]),
)
def test_a_long_line_of_any_kind_takes_under_three_seconds(source: str) -> None:
    chunks = chunk(source)
    assert max(len(passage.text) for passage in chunks) <= 1000


@pytest.mark.parametrize("unit", ["> #\na\n", "- a\n", "|a|\n|-|\n", "[a]: x\n", "# a\n", "> - a\nb\n", "-\n"])
def test_many_small_blocks_take_linear_time(unit: str) -> None:
    """Without a bound, markdown-it takes minutes for the first: each quotation reads ahead to the end."""
    chunk(unit * (60_000 // len(unit)))


def test_a_megabyte_of_ordinary_markdown_takes_seconds() -> None:
    page = (
        "# Title\n\nSome ordinary words in a paragraph, wrapped here\nand going on in the next.\n\n"
        "- item one\n- item two\n  - nested\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx\n```\n\n> quote\n\n"
    )
    chunks = chunk(page * (1_000_000 // len(page)), max_chunks=1_000_000)
    assert len(chunks) == 6 * (1_000_000 // len(page))
