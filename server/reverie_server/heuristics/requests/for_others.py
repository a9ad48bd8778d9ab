# ruff: noqa: E501  # a pattern stands on one line
"""Whose text a task asks for, where it is somebody else's: "Write a bio for my brother: I'm Tom". Pure."""

from __future__ import annotations

import re
from functools import cache

from reverie_server.heuristics.fact_grammar.phrases import all_roles
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.request_model import is_han

# Those for whom people write besides the ones around them. A bio "for my website" is one's own.
_MORE = (
    r"customers?|clients?|students?|pupils?|employees?|interns?|candidates?|characters?|somebody(?: else)?|someone(?: else)?"
    r"|kund(?:e|en|in)|schüler(?:in|s)?|student(?:en|in)?|mitarbeiter(?:in|s)?|praktikant(?:en|in)?|klient(?:en|in)?|jemand\w*|söhne?s?|töchter"
    r"|alumn[oa]s?|emplead[oa]s?|becari[oa]|personaje|alguien"
)
_MORE_HAN = "[堂表][兄弟姐妹哥嫂]|亲戚|親戚|邻居|鄰居|室友|侄子|侄女|外甥女?|客户|客戶|学生|學生|同事|员工|員工|孩子|朋友|别人|別人"
# Anybody may be written for besides, but "a CV for a teacher" may be one's own.
_ANYBODY = r"friends?|colleagues?|co-?workers?|neighbou?rs?|mates?|freund(?:e|in|es)?|kolleg(?:en|in)|nachbar[ns]?|amig[oa]|compañer[oa]|vecin[oa]|coleg[ao]"
_FOR = r"(?<!\w)(?:for|of|für|von|para|de) "
_ONES_OWN = r"(?:(?:one of )?(?:my|our|his|her|their)|(?:ein\w{0,2} )?(?:mein|unser)\w{0,2}|mis?|nuestr[oa]s?|sus?) (?:[\w-]{1,20} )??"
# "For my client manager role" is for a role.
_AS_PERSON = r"(?![\w-])(?! [\w-]*(?:job|role|position|post|company|firm|stelle|profil)(?!\w)| manager(?!\w))"
_SENTENCE_END = re.compile(r"[.!?。！？\n]")


def is_for_somebody_else(task: str) -> bool:
    """Whether what asks for a text says in its last sentence that it is somebody else's. Takes time linear in it."""
    sentence = _SENTENCE_END.split(aligned(task).rstrip(" \t\n:：.!?。！？'\"“„«"))[-1]
    return _somebody_else().search(sentence) is not None


@cache
def _somebody_else() -> re.Pattern[str]:
    roles = sorted(all_roles(), key=len, reverse=True)
    spaced = "|".join([_MORE, *(f"{re.escape(role)}(?:e?n|e?s)?" for role in roles if not is_han(role[0]))])
    han = "|".join([_MORE_HAN, *(re.escape(role) for role in roles if is_han(role[0]))])
    anybody = rf"(?:(?:an?|ein\w{{0,2}}|una?) )?(?:{_MORE}|{_ANYBODY})"
    return re.compile(
        rf"{_FOR}(?:{_ONES_OWN}(?:{spaced})|{anybody}){_AS_PERSON}|(?<!\w)(?:my|our) (?:{spaced})(?:'s?|s)(?!\w)"
        rf"|(?<!\w)(?:meines|meiner|unseres|unserer) (?:{spaced})(?!\w)|[帮幫给給替为為](?:我们?的?|一个|一位)?(?:{han})"
    )
