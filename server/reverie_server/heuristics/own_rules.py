# ruff: noqa: E501  # a pattern stands on one line
"""Rules and habits of one's own, in sentences of which no fact is read: "I never work on Fridays". Pure."""

from __future__ import annotations

import re

# A rule or a habit of one's own.
_ALWAYS = re.compile(
    r"(?<!\w)(?:i (?:always|never)|please (?:always|never)|always (?:use|answer|write)|never (?:use|answer|write)"
    r"|call me|nenn mich|ich \w+ (?:immer|nie|niemals)|immer bitte|bitte (?:immer|nie)"
    # "Siempre hay uno" is nobody's rule.
    r"|(?:yo )?(?:siempre|nunca) (?:(?:me|te|le|les|nos|lo|la|los|las|se) ){0,2}(?!(?:lo|tanto|mucho|poco|todo|mismo|nuevo|cuando)(?!\w))"
    r"\w+(?:o|oy)|(?:yo )?(?:[mn]e |nos |lo |la )?(?!(?:como|cuando|ando)(?!\w))\w+(?:o|oy) (?:siempre|nunca)|llámame"
    r"|(?:h[aá]bl|cont[eé]st|resp[oó]nd|escr[ií]b|d[ií]g|tr[aá]t|ll[aá]m)\w*me (?:siempre|nunca)"
    r"|(?:siempre|nunca) (?:me )?(?:us[ae]s?|escrib[ae]s?|respond[ae]s?|contest[ae]s?|pon|pongas?|llam[ae]s|hábla\w*|respónd\w*|trát\w*)"
    r"|no (?:me )?\w+[ae]s (?:nunca|jamás))(?!\w)"
    r"|我(?:总是|從不|从不|一直)|请(?:总是|不要)|叫我"
)
# What one always does with a thing that was named before.
_ALWAYS_WITH_IT = re.compile(
    r"(?<!\w)(?:i (?:always|never) \w+ (?:it|that|this|them)|ich \w+ (?:es|das|ihn|sie) (?:immer|nie|niemals)"
    r"|(?:siempre|nunca) (?:me |te |se )?(?:lo|la|los|las|eso|esto))(?!\w)"
    r"|我(?:总是|从不|从来不|一直)\w{1,4}[它这那]"
)
# What one always does with what was said before, of which nothing stands there: "I always peek."
_ALWAYS_SO = re.compile(
    r"(?:(?:and|but|so|und|aber|y|pero) )?(?:i always \w+(?: at (?:it|that|them))?|ich \w+ immer"
    r"|(?:yo )?siempre \w+|我(?:总是|一直)\w{1,2})[.!。！ ]*"
)


def says_a_rule(plain: str) -> bool:
    """Whether a folded sentence says what its speaker always or never does, or wants, and of what. Takes time linear in
    it."""
    is_of_before = _ALWAYS_WITH_IT.search(plain) is not None or _ALWAYS_SO.fullmatch(plain) is not None
    return _ALWAYS.search(plain) is not None and not is_of_before
