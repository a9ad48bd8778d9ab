# ruff: noqa: E501  # a pattern stands on one line
"""Which sentences go on from the one before them. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.cues import folded

_GOES_ON = re.compile(
    r"(?:it|it's|its|that|that's|this|she|he|they|they're|because|es|das|sie|er|damit|davon|dafür|darin|deshalb|weil|eso|esto|ella|él|ellos|lo|le|les|es|está|fue|era|son|porque)(?!\w)"
    r"|[它这那她他]|因为|所以|而且|就是"
)


# "No, you're right." answers, and states nothing of its own.
_ASSENTS = re.compile(
    r"(?:(?:no|yes|yeah|yep|ok|okay|oh|well|true|right|ja|nein|na|stimmt|sí|no|bueno|ok),? )*+"
    r"(?:you're (?:so |probably )?right|you are right|that's (?:true|right|fair)|fair (?:enough|point)|good (?:idea|point|call)|i know"
    r"|(?:da )?hast du recht|du hast recht|das stimmt|stimmt|gute idee|(?:ich|i) weiß(?: eh)?"
    r"|(?:tienes|tiene|ten[eé]s) (?:toda la )?raz[oó]n|es verdad|buena idea|ya lo s[eé]|eso s[ií])"
    r"|(?:嗯|是的?|对|好)?[，, ]?(?:你说得?对|说得(?:也)?对|也是|有道理|算了)+"
)


def only_assents(sentence: str) -> bool:
    """Whether a sentence says no more than that the other is right."""
    return _ASSENTS.fullmatch(folded(sentence).strip(" .,!。，！…")) is not None


def goes_on(sentence: str) -> bool:
    """Whether a sentence goes on from the one before it: "It is for the blue card." """
    return _GOES_ON.match(folded(sentence)) is not None
