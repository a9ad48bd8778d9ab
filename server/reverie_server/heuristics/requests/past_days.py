# ruff: noqa: E501  # a pattern stands on one line
"""Words for a day that is over, and which days they may mean: "last Sunday night", "vor drei Wochen", "前阵子". Pure.

A day that is only hinted at ("the other day", "an jenem Abend") has no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from reverie_server.heuristics.grounding_vocabulary import month_of, number_words

_WEEKDAYS = (
    ("monday", "montag", "lunes", "一"),
    ("tuesday", "dienstag", "martes", "二"),
    ("wednesday", "mittwoch", "miércoles", "三"),
    ("thursday", "donnerstag", "jueves", "四"),
    ("friday", "freitag", "viernes", "五"),
    ("saturday", "samstag", "sábado", "六"),
    ("sunday", "sonntag", "domingo", "日"),
)
_NAME_OF_DAY = {name: number for number, names in enumerate(_WEEKDAYS) for name in names} | {
    **{"sonnabend": 5, "miercoles": 2, "sabado": 5, "天": 6}
}
_LATIN_DAY = "|".join(name for name in _NAME_OF_DAY if len(name) > 1)
_PART_OF_DAY = r"(?:morning|afternoon|evening|night|nacht|abend|morgen|mittag|nachmittag|früh)"
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|januar|jänner|februar|märz|mai|juni|juli|oktober|dezember|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre)"
_COUNT = r"(?:\d{1,2}|a couple(?: of)?|\w{1,12})"
_HAN_COUNT = r"(?:\d{1,2}|[一二两三四五六七八九十])"
_ORDINAL = r"(?:\d{1,2}(?:st|nd|rd|th|\.)?|\w{3,20}(?:th|first|second|third|sten|ten|ste|te)|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince)"
_PATTERN = re.compile(
    # So many days.
    r"(?<!\w)(?P<before_yesterday>(?:the )?day before yesterday|vorgestern|anteayer|antes de ayer|antier|antenoche)(?!\w)|(?P<han_before>(?<!大)前[天晚])"
    rf"|(?<!\w)(?P<yesterday>yesterday|last night|yday|gestern|ayer|anoche)(?: {_PART_OF_DAY})?(?!\w)|(?P<han_yesterday>昨[天晚夜日])"
    # The day of a month, with or without that of the week.
    rf"|(?<!\w)(?:(?P<of_week>{_LATIN_DAY})\w{{0,2}},? )?(?:on the|the|am|den|dem|vom|el(?: día)?) (?P<day>{_ORDINAL})(?:(?: of| de)? (?P<month>{_MONTH}))?(?!\w)"
    rf"|(?<!\w)(?P<month_first>{_MONTH}) (?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?(?!\w)|(?:(?P<han_month>\d{{1,2}}|[一二三四五六七八九十]{{1,2}})月)?(?P<han_day>\d{{1,2}}|[一二三四五六七八九十]{{1,3}})[号日](?!线|楼)"
    # A day of the week; "last" may mean the one before, too.
    rf"|(?<!\w)(?:(?P<last>last|letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?|(?:el )?pasado) )?(?P<weekday>{_LATIN_DAY})(?:(?: |)(?:{_PART_OF_DAY}|in der nacht|en la noche|por la (?:noche|tarde)))?(?P<last_behind> pasado)?(?!\w)"
    r"|(?P<han_last>上+)?(?:个|個)?(?P<han_of_week>周|週|星期|礼拜)(?P<han_weekday>[一二三四五六日天])"
    # So many units ago.
    rf"|(?<!\w)(?P<count>{_COUNT}) (?P<unit>days?|nights?|weeks?|months?) (?:ago|back)(?!\w)"
    rf"|(?<!\w)vor (?P<german_count>{_COUNT}) (?P<german_unit>tagen?|nächten|wochen?|monat(?:en?)?)(?!\w)"
    rf"|(?<!\w)hace (?P<spanish_count>{_COUNT}) (?P<spanish_unit>días?|dias?|noches?|semanas?|mes(?:es)?)(?!\w)"
    rf"|(?P<han_count>{_HAN_COUNT})(?P<han_unit>天|个?(?:周|星期|礼拜|月))(?:之|以)?前"
    # The last week or month.
    r"|(?<!\w)(?P<last_week>last week|letzte woche|vorige woche|la semana pasada)(?!\w)|(?P<han_last_week>上(?:个)?(?:周|星期|礼拜)(?![一二三四五六日天]))"
    r"|(?<!\w)(?P<last_month>last month|letzten monat|el mes pasado)(?!\w)|(?P<han_last_month>上个?月)"
    # Some day.
    r"|(?<!\w)(?P<some>the other (?:day|night|morning|afternoon|evening|week|time)|(?:days|weeks|months|a while|some time|ages) (?:ago|back)|last time|earlier this (?:week|month)"
    r"|(?:that|the|one|a certain) (?:night|evening|day)|in that night|recently"
    r"|neulich|letztens|kürzlich|unlängst|jüngst|seinerzeit|damals|vor (?:einiger|längerer|kurzer) zeit|vor (?:kurzem|längerem)|(?:das |beim )?letzte[sn]? mal"
    r"|jene[mnr]? (?:tage?|abends?|nacht|morgen|stunde)|eines (?:abends|nachts|tages|morgens)|(?:in|an) (?:der|dem) (?:nacht|abend|tag)"
    r"|la otra (?:noche|tarde|mañana|semana|vez)|el otro día|(?:la|una) (?:vez|vuelta) pasada|la última vez|hace (?:un )?(?:tiempo|rato largo|poco)|hace (?:un |una )?(?:par|montón) de \w+"
    r"|(?:la|una|aquella|esa) (?:noche|madrugada)|(?:aquel|ese|el) día|en su día)(?!\w)"
    r"|(?P<han_some>大前天|前(?:几|些)[天日晚]|前(?:些|一)?阵子?|前(?:段|些)(?:时间|日子)|有(?:一)?[天晚回次]|那[天晚次夜]|上[次回]|改天前|好久以?前|好几[天周]前)"
)
_UNKNOWN = frozenset({"some", "han_some"})
_OF_COUNT = (
    ("count", "unit"),
    ("german_count", "german_unit"),
    ("spanish_count", "spanish_unit"),
    ("han_count", "han_unit"),
)
_UNITS = (("d", "t", "n", "天"), ("w", "s", "周", "星", "礼", "个周", "个星", "个礼"))
_MANY = frozenset(
    re.findall(
        r"\w+",
        "few some several many couple paar einigen wenigen mehreren vielen unos unas varios varias algunos algunas muchos"
        " pocos",
    )
)
_ONE = frozenset({"a", "an", "one", "einem", "einer", "un", "una"})
_ORDINALS = {
    "second": 2,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
    "twentieth": 20,
    "siebten": 7,
    "siebte": 7,
}
_HAN_DIGITS = "〇一二三四五六七八九"
_FARTHEST = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class PastDay:
    """Words for a day, from `start` to `end` of a text, and the `days` that they may mean; None where they tell none."""

    start: int
    end: int
    days: frozenset[date] | None


def past_days(plain: str, today: date) -> Iterator[PastDay]:
    """The words for days before `today` in a text, from `aligned`, in order."""
    for found in _PATTERN.finditer(plain):
        days = _days(found, today)
        if days is None or days:
            yield PastDay(found.start(), found.end(), days)


def _days(found: re.Match[str], today: date) -> frozenset[date] | None:
    """None where the words tell no day, nothing where there was no such day."""
    if found["before_yesterday"] or found["han_before"]:
        return _ago(today, 2)
    if found["yesterday"] or found["han_yesterday"]:
        return _ago(today, 1)
    if found["day"] or found["day_after"] or found["han_day"]:
        return _of_month(found, today)
    if found["weekday"]:
        is_last = bool(found["last"] or found["last_behind"])
        back = (today.weekday() - _NAME_OF_DAY[found["weekday"]] - 1) % 7 + 1
        return _ago(today, *((back, back + 7) if is_last else (back,)))
    if found["han_weekday"]:
        return _han_weekday(found, today)
    if found["last_week"] or found["han_last_week"]:
        return _ago(today, *(today.weekday() + number for number in range(1, 8)), *range(5, 11))
    if found["last_month"] or found["han_last_month"]:
        last = today.replace(day=1) - timedelta(days=1)
        return frozenset(last.replace(day=number) for number in range(1, last.day + 1))
    return next((_counted(found[count], found[unit], today) for count, unit in _OF_COUNT if found[unit]), None)


def _han_weekday(found: re.Match[str], today: date) -> frozenset[date]:
    wanted = _NAME_OF_DAY[found["han_weekday"]]
    if found["han_last"]:
        return _ago(today, today.weekday() - wanted + 7 * len(found["han_last"]))
    return _ago(today, (today.weekday() - wanted - 1) % 7 + 1)


def _counted(count: str, unit: str, today: date) -> frozenset[date] | None:
    """So many days, weeks or months ago, give or take some."""
    word = count.removeprefix("a couple of").removeprefix("a couple").strip()
    number = 2 if word != count else 1 if word in _ONE else _number(word)
    if word in _MANY or not 0 < number <= _FARTHEST.days:
        return None
    of_unit, around = next(
        (
            each
            for names, each in zip(_UNITS, ((1, number >= 3), (7, 2 * number)), strict=True)
            if unit.startswith(names)
        ),
        (30, 10 * number),
    )
    return _ago(today, *range(max(1, of_unit * number - around), of_unit * number + around + 1))


def _of_month(found: re.Match[str], today: date) -> frozenset[date]:
    """The last day of that name."""
    day = _number((found["day"] or found["day_after"] or found["han_day"]).rstrip("."))
    named = found["month"] or found["month_first"]
    month = _number(found["han_month"]) if found["han_month"] else named and month_of(named)
    weekday = _NAME_OF_DAY[found["of_week"]] if found["of_week"] else None
    for back in range(1, _FARTHEST.days):
        each = today - timedelta(days=back)
        if each.day == day and month in (None, "", each.month) and weekday in (None, each.weekday()):
            return frozenset({each})
    return frozenset()


def _number(word: str) -> int:
    """A number as it is written in one of the languages, also as the number of a day; 0 where it is none."""
    if bare := re.match(r"\d+", word):
        return int(bare[0])
    if word in _ORDINALS:
        return _ORDINALS[word]
    if "十" in word:
        tens, _, ones = word.partition("十")
        return 10 * (_HAN_DIGITS.find(tens) if tens else 1) + (_HAN_DIGITS.find(ones) if ones else 0)
    stems = [word, *(word.removesuffix(end) for end in ("th", "sten", "ten", "ste", "te") if word.endswith(end))]
    return next((int(min(found)) for stem in stems if (found := number_words(stem))), 0)


def _ago(today: date, *days: int) -> frozenset[date]:
    return frozenset(today - timedelta(days=each) for each in days)
