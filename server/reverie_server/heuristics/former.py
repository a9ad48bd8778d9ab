"""What was so once, a habit of another time. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie_server.heuristics.cues import folded

_FORMER = re.compile(
    r"(?<!\w)(?:used to|back then|when (?:i|we) (?:was|were|lived|worked|had|still)|in those days"
    r"|(?:always|never|usually) (?:went|had|was|were|did|took|drank|ate|drove|ran|came|got|kept|made|used|lived|worked)"
    r"|früher|damals|als (?:ich|wir) (?:noch|klein|jung)|sol[ií]a(?:mos)?"
    r"|cuando (?:era|éramos|vivía|trabajaba)\w*)(?!\w)"
    r"|以前|曾经|曾經|小时候|小時候|从前|從前"
)
# What tells of today again behind what was once.
_NOW = re.compile(
    r"(?<!\w)(?:now|nowadays|these days|today|jetzt|heute|inzwischen|mittlerweile|ahora|hoy(?: en día)?)(?!\w)"
    r"|现在|現在|如今|目前"
)
_CLAUSE = re.compile(r"[^,;:()，；：（）–—]+")
_WORD = re.compile(r"\w")


def is_of_the_past(text: str) -> bool:
    """Whether a text tells of another time, of which nothing need hold."""
    return _FORMER.search(folded(text)) is not None


def holds_no_more(text: str, value: str) -> bool:
    """Whether a text tells of another time where it has `value`: "I'm vegan, used to be vegetarian" is vegan today.

    Takes time linear in the text.
    """
    plain, value = folded(text), folded(value)
    if _FORMER.search(plain) is None:
        return False
    return next((is_once for clause, is_once in _clauses(plain) if value in clause), True)


def _clauses(plain: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a text, each with whether it tells of another time: what has a word of it, and what goes on from
    there. A word of it alone belongs to what stands before it: "I had tea, back then"."""
    # "以前住北京现在住上海" has no comma.
    found = [clause[0] for clause in _CLAUSE.finditer(_NOW.sub(r", \g<0>", plain))]
    is_once = False
    for clause, following in zip(found, [*found[1:], ""], strict=True):
        is_once = _FORMER.search(clause) is not None or (is_once and _NOW.search(clause) is None)
        is_told_behind = _FORMER.search(following) is not None and _WORD.search(_FORMER.sub("", following)) is None
        yield clause, is_once or is_told_behind
