"""What is known of a life, and what its questions get, counted. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from reverie_bench.passing import PassingLife, Question

# Facts that say that something is over.
_ENDS = ("no_longer_", "quit", "left", "ended", "broke up")
_MOST_CHARS = 60
_LINE = "- ("


def holding(facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The facts that hold and are short, each as `subject predicate object` in lower case."""
    return [
        f"{fact['subject']} {fact['predicate']} {fact['object']}".lower()
        for fact in facts
        if fact["state"] == "current" and len(fact["object"]) < _MOST_CHARS and not fact["predicate"].startswith(_ENDS)
    ]


def of_knowledge(life: PassingLife, facts: Sequence[str], profile: str) -> Counter[str]:
    """How many of a life's values the facts that hold have (`facts`; those that are `over`; of `others`), and how many
    of its profile the file has."""
    counts: Counter[str] = Counter({"current facts": len(facts)})
    for name, values in (("facts", life.facts), ("over", life.over), ("others", life.others)):
        counts += Counter({name: len(found_in(values, facts)), f"{name} of": len(values)})
    return counts + Counter({"profile": len(found_in(life.profile, [profile])), "profile of": len(life.profile)})


def found_in(values: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The values that stand in one of the texts."""
    return [value for value in values if any(value in text for text in texts)]


def of_answer(question: Question, section: str) -> Counter[str]:
    """Whether an answer is injected, and a superseded one in a line that is not marked and has no current one."""
    text = section.lower()
    lines = [line for line in text.splitlines() if line.startswith(_LINE)]
    is_old = any(
        found_in(question.superseded, [line]) and "(until" not in line and not found_in(question.current, [line])
        for line in lines
    )
    is_injected = bool(found_in(question.current, [text]))
    counts = Counter({"injected": is_injected, "injected of": 1, "lines": len(lines)})
    return counts + Counter({"superseded": is_old, "superseded of": 1}) if question.superseded else counts
