"""Asks the questions of a life by injection, prompt and search, and judges each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie_bench.truth.client import Client
from reverie_bench.truth.judge import Judge, answered, holds
from reverie_bench.truth.life import Question

_TOP = 5
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """What one question found. Of the superseded answers: the sentence that gives one unmarked, or None.

    `is_ordered` is whether the first result with the current answer comes before the first with a superseded one; None
    where neither was found. `falsely_marked` are sentences that hold and stand in one of the three as if they did not.
    """

    question: Question
    injected: bool
    in_prompt: bool
    in_top: bool
    injected_old: str | None
    prompt_old: str | None
    top_old: str | None
    is_ordered: bool | None
    section: str
    results: Sequence[Mapping[str, Any]]
    falsely_marked: frozenset[str]


class Asker:
    """Asks as one owner, in a session of its own for each question."""

    def __init__(self, client: Client, judge: Judge) -> None:
        self._client = client
        self._judge = judge

    async def ask(self, number: int, question: Question) -> Asked:
        """The judged answers to a question."""
        section = await self._client.inject(question.text)
        prompt = _prompt(await self._client.context(f"ask:{number}", question.text), question.text)
        results = await self._client.search(question.text, _LOOKED_AT)
        top = results[:_TOP]
        return Asked(
            question=question,
            injected=holds(section, question.current),
            in_prompt=holds(prompt, question.current),
            in_top=answered(top, question.current) is not None,
            injected_old=self._old(section, question),
            prompt_old=self._old(prompt, question),
            top_old=self._first_old(top, question),
            is_ordered=self._is_ordered(results, question),
            section=section,
            results=top,
            falsely_marked=frozenset(
                found
                for text in (section, prompt, *(str(each["text"]) for each in top))
                for found in self._judge.falsely_marked(text)
            ),
        )

    def _old(self, text: str, question: Question) -> str | None:
        if question.about_past or not question.old:
            return None
        return self._judge.has_superseded(text, question.old, question.current)

    def _first_old(self, results: Sequence[Mapping[str, Any]], question: Question) -> str | None:
        unmarked = (
            self._old(each["text"], question)
            for each in results
            if not each.get("superseded_by") and not each.get("valid_to")
        )
        return next((found for found in unmarked if found), None)

    def _is_ordered(self, results: Sequence[Mapping[str, Any]], question: Question) -> bool | None:
        if question.about_past or not question.old:
            return None
        current = answered(results, question.current)
        old = next((rank for rank, each in enumerate(results, 1) if self._old(each["text"], question)), None)
        if current is None and old is None:
            return None
        return current is not None and (old is None or current <= old)


def _prompt(answer: Mapping[str, Any], message: str) -> str:
    """The whole text of a prompt, but for the message itself."""
    texts = [str(each.get("content") or "") for each in answer["messages"]]
    return "\n".join([answer["system_prompt"], *(text.replace(message, "") for text in texts)])
