"""What somebody is to the speaker, in the words before a name: `my sister Ada`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reverie_server.heuristics.fact_grammar.phrases import all_phrases

# In scripts without spaces nothing parts a name from what follows.
_NAME_END = r"(?![^\W\u3400-\u9fff])"
_GAP = r"(?:\s|(?<=[\u3400-\u9fff]))"
_POSSESSIVE = r"(?:(?:my|our|mein\w*|unser\w*|mis?|nuestr\w+)(?!\w)\s?|我们?的?|我們?的?)"
# Between a role and a name: the copula of the line stands for it.
NAMING = re.compile(
    r"(?:(?:\s+(?:heißt|heisst|se llama|is called|is named|called|named|also|too|unfortunately|actually|by the way|ja"
    r"|auch|leider|übrigens|zufällig|también|por desgracia|is|ist|es))|['’]s(?=\s))+$|(?:[也就]?(?:名叫|叫做?|是))$",
    re.IGNORECASE,
)
_NOMINATIVES: Mapping[str, str] = {
    **dict.fromkeys(("mein", "meinem", "meinen", "meines"), "Mein"),
    **dict.fromkeys(("meine", "meiner"), "Meine"),
    **dict.fromkeys(("unser", "unserem", "unseren", "unseres"), "Unser"),
    **dict.fromkeys(("unsere", "unserer"), "Unsere"),
}
_OF_ONE = frozenset({"my", "our", "mi", "nuestro", "nuestra"})
# `Meinen Bruder` is one, `meinen Eltern` are more.
_OF_ONE_OR_MANY = frozenset({"meinen", "unseren"})


def role_before(name: str) -> re.Pattern[str]:
    """What somebody of a name is to the speaker, and the name: `my sister Ada`, `meine Chefin heißt Petra`."""
    said = rf"(?P<role>{_POSSESSIVE}[^,.;!?，。]{{1,30}}?){_GAP}{re.escape(name)}{_NAME_END}"
    return re.compile(said, re.IGNORECASE)


def who_is_named(text: str, name: str, language: str) -> str:
    """What somebody is whose name ends a text, as the subject of a sentence: `Meine Schwester` of `zu meiner Schwester
    Ada`, `My nephew` of `I took my nephew Tim`; "" where that is not plain."""
    words = text.removesuffix(name).split()
    relations = all_phrases()[language].relations
    if len(words) < 2 or language == "chinese":
        return ""
    possessive, noun = words[-2], words[-1]
    known = relations.many | relations.single
    if language == "german":
        known = relations.male if possessive.casefold() in _OF_ONE_OR_MANY else known
        noun = noun if noun.casefold() in known else noun.removesuffix("n")  # `mit meinem Neffen`
        possessive = _NOMINATIVES.get(possessive.casefold(), "")
    elif possessive.casefold() not in _OF_ONE:
        return ""
    return f"{possessive} {noun}" if possessive and noun.casefold() in known else ""
