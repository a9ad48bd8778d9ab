"""What people type in haste, as it is written: `im` for `I'm`, `ne` for `eine`, a space for a Chinese comma. Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.fact_grammar.phrases import Phrases

_HAN = "\u3400-\u9fff"
# A space between Chinese words parts two clauses; one beside a word of another script does only if none is before it.
_PARTS = re.compile(
    rf"(?<=[{_HAN}]{{2}})(?:[ \u3000]++|, ?)(?=[{_HAN}]{{2}}|\d{{1,4}}[{_HAN}])"
    rf"|(?<=[{_HAN}])(?P<other>[\dA-Za-z]{{1,20}}+)(?: ++|, ?)(?=[{_HAN}]{{2}})"
)

_CORRECTS = re.compile(
    r"(?: |, ?)(?:moment|warte|wart|nein|nee|doch|sorry|quatsch|stimmt|stop|halt)(?!\w)|,", re.IGNORECASE
)


def as_written(sentence: str, phrases: Phrases) -> str:
    """A sentence as one writes it who takes the time. Takes time linear in the sentence."""
    if phrases.unspaced:
        sentence = _PARTS.sub(lambda found: f"{found['other'] or ''}，", sentence)
    return phrases["typed"].sub(lambda found: _written(found, phrases), sentence)


def _written(found: re.Match[str], phrases: Phrases) -> str:
    """How a word is written; as it is where it opens a correction: "ne moment, in Bonn"."""
    if _CORRECTS.match(found.string, found.end()) is not None:
        return found[0]
    return _like(found[0], phrases.typed[found[0].lower().strip("'’")])


def _like(typed: str, written: str) -> str:
    return written[:1].upper() + written[1:] if typed[:1].isupper() else written
