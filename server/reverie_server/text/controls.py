"""Removes the characters from texts for prompts that steer a reader's eyes or hide from them. Pure.

Removed: escape sequences of terminals, control characters, overrides, embeddings and isolates of writing direction,
tag characters, and invisible characters where no script needs them. Kept: tabs and line ends, the marks U+200E, U+200F
and U+061C of right-to-left text, one joiner between letters or symbols that it joins, one variation selector after a
character that has variants. Stored text is never changed: this is for prompts alone.
"""

from __future__ import annotations

import re
import unicodedata

from reverie_indexer.text.analyse import CJK, SOUTH_EAST

# A sequence without its end loses its first character only, and is then text. Between two escape characters each
# pattern is tried once, so that the time is linear.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # colours, cursor
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\x90\x98\x9e\x9f]{0,2048}+(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\x90\x98\x9d\x9e\x9f]{0,2048}+(?:\x1b\\|\x9c)"  # strings
    r"|\x1b[ -/]++[0-~]"  # character sets
)
# These end a line for some readers; without them, the words around them would be one.
_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85]")
# Characters that may have to go. Most texts have none of them, and then cost one search.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_MARKS = frozenset("\u200e\u200f\u061c")
_JOINERS = frozenset("\u200c\u200d")
_BREAK = "\u200b"
_MONGOLIAN_SELECTORS = frozenset("\u180b\u180c\u180d\u180f")
_MONGOLIAN_VOWEL_SEPARATOR = "\u180e"
_MONGOLIAN = re.compile("[\u1820-\u18aa]")
_UNSPACED = re.compile(f"[{SOUTH_EAST}]")
_HAN = re.compile(f"[{CJK}]")
# The flags of England, Scotland and Wales are the only sequences of tags that fonts have.
_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in code) + "\U000e007f"
    for code in ("gbeng", "gbsct", "gbwls")
)
_FLAG_TAGS = 6
_KEYCAPS = frozenset("0123456789#*")


def without_controls(text: str) -> str:
    """The text without characters that steer or hide. Idempotent; takes time linear in the text."""
    if not _SUSPECT.search(text):
        return text
    # A removal may leave another sequence behind: its plain characters are then text.
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    kept: list[str] = []
    done = 0
    for match in _SUSPECT.finditer(text):
        at = match.start()
        if at < done:
            continue  # the tags of a flag
        if at > done:
            kept.append(text[done:at])
        done = at + 1
        before = kept[-1][-1] if kept else ""
        if before == _FLAGS[0][0] and text.startswith(tuple(flag[1:] for flag in _FLAGS), at):
            done = at + _FLAG_TAGS
            kept.append(text[at:done])
        elif _belongs(match[0], before, text[done : done + 1]):
            kept.append(match[0])
    return "".join([*kept, text[done:]])


def _belongs(character: str, before: str, after: str) -> bool:
    """Whether a suspect character belongs to the text. `before` is the last kept character, `after` the next one."""
    after = "" if _SUSPECT.match(after) else after
    if character in _MARKS:
        return before not in _MARKS
    if character in _JOINERS:
        return _joins(before) and bool(after) and _joins(after)
    if character == _BREAK:
        return bool(_UNSPACED.match(before) and _UNSPACED.match(after))
    if character in _MONGOLIAN_SELECTORS or character == _MONGOLIAN_VOWEL_SEPARATOR:
        return bool(_MONGOLIAN.match(before))
    if "\ufe00" <= character <= "\ufe0f":
        return _has_variants(before)
    if "\U000e0100" <= character <= "\U000e01ef":
        return bool(_HAN.match(before))
    return False


def _joins(character: str) -> bool:
    """Whether a joiner beside the character changes how it looks: of scripts without capitals, and of symbols."""
    if not character or character.isascii():
        return False
    is_variant = character in "\ufe0e\ufe0f"
    return is_variant or unicodedata.category(character) in ("Lo", "Mn", "Mc", "So", "Sk", "Lm", "Sm")


def _has_variants(character: str) -> bool:
    if not character:
        return False
    if character in _KEYCAPS:
        return True
    is_symbol = unicodedata.category(character) in ("So", "Sm", "Sk", "Po", "Lo") and not character.isascii()
    return is_symbol and not _SUSPECT.match(character)
