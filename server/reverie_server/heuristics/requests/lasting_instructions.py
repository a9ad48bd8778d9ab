# ruff: noqa: E501  # a pattern stands on one line
"""What is to hold for all answers from now on: "Ab jetzt immer ohne Aufzählungen, ja?" It means itself. Pure."""

from __future__ import annotations

import re

_TO_ANSWER_EN = r"(?:give|write|answer|call|tell|show|send|address|speak|talk|list|measure)(?= (?:me|to me|us|everything|all|it|in|your)(?!\w))"
# Who tells of their own life does so with a verb: "Ab sofort bin ich im Büro".
_BEGINS_WITH_ONE = re.compile(
    r"(?:(?:aber|und|ok|okay|bitte|also|but|and|please|so|y|pero|por favor),? )*+"
    r"(?:(?:ab (?:jetzt|sofort|heute)|von (?:jetzt|nun|heute) an|künftig|fortan|in zukunft)(?: bitte)? "
    rf"(?:(?:immer|nur|nie|niemals|keine?[nrs]?|ohne)(?!\w)|(?:alle |jede |deine |die )?(?:antworten|antwort|rezepte|mengen|texte|nachrichten)(?!\w)(?= [^.]{{0,40}}?(?:ohne|nur|kurz|immer|in|auf|mit|bitte)(?!\w))"
    r"|(?:gib|schreib|antworte|sag|nenn|duz|siez|schick|rechne|red|sprich)e?(?! ich(?!\w))(?!\w)|(?:sagst|schreibst|gibst|nennst|antwortest|redest|machst) du(?!\w))"
    rf"|(?:from (?:now|today|here|this day)(?: on(?:wards?)?)?(?: out)?|going forward|in (?:the )?future),? (?:please )?(?:(?:you )?(?:always|never|only)|no(?! one(?!\w))|without|don't|do not|{_TO_ANSWER_EN}|everything(?= in ))(?!\w)"
    r"|(?:a partir de (?:ahora|hoy|este momento)|(?:de (?:ahora|hoy|aquí|acá) )?en (?:adelante|lo sucesivo)|de ahora en más|desde (?:ahora|hoy|ya)),? (?:por favor,? )?(?:(?:siempre|nunca|solo|sólo|sin|nada de)(?!\w)"
    r"|(?:respónd|contést|escríb|háb|trát|llám|d)[a-z]{0,4}(?:me|ame|eme)(?!\w)))"
    r"|以后(?:你|请你?|回答|回复|回我?|说话|写|跟我|给我)[^，。！？]{0,6}(?:都|别|不要|只|最多|至多|不超过|不准|不许|一律|不用)"
)
# "Could you always give me inches, too?"
_HAS_ONE = re.compile(
    r"(?<!\w)(?:could|can|would|will) you (?:please )?(?:always|never)(?!\w)|(?<!\w)please (?:always|never)(?!\w)"
    r"|(?<!\w)from now on(?!\w)|(?<!\w)du(?: \w+){0,3} (?<!für )(?:immer|nie|niemals)(?!\w)"
    r"|(?<!\w)(?:ab jetzt|künftig|in zukunft)(?!\w)"
    r"|(?<!\w)(?:no \w+ nunca|a partir de ahora|de (?:ahora|aquí|acá) en adelante|en lo sucesivo)(?!\w)"
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
