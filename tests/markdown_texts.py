"""Markdown that is built of every construct, scrambled, or no markdown at all, for properties of every text."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = [
    *("word", "a", "Ünï", "e\u0301e\u0301", "漢字かな。", "ภาษาไทย", "عربي؟", "end.", "why?", "x" * 60),
    *("👨\u200d👩\u200d👧", "🇩🇪🇫🇷", "`x`", "[a]", "|", "\\", "<b>"),
    *("\ufeff", "\x00", "\u2028", "\x0b", "\x0c", "\x85", "\u00a0", "\ud800"),
]
MARKUP = [
    *("#", "## ", "> ", ">", "- ", "* ", "+ ", "1. ", "23) ", "```", "~~~", "---", "===", "|a|b|", "|-|-|"),
    *("    ", "\t", "  ", "[a]: b", "<!--", "-->", "<div>", "</div>", "...", '"', ". "),
    *("\n", "\n", "\r\n", "\r", "\n\n"),
]
sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
prose = st.lists(sentence, min_size=1, max_size=4).map("\n".join)
caps = st.one_of(st.integers(1, 12), st.integers(13, 120), st.just(1000))


def prefixed(first: str, other: str) -> st.SearchStrategy[str]:
    """Blocks nested in a list item or a quotation."""
    return st.builds(lambda inner: first + inner.replace("\n", "\n" + other), blocks)


heading = st.one_of(
    st.builds(lambda level, title: f"{'#' * level} {title}", st.integers(1, 7), sentence),
    st.builds(lambda title, line: f"{title}\n{line}", prose, st.sampled_from(["===", "---"])),
)
fence = st.builds(lambda mark, body, close: f"{mark}\n{body}\n{mark * close}",
                  st.sampled_from(["```", "~~~~"]), prose, st.integers(0, 1))  # fmt: skip
table = st.builds(
    lambda rows: "|a|b|\n|-|-|\n" + "\n".join(f"|{row}|2|" for row in rows), st.lists(sentence, max_size=4)
)
blocks: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        prose,
        heading,
        fence,
        table,
        st.sampled_from(["---", "[a]: b 'c'", "<!-- x\n\ny -->", "<div>\nx\n</div>", "    code\n\n    code"]),
        prefixed("- ", "  "),
        prefixed("1. ", "   "),
        prefixed("> ", "> "),
    )
)
built = st.builds(
    lambda front, parts, gaps, line_break: (front + "".join(map("".join, zip(parts, gaps, strict=False)))).replace(
        "\n", line_break
    ),
    st.sampled_from(["", "", "\ufeff", "---\na: b\n---\n", "\n\n"]),
    st.lists(blocks, max_size=10),
    st.lists(st.sampled_from(["\n", "\n\n", "\n \n\n"]), min_size=10, max_size=10),
    st.sampled_from(["\n", "\n", "\r\n", "\r"]),
)
scrambled = st.lists(st.sampled_from(WORDS + MARKUP * 2), max_size=40).map("".join)
sources = st.one_of(built, scrambled, st.text(max_size=200))
