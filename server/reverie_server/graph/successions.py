"""The claims that somebody comes in the place of another, in the words that facts are read by. Pure."""

from __future__ import annotations

from collections.abc import Callable

from reverie_server.graph.claims import Claim, Ref, Succeeds
from reverie_server.heuristics.fact_grammar.successors import successions_in


def with_successions(
    sentence: str, claims: list[Claim], language: str, names_in: Callable[[str], list[str]]
) -> list[Claim]:
    """The claims of a sentence with those of successors, before them: who has left has nothing to be taken over."""
    found: list[Claim] = []
    for each in successions_in(sentence, language):
        before = names_in(sentence[: each.start])
        # The pronoun stands for the one whom the sentence has named.
        of = each.of or (before[0] if len(before) == 1 else "")
        who = Ref(of, type="person") if of else Ref(is_pronoun=True)
        claim = Succeeds([Ref(each.name, type="person")], who)
        if not any(isinstance(other, Succeeds) for other in claims):
            found.append(claim)
    return [*found, *claims]
