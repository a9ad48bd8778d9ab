"""What people leave out where they chat: who speaks, and the capitals of names. Pure but for its data."""

from __future__ import annotations

import re

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_grammar.phrases import Phrases
from reverie_server.heuristics.fact_grammar.spoken import reworded_by
from reverie_server.heuristics.fact_grammar.terms import word_set

_WORD = re.compile(r"(?<![\w@./-])[^\W\d_]{2,30}(?![\w@/-])")
# Names that are words besides.
_WORDS_TOO = word_set(
    "will may mark hope grace rose bill art rich faith joy dawn sue pat jack summer autumn ruby pepper biscuit cookie"
    " ginger honey sugar cocoa peanut olive daisy lily ivy rob drew chase guy miles max sky bear lucky happy sunny"
    " angel prince king keks socke ernst frank stern august klaus wolf rosa mia moritz my the an in am on to no so"
)


def in_full(sentence: str, phrases: Phrases, people: People, *, is_of_self: bool) -> str:
    """A sentence with the capitals of the people who are known; `is_of_self`: and with `I` where it has no subject."""
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
