"""What people type in haste, as it is written: `im` for `I'm`, `ne` for `eine`, a space for a Chinese comma. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.phrases import Phrases
from reverie_server.heuristics.fact_grammar.run_ons import parted
from reverie_server.heuristics.fact_grammar.terms import word_set

_HAN = "\u3400-\u9fff"
# A space between Chinese words parts two clauses; one beside a word of another script does only if none is before it.
_PARTS = re.compile(
    rf"(?<=[{_HAN}\d][{_HAN}])(?:[ \u3000]++|, ?)(?=[{_HAN}]{{2}}|\d{{1,4}}[{_HAN}])"
    rf"|(?<=[{_HAN}])(?P<other>[\dA-Za-z]{{1,20}}+)(?: ++|, ?)(?=[{_HAN}]{{2}})"
)

_SMALL_WORD = re.compile(r"(?<![\w@#./'’-])[^\W\d_]{2,20}(?![\w@/-]|\.\w)")
# A name that is a word, too, is one only where it is written so.
_WORDS_TOO = word_set(
    "will mark may june april august rose grace hope joy dawn bill pat sue art gene dean ray jack drew chip penny"
    " amber ruby ivy holly violet daisy olive iris lily poppy heather basil faith guy miles grant wade chase earl"
    " duke king max sky summer autumn winter sunny dad mum mom ernst wolf frank rosa sol luz mar paz cruz pilar"
    " dolores mama papa oma opa"
)
# What stands before a thing: "a biscuit", of a dog that is called so.
_BEFORE_THINGS = word_set(
    "a an the this that these those some any no every each another my our your his her its their of more ein eine"
    " einen einem einer der die das den dem des kein keine keinen mein meine dein deine sein seine ihr ihre viel"
    " un una unos unas el la los las este esta ese esa cada otro otra mi mis tu tus su sus nuestro nuestra de más"
)

_CORRECTS = re.compile(
    r"(?: |, ?)(?:moment|warte|wart|nein|nee|doch|sorry|quatsch|stimmt|stop|halt)(?!\w)|,", re.IGNORECASE
)


def as_written(sentence: str, phrases: Phrases) -> str:
    """A sentence as one writes it who takes the time. Takes time linear in the sentence."""
    if phrases.unspaced:
        sentence = parted(_PARTS.sub(lambda found: f"{found['other'] or ''}，", sentence), phrases)
    return phrases["typed"].sub(lambda found: _written(found, phrases), sentence)


def with_capitals(sentence: str, names: Collection[str]) -> str:
    """A sentence with the first names of people who are known (`People.first_names`) as one writes them: "hannah works
    nights". Takes time linear in the sentence."""
    pieces: list[str] = []
    done, before = 0, ""
    for found in _SMALL_WORD.finditer(sentence):
        word = found[0]
        if word.islower() and folded(word) in names and word not in _WORDS_TOO and before not in _BEFORE_THINGS:
            pieces += sentence[done : found.start()], word[:1].upper()
            done = found.start() + 1
        before = word
    return "".join([*pieces, sentence[done:]])


def _written(found: re.Match[str], phrases: Phrases) -> str:
    """How a word is written; as it is where it opens a correction: "ne moment, in Bonn"."""
    if _CORRECTS.match(found.string, found.end()) is not None:
        return found[0]
    return _like(found[0], phrases.typed[found[0].lower().strip("'’")])


def _like(typed: str, written: str) -> str:
    return written[:1].upper() + written[1:] if typed[:1].isupper() else written
