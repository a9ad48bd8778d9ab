"""The sentences of a conversation that take back what the one before them says, to be quoted with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from reverie_server.heuristics.corrections.correction import Fragment, Where
from reverie_server.heuristics.corrections.corrections import continued, corrected, fragment_of
from reverie_server.heuristics.cues import Cues
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.statements import Statement, Talk, facts_of_sentence
from reverie_server.heuristics.stated_fact import StatedFact

_NO_TIME = datetime(1, 1, 1, tzinfo=UTC)


def taken_back_by(sentence: str, following: Sequence[str], cues: Cues | None, where: Where) -> int:
    """How many of the sentences that follow one correct it: none, one, or a cue and what it announces.

    "My flight is on the 14th" is not to be kept without "No, sorry, the 15th". Takes time linear in the sentences.
    """
    if cues is None or cues.language not in all_phrases() or not following:
        return 0
    fragment: Fragment | None = fragment_of(following[0], cues.language, where)
    count = 1
    if fragment is not None and not fragment.text and len(following) > 1:
        fragment, count = continued(following[1], fragment, cues.language), 2
    if fragment is None or not fragment.text:
        return 0

    def read(text: str) -> list[StatedFact]:
        return facts_of_sentence(Statement(text, text, _NO_TIME, all_phrases()[cues.language], cues), Talk())

    return count if corrected(sentence, fragment, cues, read) is not None else 0
