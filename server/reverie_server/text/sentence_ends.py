"""Whether a point ends a sentence, by what stands before and behind it. Pure."""

from __future__ import annotations

import re

SHORT_FORM_CHARS = 12
"""So much of what stands before a mark tells whether it is that of a short form."""
_SHORT_FORM = re.compile(
    r"(?:^|[\s(])(?:[^\W\d]|dra?|mr|mrs|ms|mt|prof|st|vs|nr|bzw|ca|sra?|av|ул|тел|г|tel|z\. ?b|d\. ?h|p\. ?ej"
    r"|u\. ?a|e\.g|i\.e)\.$",
    re.IGNORECASE,
)
# These end a sentence before a capital: "tea, cake etc. My sister hates it".
_SHORT_BEFORE_SMALL = re.compile(
    r"(?:^|[\s(])(?:etc|usw|inc|ltd|corp|approx|resp|jr|zb|evtl|ggf|inkl|exkl|vgl|bspw|zzgl|bzgl|insb|allg|sog|abt|geb"
    r"|verh|kap|\w*str|med|dent|phil|mio|mrd|tsd|sek|aprox|p[aá]g|avda|n[uú]m|uds?|dept|depto|pza|dott|sig|mme|mlle|tbsp"
    r"|[ap]\.m)\.$",
    re.IGNORECASE,
)
# These are words as well, unless a number follows: "I changed my mind. my ex", "mind. 30".
_SHORT_BEFORE_NUMBER = re.compile(r"(?:^|[\s(])(?:no|max|min|art|mind|fig|est|std|co)\.$", re.IGNORECASE)
# Before a lower case letter a mark ends a sentence only behind a whole word, a long number or a code: who writes all in
# lower case writes "vs." and "the 3." as well.
_WHOLE_WORD = re.compile(
    r"(?:[^\W\d_]{3}|\d{4}|\d-\d{1,2}-\d{1,3}|[^\W\d_]-\d{1,3}|(?:^|[\s,(])(?:zu|da|du|er|es|ja|so|um|wo|ab|an|it|me|up|us|we|go|do|he|is|to|on|in|ok|si|sí"
    r"|no|ya|yo|va|nö))[!?.…]+$",
    re.IGNORECASE,
)
# A face or a hand is no word, as a heart or an apple may be.
_FACE = (
    "[\U0001f600-\U0001f64f\U0001f910-\U0001f92f\U0001f970-\U0001f97a"
    "\U0001f3fb-\U0001f3ff\U0001f389\U0001f44d\U0001f4aa]"
)
FACE_ENDS = rf"(?<={_FACE})(?:\s+(?=[A-ZÀ-ÖØ-Þ¡¿])|\s*(?=[\u4e00-\u9fff]))"
"""What parts two sentences behind a face, as a pattern: before a capital ("Hello 😄 I'm Ada"), and in Chinese."""
_BEHIND_FACE = re.compile(rf"{_FACE}$")
# Before it stands so much that a sentence may be.
_SAYS = re.compile(r"\w{3}|\w\W+\w")
_CLOSES = frozenset("\"'”’»›")


def is_within_sentence(before: str, behind: str) -> bool:
    """Whether a mark at the end of `before`, the last SHORT_FORM_CHARS up to it, ends no sentence: that of a short form
    ("etc."), or one that goes on in lower case behind what is no whole word, or behind a quotation ("stop!" she said),
    or a face before which nothing was said.

    `behind` is what closes the sentence, and the character after it.
    """
    if _BEHIND_FACE.search(before) is not None and _SAYS.search(before) is None:
        return True
    is_small, is_number = behind[-1:].islower(), behind[-1:].isdigit()
    if is_small and (_WHOLE_WORD.search(before) is None or behind[:1] in _CLOSES):
        return True
    if (is_small or is_number) and _SHORT_BEFORE_SMALL.search(before) is not None:
        return True
    return _SHORT_FORM.search(before) is not None or (is_number and _SHORT_BEFORE_NUMBER.search(before) is not None)
