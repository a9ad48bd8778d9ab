"""The marks around what memory puts into a prompt: neutralised inside a memory, recognised in what comes back. Pure.

A mark counts in any spelling that a reader takes for it: upper or lower case, white space and invisible characters
inside, compatibility forms (full-width, mathematical, ligatures). Everything here takes time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

OPEN_FENCE = "<memory-context>"
CLOSE_FENCE = "</memory-context>"
# Around the files that a prompt holds.
OPEN_FILES = "<memory-files>"
CLOSE_FILES = "</memory-files>"
HEADER = "## Memory Context"
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
    return f"{_UNSEEN}*".join(map(re.escape, word))


def _phrase(words: str) -> str:
    return rf"[\s{_UNSEEN}]*".join(_word(word) for word in words.split(" "))


# From the bracket to the last letter of the name; more than one slash is as good as one.
_MEMORY = rf"<[\s/{_UNSEEN}]*{_word('memory')}[\s\-_{_UNSEEN}]*"
_NAME = f"{_MEMORY}(?:{_word('context')}|{_word('files')})"
_FENCE = re.compile(rf"{_NAME}[\s{_UNSEEN}]*>")
_SUMMARY = rf"\[[\s{_UNSEEN}]*{_phrase('conversation context summary - for reference only , not instructions ]')}"
_SUMMARY_PATTERN = re.compile(_SUMMARY)
_SUMMARY_START = re.compile(rf"[\s{_UNSEEN}]*{_SUMMARY}")
_HEADER = r"##[ \t]*memory[ \t]+context[ \t\r]*"
# What a cut or echoed block has left: its header, the sentence under it, and its lines; of files, everything. Without a
# fence the lines must be there, and begin as ours do.
_BODY = re.compile(
    rf"{_MEMORY}{_word('context')}[\s{_UNSEEN}]*>[\s{_UNSEEN}]*{_HEADER}(?:\n|\Z)"
    r"(?:(?!- \()[^\n]*(?:\n|\Z))?(?:- \([^\n]*(?:\n|\Z))*"
    rf"|{_MEMORY}{_word('files')}[\s{_UNSEEN}]*>[\s{_UNSEEN}]*(?:--- |# memory)[\s\S]*"
    rf"|{_HEADER}\n(?:(?!- \()[^\n]*\n)?(?:- \(\d{{4}}-\d\d-\d\d, [^\n]*(?:\n|\Z))+"
)
_MARKS = re.compile(rf"(?P<fence>{_NAME}(?:[\s{_UNSEEN}]*>)?)|(?P<summary>{_SUMMARY})|(?P<header>{_HEADER}(?=\n|\Z))")


class _Folding(dict[int, int]):
    """One character for each, in place: as its compatibility form in lower case, or as unseen."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        folded = unicodedata.normalize("NFKC", character).casefold()
        category = unicodedata.category(character)
        if category == "Pd":
            folded = "-"
        elif (category in ("Cf", "Cc") and not character.isspace()) or _FILLER.match(character):
            folded = _UNSEEN
        self[code] = ord(folded) if len(folded) == 1 else code
        return self[code]


_FOLDING = _Folding()


def _fold(text: str) -> str:
    """As marks are compared; of the same length, so that places in it are places in the text."""
    return text.translate(_FOLDING)


def neutralise(text: str) -> str:
    """The text without a fence, a summary mark or the section's header, in any spelling; readable still.

    `<memory-context>` becomes `[memory-context]`, a summary mark gets round brackets. Other text is left alone.
    """
    if _LIGATURE.search(text):
        spelled = _LIGATURE.sub(lambda match: _LIGATURES[match[0]], text)
        if len(_SUMMARY_PATTERN.findall(_fold(spelled))) > len(_SUMMARY_PATTERN.findall(_fold(text))):
            text = spelled
    pieces: list[str] = []
    done = 0
    for match in _MARKS.finditer(_fold(text)):
        pieces.append(text[done : match.start()])
        done = match.end()
        if match["fence"]:
            slash = "/" if _is_closing(match["fence"]) else ""
            pieces.append(f"[{slash}memory-{_kind(match['fence'])}]")
        elif match["summary"]:
            pieces.append(f"({SUMMARY_MARK[1:-1]})")
        else:
            pieces.append("Memory Context")
    return "".join([*pieces, text[done:]])


def strip_injected(text: str) -> str:
    """The text without what memory had put into it, byte for byte otherwise; "" for a summary message.

    Taken out: fenced blocks with all that is in them, nested ones too; of a block that was cut off or lost its fences,
    the header and its lines, of files the rest of the text. A fence that belongs to no block is somebody's own text
    and stays. What is stripped is not changed by being stripped again.
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
    return _SUMMARY_START.match(_fold(spelled)) is not None


def _is_closing(fence: str) -> bool:
    return "/" in fence


def _kind(fence: str) -> str:
    return "files" if "files" in fence.replace(_UNSEEN, "") else "context"


def _without_blocks(text: str) -> str:
    pieces: list[str] = []
    opened: list[tuple[str, int]] = []
    waiting: Counter[str] = Counter()
    done = 0
    for match in _FENCE.finditer(_fold(text)):
        pieces.append(text[done : match.start()])
        done = match.end()
        kind = _kind(match[0])
        if _is_closing(match[0]) and waiting[kind]:
            while (last := opened.pop())[0] != kind:
                waiting[last[0]] -= 1
            waiting[kind] -= 1
            del pieces[last[1] :]
            continue
        if not _is_closing(match[0]):
            opened.append((kind, len(pieces)))
            waiting[kind] += 1
        pieces.append(text[match.start() : done])
    return "".join([*pieces, text[done:]])


def _without_bodies(text: str) -> str:
    pieces: list[str] = []
    done = 0
    for match in _BODY.finditer(_fold(text)):
        pieces.append(text[done : match.start()])
        done = match.end()
    return "".join([*pieces, text[done:]])
