"""Generated texts of memories: lines that markdown reads in unexpected ways, in any order."""

from __future__ import annotations

from hypothesis import strategies as st

# Long enough to be looked for when something is saved again.
ENTRIES = [
    "- Ada prefers tea to coffee in the morning.",
    "- Ada PREFERS  tea to coffee in the morning.",
    "* The review of the plan is on Thursday.",
    "+ Works at the observatory since 2024.",
    "-   An item whose text stands further right.",
    "- short",
    "- short",
    "-",
    "- - nested at once",
    "  - indented by two",
    "\t- indented by a tab",
    "1. first of a numbered list",
    "2) second of another",
]
LINES = [
    *ENTRIES,
    "",
    "",
    "",
    "  ",
    "# Long-term Memory",
    "## Notes",
    "## Preferences",
    "## notes",
    "  ## Projects",
    "## Unknown section",
    "# Another title",
    "### Below",
    "####### seven marks are none",
    "#no-heading",
    "Notes",
    "-----",
    "===",
    "---",
    "* * *",
    "```",
    "```python",
    "~~~~",
    "    ```",
    "  ```",
    "# looks like a heading",
    "<!-- a comment",
    "-->",
    "<div>",
    "> quoted",
    "> ## quoted heading",
    "| a | b |",
    "|---|---|",
    "[ref]: https://example.org",
    "    indented by four",
    "  continued",
    "A plain sentence about the user.",
    "用户喜欢喝茶,不喜欢咖啡。",
    "key: value",
    "\ufeff",
    "line\u2028separator",
    "form\x0cfeed",
]


@st.composite
def texts(draw: st.DrawFn, *, max_lines: int = 14) -> str:
    """A text of such lines, with one kind of line ending, or of arbitrary characters now and then."""
    lines = draw(st.lists(st.sampled_from(LINES) | st.text(max_size=12).map(_one_line), max_size=max_lines))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return newline.join(lines) + draw(st.sampled_from(["", newline]))


def contents() -> st.SearchStrategy[str]:
    """What somebody may ask to have saved."""
    return texts(max_lines=8).filter(lambda text: any(c.isalnum() for c in text))


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ").replace("\x00", " ")
