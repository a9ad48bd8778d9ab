"""Sentences in which people say who they are: what stands behind a name tells more of the one who has it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.stated_fact import SELF, StatedFact

# A longer sentence tells more than who somebody is; with fewer words more a line says all of it.
_MAX_CHARS, _FEWEST_TERMS = 160, 2


def with_whole_sentence(sentence: str, found: Sequence[StatedFact]) -> Sequence[StatedFact]:
    """The facts of a sentence in which the user says who they are, with all of it for their text where no more than the
    name was read: what stands behind it tells more. "Tove, 38, I carve spoons in Umeå" is read only half."""
    whole = sentence.strip()
    is_introduction = any((fact.subject, fact.predicate) == (SELF, "name") and fact.change is None for fact in found)
    texts = {fact.text for fact in found}
    if not is_introduction or len(texts) > 1 or len(whole) > _MAX_CHARS or any(f.is_request for f in found):
        return found
    is_longer = len(content_terms(whole) - content_terms(*texts)) >= _FEWEST_TERMS and whole[-1:] not in "?？:："
    return [replace(fact, text=whole) for fact in found] if is_longer else found
