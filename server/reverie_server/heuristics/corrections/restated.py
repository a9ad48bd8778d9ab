"""A statement that is taken back by a sentence of its own: "The groom is called Tom. No wait, that's her ex." Pure.

Words that surely take back what was said (`corrections.restated_at`) announce a sentence that no pattern need know.
What was said before them holds no more where both are about the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reverie_server.heuristics.changes.values import is_other_value, subject_of_both, values_of
from reverie_server.heuristics.fact_grammar.statement import Statement
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, SELF, Change, StatedFact

_FEWEST_CHARS = 6
# What stands for somebody or something of the sentence before.
_POINTS_BACK = re.compile(
    r"(?:that|it|he|she|they)(?:'s|'re|'ll|'d| )|(?:das|es|er|sie|der ist|die ist) "
    r"|(?:eso|esa|ese|él|ella|es|era|está) "
    r"|[那这這他她它]"
)


@dataclass(frozen=True, slots=True)
class Restated:
    """What a sentence takes back: a statement, the number of its utterance, and its facts.

    `start` is where the sentence goes on behind the words that take it back, `cue`.
    """

    of: int
    statement: Statement
    facts: Sequence[StatedFact]
    start: int
    cue: str


def is_about_the_same(old: str, new: str, language: str) -> bool:
    """Whether a sentence behind such words can say of the same thing that it is otherwise. Linear in both."""
    if len(new) < _FEWEST_CHARS or aligned(old).strip(" .!") == aligned(new).strip(" .!"):
        return False
    if _POINTS_BACK.match(aligned(new)) is not None or content_terms(old) & content_terms(new):
        return True
    return is_other_value(values_of(new, language), values_of(old, language), tells=True)


def taking_back(
    restated: Restated, new: Statement, found: Sequence[StatedFact]
) -> tuple[list[StatedFact], list[StatedFact]]:
    """What is a fact of the statement now, and the facts of the sentence, with the change where they replace one of it.

    Where none does, the statement itself is a fact, and the sentence one that replaces it.
    """
    old_objects = {(fact.subject, fact.predicate): fact.object for fact in restated.facts}

    def is_other(fact: StatedFact) -> bool:
        return old_objects.get((fact.subject, fact.predicate), fact.object) != fact.object

    replacing = [
        replace(fact, change=Change("replaces", restated.cue[:40]))
        if fact.change is None and is_other(fact) and fact.is_functional
        else fact
        for fact in found
    ]
    if any(is_other(fact) and fact.change is not None for fact in replacing):
        return [], replacing
    old = restated.statement
    shared = content_terms(old.core) & content_terms(new.core)
    subject = (subject_of_both(old.core, shared) if len(shared) > 1 else old.core)[:MAX_FIELD_CHARS]
    before = old.fact(subject, "is", old.core.strip(" .!。！")[:MAX_FIELD_CHARS], "general", is_functional=True)
    after = new.fact(
        subject,
        "is",
        new.core.strip(" .!。！")[:MAX_FIELD_CHARS],
        "general",
        is_functional=True,
        change=Change("replaces", restated.cue[:40]),
    )
    is_own = any(fact.subject == SELF for fact in restated.facts)
    before = replace(before, utterance=restated.of, sentence=old.sentence, about_user=is_own)
    return [before], [*replacing, replace(after, about_user=is_own)]
