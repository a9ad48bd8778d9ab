"""What people type in haste, as it is written: `im` for `I'm`, `ne` for `eine`, a space for a Chinese comma. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from reverie_indexer.text.analyse import stop_words
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.phrases import Phrases
from reverie_server.heuristics.fact_grammar.run_ons import parted
from reverie_server.heuristics.fact_grammar.terms import word_set
from reverie_server.heuristics.requests.fact_requests import aligned

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
# What is said of how somebody is called, and is no name: "se llama igual", "is called up".
_NO_NAMES = word_set(
    "igual así como mucho poco loco away up off out names back later again differently genauso anders gleich ebenso"
    " dios nadie alguien otro otra someone somebody jemand niemand the"
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
    return _with_names(phrases["typed"].sub(lambda found: _written(found, phrases), sentence), phrases)


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


def _with_names(sentence: str, phrases: Phrases) -> str:
    """A sentence with capitals for the names that it says somebody has: "mi mujer se llama ana"."""
    for found in phrases["naming"].finditer(aligned(sentence)):
        start, end = found.span("name")
        words = sentence[start:end].split(" ")
        if all(word.islower() and _can_be_name(word, phrases) for word in words):
            sentence = f"{sentence[:start]}{' '.join(map(str.capitalize, words))}{sentence[end:]}"
    return sentence


def _can_be_name(word: str, phrases: Phrases) -> bool:
    """Whether a word in small letters is no word of the language that says who or how somebody is."""
    is_of_language = folded(word) in stop_words(phrases.language) or word in _NO_NAMES
    is_word = is_of_language or phrases["name_break"].fullmatch(word) is not None
    return not is_word and len(word.capitalize()) == len(word)


def _written(found: re.Match[str], phrases: Phrases) -> str:
    """How a word is written; as it is where it opens a correction: "ne moment, in Bonn"."""
    if _CORRECTS.match(found.string, found.end()) is not None:
        return found[0]
    return _like(found[0], phrases.typed[found[0].lower().strip("'’")])


def _like(typed: str, written: str) -> str:
    return written[:1].upper() + written[1:] if typed[:1].isupper() else written
