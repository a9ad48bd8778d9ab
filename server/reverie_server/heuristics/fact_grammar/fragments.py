"""What people leave out where they chat: who speaks, and the capitals of names. Pure but for its data."""

from __future__ import annotations

import re

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_grammar.phrases import Phrases
from reverie_server.heuristics.fact_grammar.spoken import reworded_by
from reverie_server.heuristics.fact_grammar.terms import GENERIC_VALUES, word_set

_WORD = re.compile(r"(?<![\w@./-])[^\W\d_]{2,30}(?![\w@/-])")
# Names that are words besides.
_WORDS_TOO = word_set(
    "will may mark hope grace rose bill art rich faith joy dawn sue pat jack summer autumn ruby pepper biscuit cookie"
    " ginger honey sugar cocoa peanut olive daisy lily ivy rob drew chase guy miles max sky bear lucky happy sunny"
    " angel prince king keks socke ernst frank stern august klaus wolf rosa mia moritz my the an in am on to no so"
)
# "Pin is 1234": what is known by a value stands without an article, and with a capital where a line begins.
_BARE_VALUE = re.compile(
    r"(?!(?:the|an?|my|our|your|his|her|their|its|this|that|what|which|whose|no|and|but|der|die|das|den|eine?|mein\w*|dein\w*"
    r"|sein\w*|ihr\w*|unser\w*|kein\w*|und|el|la|los|las|mi|tu|su|una?|nuestr\w+|y)(?!\w))"
    rf"(?:[^\W\d_]{{2,20}} )?(?:{'|'.join(sorted(GENERIC_VALUES, key=lambda value: (-len(value), value)))})"
    r" (?:is|ist|lautet|es)(?= (?:now |jetzt |ahora )?\S*\d)",
    re.IGNORECASE,
)


def in_full(sentence: str, phrases: Phrases, people: People, *, is_of_self: bool) -> str:
    """A sentence with the capitals of the people who are known, and with the article of a value; `is_of_self`: and with
    `I` where it has no subject."""
    if _BARE_VALUE.match(sentence) is not None:
        article = "The " if phrases.language == "english" else ""
        first = sentence[:1].lower() if sentence[1:2].islower() else sentence[:1]
        sentence = f"{article}{first}{sentence[1:]}"
    sentence = _with_capitals(sentence, people)
    return reworded_by(phrases.elided, sentence) if is_of_self else sentence


def _with_capitals(sentence: str, people: People) -> str:
    names = people.first_names()
    if not names:
        return sentence

    def written(found: re.Match[str]) -> str:
        word = found[0]
        is_name = word.islower() and word not in _WORDS_TOO and folded(word) in names
        return word.capitalize() if is_name else word

    return _WORD.sub(written, sentence)
