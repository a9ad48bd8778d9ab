# ruff: noqa: E501  # a pattern stands on one line
"""What is to hold for all answers from now on: "Ab jetzt immer ohne Aufzählungen, ja?" It means itself. Pure."""

from __future__ import annotations

import re

# Who tells of their own life does so with a verb: "Ab sofort bin ich im Büro".
_STANDING = re.compile(
    r"(?:(?:aber|und|ok|okay|bitte|also|but|and|please|so|y|pero|por favor),? )*+"
    r"(?:(?:ab (?:jetzt|sofort|heute)|von (?:jetzt|nun) an|künftig|in zukunft)(?: bitte)? (?:immer|nur|nie|niemals|keine?[nrs]?|ohne)(?!\w)"
    r"|from now on,? (?:please )?(?:always|never|only|no|without|don't|do not)(?!\w)"
    r"|(?:a partir de ahora|de ahora en adelante),? (?:por favor,? )?(?:siempre|nunca|solo|sólo|sin|nada de)(?!\w))"
    r"|以后(?:你|请你?|回答|回复|说话|写|跟我|给我)[^，。！？]{0,6}(?:都|别|不要|只)"
)
_TAG = re.compile(
    r"(?:,? (?:ja|ok|okay|gell|ne|bitte|please|thanks|vale|sí|alright|right|yeah|por favor))+[\s?!.]*$|[，,]?(?:好吗|好不好|行吗|可以吗)[？?。！]*$"
)
_MOST_OF_TAG = 40


def standing_end(plain: str, start: int) -> int:
    """Where what a sentence, from `aligned`, wants from now on ends; 0 where it wants nothing of the kind. Takes time
    linear in it."""
    if _STANDING.match(plain, start) is None:
        return 0
    tag = _TAG.search(plain, max(start, len(plain) - _MOST_OF_TAG))
    return len(plain.rstrip(" ?？")) if tag is None else tag.start()
