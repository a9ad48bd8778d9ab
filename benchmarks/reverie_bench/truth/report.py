"""The tables of the benchmark of truth, and a life to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple

from rich.console import RenderableType

from reverie_bench.report import Report, number, table
from reverie_bench.truth.figures import LifeFigures, falsely_marked
from reverie_bench.truth.judge import Judge, memory_lines
from reverie_bench.truth.run import Lived

_SHARES = {
    "current_injected": "injected",
    "current_in_prompt": "prompt",
    "current_in_top": "top 5",
    "old_injected": "old inj.",
    "old_in_prompt": "old prompt",
    "old_in_top": "old top 5",
    "ordered": "ordered",
    "past_injected": "past inj.",
    "useful": "useful",
}


def truth_content(report: Report) -> Iterator[RenderableType]:
    """The figures by life and over all, and by the kind of a question. Figures alone: no text of a life."""
    rows: list[tuple[str, LifeFigures]] = [*report["lives"].items(), ("all", report["overall"])]
    yield table(
        "current answers, superseded ones that stand unmarked, and MEMORY.md",
        list(_SHARES.values()),
        ([name, *(number(getattr(each, share)) for share in _SHARES)] for name, each in rows),
        label="life",
    )
    for name, each in rows:
        lines = ", ".join(f"{worth} {count}" for worth, count in sorted(each.lines.items())) or "none"
        yield (
            f"{name}: lines of MEMORY.md: {lines}; profile {each.profile[0]} of {each.profile[1]}; to be remembered "
            f"{each.remembered[0]} of {each.remembered[1]}; sentences that hold and stand "
            f"marked as superseded {each.falsely_marked}; forgotten in {each.forgotten_rows} rows, found by search "
            f"{each.forgotten_found}; invented things in {each.invented_rows} rows; nights {dict(each.nights)}; "
            f"{each.seconds:.0f} s"
        )
    yield table(
        "questions by what they ask about: how many have the current answer, or a superseded one unmarked",
        ["questions", "injected", "prompt", "top 5", "with old", "old inj.", "old prompt", "old top 5"],
        ([kind, *map(str, astuple(each))] for kind, each in report["overall"].kinds.items()),
        label="kind",
    )
    if report["overall"].model:
        yield f"the scripted model: {report['overall'].model}"


def shown_lines(lived: Lived) -> Iterator[str]:
    """A life for people to read: wrong answers with what was found, the lasting files, facts, the not forgotten."""
    yield f"===== {lived.life.name}"
    for each in lived.asked:
        wrong = [
            name
            for name, is_wrong in (
                ("not injected", not each.injected),
                ("not in the prompt", not each.in_prompt),
                ("not in the top", not each.in_top),
                (f"old injected: {each.injected_old}", each.injected_old),
                (f"old in the prompt: {each.prompt_old}", each.prompt_old),
                (f"old in the top: {each.top_old}", each.top_old),
                ("out of order", each.is_ordered is False),
            )
            if is_wrong
        ]
        if wrong:
            yield f"? {each.question.text} [{'/'.join(each.question.current)}]"
            yield from (f"    {reason}" for reason in wrong)
            yield from (f"      | {line}" for line in each.section.splitlines())
            yield from (
                f"      {at}. {found['tier']}: {found['text'][:160]!r}" for at, found in enumerate(each.results, 1)
            )
    judge = Judge(lived.life)
    yield "----- MEMORY.md"
    yield from (f"{judge.line(line).worth:14} {line}" for line in memory_lines(lived.files["MEMORY.md"]))
    yield "----- falsely marked as superseded"
    yield from falsely_marked(lived.asked, lived.files["MEMORY.md"], judge)
    yield "----- PROFILE.md"
    yield lived.files["PROFILE.md"]
    yield "----- facts"
    for fact in lived.facts:
        held = f"{fact['subject']} | {fact['predicate']} | {fact['object']}"
        by = next((f" -> {other['text']}" for other in lived.facts if other["id"] == fact["superseded_by"]), "")
        yield f"{fact['state']:11} {held} ({fact['valid_from']} to {fact['valid_to']}): {fact['text']}{by}"
    yield "----- not forgotten"
    yield from (f"{found.words} in {found.table}.{found.column}: {found.example}" for found in lived.forgotten)
    yield "----- invented"
    yield from (f"{found.rows} in {found.table}.{found.column}: {found.example}" for found in lived.invented)
