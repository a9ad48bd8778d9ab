# ruff: noqa: E501  # a pattern stands on one line
"""Requests to put what was just said in the place of what is kept: "please change it on your side, too". Pure.

Who says where ("in your notes") means the memory. "Update it" alone is also said of a text: the answer tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PATTERNS = (
    r"(?:(?:so|and|but|then|please|pls|just|also|now|could you|can you|will you|would you),? )*+"
    r"(?:update|change|swap|replace|correct|amend|overwrite|adjust|save|store|keep|note) (?:it|that|this|the (?:old )?(?:one|code|number|entry))(?: (?:down|over|out))?"
    r"(?P<place_en>(?: too)? (?:(?:on|at|in) your (?:side|end|notes?|records?|memory|files?|book)|instead of (?:the old (?:one|code|number)|what (?:you have|you've got|was there|you had)(?: (?:now|there|saved|stored))?)))?"
    r"(?:,? (?:please|pls|too|as well|for me|accordingly|now|then|thanks))*",
    r"(?:(?:und|also|dann|bitte|mal|kannst du|könntest du|könnten sie|können sie),? )*+(?:so )?"
    r"(?:aktualisier\w*|tausch\w*|änder\w*|ersetz\w*|korrigier\w*|überschreib\w*|(?:ab)?speicher\w*|notier\w*|merk\w*)(?: (?:sie|du|dir|sich))*(?: (?:das|es|den|die|ihn|so|bitte|mal|auch|entsprechend|dann)){0,4}"
    r"(?P<place_de> (?:bei (?:dir|sich|ihnen)|in (?:deinen|ihren) (?:notizen|unterlagen)|(?:statt|anstelle|anstatt)(?: von)? (?:dem|des|der)(?: alten| bisherigen|,? was (?:du|sie) (?:hast|haben|hattest|hatten))(?: \w+)?))?"
    r"(?: (?:bitte|auch|aus|ab|um|danke))*",
    r"(?:(?:y|oye|por favor|porfa|pues|puedes|podrías),? )*+(?:actual[ií]za(?:r|me)?l[oa]s?|c[aá]mbia(?:r|me)?l[oa]s?|corr[ií]ge(?:me)?l[oa]s?|sustit[uú]yel[oa]s?|reempl[aá]zal[oa]s?)"
    r"(?P<place_es> (?:en (?:tus notas|tu memoria|tus apuntes)|de tu lado|por (?:la|el|lo) (?:viej[oa]|anterior)))?(?: (?:también|ahí|ya|por favor|porfa|porfis|gracias))*",
    r"(?:请|麻烦|你|帮我|也|就|先|给我)*+(?P<place_zh>(?:在)?你?(?:那边|那里|那儿|笔记里|记忆里|本子上)(?:的|也)?)?(?:也)?(?:更新|改|换)(?:一下|过来|成新的|掉)(?:吧|哈|哦|啊|哟|谢谢)*",
)
_ASKS = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_SEPARATOR = re.compile(r"(?:[,;.!–—，；。！-]|(?<=\s)[–—-]) ?")
# In place of something that is kept; without a place they ask to keep it.
_KEEPS = re.compile(r"(?<!\w)(?:save|store|keep|note|(?:ab)?speicher\w*|notier\w*|merk\w*)(?!\w)")
_MOST_CHARS = 90
# "What you have there counts no more".
_NO_MORE = re.compile(
    r"(?<!\w)(?:what|the (?:one|code|number|address)) you(?:'ve| have)(?: got)?(?: (?:there|saved|stored|noted|down|on file))* (?:is|isn't|does|doesn't|no longer)[^,;.]{0,40}"
    r"|(?<!\w)(?:das|was|der|die),? (?:was |den |die )?du(?: (?:da|dir|noch))* (?:gespeichert |notiert )?hast,? (?:gilt|stimmt|ist)(?: \w+){0,3} (?:nicht mehr|überholt|veraltet)"
    r"|(?<!\w)(?:lo|la|el) que (?:tú )?tienes(?: (?:guardad[oa]|apuntad[oa]|ahí))* ya no (?:vale|sirve|es)"
    r"|你(?:那边|那里|那儿)?[存记]的(?:那个|那条)?(?:就)?(?:不作数|不算数?|不对|作废|过时|没用|不能用)了?(?:哈|哦|啊)?"
)


@dataclass(frozen=True, slots=True)
class Update:
    """A request to update at `start` to `end` of a sentence; `is_of_memory`: it says so, or that what is kept is over."""

    start: int
    end: int
    is_of_memory: bool


def update_asked(plain: str, start: int, end: int) -> Update | None:
    """The request to update what is kept that `plain[start:end]`, from `aligned`, is, ends with or has within. Takes time
    linear in it."""
    if (over := _NO_MORE.search(plain, start, end)) is not None:
        return Update(over.start(), over.end(), is_of_memory=True)
    begins = [start, *(mark.end() for mark in _SEPARATOR.finditer(plain, max(start, end - _MOST_CHARS), end))]
    for begin in begins:
        found = _ASKS.fullmatch(plain, begin, end) if end - begin <= _MOST_CHARS else None
        if found is not None and begin < end:
            is_of_memory = any(found.groupdict().values())
            if is_of_memory or _KEEPS.search(found[0]) is None:
                return Update(begin, end, is_of_memory)
    return None
