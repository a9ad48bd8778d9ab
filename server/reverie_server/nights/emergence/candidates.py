"""Candidates for long-term memory: how each is scored, and the gates that it has to pass. Pure: the time is passed in.

    score = 0.30 frequency + 0.25 recency + 0.20 diversity + 0.15 freshness + 0.10 consolidation, each from 0 to 1:

    frequency      ln(1 + n) / ln(1 + 10), at most 1: n recalls of it, 10 of them are full
    recency        0.5 ^ (days since its last recall / 7), by the second; 0 if it never was recalled
    diversity      q / 5, at most 1: q different queries recalled it
    freshness      1 - a / 30, at least 0: a days since the day on which it was last noted
    consolidation  (d - 1) / 6, at most 1: notes of d different days speak of it

Recalls count for as long as an entry may be old. One search that finds an entry in several places is one recall. A
conversation of a later day that takes up an entry in the notes of its prompt recalls it, too (`uptake`), and its day
speaks of it. What several days speak of needs no other recalls: nobody searches for what stands in the prompt. In a
focused run a person asks for the topic, which is a recall of now by a query of its own: so an entry that nobody asked
for before can pass. The gates for its age, for contradictions and for corrections hold there as everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

WEIGHTS: Mapping[str, float] = {
    "frequency": 0.30,
    "recency": 0.25,
    "diversity": 0.20,
    "freshness": 0.15,
    "consolidation": 0.10,
}
FULL_RECALLS = 10
FULL_QUERIES = 5
FULL_DAYS = 7
# An entry of fewer days may be a single observation.
LASTING_DAYS = 2
# An entry of this many days needs no recalls; a noteworthy one needs no recalls from LASTING_DAYS on.
SPOKEN_DAYS = 3
_DAY = timedelta(days=1)
# In the order in which they are checked: the first one that a candidate fails is the one that stopped it.
GATES = (
    "not_known",
    "not_corrected",
    "not_contradicted",
    "lasting",
    "age_days",
    "recalls",
    "queries",
    "not_one_off",
    "score",
)
# What it means that a candidate was stopped, by its gate; and by what comes after all gates.
STOPPED: Mapping[str, str] = {
    "not_known": "known already",
    "not_corrected": "corrected since",
    "not_contradicted": "contradicted since",
    "lasting": "true of a moment only",
    "age_days": "too long ago",
    "recalls": "recalled too seldom",
    "queries": "recalled by too few questions",
    "not_one_off": "of one day only",
    "score": "of too low a score",
    "room": "no room left in the file",
    "instruction": "reads like an instruction",
    "model": "left out by the model",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The thresholds of the gates, and the half-life and weights of the score."""

    min_score: float = 0.4
    min_recalls: int = 3
    min_queries: int = 2
    max_age_days: int = 30
    half_life_days: float = 7.0
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)


@dataclass(frozen=True, slots=True)
class Recall:
    """One search that showed an entry to somebody: the hash of its query, and when."""

    query: bytes
    at: datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts that an entry is scored by. `days` are those whose notes speak of it, at least one.

    `is_asked`: a person asks for its topic in this run. `is_noteworthy`: it is a decision, a preference, something to
    remember, or a topic of several conversations. `is_lasting`: it is of use in a month, as far as its words tell
    (`heuristics.lasting`).
    """

    days: Sequence[date]
    recalls: Sequence[Recall] = ()
    is_asked: bool = False
    is_noteworthy: bool = False
    is_known: bool = False
    is_corrected: bool = False
    is_contradicted: bool = False
    is_lasting: bool = True


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate of a candidate: its value, the value needed, and whether the candidate passes."""

    value: float | bool
    needed: float | bool
    passed: bool


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's score, the score's parts by name, and the gates by name."""

    score: float
    parts: Mapping[str, float]
    gates: Mapping[str, Gate] = field(default_factory=dict)

    @property
    def stopped_by(self) -> str | None:
        """The first gate, in the order of GATES, that the candidate does not pass; None where it passes all."""
        return next((name for name in GATES if not self.gates[name].passed), None)


@dataclass(frozen=True, slots=True)
class Weight:
    """The score of an entry with its parts, and what the gates count: recalls, queries, days, and its age in days."""

    score: float
    parts: Mapping[str, float]
    recalls: int
    queries: int
    days: int
    age_days: int


def score(evidence: Evidence, rules: Rules, now: datetime, time_zone: str) -> Scored:
    """The score and gates of an entry at `now`. Days are those of `time_zone`, the agent's."""
    return judge(evidence, weigh(evidence, rules, now, time_zone), rules)


def weigh(evidence: Evidence, rules: Rules, now: datetime, time_zone: str) -> Weight:
    """The score of an entry at `now`, for which of its evidence days, recalls and `is_asked` alone count."""
    zone = ZoneInfo(time_zone)
    today = now.astimezone(zone).date()
    since = now - rules.max_age_days * _DAY
    recalls = {(recall.query, recall.at) for recall in evidence.recalls if since <= recall.at <= now}
    times = [at for _, at in recalls]
    queries = {query for query, _ in recalls}
    days = {day for day in evidence.days if day <= today}
    count, distinct = len(recalls), len(queries)
    if evidence.is_asked:
        count, distinct, times = count + 1, distinct + 1, [*times, now]
    age = max(0, (today - max(evidence.days)).days)
    parts = {
        "frequency": min(1.0, math.log1p(count) / math.log1p(FULL_RECALLS)),
        "recency": 0.5 ** ((now - max(times)) / _DAY / rules.half_life_days) if times else 0.0,
        "diversity": min(1.0, distinct / FULL_QUERIES),
        "freshness": max(0.0, 1 - age / rules.max_age_days),
        "consolidation": min(1.0, max(0, len(days) - 1) / (FULL_DAYS - 1)),
    }
    total = sum(rules.weights[name] * part for name, part in parts.items())
    return Weight(total, parts, count, distinct, len(days), age)


def judge(evidence: Evidence, weight: Weight, rules: Rules) -> Scored:
    """The score and gates of an entry of a weight."""
    is_spoken_of = weight.days >= (LASTING_DAYS if evidence.is_noteworthy else SPOKEN_DAYS)
    # A person who asks for the topic shows that it matters, and so do several days: no recalls are needed.
    needed = (0, 0) if evidence.is_asked or is_spoken_of else (rules.min_recalls, rules.min_queries)
    lasts = evidence.is_noteworthy or evidence.is_asked or weight.days >= LASTING_DAYS
    gates = {
        "not_known": _is_not(evidence.is_known),
        "not_corrected": _is_not(evidence.is_corrected),
        "not_contradicted": _is_not(evidence.is_contradicted),
        "lasting": Gate(evidence.is_lasting, True, evidence.is_lasting),
        "age_days": Gate(weight.age_days, rules.max_age_days, weight.age_days <= rules.max_age_days),
        "recalls": Gate(weight.recalls, needed[0], weight.recalls >= needed[0]),
        "queries": Gate(weight.queries, needed[1], weight.queries >= needed[1]),
        "not_one_off": Gate(lasts, True, lasts),
        "score": Gate(weight.score, rules.min_score, weight.score >= rules.min_score),
    }
    return Scored(weight.score, weight.parts, gates)


def _is_not(found: bool) -> Gate:
    """The gate that passes where the flag is False."""
    return Gate(not found, True, not found)
