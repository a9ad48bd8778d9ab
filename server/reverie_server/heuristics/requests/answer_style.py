# ruff: noqa: E501  # a pattern stands on one line
"""How an answer is to be: "keep it dry" asks to remember nothing. Pure."""

from __future__ import annotations

import re

_HOW = (
    r"(?:short|brief|dry|simple|plain|concise|formal|informal|casual|professional|friendly|polite|light|clean|sweet|neutral"
    r"|snappy|punchy|vague|generic|positive|warm|civil|honest|real|fun|funny|readable|general|kid-friendly|to the point"
    r"|tid(?:y|ier)|neat(?:er)?|nicer?|pretty|shorter|clearer|better|presentable|low-key|under|below|around|within|to (?:an?|one|two|three|four|five|\d+))"
)
_OF_STYLE = re.compile(
    rf"(?<!\w)(?:keep|make) (?:it|this|that|them|things|(?:the|your) (?:tone|text|answers?|e?mail|message|reply|style|language))"
    rf"(?: \w+){{0,2}}? {_HOW}(?!\w)"
    r"|(?<!\w)(?:do|say|put) (?:it|this|that) in (?:an?|one|two|three|four|five|\d+) (?:\w+ )?(?:lines?|words?|sentences?)(?!\w)"
    r"|(?<!\w)(?:mach|sag|schreib)\w* (?:es|das)(?: \w+){0,2}? in (?:einem|einer|zwei|drei|\d+) (?:\w+ )?(?:zeilen?|s[aä]tze?n?|worten?)(?!\w)"
    r"|(?<!\w)(?:halte?|mach|bleib)(?: (?:es|das|dich|den text|die antwort|die mail|bitte|mal))*(?: \w+){0,2}? (?:kurz|kürzer|knapp|schöner|hübscher|netter|ordentlich|einfach|sachlich"
    r"|förmlich|formell|locker|freundlich|neutral|schlicht|höflich|allgemein|unter \d+)(?!\w)"
    r"|(?<!\w)(?:mant[eé]nlo|hazlo|d[eé]jalo|que sea|que quede)(?: \w+){0,2}? (?:breve|cort\w+|simple|sencill\w|formal|informal|sec\w|neutr\w+"
    r"|amable|concis\w|general|en \w+ (?:líneas?|palabras?))(?!\w)"
    r"|(?:保持|尽量|写得|写的|要)(?:简短|简洁|正式|礼貌|简单|口语化?|轻松|中性|随意)|(?:简短|简洁|正式|口语化|随意)(?:一?点|些|即可|就行)"
)
# So many characters may stand before it ("and please"), and so many words behind it.
_MOST_BEFORE = 20
_MOST_BEHIND = re.compile(r"(?:,? [\w'-]+){0,2}[ .!?。！]*$")


def is_of_style(plain: str) -> bool:
    """Whether a part of a sentence, from `aligned`, says how an answer is to be, and nothing else."""
    found = _OF_STYLE.search(plain)
    return found is not None and found.start() <= _MOST_BEFORE and _MOST_BEHIND.match(plain, found.end()) is not None
