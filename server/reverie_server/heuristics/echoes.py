"""The sentences of an answer or of a summary that say again what was said. Pure.

"Got it, 13 March." behind "My flight is on the 13th of March" is no statement of its own: it holds as long as that
does. It is told by what it says and not by how: it has the value, no other number, and hardly a word of its own. A
summary tells it in other words: what it says there has fewer words of its own than such as were said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie_server.heuristics.fact_grammar.terms import content_terms, is_unspaced
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.text.fences import strip_injected
from reverie_server.text.questions import is_question

# Longer sentences tell more than they repeat.
_MAX_CHARS = 200
# So many words may acknowledge, but no more than are repeated. In scripts without spaces a word is about two terms.
_MAX_OTHER_WORDS, _TERMS_OF_WORD = 2, 2
_DIGITS = re.compile(r"\d{1,20}")


@dataclass(frozen=True, slots=True)
class _Said:
    """The words and numbers of a text."""

    words: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Said:
        # Terms with digits are numbers with what stands beside them, and one character is a part of these.
        words = (term for term in content_terms(text) if len(term) > 1 and not _DIGITS.search(term))
        return cls(frozenset(words), frozenset(_DIGITS.findall(text)))


def echoes_of(value: str, said: str, answer: str) -> list[str]:
    """The sentences of an answer that repeat a value, given all that was said. Takes time linear in the texts."""
    of_value, known, text = _Said.of(value), _Said.of(said), strip_injected(answer)
    sentences = [text[span.start : span.end] for span in spoken_sentences(text) if span.end - span.start <= _MAX_CHARS]
    return [sentence for sentence in sentences if _repeats(sentence, of_value, known)]


def retold_in(value: str, said: str, summary: str) -> list[str]:
    """The sentences of a summary that tell a value again, given all that was said with it. Takes time linear in the
    texts."""
    of_value, known = _Said.of(value), _Said.of(said)
    sentences = [summary[span.start : span.end] for span in spoken_sentences(summary)]
    return [
        sentence
        for sentence in sentences
        if len(sentence) <= _MAX_CHARS and _retells(_Said.of(sentence), of_value, known)
    ]


def _retells(own: _Said, value: _Said, known: _Said) -> bool:
    shared = len(own.words & known.words) + len(own.numbers & known.numbers)
    others = len(own.words - known.words)
    # Of a whole statement a part is told: "Keith runs our depot", of "Keith runs our depot and wants it by tonight".
    is_told = _has_value(own, value) or (len(own.words) > _MAX_OTHER_WORDS and own.words <= value.words)
    return is_told and own.numbers <= known.numbers and others < shared


def _has_value(own: _Said, value: _Said) -> bool:
    # A town or a firm is repeated by its words.
    return bool(own.numbers & value.numbers if value.numbers else value.words and value.words <= own.words)


def _repeats(sentence: str, value: _Said, known: _Said) -> bool:
    own = _Said.of(sentence)
    if not _has_value(own, value) or is_question(sentence):
        return False
    allowed = min(_MAX_OTHER_WORDS, len(own.words & known.words) + len(own.numbers))
    allowed *= _TERMS_OF_WORD if is_unspaced(sentence) else 1
    return own.numbers <= known.numbers and len(own.words - known.words) <= allowed
