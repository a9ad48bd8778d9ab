"""Pure. The contents of a text by which it is grounded in another: its words, names, numbers, days, times and
addresses, where possible in a form that does not depend on spelling or language.

Takes time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from reverie_indexer.text.analyse import written
from reverie_server.heuristics.grounding_vocabulary import UNSPACED, concepts_of, forms_of, number_words, vocabulary

# Every repetition is bounded or possessive, and no match begins inside a word, so that the time is linear.
_ADDRESS = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.\-]{1,9}+://[!-~]++"
    r"|(?<![\w@.+\-])[\w.+\-]{1,64}+@[a-zA-Z0-9\-]{1,63}(?:\.[a-zA-Z0-9\-]{1,63}){1,8}"
    r"|(?<![\w@./\-])(?:www\.)?(?:[a-zA-Z0-9\-]{1,63}\.){1,8}[a-zA-Z]{2,24}/[!-~]++"
    r"|(?<![\w@./\-])www\.[!-~]++"
)
_TRAILING = ".,;:!?)]}>'\"`*_"
_ISO_DAY = re.compile(r"(?<!\d)(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?!\d)")
_CJK_DAY = re.compile(r"(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号號]?")
_DOTTED_DAY = re.compile(r"(?<![\d.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.(?P<y>\d{4}|\d\d(?!\d))?(?![\d])")
_SLASHED_DAY = re.compile(r"(?<![\d/])(?P<d>\d{1,2})/(?P<m>\d{1,2})(?:/(?P<y>\d{2,4}))?(?![\d/])")
_TIME = re.compile(
    r"(?<![\d.,])(?P<h>\d{1,2})(?:[:.h](?P<min>\d\d)(?!\d))?\s{0,2}(?P<half>[ap]\.?m\b|uhr\b|点|點|時|时)"
    r"|(?<![\d.,:])(?P<h2>\d{1,2}):(?P<min2>\d\d)(?!\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d(?:[\d.,']*\d)?")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,'’]\d{3}){1,6}(?![\d.,'’]\d)(?!\d)")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_PIECES = re.compile(r"\d+|[^\W\d_]+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th|er|ª|º|°)")
_CJK_DIGITS = "零一二三四五六七八九"


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, as it is written; `opens` a sentence; `previous` is the folded word before it. `is_exact`: an
    identifier, or with a digit."""

    written: str
    folded: str
    opens: bool
    previous: str
    is_exact: bool


@dataclass(slots=True)
class Content:
    """The contents of one text or several. Days are (month, day), times minutes of the day, weekdays from Monday 0."""

    words: list[Word] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    forms: set[str] = field(default_factory=set)
    concepts: set[str] = field(default_factory=set)
    bigrams: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    times: set[int] = field(default_factory=set)
    days: set[tuple[int, int]] = field(default_factory=set)
    months: set[int] = field(default_factory=set)
    weekdays: set[int] = field(default_factory=set)
    addresses: set[str] = field(default_factory=set)
    is_negative: bool = False
    is_relative: bool = False

    def add(self, other: Content) -> None:
        """Add the contents of another text, except `words` and `runs`."""
        for name in ("forms", "concepts", "bigrams", "numbers", "times", "days", "months", "weekdays", "addresses"):
            getattr(self, name).update(getattr(other, name))
        self.is_negative |= other.is_negative
        self.is_relative |= other.is_relative


def content_of(text: str) -> Content:
    """The contents of one text."""
    text = unicodedata.normalize("NFKC", text)
    found = Content()
    rest = _without_addresses(text, found)
    rest = _without_days(rest, found)
    rest = _DECIMAL.sub(".", _THOUSANDS.sub(_joined, _without_times(rest, found)))
    before = None
    for token, gap in written(rest):
        if UNSPACED.match(token):
            _take_run(token, found)
            before = None
            continue
        _take_word(token, gap, before, found)
        before = token
    return found


def addresses_within(addresses: Iterable[str]) -> frozenset[str]:
    """The addresses and all their parents: a page of a site names the site."""
    found: set[str] = set()
    for address in addresses:
        parts = address.split("/", 8)
        found.update("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        found.add(address)
    return frozenset(found)


def _without_addresses(text: str, found: Content) -> str:
    def take(match: re.Match[str]) -> str:
        found.addresses.add(_address(match[0]))
        return " "

    return _ADDRESS.sub(take, text)


def _address(text: str) -> str:
    plain = text.casefold().rstrip(_TRAILING)
    plain = plain.partition("://")[2] or plain
    return plain.removeprefix("www.").rstrip("/")


def _without_days(text: str, found: Content) -> str:
    """The text without the days that it names by numbers alone."""

    def take(match: re.Match[str]) -> str:
        month, day = int(match["m"]), int(match["d"])
        if match.re is _SLASHED_DAY and 1 <= day <= 12 and 12 < month <= 31:
            month, day = day, month
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return match[0]
        found.days.add((month, day))
        if match.re is _SLASHED_DAY and day <= 12:
            found.days.add((day, month))
        found.months.add(month)
        if match.re is _DOTTED_DAY and not match["y"]:
            return match[0]  # it may as well be a version
        return f" {match['y']} " if match["y"] and match.re is not _ISO_DAY else " "

    for pattern in (_ISO_DAY, _CJK_DAY, _DOTTED_DAY, _SLASHED_DAY):
        text = pattern.sub(take, text)
    return text


def _without_times(text: str, found: Content) -> str:
    def take(match: re.Match[str]) -> str:
        hour = int(match["h"] or match["h2"])
        minute = int(match["min"] or match["min2"] or 0)
        if hour > 24 or minute > 59:
            return match[0]
        half = (match["half"] or "").casefold()
        if half.startswith("p") and hour < 12:
            hour += 12
        found.times.add(hour % 24 * 60 + minute)
        return " "

    return _TIME.sub(take, text)


def _take_run(run: str, found: Content) -> None:
    """A run of a script without spaces."""
    known = vocabulary()
    folded = run.casefold()
    found.runs.append(folded)
    found.bigrams.update(folded[at : at + 2] for at in range(len(folded)))
    found.is_negative |= any(part in folded for part in known.negative_parts)
    found.is_relative |= any(part in folded for part in known.relative_parts)
    found.concepts.update(name for part, name in known.parts.items() if part in folded)
    found.weekdays.update(at for name, at in known.weekdays.items() if name in folded)
    for character in folded:
        if character in "两兩":
            found.numbers.add("2")
        elif character in _CJK_DIGITS:
            found.numbers.add(str(_CJK_DIGITS.index(character)))
        elif character == "十":
            found.numbers.update(("10", *(f"1{digit}" for digit in range(10))))


def _take_word(token: str, gap: str, before: str | None, found: Content) -> None:
    known = vocabulary()
    folded = token.casefold().replace("’", "'")
    folded = folded.removesuffix("'s")
    opens = (before is None and not found.runs) or any(sign in gap for sign in ".!?\n•")
    pieces = _PIECES.findall(folded)
    has_digit = any(piece[0].isdigit() for piece in pieces)
    if (ordinal := _ORDINAL.fullmatch(folded)) is not None:
        folded, pieces = ordinal[1], [ordinal[1]]
    is_number = has_digit and all(piece[0].isdigit() for piece in pieces)
    has_case = any(a.islower() and b.isupper() for a, b in pairwise(token))
    is_joined = len(pieces) > 1 and any(sign in folded for sign in "./\\:@#+_~")
    found.words.append(Word(token, folded, opens, (before or "").casefold(), has_digit or has_case or is_joined))
    found.forms |= forms_of(folded)
    if len(pieces) > 1 or has_digit:
        for piece in pieces:
            found.forms |= forms_of(piece)
        found.forms.add("".join(pieces))
    if before is not None and (has_digit or any(c.isdigit() for c in before)):
        found.forms.add("".join(_PIECES.findall(f"{before}{folded}".casefold())))
    if is_number:
        found.numbers.add(_number(folded))
    found.numbers.update(_number(number) for number in _NUMBER.findall(folded))
    found.numbers |= number_words(folded)
    found.concepts |= concepts_of(folded)
    if folded in known.weekdays or folded.removesuffix("s") in known.weekdays:
        found.weekdays.add(known.weekdays.get(folded, known.weekdays.get(folded.removesuffix("s"), 0)))
    if folded in known.months:
        found.months.add(known.months[folded])
        _take_day(known.months[folded], found)
    elif is_number and len(found.words) > 1:
        _take_day_behind_month(folded, found)
    found.is_negative |= known.negative.has(folded)
    found.is_relative |= known.relative.has(folded)


def _take_day(month: int, found: Content) -> None:
    """The day whose number stands before the name of a month: `9 April`, `9. April`, `9 de abril`."""
    for word in found.words[-2:-4:-1]:
        if word.folded.isdigit() and 1 <= int(word.folded) <= 31:
            found.days.add((month, int(word.folded)))
            return


def _take_day_behind_month(number: str, found: Content) -> None:
    month = vocabulary().months.get(found.words[-2].folded)
    if month is not None and number.isdigit() and 1 <= int(number) <= 31:
        found.days.add((month, int(number)))


def _joined(match: re.Match[str]) -> str:
    return "".join(character for character in match[0] if character.isdigit())


def _number(written_number: str) -> str:
    """A number without zeros at its edges."""
    plain = written_number.strip(".,'")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


def numbers_of(word: str) -> Iterator[str]:
    """The numbers in a folded word, as `Content` has them."""
    yield from (_number(number) for number in _NUMBER.findall(word))
