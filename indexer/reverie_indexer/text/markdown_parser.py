"""markdown-it-py's block parser, bounded for hostile text: the work is linear in the text. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.rules_block import StateBlock, blockquote, list_block
from markdown_it.token import Token
from markdown_it.utils import EnvType
from mdit_py_plugins.front_matter import front_matter_plugin

# Lists and quotations nest no deeper; what is deeper is text of the innermost. A list counts two levels.
_MAX_NESTING = 20
# How many lines of text the quotation rule may read in vain, for each line there is (see `_BlockParser`).
_MAX_REREADS_PER_LINE = 1
_QUOTE_LINES_WHEN_REREADING = 4


class _OutermostState(StateBlock):
    """Keeps only the tokens that are read: blocks of the outermost level, items and texts in them, and at every level
    the types that are `read_everywhere`.

    A large table would otherwise make a million tokens.
    """

    def __init__(
        self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token], read_everywhere: Collection[str]
    ) -> None:
        super().__init__(src, md, env, tokens)
        self._read_everywhere = read_everywhere
        self._unread = Token("unread", "", 0)
        self.quote_rereads = 0

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        is_read = self.level == 0 or (self.level == 1 and ttype in ("list_item_open", "inline"))
        if nesting >= 0 and (is_read or ttype in self._read_everywhere):
            return super().push(ttype, tag, nesting)
        self.level += nesting
        return self._unread

    def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:  # noqa: N802, N803, ARG002
        # markdown-it's own fails with an IndexError where an indented HTML block ends with the text, in an
        # empty line. Of the contents only headings are read, whose white space does not matter.
        return "\n".join(self.src[self.bMarks[line] : self.eMarks[line]] for line in range(begin, end))


class _BlockParser(ParserBlock):
    """markdown-it's block rules, with two bounds for hostile input.

    At its own nesting cap markdown-it skips *to the end of the text*: below a list of ten levels every
    heading would be lost. Here lists and quotations stop nesting instead.

    A quotation reads ahead through lines that may continue it, which the blocks inside may then decline; each
    of these lines may begin the next quotation, which reads ahead again. After too much of this, quotations
    are read a few lines at a time, so that the work stays linear; a long one then becomes several.
    """

    def __init__(self, read_everywhere: Collection[str]) -> None:
        super().__init__()
        self._read_everywhere = read_everywhere
        self.ruler.at("list", _list, {"alt": ["paragraph", "reference", "blockquote"]})
        self.ruler.at("blockquote", _quotation, {"alt": ["paragraph", "reference", "blockquote", "list"]})

    def parse(self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]) -> list[Token] | None:  # noqa: N803
        state = _OutermostState(src, md, env, outTokens, self._read_everywhere)
        self.tokenize(state, 0, state.lineMax)
        return outTokens

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:  # noqa: N803
        super().tokenize(state, startLine, endLine)
        if state.parentType == "blockquote" and isinstance(state, _OutermostState):
            state.quote_rereads += max(0, endLine - state.line)


def _list(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if not silent and state.level >= _MAX_NESTING:
        return False
    return list_block(state, start_line, end_line, silent)


def _quotation(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if not silent:
        if state.level >= _MAX_NESTING:
            return False
        assert isinstance(state, _OutermostState)
        if state.quote_rereads > _MAX_REREADS_PER_LINE * state.lineMax:
            end_line = min(end_line, start_line + _QUOTE_LINES_WHEN_REREADING)
    return blockquote(state, start_line, end_line, silent)


class _Parser(MarkdownIt):
    """Blocks only: links are neither checked nor normalised, which on a long one is slow."""

    def __init__(self, read_everywhere: Collection[str] = ()) -> None:
        super().__init__("commonmark")
        self.block = _BlockParser(read_everywhere)
        self.configure("commonmark", {"maxNesting": 2 * _MAX_NESTING})
        self.enable("table")
        self.core.ruler.enableOnly(["normalize", "block"])

    def validateLink(self, url: str) -> bool:  # noqa: N802, ARG002
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url


_PARSER = _Parser()
_FRONT_MATTER_PARSER = _Parser().use(front_matter_plugin)
_COMMONMARK_PARSER = _Parser(("fence", "code_block")).disable("table")


def parse_blocks(text: str) -> list[Token]:
    """markdown-it's tokens of the outermost level, and of lists the items (level 1), in order; linear in the text.

    A byte order mark is to be taken off first: behind it markdown-it would see neither a heading nor front matter.
    """
    # The plugin fails with an IndexError on a quotation in a list on the first line ("- > ---"). It has no
    # business with a text that does not begin with the marker.
    return (_FRONT_MATTER_PARSER if text.startswith("---") else _PARSER).parse(text)


def parse_rest(text: str) -> list[Token]:
    """As `parse_blocks`, of a text that goes on behind another one: it begins with no front matter."""
    return _PARSER.parse(text)


def parse_commonmark(text: str) -> list[Token]:
    """As `parse_blocks`, without tables and front matter, and with code at every level; linear in the text."""
    return _COMMONMARK_PARSER.parse(text)
