"""The figures of lives: shares of questions, lines by what they are worth, and what was forgotten. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean
from typing import Any

from reverie_bench.truth.ask import Asked
from reverie_bench.truth.dump import Found
from reverie_bench.truth.judge import Judge, holds, memory_lines
from reverie_bench.truth.life import Life


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What should be nowhere: what was to be forgotten, how much of it a search finds, and what a model invented."""

    forgotten: Sequence[Found]
    forgotten_found: int
    invented: Sequence[Found]


@dataclass(frozen=True, slots=True)
class KindFigures:
    """Of the questions of one kind: how many there are, and how many have the current answer or an unmarked old one."""

    questions: int
    injected: int
    in_prompt: int
    in_top: int
    with_old: int
    old_injected: int
    old_in_prompt: int
    old_in_top: int


@dataclass(frozen=True, slots=True)
class LifeFigures:
    """Of one life, or the sums and means of several.

    `current_…`: share of the questions whose current answer is there; `past_…`: of those about the past. `old_…`: share
    of the questions with a superseded answer that stands there unmarked. `ordered`: share of these whose current
    answer comes first. `falsely_marked`: sentences that hold and stand marked as superseded, in an answer or in
    MEMORY.md. `lines`: those of MEMORY.md by their worth; `useful`: their share without those marked as past.
    `profile`, `remembered`: how many of how many. `forgotten_rows`: values of the database that hold what was to be
    forgotten; `forgotten_found`: words of it that a search finds. `invented_rows`: values that hold what a scripted
    model invented; `model`: what it was asked, and its faults. `kinds`: by the kind of a question.
    """

    questions: int
    current_injected: float | None
    current_in_prompt: float | None
    current_in_top: float | None
    past_injected: float | None
    with_old: int
    old_injected: float | None
    old_in_prompt: float | None
    old_in_top: float | None
    ordered: float | None
    falsely_marked: int
    lines: Mapping[str, int]
    useful: float | None
    profile: tuple[int, int]
    remembered: tuple[int, int]
    nights: Mapping[str, int]
    forgotten_rows: int
    forgotten_found: int
    invented_rows: int
    model: Mapping[str, Mapping[str, int]]
    kinds: Mapping[str, KindFigures]
    seconds: float


def figures_of(
    life: Life,
    asked: Sequence[Asked],
    files: Mapping[str, str],
    *,
    nights: Mapping[str, int],
    found: Leftovers,
    model: Mapping[str, Mapping[str, int]],
    seconds: float,
) -> LifeFigures:
    """The figures of one life."""
    now = [each for each in asked if not each.question.about_past]
    past = [each for each in asked if each.question.about_past]
    with_old = [each for each in now if each.question.old]
    memory, profile = files["MEMORY.md"], files["PROFILE.md"]
    judge = Judge(life)
    lines: Counter[str] = Counter(judge.line(line).worth for line in memory_lines(memory))
    return LifeFigures(
        questions=len(asked),
        current_injected=_share(each.injected for each in now),
        current_in_prompt=_share(each.in_prompt for each in now),
        current_in_top=_share(each.in_top for each in now),
        past_injected=_share(each.injected for each in past),
        with_old=len(with_old),
        old_injected=_share(each.injected_old is not None for each in with_old),
        old_in_prompt=_share(each.prompt_old is not None for each in with_old),
        old_in_top=_share(each.top_old is not None for each in with_old),
        ordered=_share(each.is_ordered is True for each in with_old),
        falsely_marked=len(falsely_marked(asked, memory, judge)),
        lines=dict(lines),
        useful=useful_share(lines),
        profile=(sum(holds(profile, values) for values in life.profile.values()), len(life.profile)),
        remembered=(sum(_has_all(memory, words) for words in life.remembered), len(life.remembered)),
        nights=nights,
        forgotten_rows=sum(each.rows for each in found.forgotten),
        forgotten_found=found.forgotten_found,
        invented_rows=sum(each.rows for each in found.invented),
        model=model,
        kinds=_kinds(asked),
        seconds=seconds,
    )


def falsely_marked(asked: Sequence[Asked], memory: str, judge: Judge) -> list[str]:
    """The sentences that hold and stand marked as superseded, in any answer or in MEMORY.md."""
    return sorted({*(found for each in asked for found in each.falsely_marked), *judge.falsely_marked(memory)})


def _kinds(asked: Sequence[Asked]) -> dict[str, KindFigures]:
    of_kind: dict[str, list[Asked]] = {}
    for each in asked:
        of_kind.setdefault(each.question.kind, []).append(each)
    return {
        kind: KindFigures(
            questions=len(those),
            injected=sum(each.injected for each in those),
            in_prompt=sum(each.in_prompt for each in those),
            in_top=sum(each.in_top for each in those),
            with_old=sum(bool(each.question.old) and not each.question.about_past for each in those),
            old_injected=sum(each.injected_old is not None for each in those),
            old_in_prompt=sum(each.prompt_old is not None for each in those),
            old_in_top=sum(each.top_old is not None for each in those),
        )
        for kind, those in sorted(of_kind.items())
    }


def _sum_of_kinds(lives: Sequence[Mapping[str, KindFigures]]) -> dict[str, KindFigures]:
    sums: dict[str, KindFigures] = {}
    for kind in sorted({kind for life in lives for kind in life}):
        rows = [[getattr(life[kind], each.name) for each in fields(KindFigures)] for life in lives if kind in life]
        sums[kind] = KindFigures(*map(sum, zip(*rows, strict=True)))
    return sums


def _has_all(memory: str, words: Sequence[str]) -> bool:
    return any(all(holds(line, [word]) for word in words) for line in memory_lines(memory))


def useful_share(lines: Mapping[str, int]) -> float | None:
    """The useful share of the lines, without those that are marked as past."""
    total = sum(count for worth, count in lines.items() if worth != "past")
    return lines.get("useful", 0) / total if total else None


def over_all(lives: Sequence[LifeFigures]) -> LifeFigures:
    """Means over lives, weighted by their questions, and sums of what is counted."""
    values: dict[str, Any] = {}
    for name in (each.name for each in fields(LifeFigures)):
        of_lives = [getattr(life, name) for life in lives]
        if name in (
            "questions",
            "with_old",
            "falsely_marked",
            "forgotten_rows",
            "forgotten_found",
            "invented_rows",
            "seconds",
        ):
            values[name] = sum(of_lives)
        elif name in ("lines", "nights"):
            values[name] = dict(sum((Counter(each) for each in of_lives), Counter()))
        elif name == "kinds":
            values[name] = _sum_of_kinds(of_lives)
        elif name == "model":
            parts = {part for life in of_lives for part in life}
            values[name] = {
                part: dict(sum((Counter(life.get(part, {})) for life in of_lives), Counter())) for part in sorted(parts)
            }
        elif name in ("profile", "remembered"):
            values[name] = tuple(map(sum, zip(*of_lives, strict=True)))
        elif name != "useful":
            weight = "with_old" if name.startswith("old_") or name == "ordered" else "questions"
            pairs = [
                (each, getattr(life, weight)) for each, life in zip(of_lives, lives, strict=True) if each is not None
            ]
            total = sum(count for _, count in pairs)
            values[name] = sum(share * count for share, count in pairs) / total if total else None
    values["useful"] = useful_share(values["lines"])
    return LifeFigures(**values)


def _share(hits: Any) -> float | None:
    found = list(hits)
    return fmean(found) if found else None
