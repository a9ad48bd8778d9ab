# ruff: noqa: E501  # a pattern stands on one line
"""What asks not to keep something, in the words in which others ask to remember: "Merk dir das bitte nicht". Pure."""

from __future__ import annotations

import re

# No negation of these verbs is "don't forget".
_NOT_TO_KEEP = re.compile(
    r"(?<!\w)(?:do not|don't|dont|never|not to|no need to|needn't|without)(?: (?:you|u|ever|please|need (?:to|2)|have (?:to|2)|even)){0,2} (?:remember|memori[sz]e|note|record|save|store|keep)(?!\w)"
    r"|(?<!\w)(?:not|isn't|wasn't)(?: \w+)? (?:for|on) the record(?!\w)|(?<!\w)(?:keep|leave) (?:that|this|it) (?:out|off)(?!\w)"
    r"|(?<!\w)(?:merk|notier|speicher|behalt|schreib)\w*(?: (?!dass|ich|wir|nicht)\w+){0,4} nicht(?! vergess)(?!\w)"
    r"|(?<!\w)nicht(?: \w+){0,2} (?:(?:zu )?merken|notieren|speichern|behalten|aufschreiben|aufzuschreiben)(?!\w)"
    r"|(?<!\w)no (?:(?:te|me|nos|lo|la|hace falta que|tienes que|hay que) )*(?:recuerd|recordar|guard|anot|apunt|memori)\w*"
    r"|(?:不要|不用|不必|不需要|别|別|勿)(?:再|帮我|幫我|替我|给我|給我|去)*(?:记|記|存|保存)"
)


def asks_not_to_keep(plain: str) -> bool:
    """Whether a sentence, folded, has a verb for keeping that it denies."""
    return _NOT_TO_KEEP.search(plain) is not None
