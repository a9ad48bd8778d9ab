"""From when on a fact holds, and until when, where its sentence names a day that is still to come. Pure.

"I start at Nordwind on 2 March" closes nothing before that day, and "I'm in Oslo until June" holds no longer than that.
What is said of a day that is past counts since it was said: since when it holds is for the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import cache

from babel.dates import get_day_names, get_month_names

from reverie_server.heuristics.grounding_vocabulary import is_weekday, month_of, number_words
from reverie_server.heuristics.grounding_words import content_of
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import StatedFact

# What is farther ahead is no plan of one's days.
_FARTHEST = timedelta(days=400)
_MOST_AHEAD = 400
# A note may be of any day that its name has; what is so far ahead ends with the calendar.
_LAST_YEAR = 9900
_LOCALES = ("en", "de", "es")
_BEGINS = (
    r"from|as (?:of|from)|starting(?: on| from)?|starts?(?: on)?|beginning(?: on)?|begins?(?: on)?|on|in"
    r"|effective(?: from| on)?|ab(?: dem)?|am|im|zum|vom|a partir del?|(?<!desde )el|en"
)
_ENDS = r"until|till|bis(?: zum)?|hasta(?: el)?"
_BEFORE_DATE = r"(?:(?:the|this|next|this coming|diese[nmr]|nächste[nmr]|kommende[nmr]|el|próximo|este) )*+"
_AHEAD = {"tomorrow": 1, "morgen": 1, "übermorgen": 2, "mañana": 1, "pasado mañana": 2, "明天": 1, "后天": 2, "後天": 2}
# By the unit that they name: `week` and `month` next to come, and so many days, weeks and months on.
_NEXT = re.compile(
    r"(?<!\w)(?:next|nächste[nmrs]?|kommende[nmrs]?|(?:la|el) próxim[oa])"
    r" (?P<unit>week|month|year|woche|monat|jahr|semana|mes|año)(?!\w)"
    r"|(?<!\w)(?:la|el) (?P<coming>semana|mes|año) (?:que viene|próxim[oa])(?!\w)"
    r"|(?<!\w)(?:in|en|dentro de) (?P<number>\w{1,10})"
    r" (?P<units>days?|weeks?|months?|tag(?:en)?|wochen?|monat(?:en)?|d[ií]as?|semanas?|mes(?:es)?)(?!\w)"
    r"|下(?:个|個)?(?P<han>[周週月]|星期|礼拜|禮拜)(?P<weekday>[一二三四五六日天])?|明(?P<han_year>年)"
)
_MARKER = re.compile(rf"(?<!\w)(?:{_BEGINS}|{_ENDS}) $")
_UNITS = {
    "day": ("day", "tag", "dia", "día"),
    "week": ("week", "woche", "semana", "周", "週", "星期", "礼拜", "禮拜"),
    "month": ("month", "monat", "mes", "月"),
    "year": ("year", "jahr", "año", "年"),
}
_ONE = frozenset({"a", "an", "einem", "einer", "un", "una"})
_HAN_WEEKDAYS = "一二三四五六日"
# A verb of what is over: the day is one that was.
_OVER = re.compile(
    r"(?<!\w)(?:\w{2,20}ed|was|were|did|had|began|left|got|took|went|became|bought|sold"
    r"|war(?:en)?|hatten?|wurden?|zog(?:en)?|fing(?:en)?|ging(?:en)?|begann(?:en)?|kam(?:en)?|\w{2,20}ierten?"
    r"|(?:\w{1,10})?ge\w{2,16}(?:t|en)|\w{2,20}(?:é|ó|aron|ieron|aba|aban|ía|ían))(?!\w)|[了过過]"
)
# Other parts of a sentence have times of their own.
_CLAUSE = re.compile(r"[,;:!?。，；！？] ?|[.](?= |$)(?<!\d\.)| [–—-] | (?:and|but|so|und|aber|y|pero) ")
_HAN_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
# What is of a day or its month says nothing of when something begins: `六月的考试`.
_HAN_DAY = re.compile(
    r"(?P<until>到)?(?:(?P<ahead>[明后後]天)"
    rf"|(?<![\d一二三四五六七八九十年])(?P<m>{_HAN_NUMBER})月(?:份|底|初)?(?:(?P<d>{_HAN_NUMBER})[日号號])?(?![的之以])"
    r")(?P<from>起|开始|開始)?(?P<end>为止|為止)?"
)
_HAN_DIGITS = "零一二三四五六七八九"
# What has a day itself, as its value or by the day of the week, and what was one's before.
_OF_DAYS = frozenset(
    {"when", "until", "booked", "plans", "birthday", "born", "since", "habit", "left", "ended", "retires"}
)


def in_its_time(fact: StatedFact, sentence: str, said_at: datetime, *, needs_year: bool = False) -> StatedFact:
    """The fact with the time in which it holds, where its part of the sentence names a day that is to come.

    What `needs_year` may be read long after it was written. Takes time linear in the sentence.
    """
    is_whole = fact.object in (fact.text, fact.text.rstrip(".!。"), sentence)
    if is_whole or fact.predicate in _OF_DAYS or not fact.is_functional:
        return fact
    object_ = _without_time(fact.object)
    if _has_day(object_):
        return fact
    begins, ends = time_to_come(sentence, object_, said_at, needs_year=needs_year)
    return replace(fact, object=object_, valid_from=begins or fact.valid_from, valid_to=ends or fact.valid_to)


def _without_time(object_: str) -> str:
    """What something is, without the time from when on it is: `Nordwind next month`."""
    plain = aligned(object_)
    for found in (*_pattern().finditer(plain), *_NEXT.finditer(plain)):
        before = _MARKER.search(plain, 0, found.start())
        start = before.start() if before else found.start()
        if start and found.end() == len(plain):
            return object_[:start].rstrip(" ,")
    return object_


def time_to_come(
    sentence: str, of: str, said_at: datetime, *, needs_year: bool = False
) -> tuple[datetime | None, datetime | None]:
    """When something begins, and when it ends, by the first day to come in the part of a sentence that names it (`of`).

    None where no such day is named. Takes time linear in the sentence.
    """
    clause = _clause_of(aligned(sentence), aligned(of))
    if clause is None or _OVER.search(clause) or said_at.year > _LAST_YEAR:
        return None, None
    for _, is_end, has_year, day in _days(clause, said_at.date()):
        if (has_year or not needs_year) and said_at.date() < day <= said_at.date() + _FARTHEST:
            at = datetime.combine(day, time(), said_at.tzinfo)
            return (None, at) if is_end else (at, None)
    return None, None


def begins_later(clause: str, said_at: datetime, *, needs_year: bool = False) -> tuple[datetime, int, int] | None:
    """The day to come on which what a clause says begins, and where the words for it stand.

    None where it names no such day: next year is no day. What `needs_year` may be read long after it was written. Takes
    time linear in the text.
    """
    plain = aligned(clause)
    # Behind a comma or `and` stands another part.
    other = _CLAUSE.search(plain)
    plain = plain if other is None else plain[: other.start()]
    if said_at.year > _LAST_YEAR or _OVER.search(plain):
        return None
    for found, is_end, has_year, day in _days(plain, said_at.date()):
        is_year = found.re is _NEXT and found[0].endswith(_UNITS["year"])
        if is_end or is_year or (needs_year and not has_year):
            continue
        if said_at.date() < day <= said_at.date() + _FARTHEST:
            before = _MARKER.search(plain, 0, found.start())
            start = before.start() if before else found.start()
            return datetime.combine(day, time(), said_at.tzinfo), start, found.end()
    return None


def _clause_of(plain: str, object_: str) -> str | None:
    """The part of a sentence that has the object, with a day that stands alone before it."""
    before = ""
    at = 0
    for end in [*(found.span() for found in _CLAUSE.finditer(plain)), (len(plain), len(plain))]:
        part = plain[at : end[0]]
        if object_ in part:
            return f"{before}{part}"
        before = f"{part} " if _pattern().fullmatch(part.strip()) else ""
        at = end[1]
    return None


def _has_day(text: str) -> bool:
    content = content_of(text)
    return bool(content.days or content.weekdays or content.months)


@cache
def _pattern() -> re.Pattern[str]:
    """A day as one says when something begins or ends."""
    months, days = (
        "|".join(sorted({re.escape(str(name).casefold()) for found in names for name in found.values()}, key=len)[::-1])
        for names in (
            [get_month_names("wide", "format", locale) for locale in _LOCALES],
            [get_day_names("wide", "format", locale) for locale in _LOCALES],
        )
    )
    day = (
        rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|º)?+ (?:of |de )?+)?+(?P<month>{months})"
        r"(?: (?:the )?+(?P<day_after>\d{1,2})(?:st|nd|rd|th)?+(?!\d))?+(?:,? (?:de )?+(?P<year>20\d\d))?+"
    )
    ahead = "|".join(sorted(_AHEAD, key=len, reverse=True))
    return re.compile(
        rf"(?<!\w)(?:(?P<end>{_ENDS})|(?P<begin>{_BEGINS})) {_BEFORE_DATE}"
        rf"(?:{day}|(?P<weekday>{days})|(?P<iso>20\d\d-\d\d-\d\d)|(?P<ahead>{ahead}))(?!\w)"
        # `From Monday to Friday` is every week, `in March Street` is a place.
        r"(?! (?:to|through|bis|a|hasta|until|till|street|st|road|rd|avenue|lane|square|pasad[oa]"
        r"|(?:del? )?(?:el )?año pasado|(?:of )?last year|letzte[ns] jahre?s?)(?!\w))"
    )


def _days(clause: str, today: date) -> Iterator[tuple[re.Match[str], bool, bool, date]]:
    """The days of a part of a sentence, each with its words, whether something ends then (from the day after it on),
    and whether it has its year."""
    for found in _pattern().finditer(clause):
        is_end = found["end"] is not None
        if (day := _day_of(found, today)) is not None:
            is_whole_month = found["month"] and not (found["day"] or found["day_after"])
            has_year = bool(found["year"] or found["iso"])
            yield found, is_end, has_year, day + timedelta(days=1) if is_end and not is_whole_month else day
    for found in _NEXT.finditer(clause):
        if (day := _next_of(found, today)) is not None:
            yield found, False, False, day
    for found in _HAN_DAY.finditer(clause):
        is_end = bool(found["until"] or found["end"])
        if found["ahead"] and not (is_end or found["from"]):
            continue
        if found["ahead"]:
            day = today + timedelta(days=_AHEAD[found["ahead"]])
        else:
            nearest = _nearest(_number(found["m"]), _number(found["d"] or "1"), today)
            if nearest is None:
                continue
            day = nearest
        yield found, is_end, False, day + timedelta(days=1) if is_end and (found["d"] or found["ahead"]) else day


def _number(text: str) -> int:
    """A number up to 99, in figures or in Chinese characters: 二十三."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (10 * (_HAN_DIGITS.find(tens) if tens else 1) if ten else 0) + (_HAN_DIGITS.find(ones) if ones else 0)


def _day_of(found: re.Match[str], today: date) -> date | None:
    if found["iso"]:
        return _date(*map(int, found["iso"].split("-")))
    if found["ahead"]:
        return today + timedelta(days=_AHEAD[found["ahead"]])
    if found["weekday"]:
        return today + timedelta(days=(_weekday(found["weekday"]) - today.weekday() - 1) % 7 + 1)
    month = month_of(found["month"])
    day = int(found["day"] or found["day_after"] or 1)
    assert month is not None
    return _date(int(found["year"]), month, day) if found["year"] else _nearest(month, day, today)


def _next_of(found: re.Match[str], today: date) -> date | None:
    word = next(word for name in ("unit", "coming", "units", "han", "han_year") if (word := found[name]))
    unit = next(unit for unit, names in _UNITS.items() if word.startswith(names))
    number = 1
    if found["number"]:
        numbers = {found["number"]} if found["number"].isdecimal() else number_words(found["number"])
        number = 1 if found["number"] in _ONE else int(min(numbers, default="0"))
        if not 0 < number <= _MOST_AHEAD:
            return None
    if unit == "day":
        return today + timedelta(days=number)
    if unit == "week" and found["number"]:
        return today + timedelta(weeks=number)
    if unit == "week":
        monday = today + timedelta(days=7 - today.weekday())
        return monday + timedelta(
            days=_HAN_WEEKDAYS.index(found["weekday"].replace("天", "日")) if found["weekday"] else 0
        )
    if unit == "year":
        return date(today.year + 1, 1, 1)
    months = today.month - 1 + number
    # So many months on, or the first of the next.
    day = min(today.day, 28) if found["number"] else 1
    return date(today.year + months // 12, months % 12 + 1, day)


def _weekday(name: str) -> int:
    assert is_weekday(name)
    [day] = content_of(name).weekdays
    return day


def _nearest(month: int, day: int, today: date) -> date | None:
    """The day of that name that is nearest."""
    around = [_date(year, month, day) for year in (today.year - 1, today.year, today.year + 1)]
    return min((each for each in around if each), key=lambda each: abs(each - today), default=None)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
