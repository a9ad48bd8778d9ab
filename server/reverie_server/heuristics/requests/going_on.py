"""Which sentences go on from the one before them. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.cues import folded

_GOES_ON = re.compile(
    r"(?:it|it's|its|that|that's|this|she|he|they|they're|because|es|das|sie|er|damit|davon|dafür|darin|deshalb|weil|eso|esto|ella|él|ellos|lo|le|les|es|está|fue|era|son|porque)(?!\w)"
    r"|[它这那她他]|因为|所以|而且|就是"
)


def goes_on(sentence: str) -> bool:
    """Whether a sentence goes on from the one before it: "It is for the blue card." """
    return _GOES_ON.match(folded(sentence)) is not None
