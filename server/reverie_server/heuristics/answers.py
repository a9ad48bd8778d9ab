"""What people answer when an assistant asks about them: "Where do you live?" "Leeds" says "I live in Leeds". Pure.

An answer of a few words is no sentence, and no pattern of facts reads it. Said as one, it is read and checked as any
other statement.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reverie_server.heuristics.cues import folded

# A question stands near the end of what an assistant says, and an answer is short.
_MAX_ASKED_CHARS, _MAX_ANSWER_CHARS = 600, 120
_MAX_WORDS, _MAX_HAN = 6, 16
_QUESTION = re.compile(r"[^.!?。！？¿\n]*[?？]")
_NUMBER = re.compile(r"\d{1,3}(?!\d)|[一二三四五六七八九十]{1,3}(?=岁|歲|$)")
_FIRST_PART = re.compile(r"[^,，;；.。!！?？\n]*")
_VOWELS = "aeiouAEIOU"
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Question:
    asks: re.Pattern[str]
    says: str
    lead: re.Pattern[str]
    silent: re.Pattern[str]
    is_number: bool
    is_name: bool
    max_words: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about the user, in a language: how its answer is said with `{}` for it, what an answer may begin with
    that says nothing, and what begins one that tells nothing of what was asked."""

    language: str
    says: str
    lead: re.Pattern[str]
    filler: re.Pattern[str]
    silent: Sequence[re.Pattern[str]]
    is_number: bool
    is_name: bool
    max_words: int

    def answer(self, sentence: str) -> str | None:
        """The sentence as one that says what was asked; None where it is no answer of a few words."""
        text = sentence.strip()[:_MAX_ANSWER_CHARS]
        if "?" in text or "？" in text:
            return None
        text = text[_end_of(self.filler, text) :]
        if any(pattern.match(text) for pattern in self.silent):
            return None
        text = text[_end_of(self.lead, text) :].strip()
        if self.is_number:
            found = _NUMBER.match(text)
            return None if found is None else self.says.replace("{}", found[0])
        first = _FIRST_PART.match(text)
        if first is None or not first[0].strip() or not self._is_short(first[0]):
            return None
        before, _, after = self.says.partition("{}")
        if before.endswith(" a ") and text[0] in _VOWELS:
            before = f"{before[:-1]}n "
        said = first[0].strip()
        if self.is_name and said.islower():
            said = said.title()
        return f"{before}{said}{after}{text[first.end() :]}"

    def _is_short(self, text: str) -> bool:
        return len(text.split()) <= self.max_words and len(_HAN.findall(text)) <= _MAX_HAN


def asked_by(text: str) -> Asked | None:
    """What an assistant asks its user about themselves at the end of a text; None for nothing, or for more than one."""
    questions = _QUESTION.findall(folded(text[-_MAX_ASKED_CHARS:]))
    if len(questions) != 1:
        return None
    plain = questions[0].strip().rstrip("?？").rstrip()
    for language, filler, silent, of_language in _languages():
        for question in of_language:
            if (found := question.asks.search(plain)) is not None:
                says = question.says
                for name, caught in found.groupdict().items():
                    if caught is not None:
                        says = says.replace(f"{{{name.rstrip('2')}}}", caught.title() if name == "noun" else caught)
                silence = (silent, question.silent)
                says = says[:1].upper() + says[1:]
                shape = (question.is_number, question.is_name, question.max_words)
                return Asked(language, says, question.lead, filler, silence, *shape)
    return None


@cache
def _languages() -> Sequence[tuple[str, re.Pattern[str], re.Pattern[str], Sequence[_Question]]]:
    source = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return [
        (
            language,
            re.compile(of["filler"], re.IGNORECASE),
            re.compile(of["silent"] if language == "chinese" else rf"{of['silent']}(?!\w)", re.IGNORECASE),
            [
                _Question(
                    re.compile(each["asks"]),
                    each["says"],
                    re.compile(each.get("lead", "(?!)"), re.IGNORECASE),
                    re.compile(each.get("silent", "(?!)"), re.IGNORECASE),
                    each.get("is_number", False),
                    each.get("is_name", False),
                    each.get("words", _MAX_WORDS),
                )
                for each in of["questions"]
            ],
        )
        for language, of in source.items()
    ]


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return 0 if found is None else found.end()
