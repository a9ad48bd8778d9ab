"""Texts that were made to cost more than their length: what backtracks, what is searched again, what nests."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from zlib import crc32


@dataclass(frozen=True, slots=True)
class Attack:
    """A family of texts, one for each length in characters (about)."""

    name: str
    make: Callable[[int], str]


# One character, again and again.
CHARACTERS = [
    *string.punctuation,
    *" \t\n\r",
    *("a", "A", "s", "7", "é", "ß"),
    *("\u0301", "\u200b", "\u00ad", "\u202e", "\u2028", "\x0b", "\x00", "\x85", "\ufeff", "\u00a0"),
    *("漢", "。", "ไ", "한", "ع", "،", "ん", "က", "ꦏ"),
    *("\U0001f600", "\U0001f1e9", "\U0001f3fd", "“", "”", "‘", "’", "«", "–", "…", "・", "\ufdfa"),
]

# A few characters, again and again.
UNITS = [
    "a_", "_a", "a-", "-a", "a.", ".a", "a@", "@a", "a/", "a:", "a b", "A. ", "A.", "a. ", "a, ", "a; ",
    "a: b\n", "a.b.", "a_b-", "a1", "aA", "Aa", "AaA ", "a'", "'a", "a' ", "’a", "a’ ", '"a', '"a" ', "`a",
    "``a", "`a` ", "“a", "http://a", "http://a.", "www.a", "a@b", "a@b.", "a@b.c ", "/a", "./a", "a/b ",
    "C:\\a", "#a", "@a ", "$a", "&#", "&a;", "](", "![", "[a](", "[a]: b\n", "[a]", "[a\n", "[^a]: b\n", "[[",
    "]]", "[x] ", "(a", "((", "()", "{}", "{", "}{", "<a ", "<a>", "<!--", "<?", "<![CDATA[", "</a",
    "<memory-context>", "</memory-context>", "<memory-", "< / ", "<memory-context>\n## Memory Context\n",
    "## Memory Context\n", "- (2026-04-03, a) b\n", "\\", "\\\\ ", "\\`", "*_", "**a", "*a*", "_a_ ", "\n\n",
    "\n ", " \n", "\r\n", "\n\t", "\n    a", "a\n", "a  \n", "a\r", "a\n\n", "a\n=\n", "a\n-\n", "a\n===\n\n",
    "# a\n", "## a\n\n", "###### \n", "#\n", "- a\n", "- ", "* ", "* a\n", "+ a\n", "1. ", "1. a\n", "1) a\n",
    "- - ", "-\n", "- a\n\n", "- [ ] a\n", "- a\n  b\n", "- a\n\n  b\n\n", "  - a\n", "> ", "> a\n", ">\n",
    "> - ", "- > ", ">a\n>\n", "> a\nb\n", "```\n", "~~~\n", "```a\nb\n```\n", "``` ` ", "- ```\n", "> ```\n",
    "---\n", "- - -\n", "***\n", "___\n", "===\n", "a\n---\n", "| a ", "|", "|\n", "| a |\n", "|-|\n",
    "a|b\n-|-\n", "|a|b|\n|-|-|\n|1|2|\n\n", "<div>\n", "<div>\n\n", "<b>\n", "</b>\n\n", "[10:00] User: ",
    "[10:00] User: a → Assistant: b\n", "- [10:00] User: a\n", "User: a\n", "Assistant: ", " → ", "a → b ",
    "I am a ", "I like tea. ", "My name is Ada. ", "Ada met Bob. ", "Ada Bob ", "ada and bob ", "remember: ",
    "don't ", "the ", "is ", "?", "? ", "what ", "!a", "ha", "lol ", "ok ", "thanks ", "漢字 ", "漢字。", "你好吗？",
    "ภาษา ", "한국어 ", "عربي ", "éa", "é", "a\u200b", "\u200b ", "\u200ba ", "á ", "ß ", "ssß", "ﬁ", "İ", "ŉ",
    "\u200b\n", "\u3000", "ำ", "2026-04-03 ", "2026-04-03: a\n", "12:30 ", "1,000.", "1.2.3.", "1 ",
    "99999999999", "0x", "%20", "=a&b", '{"a":', '{"a": 1} ', '["a",', "[[[", '"a\\', "key: value\n",
    "- key: value\n", "a = b\n", "a\t", "\t- a\n", "\\n", "x\x00", '  File "a", line 1\n', "at a(b)\n",
    "Traceback (most recent call last):\n", "a.b.c(", "Error: ", "a.Error\n", "[Conversation context summary",
    "[conversation ", "## memory ", "(2026", "- (", "--- ", "--- a ---\n", "<memory-files>\n--- ",
]  # fmt: skip

# What stands before and behind a run, so that a long match fails at last or begins late.
FRAMES = [
    *(("", "!"), ("", "@b"), ("", '"'), ("x", "x"), ("- ", "\n- b"), ("> ", "\nb"), ("`", "`"), ("[", "]")),
    ("Please have a look at `", "@b` in the log."),
]

# What was found by attack, or is known of markdown and of regular expressions.
KNOWN = [
    *(("", unit, "") for unit in ("A. ", "a. ", "[10:00] User: ", "- a\n", "a\n=\n", "a\n-\n", "# a\n", "## a\n\n")),
    *(
        ("", unit, "")
        for unit in ("1. a\n", "> a\n", "> - ", "- > ", "```\n", "---\n", "| a ", "|a|b|\n|-|-|\n|1|2|\n\n")
    ),
    *(
        ("", unit, "")
        for unit in ("`a` ", "a' ", '"a" ', "[a]: b\n", "](", "<a ", "<!--", "<div>\n\n", "* ", "- [ ] a\n")
    ),
    *(
        ("", unit, "")
        for unit in ("Ada met Bob. ", "I like tea. ", "Is it? ", "http://a.", "a.b.", "a_b-", "漢字。", "한국어 ")
    ),
    *(("", unit, "") for unit in ("<memory-context>", "<memory-context>\n## Memory Context\n", '  File "a", line 1\n')),
    *(
        ("", unit, "")
        for unit in ("a\u200b", "\u200b ", "a\u0301 ", "ßs", "\r\n", "a b", "- a\n\n  b\n\n", '{"a":', "key: value\n")
    ),
    ("Please have a look at `", "a_", "a@b` in the log."),
    ("Please have a look at `", "a.", "a@b` in the log."),
    ("", "a_", "a@b"),
    ("", "a-", "a@b"),
    ("", "a.a@", "!"),
    ("", "'", "x"),
    ("", "a" * 30 + "' ", "!"),
    ("", " ", "x"),
    ("x", " ", "x"),
    ("x", "\n", "x"),
    ("", "\t ", "\n"),
    ("x", " \n", "x"),
    ("", ".", "a"),
    ("a", ".", "a"),
    ("", "-", "a"),
    ("[10:00] User: ", "a ", "→"),
    ("[10:00] User: x", " ", "y"),
    ("[10:00] User: x", " →", " Assistant"),
    ("", "[", "]"),
    ("", "![", "]("),
    ("", "*a", "*"),
    ("", "a**b", ""),
    ("", "`", "a"),
    ("", "[a](<", ""),
    ("", "[a]: <", ""),
    ("[a", "\n", "]: b"),
    ("[", "a\n", "]: b"),
    ("[a]: ", "\\(", ")"),
    ("[a]: b '", "c\n", "'"),
    ("- ", "a\n", "- b"),
    ("---\n", "a: b\n", "---\n"),
    ("---\n", "a\n", ""),
    ("| a |\n|-|\n", "| b |\n", ""),
    ("|a|", "b|", "\n|-|"),
    ("", "|", "\n" + "-|" * 50),
    ("<div>\n", "a\n", ""),
    ("<!--\n", "a\n", ""),
    ("```\n", "a\n", ""),
    ("# ", "#", " a"),
    ("# a ", "#", ""),
    ("# a", " #", "b"),
    ("# a", " ", "b"),
    ("a\n", "=", "b"),
    ("a", " ", "\n="),
    ("\ufeff", "# a\n", ""),
    ("Error: ", "a.", "("),
    ("at ", "a.", "("),
    ('  File "', "a", ""),
    ("a", "(", "b"),
    ("<", " ", "memory"),
    ("<memory", "-", "context"),
    ("<memory-context>", "\n", "## memory context"),
    ("## memory", " ", "context"),
    ("[ ", "\u200b", "conversation"),
    ("rv_", "a_", "!"),
    *(
        ("", unit, "")
        for unit in ("&lt;", "%3c", "/u003c/", "&amp;", "\x1b[", "\x1b]a", "\x1bP", "\x1b ", "\x9b0", "\x9d")
    ),
    *(("<", unit, "memory!") for unit in ("/", "&sol;", "%2f", "\u200b")),
    ("<m", "\u200b", "emory-context"),
    ("<memory", "_.:", "contexx"),
    ("\x1b[", "0", "\n"),
]


def repeated(unit: str, prefix: str = "", suffix: str = "") -> Attack:
    """One unit again and again, with something before and behind."""
    name = f"{prefix!r} + {unit!r} × n + {suffix!r}" if prefix or suffix else f"{unit!r} × n"
    return Attack(name, lambda n: prefix + unit * (n // len(unit) + 1) + suffix)


def _until(pieces: Iterator[str], n: int) -> str:
    """Pieces one after the other, as many as make n characters."""
    made: list[str] = []
    size = 0
    while size < n:
        made.append(next(pieces))
        size += len(made[-1])
    return "".join(made)


def counted(pattern: str) -> Attack:
    """One pattern again and again, with another number each time: what makes no two lines or words equal."""

    def make(n: int) -> str:
        return _until((pattern.replace("%", str(i)) for i in range(n + 1)), n)

    return Attack(f"{pattern!r} counted", make)


def growing(unit: str, end: str, name: str) -> Attack:
    """Units that grow: one, two, three of them, each with an end."""

    def make(n: int) -> str:
        return _until((unit * i + end for i in range(1, n + 2)), n)

    return Attack(name, make)


NUMBERED = [
    "w% ", "line %\n", "- line %\n", "Ada% met Bob% in Town%. ", "The word% is thing%.\n",
    "## Heading %\n\nText %\n\n", "key%: value %\n", "- key%: value\n", "[a%]: b\n", "|c%|d%|\n",
    "[10:00] User: a% → Assistant: b%\n", "# %\n", "%. a\n", "`id_%` ", '"quoted %" ', "https://a.b/% ",
    "/path/%/x ", "漢%字 ", "%, ", "%\n=\n", "> quote %\n\n", "```\ncode %\n```\n", "I live in Town%. ",
    "Is it %? ", "user%@example.com ", "2026-04-03: % was a word\n", "<a%>",
    "# A\n\n- a % b c d e f g h i j\n", "Please remember that % is my number.\n",
    "My sister% is called Anna%. ", "Camel%Case ", "a%_b ", "ไทย% ",
]  # fmt: skip
GROWING = [
    growing("`", "a", "runs of back quotes that grow"),
    growing("  ", "- a\n", "a list that nests"),
    growing(" ", "a\n", "indentation that grows"),
    growing("> ", "a\n", "a quotation that nests"),
    growing("*", "a", "runs of asterisks that grow"),
    growing("#", " a\n", "headings that grow"),
    growing("-", "\na\n", "dashes that grow"),
    growing("a", " ", "words that grow"),
    growing("a ", "\n", "lines that grow"),
    growing("a. ", "\n\n", "paragraphs that grow"),
    Attack("nested and closed", lambda n: "[" * (n // 2) + "]" * (n // 2)),
    Attack("nested links", lambda n: "[" * (n // 5) + "a" + "](b)" * (n // 5)),
    Attack("nested emphasis", lambda n: "*a " * (n // 6) + "a*" * (n // 6) + " b" * (n // 6)),
    Attack("nested quotations of lists", lambda n: "> - " * (n // 4) + "a"),
    Attack("fences in fences", lambda n: "<memory-context>" * (n // 33) + "</memory-context>" * (n // 33)),
    Attack("a line, then blank ones", lambda n: "a" * (n // 2) + "\n" * (n // 2) + "b"),
    Attack("half words, half marks", lambda n: "a " * (n // 4) + ". " * (n // 4)),
    Attack("half a word, half digits", lambda n: "a" * (n // 2) + "1" * (n // 2)),
    Attack("half apostrophes", lambda n: "a" * (n // 2) + "'" * (n // 2) + "!"),
    Attack("an indented fence, and more in it", lambda n: " " * (n // 2) + "~~~\n" + "~~~ a\n" * (n // 12)),
    Attack("many short, one long line", lambda n: "a\n" * (n // 4) + "a" * (n // 2)),
]

_PAIRED = [*"a A7.,-_'\"`*#>|[(<:@/=&\n\t", "é", "漢", "\u200b", "\u0301"]


# The texts of the attacks that were seen, which every function gets in every run.
SEEN = [
    *map(
        repeated,
        ["a", "'", "-", ".", "`", " ", "\n", "[", "a_", "A. ", "a. ", "- a\n", "a\n=\n", "[10:00] User: ", "漢"],
    ),
    repeated("a_", "Please have a look at `", "a@b` in the log."),
    repeated("'", "", "x"),
    repeated(" ", "x", "x"),
    *map(counted, ["line %\n", "Ada% met Bob% in Town%. "]),
]
# In how many parts the texts of a quick run are dealt out to the functions.
_PARTS = 16


def quick(function: str) -> list[Attack]:
    """The texts that a function gets in every run: those that were seen, and a part of all others, by its name."""
    others = [
        *map(repeated, CHARACTERS),
        *(repeated(unit, prefix, suffix) for prefix, unit, suffix in KNOWN),
        *map(counted, NUMBERED),
        *GROWING,
    ]
    return [*SEEN, *others[crc32(function.encode()) % _PARTS :: _PARTS]]


def long(_: str) -> list[Attack]:
    """A few texts that are worth their length: many lines, many words, and the runs that were quadratic."""
    return [
        *map(
            repeated, ["- a\n", "a\n=\n", "a ", "a\n", "'", " ", "\n", "a. ", "漢", "[10:00] User: a → Assistant: b\n"]
        ),
        *map(
            counted, ["line %\n", "- line % of them\n", "w% ", "Ada% met Bob% in Town%. ", "## Heading %\n\nText %\n\n"]
        ),
        *map(counted, ["key%: value %\n", "[10:00] User: a% → Assistant: b%\n", "- Ada likes tea number %\n\n"]),
    ]


def full(_: str) -> list[Attack]:
    """All texts: all pairs too, and everything in every frame."""
    units = [*CHARACTERS, *UNITS]
    return [
        *map(repeated, units),
        *(repeated(unit, prefix, suffix) for prefix, unit, suffix in KNOWN),
        *map(counted, NUMBERED),
        *GROWING,
        *(repeated(one + other) for one, other in product(_PAIRED, _PAIRED) if one != other),
        *(repeated(unit, *frame) for unit, frame in product(units, FRAMES)),
    ]
