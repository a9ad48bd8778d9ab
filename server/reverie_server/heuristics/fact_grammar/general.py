"""Statements worth keeping that no pattern foresaw: subject, verb, and the rest. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.clauses import Clause
from reverie_server.heuristics.fact_grammar.objects import is_vague, says_something, tidy
from reverie_server.heuristics.fact_grammar.statement import Statement, Talk
from reverie_server.heuristics.fact_grammar.subjects import Subject, subject_of
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.salience import salience
from reverie_server.heuristics.stated_fact import Category, StatedFact

NOTED = ("note", "states")
"""Subject and predicate of what somebody asked to be kept that names no subject of its own."""
# Higher than what is notable: a statement that is no known kind must say more to be kept.
_WORTH = 4.0
# Helping verbs and adverbs before a verb.
_HELPING = re.compile(
    r"^(?:['’](?:ve|ll|d)|(?:have|has)(?!\s(?:an?|the|no|my|our|two|\d+)\s)|now|also|just|recently|currently|been|already"
    r"|still)\s+",
    re.IGNORECASE,
)
_MIN_TERMS = 3
_FEELINGS = frozenset({"chatter", "other"})
_RARE: Counter[str] = Counter()


def general_fact(statement: Statement, clauses: Sequence[Clause], talk: Talk) -> list[StatedFact]:
    """The fact that a sentence states as a whole; [] where it is not worth keeping or has no plain subject."""
    if not clauses or statement.cues is None:
        return []
    text = folded(statement.core)
    kinds = {kind for kind, pattern in statement.cues.kinds.items() if pattern.search(text)}
    first = clauses[0]
    subject = subject_of(first, None, talk.people, statement.phrases, talk.number)
    if subject is None or (subject.is_pronoun and not subject.said):
        return []
    is_worth = statement.is_of_file or statement.is_asked or _is_worth(statement, subject, kinds)
    if not is_worth or statement.phrases["plan"].search(first.plain):
        return []
    return [_fact(statement, first, subject, kinds)]


def _is_worth(statement: Statement, subject: Subject, kinds: set[str]) -> bool:
    """Whether a statement of no known kind says what holds: a decision, a rule, or the state of a certain thing."""
    assert statement.cues is not None
    if kinds & _FEELINGS or len(content_terms(statement.core)) < _MIN_TERMS:
        return False
    plain = aligned(statement.core)
    has_cue = statement.phrases["cue"].search(plain) is not None
    if subject.kind == "self":
        return "decision" in kinds and has_cue
    is_certain = subject.kind == "thing" and bool(subject.said) and subject.said != subject.name
    score = salience(statement.core, statement.cues, _RARE)
    return is_certain and (has_cue or score >= _WORTH)


def request_fact(statement: Statement, talk: Talk) -> StatedFact | None:
    """What a person asks to remember, as a fact as it stands; None where it says nothing."""
    text = statement.core.strip()
    if not says_something(text) or aligned(text).strip(" .!?") in ("that", "this", "it"):
        return None
    subject = subject_of(Clause(text, aligned(text), inherits=False), None, talk.people, statement.phrases, talk.number)
    if subject is not None and not subject.is_pronoun:
        return _fact(statement, Clause(text, aligned(text), inherits=False), subject, {"remember"})
    return statement.fact(*NOTED, tidy(text)[:200], "request", text=text, about_user=False)


def _fact(statement: Statement, clause: Clause, subject: Subject, kinds: set[str]) -> StatedFact:
    rest = clause.text[subject.rest :].strip(" ,")
    rest = _HELPING.sub("", rest)
    words = rest.split(" ", 1)
    verb, object_ = (words[0], words[1]) if len(words) == 2 and not statement.phrases.unspaced else ("states", rest)
    verb = re.sub(r"^['’]", "", aligned(verb)).strip(" ,.")
    category: Category = (
        "request"
        if "remember" in kinds
        else "decision"
        if "decision" in kinds
        else "preference"
        if "preference" in kinds and subject.kind == "self"
        else "general"
    )
    named = tidy(object_)
    return statement.fact(
        subject.name,
        {"m": "is", "am": "is", "are": "is", "s": "is"}.get(verb, verb)[:60] or "states",
        (named if named and not is_vague(named) else tidy(rest))[:200] or tidy(statement.core)[:200],
        category,
        about_user=subject.kind == "self" or subject.owned is not None,
        confidence=0.6,
    )
