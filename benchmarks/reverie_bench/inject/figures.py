"""What injection is worth, from what was injected for each message. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["should", "unrelated", "near miss", "apart"]
"""Memory has what the message needs; it has nothing, plainly; it has nothing, though words or names are the same;
injecting is neither right nor wrong."""
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory in the section: its relevance, and which pieces of evidence it holds."""

    relevance: float
    evidence: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Said:
    """A message and what was injected for it at threshold 0, best first; `evidence` is how many pieces there are."""

    group: str
    category: str
    kind: Kind
    is_trivial: bool
    shown: tuple[Shown, ...] = ()
    evidence: int = 0

    def at(self, threshold: float) -> Sequence[Shown]:
        """What is injected at a threshold: memories come by relevance, so a higher one only ends the list sooner."""
        return [memory for memory in self.shown if memory.relevance >= threshold]


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `of`, and Wilson's 95 % interval."""

    count: int
    of: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What a threshold does to some messages; None where there is none of their kind.

    `recall`: of messages for which memory has something, those with a piece of it in the section. `fired`: with
    anything. `false`: of the others, unrelated and near misses, those with anything; `unrelated` and `near_miss` are
    its parts. `precision`: of all messages with a section (those apart left out), those with evidence in it.
    `evidence`: the mean share of the pieces of evidence that are in the section. `apart`: those apart with anything.
    """

    recall: Share | None
    fired: Share | None
    false: Share | None
    unrelated: Share | None
    near_miss: Share | None
    apart: Share | None
    precision: Share | None
    evidence: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """A threshold and what it does: shares, None without messages of the kind."""

    threshold: float
    recall: float | None
    unrelated: float | None
    near_miss: float | None
    precision: float | None
    evidence: float | None


def share(flags: Iterable[bool]) -> Share | None:
    """How many are true; None for no flags."""
    counted = list(flags)
    n, k = len(counted), sum(counted)
    if n == 0:
        return None
    p = k / n
    centre, half = p + _Z**2 / (2 * n), _Z * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n * n))
    scale = 1 + _Z**2 / n
    return Share(k, n, p, max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale))


def figures(messages: Sequence[Said], threshold: float) -> Figures:
    """What a threshold does to the messages."""
    should = [m for m in messages if m.kind == "should"]
    others = [m for m in messages if m.kind in ("unrelated", "near miss")]
    fired = [m for m in (*should, *others) if m.at(threshold)]
    covered = [_covered(m, threshold) for m in should]
    return Figures(
        recall=share(bool(found) for found in covered),
        fired=share(bool(m.at(threshold)) for m in should),
        false=share(bool(m.at(threshold)) for m in others),
        unrelated=share(bool(m.at(threshold)) for m in others if m.kind == "unrelated"),
        near_miss=share(bool(m.at(threshold)) for m in others if m.kind == "near miss"),
        apart=share(bool(m.at(threshold)) for m in messages if m.kind == "apart"),
        precision=share(bool(_covered(m, threshold)) for m in fired),
        evidence=sum(len(f) / m.evidence for f, m in zip(covered, should, strict=True)) / len(should)
        if should
        else None,
    )


def curve(messages: Sequence[Said], steps: int = 50) -> list[Point]:
    """Thresholds from 0 to 1 in equal steps."""
    return [_point(messages, step / steps) for step in range(steps + 1)]


def _point(messages: Sequence[Said], threshold: float) -> Point:
    at = figures(messages, threshold)
    recall, unrelated, near_miss, precision = (
        None if each is None else each.share for each in (at.recall, at.unrelated, at.near_miss, at.precision)
    )
    return Point(threshold, recall, unrelated, near_miss, precision, at.evidence)


def trivial_confusion(messages: Sequence[Said]) -> dict[str, Share | None]:
    """How many messages of each kind the trivial filter kept from being looked up; of `should` none ought to be."""
    kinds: tuple[Kind, ...] = ("should", "unrelated", "near miss", "apart")
    return {kind: share(m.is_trivial for m in messages if m.kind == kind) for kind in kinds}


def _covered(message: Said, threshold: float) -> frozenset[int]:
    return frozenset(piece for memory in message.at(threshold) for piece in memory.evidence)
