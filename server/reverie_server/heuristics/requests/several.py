# ruff: noqa: E501  # a pattern stands on one line
"""Requests that mean more than one thing: "Remember both, please". Pure.

Such a sentence is read with a word for one thing in place of those for several, as "Remember that, please".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reverie_server.heuristics.fact_grammar.terms import is_unspaced

ALL = 0
"""The count of "all of that": whatever was said in the message."""
_COUNTS = {
    **{"both": 2, "beide": 2, "beides": 2, "beiden": 2, "ambas": 2, "ambos": 2, "两": 2, "俩": 2},
    **{"two": 2, "three": 3, "four": 4, "five": 5, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5},
    **{"dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "三": 3, "四": 4, "五": 5},
}
# "Keep both" is said of what one chooses between. By the word that each language has for one thing. Without a `count` it is all of them.
_SEVERAL = {
    "that": re.compile(
        r"(?<!\w)(?:(?:all |the |those |these )?(?P<count>(?<!keep )both|both(?= in mind)|(?<=[le] )(?:two|three|four|five))(?: of (?:them|those|these|that))?(?: (?:things|facts|details|bits|points))?"
        r"|all of (?:that|this|them|those|these|it)|(?:it|that|this|them) all)(?!\w)"
    ),
    "das": re.compile(
        r"(?<!\w)(?:(?:alle |alles |die |diese )?(?P<count>beides|beiden?|(?<=e )(?:zwei|drei|vier|fünf))(?: (?:sachen|dinge|angaben|punkte))?"
        r"|das alles|alles(?! (?:was|gute)))(?!\w)"
    ),
    "eso": re.compile(
        r"(?<!\w)(?:(?:las |los |est[ao]s |es[ao]s )?(?P<count>ambas|ambos|(?<=s )(?:dos|tres|cuatro|cinco))(?: (?:cosas|datos|cosillas))?|todo (?:eso|esto))(?!\w)"
    ),
    "这个": re.compile(r"[这那]?(?P<count>[两俩三四五])(?:个|样|件事?|条|点|项|句)?都?|[这那]些都"),
}
# "The gate has 4096 and the shed has 1177" says two things.
_VALUE = re.compile(r"\d(?:[ .,/-]?\d){2}")
_AND = re.compile(
    r"(?:,? (?:and|und|y|e)|;) (?:my|our|the|his|her|mein\w*|unser\w*|de[rm]|die|das|mis?|nuestr\w+|el|la|los|las|a mi)(?: [\w'-]+){2}"
    r"|[，；。]?(?:而|还有)?[我他她它你][的家们]"
)
_MOST = 6
# "Remember two things: my locker is 41. The stopcock is behind the fridge."
_ANNOUNCED = re.compile(
    rf"(?<!\w)(?P<count>{'|'.join(word for word in _COUNTS if word.isascii() or 'ü' in word)})"
    r"(?: more| weitere| otras?)? (?:things?|facts|details|numbers|sachen|dinge|angaben|nummern|cosas|cosillas|datos|números) ?:\s*"
)
_LONGEST_ANNOUNCED = 60


@dataclass(frozen=True, slots=True)
class Several:
    """A sentence with a word for one thing at `start`, in place of those for several: `count`, or ALL. It is so many
    characters longer than the sentence.
    """

    text: str
    start: int
    count: int
    longer: int


def several_in(plain: str) -> Several | None:
    """A sentence, from `aligned`, that speaks of several things as one of a single thing. Takes time linear in it."""
    for instead, pattern in _SEVERAL.items():
        found = pattern.search(plain)
        if found is not None:
            count = ALL if found["count"] is None else _COUNTS[found["count"]]
            text = plain[: found.start()] + instead + plain[found.end() :]
            return Several(text, found.start(), count, len(text) - len(plain))
    return None


def announced_at(plain: str, start: int) -> tuple[int, int]:
    """How many things a sentence, from `aligned`, announces before a place or at it, and where the first of them
    begins; none, and that place, where it announces nothing."""
    found = _ANNOUNCED.search(plain, max(0, start - _LONGEST_ANNOUNCED), start + _LONGEST_ANNOUNCED)
    return (0, start) if found is None or found.end() < start else (_COUNTS[found["count"]], found.end())


def last_of(said: Sequence[tuple[str, int]], count: int) -> list[int]:
    """The places of the last statements that say `count` things together, or of ALL of one message; `said` has each
    statement with the number of its message."""
    found: list[int] = []
    left = count or _MOST
    for at in reversed(range(len(said))):
        text, message = said[at]
        if left <= 0 or (count == ALL and message != said[-1][1]):
            break
        found.append(at)
        left -= 1 if count == ALL else _things_in(text)
    return found[::-1]


def _things_in(text: str) -> int:
    """How many things a statement says, as far as its numbers, or a new subject behind an "and", tell it."""
    plain = text.lower()
    more = _AND.findall(plain, 1) if is_unspaced(text) else _AND.findall(plain)
    return max(1, len(set(_VALUE.findall(plain))), 1 + len(more))
