"""From what was measured to figures: percentiles, ratios, verdicts. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reverie_bench.recall.metrics import Found

_TOPICS = (
    ("The spare key of the boat house hangs behind the {canary} lantern.", "Where is the spare key of the boat house?"),
    ("My appointment with the dentist is on the {canary} Tuesday of June.", "When do I see the dentist?"),
    ("The recipe for plum cake needs {canary} flour and two eggs.", "What goes into the plum cake?"),
    ("Our cat is called {canary} and sleeps on the piano.", "What is the name of our cat?"),
    ("The password hint for the router is the {canary} street we lived in.", "What is the hint for the router?"),
    ("Grandmother's train arrives at the {canary} platform at noon.", "Where does grandmother's train arrive?"),
)


@dataclass(frozen=True, slots=True)
class Secret:
    """A text of one user with a word that occurs nowhere else, and what one would ask to find it."""

    text: str
    canary: str
    question: str


def secrets_of(user: str) -> list[Secret]:
    """The same topics for every user, in the same words but one: nearest neighbours that must not be seen."""
    found = []
    for number, (text, question) in enumerate(_TOPICS):
        canary = f"{user.replace('-', '')}quill{number}"
        found.append(Secret(text.format(canary=canary), canary, question))
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` (0..1) of the values do not exceed (nearest rank). At least one value."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def as_found(ids: Sequence[str], units: Mapping[str, int]) -> list[Found]:
    """An adapter's ids as a list for the metrics; what is no item of this user keeps its place and is no unit."""
    return [Found((units[item],) if item in units else (), 0) for item in ids]


def foreign(ids: Sequence[str], own: Collection[str]) -> list[str]:
    """The ids that are some other user's item. An empty id is the peer's own text, nobody's item."""
    return [item for item in ids if item and item not in own]


def sample(texts: Sequence[str], count: int) -> list[str]:
    """Up to `count` texts spread evenly over all, in order; the first is always among them."""
    step = max(1, len(texts) / count) if count else 1
    return [texts[int(place * step)] for place in range(min(count, len(texts)))]
