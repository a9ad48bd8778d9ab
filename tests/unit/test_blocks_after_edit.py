"""The blocks of an edited text, from those of the text before the edit, are those of the text itself."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.markdown_texts import blocks, sources

from reverie_indexer.text.blocks import blocks_of, kept_after_edit, without_titles

SETTINGS = settings(max_examples=500)
INSERTED = [
    *("", "\n", "\n\n", "\r", "\r\n", "x", "- ", "> ", ">", "```\n", "~~~\n", "<!--", "-->", "---\n", "...\n", "===\n"),
    *("\n\n## Later\n\ntext\n", "[a]: b\n", "[a]:\n", "'c'", "# ", "    ", "\t", "|-|-|\n", "\ufeff", "1. ", "</div>"),
]
edits = st.tuples(
    st.floats(0, 1),
    st.sampled_from([0, 0, 0, 1, 3, 30]),
    st.one_of(st.sampled_from(INSERTED), blocks, st.text(max_size=9)),
)
long_sources = st.lists(st.one_of(sources, blocks), min_size=2, max_size=5).map("\n\n".join)


def edited(text: str, edit: tuple[float, int, str]) -> str:
    place, removed, inserted = edit
    at = round(place * len(text))
    return text[:at] + inserted + text[at + removed :]


def chars_kept(text: str, before: str) -> int:
    """How much was not read again; the blocks must be what they are without the text before."""
    kept = kept_after_edit(text, before, without_titles(blocks_of(before)))
    assert blocks_of(text, kept) == blocks_of(text)
    return kept.end


@SETTINGS
@given(long_sources, st.lists(edits, min_size=1, max_size=4))
def test_edits_give_what_reading_the_whole_gives(text: str, changes: list[tuple[float, int, str]]) -> None:
    known = blocks_of(text)
    for change in changes:
        before, text = text, edited(text, change)
        # Each from the blocks that the edit before it gave, as it goes in a process that lives on.
        known = blocks_of(text, kept_after_edit(text, before, without_titles(known)))
        assert known == blocks_of(text)


@SETTINGS
@given(long_sources, st.one_of(st.sampled_from(INSERTED), blocks))
@example("---\na: b\n\n# H\n\ntext\n\ntext\n", "---\n")
@example("> a\nb\n\n# H\n\ntext\n", "> a\n" * 30)
@example("[a]: b\n\n[c]\n\n[d]:\n", "e\n")
@example("text\n\n[a]:\n", "b\n")
@example("a\n\n\ufefft\n---\n\nb\n", "c\n")
@example("# a ##\u00a0\n\nb\n\nc\n", "d\n")
@example("a\n\n\u00a0- x\n---\n\nb\n", "c\n")
@example("> a\r> > b\rc\r\rd\r\re\r", "> a\rb\r" * 9)
def test_appends_give_what_reading_the_whole_gives(text: str, added: str) -> None:
    chars_kept(text + added, text)


@pytest.mark.parametrize(
    "part",
    [
        "A paragraph of some words.\n\n",
        "## Heading\n\nA paragraph of some words.\n\n",
        "Heading\n---\n\n- an item\n- another\n\nA paragraph.\n\n",
        "```python\ncode()\n\n# a comment\n```\n\nText.\n\n",
        "|a|b|\n|-|-|\n|1|2|\n\nText.\n\n",
        "> a quotation\n> with > more\n\nText.\n\n",
        "[a]: https://example.org 'title'\n\nText.\n\nMore text [a].\n\n",
        "<div>\nhtml\n</div>\n\n    code\n\nText.\r\n\r\nMore.\r\n\r\n",
        "# 2026-04-03\n\n## 10:00\n\n- met Ada\n\nText.\n\n",
    ],
)
@pytest.mark.parametrize("front", ["", "---\ntitle: x\n---\n\n", "\ufeff# Top\n\n"])
def test_an_append_reads_only_the_end(front: str, part: str) -> None:
    text = front + part * 200
    kept = chars_kept(text + "- one more line\n", text)
    assert kept > len(text) - 2 * len(part)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- an item\n\n" * 50, "all of it is one list"),
        ("---\na: b\n\n" + "Text.\n\n" * 50, "its front matter may yet come to an end"),
        ("> a\nlazy\n\n" + "Text.\n\n" * 50, "its quotation reads ahead"),
        ("```\n" + "Text.\n\n" * 50, "its fence is open"),
    ],
)
def test_all_is_read_where_nothing_else_is_safe(text: str, why: str) -> None:
    assert chars_kept(text + "more\n", text) == 0, why
