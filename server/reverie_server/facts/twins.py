"""What one sentence says twice: of two facts with the same value, the one that has ended takes the other with it. Pure.

"My appointment was moved to the 19th" is a fact of "appointment", and, as what takes the place of an earlier one, of
"appointment with the dermatologist"; a model adds it in its own words. What ends one of them, ends what the sentence
says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from reverie_server.facts.resolve import Known, Resolution, State
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.terms import content_terms, is_longer_name, key_of, says_same

_WHEN = "when"
# Predicates that say one thing of one value, as the patterns and a model in its own words have them.
_MEANINGS: Mapping[str, str] = {
    **dict.fromkeys(("lives in", "lives", "live in", "residence", "resides in", "home", "current residence"), "home"),
    **dict.fromkeys(("wohnt in", "wohnort", "wohnsitz", "lebt in", "vive en", "domicilio", "residencia"), "home"),
    **dict.fromkeys(("works as", "job", "occupation", "profession", "beruf", "arbeitet als"), "trade"),
    **dict.fromkeys(("trabaja de", "trabaja como", "profesión", "oficio"), "trade"),
    **dict.fromkeys(("works at", "works for", "employer", "employed at", "employed by"), "employer"),
    **dict.fromkeys(("arbeitgeber", "arbeitet bei", "trabaja en"), "employer"),
    **dict.fromkeys(("partner", "spouse", "wife", "husband", "married to"), "partner"),
    **dict.fromkeys(("ehefrau", "ehemann", "verheiratet mit", "esposa", "esposo", "marido"), "partner"),
}


def with_twins(
    known: Sequence[Known], resolution: Resolution, of_one_sentence: Iterable[tuple[int, int]]
) -> Resolution:
    """The resolution in which facts that another ended take their twins with them.

    `of_one_sentence`: pairs of an ended fact and one that is recognised by a sentence of it. What was said again since,
    and what a person decided or confirmed, stays; so does what may be the twin of a fact that holds.
    """
    by_id = {fact.fact_id: fact for fact in known}
    others: dict[int, list[Known]] = defaultdict(list)
    for ended_id, other_id in of_one_sentence:
        if ended_id in by_id and other_id in by_id and resolution.states[other_id].state == "current":
            others[ended_id].append(by_id[other_id])
    states = dict(resolution.states)
    for ended_id, found in others.items():
        ended, state = by_id[ended_id], resolution.states[ended_id]
        for other in found:
            if not _takes_along(state, other) or not _are_twins(ended, other) or _has_another(ended, other, found):
                continue
            own = states[other.fact_id]
            states[other.fact_id] = replace(
                own,
                state=state.state,
                valid_to=max(state.valid_to or own.valid_from, own.valid_from),
                superseded_by=state.superseded_by,
                closed_by=state.closed_by,
            )
    holds = {fact_id for fact_id, state in states.items() if state.state == "current"}
    return Resolution(states, frozenset(pair for pair in resolution.contradictions if holds.issuperset(pair)))


def _takes_along(state: State, other: Known) -> bool:
    """Whether an ended fact may end another: it was not said again since, and no person has a word in it."""
    if state.state == "current" or state.superseded_by in (None, other.fact_id) or state.closed_by == "person":
        return False
    said, until = other.counts_from, state.valid_to
    return other.decided is None and not other.is_confirmed and said is not None and until is not None and said <= until


def _are_twins(ended: Known, other: Known) -> bool:
    """Whether two facts of one sentence are one: the same of the same, in the words of one reader or of two."""
    is_of_time = _WHEN in (ended.predicate, other.predicate)
    if ended.method == other.method and folded(ended.predicate) != folded(other.predicate):
        return False
    # "I was born and live in Malmö": who reads both has one value for both.
    if ended.method != other.method and not is_of_time and not _are_related(ended.predicate, other.predicate):
        return False
    value, its_value = content_terms(ended.object), content_terms(other.object)
    if not value or (value != its_value and not (is_of_time and says_same(value, its_value))):
        return False
    name, its_name = key_of(ended.subject), key_of(other.subject)
    return name == its_name or (is_of_time and (is_longer_name(name, its_name) or is_longer_name(its_name, name)))


def _are_related(a: str, b: str) -> bool:
    """Whether two predicates can be one in the words of two readers: "residence" and "lives_in"."""
    plain, its_plain = (folded(each).replace("_", " ") for each in (a, b))
    meaning = _MEANINGS.get(plain)
    is_one = meaning is not None and meaning == _MEANINGS.get(its_plain)
    return is_one or not set(plain.split()).isdisjoint(its_plain.split())


def _has_another(ended: Known, other: Known, found: Sequence[Known]) -> bool:
    """Whether a fact that holds may be the other's twin as well: the reader of the ended one has two of such."""
    return ended.method != other.method and any(
        third.method == ended.method and not _are_twins(ended, third) and _are_twins(third, other) for third in found
    )
