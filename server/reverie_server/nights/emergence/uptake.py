"""Which entries the conversations of later days took up from the notes of their prompts. Pure.

Nobody searches for what stands in the prompt. So an exchange of the daily log counts as a recall of an entry if it came
on a later day, while the entry was among the notes that prompts hold, and has half of the entry's words. Words that
many exchanges have hardly count.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from reverie_indexer.text.analyse import analyse
from reverie_server.nights.emergence.candidates import Recall
from reverie_server.sessions.daily_log import parts_of
from reverie_server.text.markdown_edit import lines_of

# The share of an entry's words, by their weight, from which on an exchange takes it up, and the fewest words. A word of
# more than a share of the exchanges (and of more than a few) is common.
TAKEN_SHARE = 0.5
FEWEST_TERMS = 2
_COMMON_SHARE, _ANY_COUNT, _COMMON_WEIGHT = 0.2, 5, 0.25
# The newest exchanges are read; of one that shares words with very many entries the rarest words count.
MAX_EXCHANGES = 3000
_MAX_POSTINGS = 500
# An entry that a prompt held for the last time this many days ago is not taken up from it.
PROMPT_DAYS = 7


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange of the daily log: its day, its time as `HH:MM`, and the terms of both sides."""

    day: date
    clock: str
    terms: frozenset[str]

    def recall(self, time_zone: str) -> Recall:
        """The exchange as a recall: what was said stands for the query. Its day and clock are those of `time_zone`."""
        query = hashlib.sha256(" ".join(sorted(self.terms)).encode()).digest()
        at = datetime.combine(self.day, time.fromisoformat(self.clock), ZoneInfo(time_zone))
        return Recall(query, at.astimezone(UTC))


@dataclass(frozen=True, slots=True)
class Noted:
    """A statement of the notes: its terms, and the first day on which it was noted."""

    terms: frozenset[str]
    day: date


def exchanges_of(text: str, day: date, language: str) -> Iterator[Exchange]:
    """The exchanges in the log of a daily note, in order."""
    for line in lines_of(text):
        parts = parts_of(line.strip())
        if parts is not None:
            clock = line[line.index("[") + 1 :][:5]
            if _is_clock(clock):
                yield Exchange(day, clock, frozenset(analyse(" ".join(parts), language)))


def noted_again(day: date, time_zone: str) -> Recall:
    """A later day's note of what is known already, as a recall: the conversations of that day came back to it."""
    at = datetime.combine(day, time(12), ZoneInfo(time_zone))
    return Recall(f"noted on {day.isoformat()}".encode(), at.astimezone(UTC))


def taken_up(noted: Sequence[Noted], exchanges: Iterable[Exchange]) -> dict[int, Mapping[date, Exchange]]:
    """The exchanges that took up each of the statements, by the statement's index and by day: of a day the first."""
    newest = sorted(exchanges, key=lambda exchange: (exchange.day, exchange.clock))[-MAX_EXCHANGES:]
    count_of = Counter(term for exchange in newest for term in exchange.terms)
    most = max(_ANY_COUNT, _COMMON_SHARE * len(newest))
    common = frozenset(term for term, count in count_of.items() if count > most)
    by_term: dict[str, list[int]] = defaultdict(list)
    for index, statement in enumerate(noted):
        for term in statement.terms:
            by_term[term].append(index)
    totals = [_weight(statement.terms, common) for statement in noted]
    found: dict[int, dict[date, Exchange]] = defaultdict(dict)
    for exchange in newest:
        for index, terms in _shared(exchange, by_term).items():
            is_later = exchange.day > noted[index].day
            if is_later and len(terms) >= FEWEST_TERMS and _weight(terms, common) >= TAKEN_SHARE * totals[index]:
                found[index].setdefault(exchange.day, exchange)
    return {index: _in_prompts(noted[index].day, by_day) for index, by_day in found.items()}


def _weight(terms: Iterable[str], common: frozenset[str]) -> float:
    return sum(_COMMON_WEIGHT if term in common else 1.0 for term in terms)


def _shared(exchange: Exchange, by_term: Mapping[str, Sequence[int]]) -> Mapping[int, list[str]]:
    """The terms that an exchange shares with each statement."""
    shared: dict[int, list[str]] = defaultdict(list)
    budget = _MAX_POSTINGS
    for term in sorted(exchange.terms & by_term.keys(), key=lambda term: (len(by_term[term]), term)):
        for index in by_term[term][-budget:]:
            shared[index].append(term)
        budget -= len(by_term[term])
        if budget <= 0:
            break
    return shared


def _in_prompts(first: date, by_day: Mapping[date, Exchange]) -> dict[date, Exchange]:
    """The days on which the notes of the prompt still spoke of it: each speaks of it anew."""
    kept: dict[date, Exchange] = {}
    latest = first
    for day in sorted(by_day):
        if (day - latest).days > PROMPT_DAYS:
            break
        kept[day] = by_day[day]
        latest = day
    return kept


def _is_clock(clock: str) -> bool:
    try:
        time.fromisoformat(clock)
    except ValueError:
        return False
    return True
