"""A value in the place of another: "on the 14th" and then "no, the 15th". Pure."""

from __future__ import annotations

import re

from reverie_server.heuristics.corrections.correction import Corrected, Fragment, Part
from reverie_server.heuristics.corrections.correction_cues import VALUE_KINDS, CorrectionCues
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.requests.fact_requests import aligned

_MAX_SLOTS = 12
_WEEK = re.compile(r"(?:下下?|这|這|本)[个個]?(?=周|週|星期|礼拜|禮拜)")
_PART_OF_DAY = re.compile("上午|下午|晚上|早上|中午|凌晨")
_SIGN = re.compile(r"[$€£¥￥]")
_ON_DAY = re.compile(r"(?:am|vom|zum|(?:\w{4,12},? )?den) \d")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th|te[nr]?|\.)?", re.IGNORECASE)
_DAY_OF_MONTH = re.compile(
    r"(?P<month_before>[^\W\d]+ )?\d{1,2}(?:st|nd|rd|th|te[nr]?|\.)?(?P<month_behind> (?:(?:de|of) )?[^\W\d]+)?",
    re.IGNORECASE,
)
_DAYS = frozenset({"weekday", "date", "relative"})


def value_of(text: str, cues: CorrectionCues) -> Part | None:
    """A fragment that is a value and nothing else."""
    # The point of a German day belongs to it: `am 14.` is a day, and `14` may be anything.
    both = (text, f"{text}.") if text[-1:].isdigit() else (text,)
    for given in both[::-1] if _ON_DAY.match(aligned(text)) else both:
        found = cues.value.fullmatch(aligned(given))
        if found is not None:
            return _part(found, given, cues)
    return None


def slot_of(statement: str, value: Part, cues: CorrectionCues) -> Part | None:
    """The one value of a statement in whose place another can stand; None where there is none, or are several."""
    plain = aligned(statement)
    parts: list[Part] = []
    for found in cues.value.finditer(plain):
        parts.append(_part(found, statement, cues))
        if len(parts) > _MAX_SLOTS:
            return None
    if value.kind == "date" and [part.kind for part in parts if part.kind in (*_DAYS, "weekday_date")] == [
        "weekday_date"
    ]:
        # `Thursday the 22nd`, and then `the 29th`: of which day of the week that is nobody speaks any more.
        return next(part for part in parts if part.kind == "weekday_date")
    alike = [part for part in parts if _is_alike(part, value)]
    if len(alike) != 1:
        return None
    if value.kind == "number" and not value.unit:
        # A bare number can be any of several.
        numeric = [part for part in parts if part.kind in ("number", "clock", "date", "weekday_date")]
        if len(numeric) != 1:
            return None
    elif value.kind in _DAYS and any(part.kind == "weekday_date" for part in parts):
        return None
    is_same = aligned(alike[0].core).strip(". ") == aligned(value.core).strip(". ")
    return None if is_same or not same_preposition(alike[0].prep, value.prep) else alike[0]


def is_value(text: str, part: Part, cues: CorrectionCues) -> bool:
    """Whether a text is the value that stands at a place, or a part of it."""
    value = value_of(text, cues)
    return value is not None and aligned(value.core).strip(". ") in aligned(part.core)


def with_value(statement: str, part: Part, value: Part, fragment: Fragment, cues: CorrectionCues) -> Corrected:
    """The statement with a value in place of another, behind the preposition and the article that fit."""
    same_kind = part.kind == value.kind
    prep = value.prep or ("" if value.kind == "relative" else _as_written(statement, part, part.prep))
    article = value.article if value.article or not same_kind else _as_written(statement, part, part.article)
    if prep and not value.prep and article and cues.language == "german":
        # `am 14.`, and then `der 15.`: the preposition has its article.
        article = part.article
    core = value.core
    if part.kind == "date" and (day := _DAY_OF_MONTH.fullmatch(part.core)) and _DAY.fullmatch(core):
        # `April 22`, and then `the 23rd`: the month stands.
        core, article = f"{day['month_before'] or ''}{core}{day['month_behind'] or ''}", part.article
    start, end = part.span
    if cues.unspaced:
        core = _in_full(part.core, core)
        # `下周三下午` takes the place of `下周二` before `下午三点`.
        if (hours := _PART_OF_DAY.search(core)) and statement.startswith(hours[0], end) and hours.end() == len(core):
            end += len(hours[0])
    sign = _SIGN.match(part.core)
    if sign is not None and not _SIGN.match(core):
        core = f"{sign[0]}{core}"
    space = "" if cues.unspaced else " "
    words = space.join(word for word in (prep, article, core) if word)
    text = f"{statement[:start]}{words}{statement[end:]}"
    return Corrected(text[:1].upper() + text[1:], part.core, value.core, fragment.cue)


def _in_full(old: str, new: str) -> str:
    """A Chinese time with the week and the part of the day of the one in whose place it stands, if it names none."""
    week, hours = _WEEK.match(old), _PART_OF_DAY.search(old)
    if week is not None and new[:1] in "周週星礼禮" and _WEEK.match(new) is None:
        new = f"{week[0]}{new}"
    if hours is None or _PART_OF_DAY.search(new) is not None:
        return new
    return f"{hours[0]}{new}" if hours.start() == 0 else f"{new}{hours[0]}"


def same_preposition(old: str, new: str) -> bool:
    """Whether what is put in place may stand behind its own preposition where the other stood behind another."""
    return not old or not new or old[:1] == new[:1]


def _part(found: re.Match[str], text: str, cues: CorrectionCues) -> Part:
    kind = next(kind for kind in VALUE_KINDS if found[kind] is not None)
    start, end = found.span(kind)
    prep, unit = found["prep"] or "", (found["unit"] or "") if kind == "number" else ""
    if kind == "number" and prep and cues.at_clock.fullmatch(prep) and not unit:
        kind = "clock"
    return Part(kind, prep, found["article"] or "", text[start:end], unit, (found.start(), end))


def _is_alike(part: Part, value: Part) -> bool:
    if value.kind in _DAYS:
        return part.kind in _DAYS
    if value.kind != "number":
        return part.kind == value.kind
    if value.unit:
        return part.kind == "number" and content_terms(part.unit) == content_terms(value.unit)
    return part.kind in ("number", "clock")


def _as_written(statement: str, part: Part, word: str) -> str:
    """The words before a value as they stand in the statement."""
    at = aligned(statement).find(word, part.span[0], part.span[1]) if word else -1
    return statement[at : at + len(word)] if at >= 0 else word
