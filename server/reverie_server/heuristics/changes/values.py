"""Whether two sentences give different values of one thing: a day, a time of day, an amount, a code. Pure.

"The yard gate opens with 5830" and "They changed the yard gate, it's 2714" need no pattern: what they share says what
both are about, and of the value of that one holds at a time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from reverie_indexer.text.analyse import CJK, SOUTH_EAST
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.terms import GENERIC_EVENTS, content_terms, exclude_each_other, scopes_of
from reverie_server.heuristics.grounding_vocabulary import is_weekday, month_of
from reverie_server.heuristics.grounding_words import content_of

# Before and behind it no letter or digit; Chinese is written without spaces: "每月420", "3千块".
_NUMBER = re.compile(
    rf"(?<![.,:/'’+_–—~-])(?<!\d[到至])(?<![^\W_{CJK}])(?P<money>[$€£¥] ?)?"
    r"(?P<number>\d{1,3}(?:[.,'’]\d{3}){1,3}|\d{1,12})(?:[.,](?P<decimals>\d{1,2}))?"
    rf"(?![^\W{CJK}]|[:/–—~-]|[.,]\d|[到至]\d)(?P<times>[千万萬])?"
    rf"(?P<unit> ?[$€£¥%]| [^\W\d_{CJK}]{{1,20}}| ?[{CJK}]{{1,2}})?"
)
_TIMES = {"千": 1000, "万": 10_000, "萬": 10_000}
_HAN_MONEY = re.compile(r"[块塊元]|[美欧歐日港澳台]元|[港台]币|[港台]幣|英[镑鎊]|人民")
# Chinese units of one character and of two; any other word is none.
_MEASURES = frozenset(
    "人次天周岁斤克升米层樓楼页頁本张張件台部辆輛只隻条條口间間套栋棟平度秒刻顿杯瓶碗片粒颗针節节課课門门步级排分"
)
_OF_TWO = frozenset(("分钟", "分鐘", "小时", "小時", "公斤", "公里", "公升", "公分", "个月", "個月", "个人", "個人"))
# "CD-40966", "B2-173", "4-18-32": what opens something, and what something is known by.
_CODE = re.compile(
    r"(?<![\w/.,'’-])(?:[a-z]{1,4}-(?!(?:19|20)\d\d(?!\d))\d{3,12}|[a-z]{1,3}\d{1,4}-(?!(?:19|20)\d\d(?!\d))\d{2,8}"
    r"|\d{1,2}(?:-\d{1,2}){2,3})(?![\w/-])",
    re.ASCII,
)
_MONEY = re.compile(
    r"(?:[$€£¥]|dollars?|euros?|pounds?|francs?|franken|pesos?|yen|yuan|bucks|quid|cents?|usd|eur|chf|gbp)(?!\w)"
)
_OF_DATES = frozenset("年月日号點点时")
_YEAR = re.compile(r"(?:19|20)\d\d")
_IN_YEAR = re.compile(
    r"(?:in|since|from|until|till|by|of|before|after|im jahr|seit|von|bis|vor|nach|en|desde|hasta|de) $"
)
_WEEKDAY = re.compile(
    r"(?<!\w)(?:(mon|tues|wednes|thurs|fri|satur|sun)days?|(mon|diens|donners|frei|sams|sonn)tags?|(mittwoch)s?"
    r"|(lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo)s?)(?!\w)|(?:周|星期|礼拜)([一二三四五六日天])"
)
_CLAUSE = re.compile(r"[,;] |[，；。]")
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_HAN = re.compile(f"[{CJK}]")
_TOKEN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]+")
# What happened at a time, once: it is not otherwise when the like happens again.
_PAST = re.compile(
    r"(?<!\w)(?:last|yesterday|ago|(?:this|that) (?:morning|afternoon)|gestern|vorgestern|letzte[nmrs]?|vorige[nmrs]?"
    r"|heute (?:früh|morgen)|ayer|anoche|antier|pasad[oa]s?|esta mañana|hace)(?!\w)|昨[天晚]|前天|上(?:周|个|次)|刚才"
)
# Words for what one has many of, each with another value, and for how much of a thing: alone they do not say what two
# sentences are about.
_KINDS = GENERIC_EVENTS | content_terms(
    "code pin password number date deadline price cost budget fee rent salary amount appointment lunch dinner birthday"
    " lesson class practice training ticket booking table room hour minute day night morning evening weekend people"
    " euro dollar pound franc kilo kilometer kilometre mile meter metre gram liter litre percent degree page step"
    " whole entire half rest ganz hälfte entero resto mitad"
    " passwort nummer preis kosten gebühr miete gehalt betrag geburtstag kurs karte buchung tisch zimmer stunde minute"
    " tag abend leute prozent grad seite schritt código clave número precio costo alquiler sueldo cumpleaños clase"
    " reserva mesa habitación hora minuto día noche gente kilómetro grado página paso dólar"
    # How often and when, and who: my father has more than one appointment.
    " every each daily weekly monthly always jede jeder jeden jedes immer täglich wöchentlich cada todo siempre"
    " 每周 每天 每月 每年 每个 每次 个周 个星 星期 礼拜 周末 周一 周二 周三 周四 周五 周六 周日 周天"
    " 期一 期二 期三 期四 期五 期六 期日 期天 今天 明天 昨天 今晚 昨晚"
    " 上午 下午 早上 中午 晚上 现在 最近 自己 我们 已经"
    " dad daddy mum mom mummy father mother brother sister son daughter husband wife papa mama vater mutter bruder"
    " schwester sohn tochter papá mamá padre madre hermano hermana hijo hija marido esposa"
    " 爸爸 妈妈 老爸 老妈 我爸 我妈 哥哥 姐姐 弟弟 妹妹 儿子 女儿 老公 老婆"
)
_NAME = re.compile(r"(?<=[\w,'’)] )(?!I(?:['’]|\b))(?P<name>[A-ZÁÉÍÓÚÑ][\w'’-]+)")
# In German any noun has a capital; one without an article behind these is nearly always the name of a place.
_GERMAN_PLACE = re.compile(r"(?<!\w)(?:[Ii]n|[Nn]ach|[Aa]us) (?P<name>[A-ZÄÖÜ][\w-]+)")
_NAMES = {"english": _NAME, "spanish": _NAME, "german": _GERMAN_PLACE}
# A word with a capital within a sentence is a name in these; in German any noun has one, in Chinese no word.
SMALL_NOUNS = frozenset({"english", "spanish"})
# Of two amounts of one thing the greater is at most this many times the other.
_MOST_TIMES = 10
_CODE_DIGITS = 4
_MAX_NUMBERS = 8
# An amount without a unit may be money.
_SAME_UNIT = {"": "money", "money": ""}


@dataclass(frozen=True, slots=True)
class Values:
    """The values in a sentence by their kinds, and what else it is about.

    `numbers` are amounts and codes of digits by their unit ("": none), `codes` those with dashes. `words` are the
    words without the values, `names` those of them that are names.
    """

    days: frozenset[tuple[int, int]]
    weekdays: frozenset[str]
    times: frozenset[int]
    numbers: Mapping[str, frozenset[str]]
    words: frozenset[str]
    names: frozenset[str]
    scopes: frozenset[str] = field(default=frozenset())
    codes: frozenset[str] = field(default=frozenset())

    @property
    def searchable(self) -> frozenset[str]:
        """The words that can say what the sentence is about."""
        return self.words - _KINDS - self.names

    @property
    def is_empty(self) -> bool:
        """Whether the sentence has no value."""
        return not (self.days or self.weekdays or self.times or self.numbers or self.codes)


NO_VALUES = Values(frozenset(), frozenset(), frozenset(), {}, frozenset(), frozenset())


@lru_cache(maxsize=4096)
def values_of(sentence: str, language: str) -> Values:
    """The values in a sentence; none in one about what happened once. Takes time linear in the text."""
    kept = " , ".join(clause for clause in _CLAUSE.split(sentence) if _PAST.search(folded(clause)) is None)
    plain = folded(kept)
    content = content_of(kept)
    taken = {str(day) for _, day in content.days} | {str(minutes // 60) for minutes in content.times}
    numbers: dict[str, set[str]] = {}
    for found in _NUMBER.finditer(plain):
        digits = re.sub(r"\D", "", found["number"])
        is_year = _YEAR.fullmatch(digits) and _IN_YEAR.search(plain, max(0, found.start() - 10), found.start())
        if digits not in taken and not is_year and (unit := _unit(found)) not in _OF_DATES:
            numbers.setdefault(unit, set()).add(_amount(found, digits))
    days = content_terms(" ".join(word for word in _WORD.findall(plain) if month_of(word) or is_weekday(word)))
    written = _NAMES[language].finditer(sentence) if language in _NAMES else ()
    names = frozenset(term for found in written for term in content_terms(found["name"])) - days
    words = frozenset(word for word in content_terms(sentence) - days if len(word) > 1 and not _DIGIT.search(word))
    return Values(
        frozenset(content.days),
        frozenset(day for found in _WEEKDAY.findall(plain) for day in found if day),
        frozenset(content.times),
        {unit: frozenset(each) for unit, each in numbers.items()},
        words,
        names,
        scopes_of(sentence),
        frozenset(_CODE.findall(plain)),
    )


def shared_words(new: Values, old: Values) -> frozenset[str]:
    """The words that say that two sentences are about one thing; none where others say that they are not."""
    if exclude_each_other(new.scopes, old.scopes):
        return frozenset()
    if new.names and old.names and not new.names & old.names:
        return frozenset()
    return new.searchable & old.searchable


def subject_of_both(sentence: str, shared: frozenset[str]) -> str:
    """What two sentences are about, in the words and the order of one of them: `yard gate`."""
    words = [word for word in _TOKEN.findall(sentence) if not _UNSPACED.match(word) and content_terms(word) & shared]
    runs = [run for run in _UNSPACED.findall(sentence) if content_terms(run) & shared]
    covered = ["".join(pair for at, pair in enumerate(run) if _is_covered(run, at, shared)).strip("每") for run in runs]
    return " ".join(dict.fromkeys([*words, *covered]))


def is_other_value(new: Values, old: Values, *, tells: bool = False) -> bool:
    """Whether the first has a value of a kind that the second has, and it is another one.

    Where it `tells` a change it may name the old one as well: `the nets moved from Tuesday to Thursday`. Of the same
    weekday the time says: `Mondays at 20:00 now, not at 19:30`.
    """
    kinds: Sequence[tuple[frozenset[object], frozenset[object]]] = (
        (new.days, old.days),
        (new.weekdays, old.weekdays),
        (new.times, old.times),
    )
    for mine, others in kinds:
        is_finer_known = others is old.weekdays and bool(new.times and old.times)
        if mine and others and not (mine == others and is_finer_known):
            return not mine & others or (tells and others < mine)
    if new.codes and old.codes and not new.codes & old.codes:
        return True
    if new.days or old.days:
        return False
    combinations = [any(code[0].isdigit() for code in each.codes) for each in (new, old)]
    if any(combinations) and not all(combinations):
        digits = (old if combinations[0] else new).numbers.get("", frozenset())
        return any(number.isdigit() and len(number) >= _CODE_DIGITS for number in digits)
    return any(
        _are_other_numbers(numbers, old.numbers[other], may_be_codes="money" not in (unit, other))
        for unit, numbers in new.numbers.items()
        for other in (unit, _SAME_UNIT.get(unit, unit))
        if other in old.numbers
    )


def _are_other_numbers(numbers: frozenset[str], others: frozenset[str], *, may_be_codes: bool) -> bool:
    # A number without its decimals is the same in fewer words.
    if numbers & (others | _whole(others)) or others & _whole(numbers):
        return False
    few, few_others = sorted(numbers)[:_MAX_NUMBERS], sorted(others)[:_MAX_NUMBERS]
    return any(_is_comparable(number, other, may_be_codes=may_be_codes) for number in few for other in few_others)


def _whole(numbers: frozenset[str]) -> frozenset[str]:
    return frozenset(number.partition(".")[0] for number in numbers)


def _is_covered(run: str, at: int, shared: frozenset[str]) -> bool:
    return run[at : at + 2] in shared or (at > 0 and run[at - 1 : at + 1] in shared)


def _amount(found: re.Match[str], digits: str) -> str:
    """A number as it is compared: with its decimals, in ones."""
    decimals = (found["decimals"] or "").rstrip("0")
    if found["times"] is None:
        return f"{digits}.{decimals}" if decimals else digits
    # "1.234万" is no million; of several points none is for decimals.
    is_decimal = not decimals and found["number"].count(".") == 1
    number = re.sub(r"[,'’]", "", found["number"]) if is_decimal else f"{digits}.{decimals or 0}"
    return f"{float(number) * _TIMES[found['times']]:.2f}".rstrip("0").rstrip(".")


def _unit(found: re.Match[str]) -> str:
    unit = (found["money"] or found["unit"] or "").strip()
    if _MONEY.fullmatch(unit) or _HAN_MONEY.match(unit):
        return "money"
    if _HAN.match(unit):
        is_one = unit[0] in _MEASURES or unit[0] in _OF_DATES
        return unit if unit in _OF_TWO else unit[0] if is_one or unit[0] in "个個" else ""
    return next(iter(content_terms(unit)), "")


def _is_comparable(number: str, other: str, *, may_be_codes: bool) -> bool:
    are_long = len(number) >= _CODE_DIGITS and len(other) >= _CODE_DIGITS
    if may_be_codes and are_long and number.isdigit() and other.isdigit():
        return True
    smaller, greater = sorted((float(number), float(other)))
    return smaller > 0 and greater <= _MOST_TIMES * smaller
