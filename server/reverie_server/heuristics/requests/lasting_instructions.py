# ruff: noqa: E501  # a pattern stands on one line
"""What is to hold for all answers from now on: "Ab jetzt immer ohne Aufzählungen, ja?" It means itself. Pure."""

from __future__ import annotations

import re

# Who tells of their own life does so with a verb: "Ab sofort bin ich im Büro".
_BEGINS_WITH_ONE = re.compile(
    r"(?:(?:aber|und|ok|okay|bitte|also|but|and|please|so|y|pero|por favor),? )*+"
    r"(?:(?:ab (?:jetzt|sofort|heute)|von (?:jetzt|nun) an|künftig|in zukunft)(?: bitte)? (?:immer|nur|nie|niemals|keine?[nrs]?|ohne)(?!\w)"
    r"|from now on,? (?:please )?(?:always|never|only|no|without|don't|do not)(?!\w)"
    r"|(?:a partir de ahora|de ahora en adelante),? (?:por favor,? )?(?:siempre|nunca|solo|sólo|sin|nada de)(?!\w))"
    r"|以后(?:你|请你?|回答|回复|说话|写|跟我|给我)[^，。！？]{0,6}(?:都|别|不要|只)"
)
# "Could you always give me inches, too?"
_HAS_ONE = re.compile(
    r"(?<!\w)(?:could|can|would|will) you (?:please )?(?:always|never)(?!\w)|(?<!\w)please (?:always|never)(?!\w)"
    r"|(?<!\w)from now on(?!\w)|(?<!\w)du(?: \w+){0,3} (?<!für )(?:immer|nie|niemals)(?!\w)"
    r"|(?<!\w)(?:ab jetzt|künftig|in zukunft)(?!\w)"
    r"|(?<!\w)(?:no \w+ nunca|a partir de ahora|de ahora en adelante)(?!\w)"
    r"|以后(?:你|都|请|跟我|给我|别|回答|回复|说话|写)|从今往后"
)
_TAG = re.compile(
    r"(?:,? (?:ja|ok|okay|gell|ne|bitte|please|thanks|vale|sí|alright|right|yeah|por favor))+[\s?!.]*$|[，,]?(?:好吗|好不好|行吗|可以吗)[？?。！]*$"
)
_MOST_OF_TAG = 40


def instruction_end(plain: str, start: int) -> int:
    """Where what a sentence, from `aligned`, wants from now on ends; 0 where it wants nothing of the kind. Takes time
    linear in it."""
    if _BEGINS_WITH_ONE.match(plain, start) is None:
        return 0
    tag = _TAG.search(plain, max(start, len(plain) - _MOST_OF_TAG))
    return len(plain.rstrip(" ?？")) if tag is None else tag.start()


def has_instruction(plain: str) -> bool:
    """Whether a sentence that asks for something, from `aligned`, speaks of all answers. Takes time linear in it."""
    return _HAS_ONE.search(plain) is not None
