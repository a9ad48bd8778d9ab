"""Renders markdown without HTML of its own, without images, and without links that leave the server. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

# Longer texts are shown as they are: a person reads no page of that length, and it would cost the server too much.
MAX_CHARS = 60_000
_PLAIN = Markup("<pre>{}</pre>")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])


def rendered(text: str) -> Markup:
    """The text as HTML, below a heading of a page. A link is its words and its target, an image its description."""
    if len(text) > MAX_CHARS:
        return _PLAIN.format(text)
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            # The page has its own heading of the first level.
            token.tag = f"h{min(6, int(token.tag[1:]) + 1)}"
        if token.children:
            token.children = list(_without_links(token.children))
    # The renderer escapes all texts, and HTML is off.
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704


def _without_links(tokens: Sequence[Token]) -> Iterator[Token]:
    targets: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            targets.append(str(token.attrs.get("href", "")))
        elif token.type == "link_close":
            yield Token("text", "", 0, content=" ")
            yield Token("code_inline", "code", 0, content=targets.pop() if targets else "")
        elif token.type == "image":
            yield Token("text", "", 0, content=f"[{token.content or 'image'}]")
        else:
            yield token
