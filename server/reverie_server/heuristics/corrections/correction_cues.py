"""The words by which people take back what they have just said, by language. Pure but for `corrections.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Strength = Literal["denies", "sorry", "doubts", "retracts", "explicit"]
"""What a cue says: no; sorry; that something is not quite right; several of these; that what was said was wrong."""
VALUE_KINDS = ("weekday_date", "weekday", "date", "relative", "clock", "number", "code")
_KINDS = ("explicit", "denies", "sorry", "doubts", "filler")
_MACRO = re.compile(r"\{([a-z]+)\}")
# Letters and digits, with a digit: `B12`, `LH441`.
_CODE = r"(?=[a-z-]*\d)(?=[\d-]*[a-z])[a-z\d-]{2,12}"
_SIGNS = r"[$€£¥￥]"
# Behind a weekday a bare number is a day: `el martes 14`.
_DAY = r"(?:[12]?\d|3[01])(?![\d:.,]|\s?(?:[ap]\.?m|h|uhr|o'clock|%|€))"
_NEVER = re.compile(r"(?!)")
# Between a cue and the next one, or what follows; and where a cue can begin within a sentence.
_GAP = r"[\s,;:.!?…—–\-，、。！？；：~～]*+"
_PAUSE = r"(?:[,;:.!…—–(/，、；：。！]|(?<=\s)-|-(?=\s))"


@dataclass(frozen=True, slots=True)
class CorrectionCues:
    """The patterns of one language, for text from `aligned`.

    `item` finds a cue with the gap behind it, its group says of which kind; `begins` where one may begin within a
    sentence, `paused` such a place behind a comma or the like. `value` finds a value with what stands before it (groups
    `prep`, `article`, one of VALUE_KINDS, `unit`). `lead` and `tail` are left out around a value; `before` finds `prep`
    and `article` before a name or an occupation. `moved` opens a sentence that says no more than to when something was
    put off: `改成三点了`. `day_and_clock` is a day with an hour right behind it: `周三下午三点`.
    """

    language: str
    unspaced: bool
    item: re.Pattern[str]
    begins: re.Pattern[str]
    paused: re.Pattern[str]
    lead: re.Pattern[str]
    tail: re.Pattern[str]
    before: re.Pattern[str]
    value: re.Pattern[str]
    at_clock: re.Pattern[str]
    idle: re.Pattern[str]
    moved: re.Pattern[str]
    day_and_clock: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Cue:
    """The words of a correction, up to where what takes the place begins (`end`); `is_paused`: behind a comma or so."""

    text: str
    strength: Strength
    end: int
    is_paused: bool = True


_MAX_ITEMS = 6


def cue_at(plain: str, start: int, cues: CorrectionCues) -> Cue | None:
    """The cue at a place of a text from `aligned`, with those that follow it; None where there is none."""
    found: list[str] = []
    at = words_end = start
    for _ in range(_MAX_ITEMS):
        item = cues.item.match(plain, at)
        if item is None or item.end() == at:
            break
        found.append(str(item.lastgroup))
        at, words_end = item.end(), item.end(str(item.lastgroup))
    kinds = {kind for kind in found if kind != "filler"}
    if not kinds:
        return None
    strength: Strength
    if "explicit" in kinds:
        strength = "explicit"
    elif "denies" in kinds and len(kinds) > 1:
        strength = "retracts"
    else:
        strength = "sorry" if "sorry" in kinds else "denies" if "denies" in kinds else "doubts"
    return Cue(plain[start:words_end], strength, at, is_paused=bool(plain[words_end:at].strip()))


@cache
def correction_cues() -> Mapping[str, CorrectionCues]:
    """The cues of each language that has some."""
    source = Path(__file__).with_name("corrections.toml").read_text(encoding="utf-8")
    return {language: _compiled(language, table) for language, table in tomllib.loads(source).items()}


def _compiled(language: str, table: Mapping[str, str]) -> CorrectionCues:
    unspaced = language == "chinese"
    begin, end = ("", "") if unspaced else (r"(?<!\w)", r"(?!\w)")
    space = r"\s?" if unspaced else r"\s+"

    def words(kind: str) -> str:
        text = table[kind]
        for _ in range(3):
            text = _MACRO.sub(lambda found: table[found[1]], text)
        return text.replace(" ", r"\s")

    # In a script without spaces `no` may be a part of a word: a pause must follow.
    ends = {kind: r"(?=[\s，,、。.！!…]|$)" if unspaced and kind == "denies" else end for kind in _KINDS}
    items = "|".join(f"(?P<{kind}>(?:{words(kind)}){ends[kind]})" for kind in _KINDS)
    cue_words = "|".join(f"(?:{words(kind)}){ends[kind]}" for kind in _KINDS)
    article = rf"(?:{begin}(?P<article>{words('article')}){space})?"
    prep = rf"(?:{begin}(?P<prep>{words('prep')}){space})?"
    lead = rf"(?:(?:{words('leads')}){space.replace('+', '+,?')})*"
    kinds = (
        rf"(?P<weekday_date>(?:{words('weekday')}),?{space}(?:(?:{words('article')}){space})?(?:{words('date')}|{_DAY}))"
        if not unspaced
        else r"(?P<weekday_date>(?!))",
        *(rf"(?P<{kind}>{words(kind)})" for kind in ("date", "clock", "weekday", "relative")),
        rf"(?P<code>{_CODE})",
        rf"(?P<number>{_SIGNS}?(?:{words('number')}))(?:(?P<gap>\s?)(?P<unit>[^\W\d_]{{1,20}}|[%€$£#]))?",
    )
    value = "|".join(f"{kind}{end}" for kind in kinds)
    return CorrectionCues(
        language,
        unspaced,
        re.compile(f"(?:{items}){_GAP}"),
        re.compile(f"{begin}(?:{cue_words})"),
        re.compile(rf"{_PAUSE}\s*$"),
        re.compile(lead),
        re.compile(rf"(?:[\s,，]*(?:{words('tails')}){end})*[\s.!…。！)）*,，]*$"),
        re.compile(f"{prep}{article}"),
        re.compile(f"{begin}{prep}{article}(?:{value})"),
        re.compile(words("at_clock")) if table["at_clock"] else _NEVER,
        re.compile(rf"(?:{words('idle')}){end}"),
        re.compile(words("moved")) if "moved" in table else _NEVER,
        re.compile(rf"(?P<day>{words('weekday')}|{words('date')}|{words('relative')})(?P<clock>{words('clock')})")
        if unspaced
        else _NEVER,
    )
