"""Which of what was said before a sentence says otherwise, by the model of pairs; and what it may judge. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.changes.change_pairs import FEATURES, PairModel, pair_features
from reverie_server.heuristics.changes.change_sentences import (
    NEVER,
    ChangeSentence,
    OpenFact,
    has_value,
    is_about,
    names_subject,
)
from reverie_server.heuristics.changes.values import values_of
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.terms import PETS, ROLES, exclude_each_other, scopes_of
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import SELF

# Within a conversation people say more of what they said, and correct themselves in so many words.
APART = timedelta(hours=1)
# Of what a person has or does several of, more is asked; and where something else that was said is nearer.
_OF_MANY, _NOT_NEAREST = 0.75, 1.2
# What stays true when other things change: what one likes, and who is what to whom.
_LASTING = NEVER - {"located"} | {"likes", "dislikes", "avoids", "left", "ended", "moved_out"}
# From this cosine on two parts say the same.
_SAID_AGAIN = 0.7
_CUES = [FEATURES.index(name) for name in ("tells", "over", "other_value")]
# A sentence and a fact could be no nearer, share no more, and tell it no more plainly.
_BEST = {"similarity": 4 * 0.8, "other_value": 1.5, "shared": 1.0, "is_shared": 1.0, "similarity_if_tells": 2 * 0.8}

Vectors = NDArray[np.float32]


def may_tell_otherwise(change: ChangeSentence, vectors: Vectors, model: PairModel) -> bool:
    """Whether a sentence could be a change of anything at all, by the vectors of its parts: most are not."""
    best = np.array([_BEST.get(name, 0.0) for name in FEATURES], np.float32)
    most = float(model.features @ best) + float((vectors @ model.new).max()) + model.offset + _most_of_old(model)
    return change.is_statement and most >= model.limit


def can_be_otherwise(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a fact is one that a sentence can end: one of the user's that changes, or of whom the sentence names."""
    if fact.predicate in _LASTING or fact.said_at > change.said_at - APART:
        return False
    if fact.predicate not in (*ROLES, *PETS) and _is_kin(fact.predicate):
        return False
    # Who changes the place of work has the same profession, and what a boss has put off is no other boss.
    if fact.predicate in (*ROLES, "works_as") and not has_value(change, fact):
        return False
    if fact.about_user is False and fact.subject != SELF and not names_subject(change.sentence, fact.subject):
        return False
    # "Lunch with Anna is on Tuesday" and "with Ben on Friday" are two lunches.
    names = values_of(fact.text, change.language).names
    if not change.values.is_empty and names and change.values.names and not names & change.values.names:
        return False
    return is_about(change, fact) and not exclude_each_other(scopes_of(change.sentence), scopes_of(fact.text))


def log_odds(
    change: Sequence[tuple[str, Vectors]], said: Sequence[tuple[str, Vectors]], language: str, model: PairModel
) -> float:
    """The best log-odds of a part of a sentence with a part of an earlier one, each with its vector."""
    return max(
        _log_odds(pair_features(old, new, language, float(vector @ old_vector)), old_vector, vector, model)
        for new, vector in change
        for old, old_vector in said
    )


def _log_odds(pair: Vectors, old: Vectors, new: Vectors, model: PairModel) -> float:
    """Those of two parts: what is all but the same, without a word of change or another value, is said again."""
    if float(old @ new) >= _SAID_AGAIN and not pair[_CUES].any():
        return -math.inf
    return model.log_odds(pair, old, new)


def limit_of(fact: OpenFact, model: PairModel, *, is_nearest: bool) -> float:
    """From which log-odds on a fact is taken to be over; `is_nearest`: of much that was said nothing is nearer."""
    is_of_one = fact.is_functional or fact.predicate in PETS
    return model.limit + (0.0 if is_of_one else _OF_MANY) + (0.0 if is_nearest else _NOT_NEAREST)


def _is_kin(predicate: str) -> bool:
    plain = aligned(predicate)
    return any(phrases.relations.pattern.search(plain) is not None for phrases in all_phrases().values())


def _most_of_old(model: PairModel) -> float:
    """What the vector of an earlier sentence may add: cosines with a direction are small."""
    return 0.15 * float(np.linalg.norm(model.old))
