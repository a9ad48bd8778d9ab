"""Which entries of very many are read: each day has a share, so that a busy day leaves the others their own. Pure.

What many days speak of is what emergence looks for. The newest entries alone would be those of the last hours where
somebody says hundreds of things a day, and nothing would be noted on a second day.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date

from reverie_server.heuristics.cues import Cues, folded
from reverie_server.heuristics.entries import Entry, cues_in
from reverie_server.heuristics.salience import salience
from reverie_server.nights.emergence.entry_groups import age_key
from reverie_server.nights.emergence.model import MAX_ENTRIES

# The kinds of entries that come before others, the most important first.
_KINDS = ("remember", "decision", "preference")


def fair_share(entries: Sequence[Entry], language: str) -> list[Entry]:
    """The entries, oldest first; of more than MAX_ENTRIES the best of each day, as many of one day as of another.

    Of a day those come first that somebody asked to remember, decisions, then preferences; of equal ones those that
    several days say in the same words, then the more salient, then the newer.
    """
    if len(entries) <= MAX_ENTRIES:
        return sorted(entries, key=age_key)
    cues = cues_in("\n".join(entry.text for entry in entries), language)
    words = [folded(entry.text) for entry in entries]
    said = {(text, day) for text, entry in zip(words, entries, strict=True) for day in entry.days}
    days_of = Counter(text for text, _ in said)
    by_day: dict[date, list[tuple[tuple[float, ...], int]]] = defaultdict(list)
    newest_first = sorted(range(len(entries)), key=lambda at: age_key(entries[at]), reverse=True)
    for age, at in enumerate(newest_first):
        entry = entries[at]
        order = (_kind_order(entry), -days_of[words[at]], -_salience(entry, cues), age)
        by_day[max(entry.days)].append((order, at))
    # The best of each day, then the second of each, and so on: what a day does not need is the others'.
    ranked = ((rank, -day.toordinal(), at) for day, each in by_day.items() for rank, (_, at) in enumerate(sorted(each)))
    return sorted((entries[at] for _, _, at in sorted(ranked)[:MAX_ENTRIES]), key=age_key)


def char_shares(lengths: Sequence[int], most: int) -> list[int]:
    """How many characters of each text are read, at most `most` in all: the same of each, or all that it has."""
    shares = [0] * len(lengths)
    by_length = sorted(range(len(lengths)), key=lambda at: lengths[at])
    for number, at in enumerate(by_length):
        shares[at] = min(lengths[at], most // (len(lengths) - number))
        most -= shares[at]
    return shares


def _kind_order(entry: Entry) -> int:
    return next((order for order, kind in enumerate(_KINDS) if kind in entry.kinds), len(_KINDS))


def _salience(entry: Entry, cues: Cues | None) -> float:
    return salience(entry.text, cues, Counter())
