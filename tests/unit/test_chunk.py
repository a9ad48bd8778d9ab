"""Each rule of chunking, on texts small enough to check by eye."""

from __future__ import annotations

from datetime import date

import pytest

from reverie_indexer.model import Chunk
from reverie_indexer.text.blocks import MAX_HEADING_CHARS
from reverie_indexer.text.chunk import (
    MAX_CONTEXT_HEADING_CHARS,
    MAX_SPARSE_CHUNKS,
    MIN_MEAN_CHARS,
    chunk,
    context_line,
    note_date,
)


def texts(source: str, max_chars: int = 1000) -> list[str]:
    return [passage.text for passage in chunk(source, max_chars=max_chars)]


def paths(source: str, max_chars: int = 1000) -> list[tuple[str, ...]]:
    return [passage.heading_path for passage in chunk(source, max_chars=max_chars)]


def lines(source: str, max_chars: int = 1000) -> list[tuple[int, int]]:
    return [(passage.start_line, passage.end_line) for passage in chunk(source, max_chars=max_chars)]


# Blocks


@pytest.mark.parametrize("source", ["", " ", "\n\n", " \t\r\n\u2028\u00a0\x0b\x0c"])
def test_a_text_without_visible_characters_has_no_chunks(source: str) -> None:
    assert chunk(source) == []


def test_a_chunk_carries_text_lines_characters_path_and_ordinal() -> None:
    source = "# Atlas\n\nOne.\n\n  Two\nlines.\n"
    assert chunk(source) == [
        Chunk(0, "# Atlas\n\nOne.", 1, 3, 0, 13, ("Atlas",)),
        Chunk(1, "Two\nlines.", 5, 6, 17, 27, ("Atlas",)),
    ]


def test_each_paragraph_is_a_chunk() -> None:
    assert texts("one\nstill one\n\ntwo\n\n\nthree") == ["one\nstill one", "two", "three"]


def test_each_item_of_the_outermost_list_is_a_chunk_with_what_is_nested_in_it() -> None:
    source = "- a\n  - a1\n    1. deep\n  - a2\n\n  more of a\n- b\n* another list\n\n1) one\n2) two\n"
    assert texts(source) == [
        "- a\n  - a1\n    1. deep\n  - a2\n\n  more of a",
        "- b",
        "* another list",
        "1) one",
        "2) two",
    ]


def test_a_table_is_a_chunk() -> None:
    table = "| who | when |\n|---|---|\n| Ada | 1843 |"
    assert texts(f"before\n{table}\n\nafter") == ["before", table, "after"]


@pytest.mark.parametrize(
    "block",
    [
        "```python\n# no heading\n\nx = 1\n```",
        "~~~\n```\n\n# no heading\n~~~",
        "<div>\n# no heading\n</div>",
        "<!-- a\n\n# no heading -->",
        "> # no heading\n>\n> - a\n> - b",
        "- # no heading\n\n  text",
    ],
)
def test_a_block_is_one_chunk_and_opens_no_section(block: str) -> None:
    source = f"# Top\n\nbefore\n\n{block}\n\n## Next\nafter"
    assert texts(source) == ["# Top\n\nbefore", block, "## Next\nafter"]
    assert paths(source) == [("Top",), ("Top",), ("Top", "Next")]


def test_an_indented_code_block_is_one_chunk() -> None:
    assert texts("before\n\n    x = 1\n\n    # no heading\n\nafter") == [
        "before",
        "x = 1\n\n    # no heading",
        "after",
    ]


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    assert texts("```\na\n\n# b\n") == ["```\na\n\n# b"]


def test_front_matter_is_a_chunk_of_its_own_outside_every_section() -> None:
    source = "---\ntitle: Atlas\ntags: [a, b]\n---\n# Atlas\ntext"
    assert texts(source) == ["---\ntitle: Atlas\ntags: [a, b]\n---", "# Atlas\ntext"]
    assert paths(source) == [(), ("Atlas",)]


# Headings


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# Title\nText at once.", "Title"),
        ("Title\n=====\nText at once.", "Title"),
        ("## Title ##\nText at once.", "Title"),
        ("Title\n---\nText at once.", "Title"),
        ("#\tTitle\r\nText at once.\r\n", "Title"),
    ],
)
def test_text_right_below_its_heading_is_kept_with_it(source: str, title: str) -> None:
    """Elsewhere a section without a blank line below its heading was lost."""
    assert texts(source) == [source.strip()]
    assert paths(source) == [(title,)]


def test_every_section_without_blank_lines_is_kept() -> None:
    source = "# A\none\n## B\ntwo\n- x\n# C\nthree"
    assert texts(source) == ["# A\none", "## B\ntwo", "- x", "# C\nthree"]
    assert paths(source) == [("A",), ("A", "B"), ("A", "B"), ("C",)]


def test_the_heading_path_follows_the_levels() -> None:
    source = "# A\na\n### C\nc\n## B\nb\n# D\nd\n###### F\nf"
    assert paths(source) == [("A",), ("A", "C"), ("A", "B"), ("D",), ("D", "F")]


def test_a_setext_heading_of_several_lines_is_one_title() -> None:
    assert paths("Two\n  lines\n===\ntext") == [("Two lines",)]


def test_an_empty_heading_closes_a_section_and_names_none() -> None:
    assert paths("# A\n## B\nb\n##\nc") == [("A", "B"), ("A",)]


def test_hashes_without_a_space_are_no_heading() -> None:
    assert paths("#tag and text") == [()]


def test_headings_without_text_go_with_the_next_text() -> None:
    source = "# A\n\n## B\n\ntext\n\nmore"
    assert texts(source) == ["# A\n\n## B\n\ntext", "more"]
    assert paths(source) == [("A", "B"), ("A", "B")]


def test_a_heading_goes_with_a_list_item_or_table_too() -> None:
    assert texts("# A\n- x\n- y\n# B\n|a|\n|-|") == ["# A\n- x", "- y", "# B\n|a|\n|-|"]


def test_a_heading_with_nothing_below_is_a_chunk() -> None:
    source = "# A\ntext\n\n## B\n"
    assert texts(source) == ["# A\ntext", "## B"]
    assert paths(source) == [("A",), ("A", "B")]


def test_headings_over_the_cap_are_packed_and_the_last_stays_with_its_text() -> None:
    source = "# One\n# Two\n# Three\n# Four\nsome text"
    assert texts(source, 16) == ["# One\n# Two", "# Three", "# Four\nsome text"]
    assert paths(source, 16) == [("Two",), ("Three",), ("Four",)]


def test_a_long_text_is_split_with_its_heading_in_the_first_piece() -> None:
    source = "# A\n## B\n" + "Six words make up this sentence. " * 3
    assert texts(source, 50) == [
        "# A\n## B\nSix words make up this sentence.",
        "Six words make up this sentence.",
        "Six words make up this sentence.",
    ]


def test_a_heading_is_not_left_alone_for_a_long_word() -> None:
    assert texts("# Title\n" + "x" * 30, 20) == ["# Title\n" + "x" * 12, "x" * 18]


def test_a_heading_too_long_for_a_title_is_a_paragraph() -> None:
    longest, over = "x" * MAX_HEADING_CHARS, "x" * (MAX_HEADING_CHARS + 1)
    assert paths(f"# {longest}\ntext") == [(longest,)]
    assert paths(f"# {over}\ntext") == [(), ()]


# What lies between the blocks


def test_link_references_go_with_the_block_below() -> None:
    assert texts("one\n\n[a]: http://x\n[b]: http://y 'z'\n\ntwo") == [
        "one",
        "[a]: http://x\n[b]: http://y 'z'\n\ntwo",
    ]


@pytest.mark.parametrize("filler", ["[a]: http://x", "---", "* * *"])
def test_what_precedes_a_heading_or_the_end_goes_with_the_text_above(filler: str) -> None:
    assert texts(f"# A\n\none\n\n{filler}\n\n# B\n\ntwo\n\n{filler}\n") == [
        f"# A\n\none\n\n{filler}",
        f"# B\n\ntwo\n\n{filler}",
    ]


def test_link_references_are_the_text_of_a_section_that_has_no_other() -> None:
    assert texts("# Links\n[a]: http://x\n# Next\ntext") == ["# Links\n[a]: http://x", "# Next\ntext"]
    assert texts("[a]: http://x") == ["[a]: http://x"]


def test_a_thematic_break_under_a_heading_is_no_text() -> None:
    source = "# A\n\n---\n\n## B\ntext"
    assert texts(source) == [source]


def test_link_references_that_would_take_a_neighbour_over_the_cap_stand_alone() -> None:
    assert texts("one two three\n\n[a]: http://x\n\nfour five six", 20) == [
        "one two three",
        "[a]: http://x",
        "four five six",
    ]


@pytest.mark.parametrize("between", ["", "\n"])
def test_a_byte_order_mark_hides_no_heading(between: str) -> None:
    source = f"\ufeff{between}# A\ntext"
    assert texts(source) == [source]
    assert paths(source) == [("A",)]


def test_a_byte_order_mark_hides_no_front_matter() -> None:
    assert texts("\ufeff---\na: 1\n---\ntext") == ["\ufeff---\na: 1\n---", "text"]


# Over the cap


def test_a_line_of_50_kilobytes_is_split_at_words() -> None:
    """Elsewhere a 50 KB line became one chunk of 50 KB."""
    source = "memory " * 7_200
    pieces = chunk(source)
    assert len(pieces) == 51
    assert max(len(piece.text) for piece in pieces) <= 1000
    assert {(piece.start_line, piece.end_line) for piece in pieces} == {(1, 1)}
    assert " ".join(piece.text for piece in pieces) == source.strip()


@pytest.mark.parametrize(
    ("source", "max_chars", "expected"),
    [
        ("One two. Three four. Five six.", 21, ["One two. Three four.", "Five six."]),
        ('He asked "why?" Nobody knew. So.', 20, ['He asked "why?"', "Nobody knew. So."]),
        ("Version 1.2 of a.b works. It does.", 28, ["Version 1.2 of a.b works.", "It does."]),
        ("Wait... what?! Yes.", 14, ["Wait... what?!", "Yes."]),
        (
            "今日は晴れ。明日は「雨。」と言う。終わり。",
            14,
            ["今日は晴れ。明日は「雨。」", "と言う。終わり。"],
        ),
        ("本当！？はい。そう。", 6, ["本当！？", "はい。そう。"]),
        ("円周率は３．１４です．次です．", 13, ["円周率は３．１４です．", "次です．"]),
        ("ｶﾅ｡ｶﾅ｡", 4, ["ｶﾅ｡", "ｶﾅ｡"]),
        ("यह पहला है। यह दूसरा है।", 14, ["यह पहला है।", "यह दूसरा है।"]),
        ("هل فهمت؟ نعم فهمت.", 11, ["هل فهمت؟", "نعم فهمت."]),
        ("Wrapped in the\nmiddle. Next one.", 25, ["Wrapped in the\nmiddle.", "Next one."]),
    ],
)
def test_a_long_paragraph_is_split_at_sentences(source: str, max_chars: int, expected: list[str]) -> None:
    assert texts(source, max_chars) == expected


def test_a_long_sentence_is_split_at_words() -> None:
    assert texts("one two three four five", 9) == ["one two", "three", "four five"]


def test_a_long_word_is_split_at_the_cap() -> None:
    assert texts("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_word_that_fits_is_not_cut_for_one_that_does_not() -> None:
    assert texts("aaaa bbbbbb " + "c" * 15, 10) == ["aaaa", "bbbbbb", "c" * 10, "c" * 5]


def test_a_list_marker_is_not_left_alone_before_a_text_without_spaces() -> None:
    assert texts("- " + "漢" * 15, 10) == ["- " + "漢" * 8, "漢" * 7]


def test_a_long_fence_is_split_at_lines() -> None:
    assert texts("```\nabc. def\nghi. jkl\nmno\n```", 20) == ["```\nabc. def", "ghi. jkl\nmno\n```"]


def test_a_long_table_is_split_at_rows() -> None:
    assert texts("|a|b|\n|-|-|\n|1. x|2|\n|3. y|4|\n", 21) == ["|a|b|\n|-|-|\n|1. x|2|", "|3. y|4|"]


def test_a_long_list_item_is_split_at_lines() -> None:
    assert texts("- one. two\n  - three. four\n  - five", 26) == [
        "- one. two\n  - three. four",
        "- five",
    ]


def test_windows_lines_are_not_split_within_the_line_break() -> None:
    assert texts("```\r\nab\r\ncd\r\n```", 8) == ["```\r\nab", "cd\r\n```"]


@pytest.mark.parametrize(
    ("cluster", "per_piece"),
    [
        ("e\u0301", 3),
        ("👨\u200d👩\u200d👧", 1),
        ("🇩🇪", 3),
        ("👍🏽", 3),
        ("\u1112\u1161\u11ab", 2),
        ("नि", 3),
        ("กำ", 3),
        ("❤\ufe0f", 3),
    ],
)
def test_what_reads_as_one_character_is_not_parted(cluster: str, per_piece: int) -> None:
    assert texts(cluster * 2 * per_piece, 7) == [cluster * per_piece] * 2


def test_the_cap_wins_over_a_grapheme_longer_than_itself() -> None:
    zalgo = "a" + "\u0301" * 11
    assert texts("b" + zalgo + "c", 5) == ["b", zalgo[:5], zalgo[5:10], zalgo[10:] + "c"]


def test_a_cap_of_one_gives_single_characters() -> None:
    assert texts("# a\n\nbc", 1) == ["#", "a", "b", "c"]


@pytest.mark.parametrize("max_chars", [0, -1])
def test_a_cap_below_one_is_refused(max_chars: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        chunk("text", max_chars=max_chars)


# Line numbers


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_a_viewer_counts_them(line_break: str) -> None:
    source = line_break.join(["# A", "a", "", "- b", "  c", "", "", "d"])
    assert lines(source) == [(1, 2), (4, 5), (8, 8)]


def test_other_separators_end_no_line() -> None:
    assert lines("a\u2028b\x0bc\x0cd\x85e\n\nf") == [(1, 1), (3, 3)]


def test_pieces_know_the_lines_they_stand_on() -> None:
    assert lines("aaa bbb ccc\nddd eee", 7) == [(1, 1), (1, 2), (2, 2)]


# Context


def passage(text: str, *heading_path: str) -> Chunk:
    return Chunk(0, text, 1, 1, 0, len(text), heading_path)


def test_the_context_names_the_headings_above() -> None:
    found = passage("We chose PostgreSQL.", "Project Atlas", "Decisions")
    assert context_line("MEMORY.md", found) == "Project Atlas > Decisions"


def test_a_heading_that_repeats_the_date_of_its_note_is_no_context() -> None:
    assert context_line("memory/2026-04-03.md", passage("text", "2026-04-03", "Atlas")) == "Atlas"
    assert context_line("memory/2026-04-04.md", passage("text", "2026-04-03", "Atlas")) == "2026-04-03 > Atlas"


@pytest.mark.parametrize(
    "path", ["memory/2026-04-03.md", "2026-04-03.md", "team/notes/2026-04-03.md", "memory/2026-04-03-02.md"]
)
def test_a_daily_note_has_the_date_of_its_name(path: str) -> None:
    assert note_date(path) == date(2026, 4, 3)


@pytest.mark.parametrize("path", ["memory/2026-02-30.md", "memory/2026-04-03-plan.md", "x2026-04-03.md", "a.md"])
def test_other_file_names_are_no_date(path: str) -> None:
    assert note_date(path) is None
    assert context_line(path, passage("text")) == ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# A\n## B\ntext", ["", "A > B"]),
        ("\ufeff# A #\ntext", ["", "A"]),
        ("A\n===\ntext", ["", "A"]),
        ("A\nB\n---\ntext", ["", "A B"]),
        ("# A\nall\n## Bee\nBees", ["", "A", "A > Bee"]),
    ],
)
def test_headings_inside_the_text_are_not_repeated(source: str, expected: list[str]) -> None:
    """Each source is a section whose further paragraph has no heading inside."""
    found = chunk(source + "\n\nlast")
    assert [context_line("a.md", each) for each in found] == expected


def test_a_long_heading_is_shortened_in_the_context() -> None:
    title = "e\u0301" * MAX_CONTEXT_HEADING_CHARS
    line = context_line("a.md", passage("text", title))
    assert line == "e\u0301" * (MAX_CONTEXT_HEADING_CHARS // 2 - 1) + "…"


@pytest.mark.parametrize("pattern", ["- a\n", "# a\n", "a\n\n", "a\n=\n", "> a\n\n", "1. a\n   - b\n"])
def test_a_text_of_nothing_but_blocks_is_packed(pattern: str) -> None:
    text = pattern * (60_000 // len(pattern))
    chunks = chunk(text)
    assert len(chunks) <= len(text) // MIN_MEAN_CHARS
    assert [each.ordinal for each in chunks] == list(range(len(chunks)))
    assert all(each.text == text[each.char_start : each.char_end] and len(each.text) <= 1000 for each in chunks)
    assert "".join("".join(each.text for each in chunks).split()) == "".join(text.split())


def test_a_long_list_of_sentences_keeps_a_passage_an_item() -> None:
    story = "the harbour master noted what the tide had brought."
    items = [f"- Entry {number}: {story}" for number in range(3000)]
    assert [each.text for each in chunk("\n".join(items))] == items


def test_few_short_passages_are_not_packed() -> None:
    items = [f"- {number}" for number in range(MAX_SPARSE_CHUNKS)]
    assert [each.text for each in chunk("\n".join(items))] == items
    assert len(chunk("\n".join(items), max_chunks=MAX_SPARSE_CHUNKS - 1)) < 20
