"""Chinese clauses that are typed or dictated as one: `我住在朝阳每天坐地铁上班`. Pure but for its data."""

from __future__ import annotations

from reverie_server.heuristics.fact_grammar.phrases import Phrases
from reverie_server.heuristics.requests.fact_requests import aligned

# So many clauses a run has at most.
_MAX_CLAUSES = 6


def parted(sentence: str, phrases: Phrases) -> str:
    """A sentence with a comma where another clause begins without one. Takes time linear in the sentence.

    A clause that begins so that it can be told, and has said something, ends where words begin that cannot go on with
    it: a pronoun with its verb, `每天`, `在…上班`, `身高` behind a number.
    """
    for _ in range(_MAX_CLAUSES):
        ends = [
            found.end()
            for run in ("run_on_clause", "run_on_state", "run_on_name", "run_on_number")
            for found in phrases[run].finditer(aligned(sentence))
        ]
        if not ends:
            break
        start = min(ends)
        sentence = f"{sentence[:start]}，{sentence[start:]}"
    return sentence
