"""Requests as they are typed and said, in words that patterns have: "plz 4get", "vergessen Sie", "olvide usted". Pure.

A word is read so beside a verb of its language only: "d" and "ma" are words of several.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from reverie_server.heuristics.requests.fact_requests import aligned

_WORD = re.compile(r"(?<![\w'])[^\W_]+(?:'[^\W_]+)*+")
_ENGLISH = {
    **dict.fromkeys(("plz", "pls", "plss", "plez"), "please"),
    **dict.fromkeys(("4get", "forgett", "frget"), "forget"),
    **{"u": "you", "ya": "you", "ur": "your", "abt": "about", "bout": "about", "wat": "what", "wut": "what"},
}
_GERMAN = {
    **dict.fromkeys(("vergis", "vergiß", "vagiss"), "vergiss"),
    **dict.fromkeys(("bidde", "büdde"), "bitte"),
    **dict.fromkeys(("net", "ned", "nich", "nit"), "nicht"),
    **dict.fromkeys(("gsagt", "jesagt", "gsacht"), "gesagt"),
    **{"des": "das", "dat": "das", "wat": "was", "ma": "mal", "ick": "ich", "mei": "meine", "hob": "hab"},
    **{"kannste": "kannst du", "könnteste": "könntest du", "magste": "magst du"},
}
_SPANISH = {"q": "que", "k": "que", "d": "de", "t": "te", "xfa": "porfa", "pa": "para"}
# Formal address as informal, which the patterns have.
_SIE = {
    **{"vergessen": "vergiss", "löschen": "lösch", "streichen": "streich", "entfernen": "entfern", "tilgen": "tilg"},
    **{"nehmen": "nimm", "merken": "merk", "notieren": "notier", "speichern": "speicher", "behalten": "behalt"},
    **{"schreiben": "schreib", "können": "kannst", "könnten": "könntest", "würden": "würdest", "mögen": "magst"},
}
_VERB_SIE = re.compile(rf"(?<!\w)({'|'.join(_SIE)}) sie( sich)?(?!\w)")
_ASKS_SIE = re.compile(
    r"(?<!\w)ich (?:bitte|bäte|ersuche) sie(?: (?:darum|bitte))*,? ?(?:zu vergessen|(?:das )?zu löschen),?(?!\w)"
)
_USTED = re.compile(r",? ?(?<!\w)usted(?!\w)")
_OF_USTED = (
    (re.compile(r"(?<!\w)(olvid|borr|quit|sac|tach|retir)(?:e)(?!\w)"), r"\1a"),
    (re.compile(r"(?<!\w)elimine(?!\w)"), "elimina"),
    (re.compile(r"(?<!\w)olv[ií]dese(?!\w)"), "olvídate"),
    (re.compile(r"(?<!\w)(b[oó]rr|olv[ií]d|elim[ií]n|qu[ií]t|s[aá]qu)elo(?!\w)"), r"\1alo"),
    (re.compile(r"(?<!\w)(podría|puede)(?= (?:olvid|borr|elimin|quit|sac)\w*r)"), r"\1s"),
    (re.compile(r"(?<!\w)hag(?:a|ame) el favor de"), "haz el favor de"),
    (
        re.compile(
            r"(?<!\w)le (ruego|pido|agradecería|dije|cont[eé]|coment[eé]|mencion[eé]|habl[eé]|expliqu[eé]|he)(?!\w)"
        ),
        r"te \1",
    ),
    (re.compile(r"(?<!\w)te ruego que"), "te pido que"),
    (re.compile(r"(?<!\w)de su memoria(?!\w)"), "de tu memoria"),
)
_OF_ENGLISH = re.compile(
    r"(?<!\w)(?:4get|frget|forg[eo]t\w*|delet\w+|remov\w+|eras\w+|wipe|scrub|unlearn|save|store|keep)(?!\w)"
)
_OF_GERMAN = re.compile(
    r"(?<!\w)(?:v[ea]rgi(?:ss?|ß)|vergessen|lösch\w*|streich\w*|merk\w*|notier\w*|speicher\w*|behalt\w*|schreib\w*)(?!\w)"
)
_OF_SPANISH = re.compile(r"(?<!\w)(?:olv[ií]d|b[oó]rr|elim[ií]n|qu[ií]t|guard|apunt|an[oó]t)\w*")
_MIND = re.compile(r"(?<!\w)(?:would|do) you mind (forget|delet|eras|remov)(?:t?ing)(?!\w)")
_OF_MIND = {"forget": "forget", "delet": "delete", "eras": "erase", "remov": "remove"}


def spelled_out(sentence: str) -> str:
    """A sentence as the patterns of requests have its words, in lower case where it is another. Takes linear time."""
    text = plain = aligned(sentence)
    text = text.replace("您", "你")
    if _OF_ENGLISH.search(text) is not None:
        text = _with(_ENGLISH, text)
        text = _MIND.sub(lambda found: f"could you {_OF_MIND[found[1]]}", text)
    if _OF_GERMAN.search(text) is not None:
        text = _with(_GERMAN, text)
        text = _ASKS_SIE.sub("bitte vergiss,", text)
        text = _VERB_SIE.sub(lambda found: _informal(found[1], is_reflexive=bool(found[2])), text)
    if _OF_SPANISH.search(text) is not None:
        text = _USTED.sub("", _with(_SPANISH, text))
        for pattern, instead in _OF_USTED:
            text = pattern.sub(instead, text)
    return sentence if text == plain else text


def _with(words: Mapping[str, str], text: str) -> str:
    return _WORD.sub(lambda word: words.get(word[0], word[0]), text)


def _informal(verb: str, *, is_reflexive: bool) -> str:
    """A German verb with "Sie" as one with "du"."""
    instead = _SIE[verb]
    return f"{instead}{' du' if instead.endswith('st') else ''}{' dir' if is_reflexive else ''}"
