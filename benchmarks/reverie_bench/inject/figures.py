"""The worth of injection, from the memories that were injected for each message. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reverie_bench.recall.turns import Kind

_Z = 1.96


@dataclass(frozen=True, slots=True)
class Injected:
    """A memory for the section: its relevance, the pieces of evidence that it holds, and its line there."""

    relevance: float
    evidence: frozenset[int] = frozenset()
    line: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message and the memories that a section of any length has for it at threshold 0, in their order.

    `evidence` counts the pieces there are; `fit` has the numbers of the lines that enter a section.
    """

    group: str
    category: str
    kind: Kind
    is_trivial: bool
    injected: tuple[Injected, ...] = ()
    evidence: int = 0
    fit: Callable[[Sequence[str]], Sequence[int]] = lambda lines: range(len(lines))

    def at(self, threshold: float) -> Sequence[Injected]:
        """The memories in the section at a threshold."""
        relevant = [memory for memory in self.injected if memory.relevance >= threshold]
        return [relevant[number] for number in self.fit([memory.line for memory in relevant])]


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
    """The effect of a threshold on some messages; None where there is none of their kind.

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
    """A threshold and its effect: shares, None without messages of the kind."""

    threshold: float
    recall: float | None
    unrelated: float | None
    near_miss: float | None
    precision: float | None
    evidence: float | None


def share(flags: Iterable[bool]) -> Share | None:
    """The share of true flags; None for no flags."""
    counted = list(flags)
    n, k = len(counted), sum(counted)
    if n == 0:
        return None
    p = k / n
    centre, half = p + _Z**2 / (2 * n), _Z * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n * n))
    scale = 1 + _Z**2 / n
    return Share(k, n, p, max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale))


def figures(messages: Sequence[Message], threshold: float) -> Figures:
    """The effect of a threshold on the messages."""

    def of_kind(*kinds: Kind) -> list[Message]:
        return [message for message in messages if message.kind in kinds]

    def share_injected(*kinds: Kind) -> Share | None:
        return share(bool(message.at(threshold)) for message in of_kind(*kinds))

    should = of_kind("should")
    covered = [_covered(message, threshold) for message in should]
    sections = [message for message in of_kind("should", "unrelated", "near miss") if message.at(threshold)]
    return Figures(
        recall=share(bool(pieces) for pieces in covered),
        fired=share_injected("should"),
        false=share_injected("unrelated", "near miss"),
        unrelated=share_injected("unrelated"),
        near_miss=share_injected("near miss"),
        apart=share_injected("apart"),
        precision=share(bool(_covered(message, threshold)) for message in sections),
        evidence=sum(len(pieces) / m.evidence for pieces, m in zip(covered, should, strict=True)) / len(should)
        if should
        else None,
    )


def curve(messages: Sequence[Message], steps: int = 50) -> list[Point]:
    """Thresholds from 0 to 1 in equal steps."""
    return [_point(messages, step / steps) for step in range(steps + 1)]


def _point(messages: Sequence[Message], threshold: float) -> Point:
    at = figures(messages, threshold)
    recall, unrelated, near_miss, precision = (
        None if each is None else each.share for each in (at.recall, at.unrelated, at.near_miss, at.precision)
    )
    return Point(threshold, recall, unrelated, near_miss, precision, at.evidence)


def trivial_confusion(messages: Sequence[Message]) -> dict[str, Share | None]:
    """The share of messages of each kind that the trivial filter keeps from a search; of `should` none ought to be."""
    kinds: tuple[Kind, ...] = ("should", "unrelated", "near miss", "apart")
    return {kind: share(m.is_trivial for m in messages if m.kind == kind) for kind in kinds}


def _covered(message: Message, threshold: float) -> frozenset[int]:
    return frozenset(piece for memory in message.at(threshold) for piece in memory.evidence)
