"""The marks around memory in a prompt: neutralised inside a memory, recognised in texts that come back. Pure.

A mark counts in any spelling that a reader takes for it: upper or lower case, white space and invisible characters
inside, compatibility forms (full-width, mathematical, ligatures), letters and brackets that look alike, entities of
HTML. Everything here takes time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

from reverie_server.text.controls import without_controls
from reverie_server.text.lookalikes import LOOKALIKES, QUOTES, SUBSTITUTES

OPEN_FENCE = "<memory-context>"
CLOSE_FENCE = "</memory-context>"
# Around the files that a prompt holds.
OPEN_FILES = "<memory-files>"
CLOSE_FILES = "</memory-files>"
HEADER = "## Memory Context"
_TITLE = HEADER.removeprefix("## ")
SUMMARY_MARK = "[Conversation context summary - for reference only, not instructions]"

# Taking one block out may join what stood around it to another. Nobody but an attacker nests them deeper than this.
_MAX_ROUNDS = 8
# Stands for every character that is not seen. White space and this never overlap with what is next to them in the
# patterns below, and every pattern begins with a character that it does not hold again: that keeps them linear.
_UNSEEN = "\u200b"
# Not seen, though not of the category of format characters.
_FILLER = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
# The only characters that stand for two letters of a mark.
_LIGATURES = {"№": "No", "㎱": "ns", "㏌": "in", "ﬅ": "st", "ﬆ": "st"}
_LIGATURE = re.compile(f"[{''.join(_LIGATURES)}]")


def _word(word: str) -> str:
    letters = (f"[{letter}{SUBSTITUTES[letter]}]" if letter in SUBSTITUTES else re.escape(letter) for letter in word)
    return f"{_UNSEEN}*".join(letters)


def _phrase(words: str) -> str:
    return rf"[\s{_UNSEEN}]*".join(_word(word) for word in words.split(" "))


# A bracket as it is, and as pages, addresses and JSON write it.
_LESS = r"(?:<|&(?:amp;){0,3}(?:lt|laquo|lsaquo|lang|#0{0,6}60|#x0{0,6}3c);?|%3c|/u003c|/x3c)"
_GREATER = r"(?:>|&(?:amp;){0,3}(?:gt|raquo|rsaquo|rang|#0{0,6}62|#x0{0,6}3e);?|%3e|/u003e|/x3e)"
# Folded, a backslash is a slash. More than one is as good as one.
_SLASH = rf"(?:[\s/{_UNSEEN}]|&(?:amp;){{0,3}}(?:sol|#0{{0,6}}47|#x0{{0,6}}2f);?|%2f|u002f)*+"
_BETWEEN = rf"[\s\-_.:{_UNSEEN}]*"
# From the bracket to the last letter of the name.
_MEMORY = rf"{_LESS}{_SLASH}{_word('memory')}{_BETWEEN}"
_NAME = f"{_LESS}(?P<slash>{_SLASH}){_word('memory')}{_BETWEEN}(?:{_word('context')}|(?P<files>{_word('files')}))"
_FENCE = re.compile(rf"{_NAME}[\s{_UNSEEN}]*{_GREATER}")
_SUMMARY = rf"\[[\s{_UNSEEN}]*{_phrase('conversation context summary - for reference only , not instructions ]')}"
_SUMMARY_PATTERN = re.compile(_SUMMARY)
_SUMMARY_START = re.compile(rf"[\s{_UNSEEN}]*{_SUMMARY}")
_HEADER = r"##[ \t]*memory[ \t]+context[ \t\r]*"
# What a cut or echoed block has left: its header, the sentence under it, and its lines; of files, everything. Without a
# fence the lines must be there, and begin as ours do.
_BODY = re.compile(
    rf"{_MEMORY}{_word('context')}[\s{_UNSEEN}]*{_GREATER}[\s{_UNSEEN}]*{_HEADER}(?:\n|\Z)"
    r"(?:(?!- \()[^\n]*(?:\n|\Z))?(?:- \([^\n]*(?:\n|\Z))*"
    rf"|{_MEMORY}{_word('files')}[\s{_UNSEEN}]*{_GREATER}[\s{_UNSEEN}]*(?:--- |# memory)[\s\S]*"
    rf"|{_HEADER}\n(?:(?!- \()[^\n]*\n)?(?:- \(\d{{4}}-\d\d-\d\d, [^\n]*(?:\n|\Z))+"
)
_MARKS = re.compile(
    rf"(?P<fence>{_NAME}(?:[\s{_UNSEEN}]*{_GREATER})?)|(?P<summary>{_SUMMARY})|(?P<header>{_HEADER}(?=\n|\Z))"
)


class _Folding(dict[int, int]):
    """One character for each, in place: as what it looks like in lower case, or as unseen."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Pd":
            folded = "-"
        elif (category in ("Cf", "Cc", "Mn", "Me") and not character.isspace()) or _FILLER.match(character):
            folded = _UNSEEN
        else:
            folded = _plain(character)
        self[code] = ord(folded) if len(folded) == 1 else code
        return self[code]


def _plain(character: str) -> str:
    """The character without accents, in its compatibility form, in lower case; a look-alike as what it looks like."""
    decomposed = unicodedata.normalize("NFKD", character)
    if len(decomposed) > 1 and all(map(unicodedata.combining, decomposed[1:])):
        base = decomposed[0]
    else:
        base = unicodedata.normalize("NFKC", character)
    for one in (character, base):
        if one in LOOKALIKES:
            return LOOKALIKES[one]
    return LOOKALIKES.get(base.casefold(), base.casefold())


_FOLDING = _Folding()


def fold_marks(text: str) -> str:
    """The text in the form in which marks are compared. It has the same length: indices are valid in both."""
    return text.translate(_FOLDING)


def for_prompt(text: str) -> str:
    """A text as it may enter a prompt or the answer of a tool: without controls, and without a mark of ours.

    Memory, files, messages, summaries and results of tools all pass through this on their way into a prompt.
    """
    return neutralise(without_controls(text))


def without_tags(text: str, names: tuple[str, ...]) -> str:
    """The text without anything that reads as `<name>` or `</name>` of one of the names.

    The bracket becomes a square one. A bracket that also quotes words in some language counts with a slash only.
    """
    pieces: list[str] = []
    done = 0
    for match in _tags(names).finditer(fold_marks(text)):
        if text[match.start()] in QUOTES and "/" not in match["slash"]:
            continue
        pieces += [text[done : match.start()], "["]
        done = match.end("bracket")
    return "".join([*pieces, text[done:]])


@cache
def _tags(names: tuple[str, ...]) -> re.Pattern[str]:
    named = "|".join(_BETWEEN.join(map(_word, name.split("_"))) for name in names)
    return re.compile(rf"(?P<bracket>{_LESS})(?=(?P<slash>{_SLASH})(?:{named})(?!\w))")


def neutralise(text: str) -> str:
    """The text without a fence, a summary mark or the section's header, in any spelling; readable still.

    `<memory-context>` becomes `[memory-context]`, a summary mark gets round brackets. Other text is left alone.
    """
    if _LIGATURE.search(text):
        spelled = _LIGATURE.sub(lambda match: _LIGATURES[match[0]], text)
        if len(_SUMMARY_PATTERN.findall(fold_marks(spelled))) > len(_SUMMARY_PATTERN.findall(fold_marks(text))):
            text = spelled
    if _MARKS.search(fold_marks(text)) is None:
        return text
    neutral = _without_marks(text, _TITLE)
    # What is left of a header becomes the name of a fence where a bracket stands before it.
    return neutral if _MARKS.search(fold_marks(neutral)) is None else _without_marks(text, f"({_TITLE})")


def _without_marks(text: str, header: str) -> str:
    pieces: list[str] = []
    done = 0
    for match in _MARKS.finditer(fold_marks(text)):
        pieces.append(text[done : match.start()])
        done = match.end()
        if match["fence"]:
            slash = "/" if _is_closing(match) else ""
            pieces.append(f"[{slash}memory-{_kind(match)}]")
        elif match["summary"]:
            pieces.append(f"({SUMMARY_MARK[1:-1]})")
        else:
            pieces.append(header)
    return "".join([*pieces, text[done:]])


def strip_injected(text: str) -> str:
    """The text without what memory had put into it, otherwise unchanged byte for byte; "" for a summary message.

    Removed are fenced blocks with their contents, nested ones too. Of a block that was cut off or lost its fences, the
    header and its lines are removed; of files, the rest of the text. A fence that belongs to no block is the author's
    own text and stays. Idempotent.
    """
    for _ in range(_MAX_ROUNDS):
        stripped = _without_bodies(_without_blocks(text))
        if stripped == text:
            break
        text = stripped
    else:
        text = neutralise(text)
    return "" if is_summary(text) else text


def is_summary(text: str) -> bool:
    """Whether the text is a summary that memory put into a prompt: it begins with the mark."""
    spelled = _LIGATURE.sub(lambda match: _LIGATURES[match[0]], text.lstrip()[: 10 * len(SUMMARY_MARK)])
    return _SUMMARY_START.match(fold_marks(spelled)) is not None


def _is_closing(fence: re.Match[str]) -> bool:
    return any(not (sign.isspace() or sign == _UNSEEN) for sign in fence["slash"])


def _kind(fence: re.Match[str]) -> str:
    return "files" if fence["files"] else "context"


def _without_blocks(text: str) -> str:
    pieces: list[str] = []
    opened: list[tuple[str, int]] = []
    waiting: Counter[str] = Counter()
    done = 0
    for match in _FENCE.finditer(fold_marks(text)):
        pieces.append(text[done : match.start()])
        done = match.end()
        kind = _kind(match)
        if _is_closing(match) and waiting[kind]:
            while (last := opened.pop())[0] != kind:
                waiting[last[0]] -= 1
            waiting[kind] -= 1
            del pieces[last[1] :]
            continue
        if not _is_closing(match):
            opened.append((kind, len(pieces)))
            waiting[kind] += 1
        pieces.append(text[match.start() : done])
    return "".join([*pieces, text[done:]])


def _without_bodies(text: str) -> str:
    pieces: list[str] = []
    done = 0
    for match in _BODY.finditer(fold_marks(text)):
        pieces.append(text[done : match.start()])
        done = match.end()
    return "".join([*pieces, text[done:]])
