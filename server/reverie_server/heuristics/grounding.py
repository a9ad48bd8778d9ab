"""Pure. Whether a line that a model wrote follows from its sources, as far as words can tell.

The sources must have its names, numbers, identifiers, days and times, and a name near the statement about it. An
address must come from a user. The sources must have most of the other words, or words that say the same in any
language. A message of the assistant is no source about the user, unless the user agreed with it in the next message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from functools import cached_property

from reverie_indexer.text.analyse import fold
from reverie_server.heuristics.grounding_names import BEFORE_NAMES, Neighbourhoods, capitalises_nouns
from reverie_server.heuristics.grounding_vocabulary import (
    agrees,
    concepts_of,
    forms_of,
    is_negative,
    is_neutral,
    is_weekday,
    month_of,
    neutral_parts,
    number_words,
)
from reverie_server.heuristics.grounding_words import Content, Word, addresses_within, content_of, numbers_of
from reverie_server.heuristics.orders import why_order
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected
from reverie_server.text.markdown_blocks import Block, blocks_of, text_of
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence

# The share of the words that need a source which must have one.
GROUNDED_SHARE = 0.6
# A pair of characters of a script without spaces is about half a word.
_PAIR_WEIGHT = 0.5
# `tomorrow` and `next month` become a day at most this far before or after the day on which they were said.
_DAYS_BEFORE, _DAYS_AFTER = 31, 62
# Words that are alike in so many letters, at their beginning or at their end, may be one name, or parts of one noun.
BEGINNING = 4
_ENDING = 5
# The label of a line: `City: ` of `City: Bergen`.
_LABEL = re.compile(r"[\s*_]{0,8}[^\W\d]{2,24}(?: [^\W\d]{2,24}){0,2}[*_]{0,3}[:：]\s")
_UNKNOWN_NAME = "it names what nobody said"
_UNKNOWN_ADDRESS = "it has an address that no user said"
# Concepts that are names, with another word in each language.
_CONCEPTS_OF_NAMES = frozenset({"english", "german", "spanish", "chinese"})


class Sources:
    """The sources of lines: messages of users and assistants, and texts that the memory had already."""

    def __init__(self, messages: Iterable[Message], texts: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        """`names` are those of the people who wrote the `messages`."""
        self._user = Content()
        self._all = Content()
        self._near = Neighbourhoods()
        for text in texts:
            self._add(text, is_users=True)
        for name in names:
            self._add_name(name)
        days = set()
        previous = ""
        for message in messages:
            said = strip_injected(message.content)
            days.add(message.at.date())
            if message.role == "user":
                if previous and agrees(said):
                    self._add(previous, is_users=True)
                self._add(said, is_users=True)
                if isinstance(speaker := message.extra.get("name"), str):
                    self._add_name(speaker)
            elif message.role == "assistant":
                self._add(said, is_users=False)
            previous = said if message.role == "assistant" else ""
        self._days = frozenset(days)

    @classmethod
    def of_texts(cls, texts: Iterable[str], days: Iterable[date] = ()) -> Sources:
        """Sources of texts alone, which count as said by users."""
        sources = cls((), texts)
        sources._days = frozenset(days)
        return sources

    def _add(self, text: str, *, is_users: bool) -> None:
        content = content_of(text)
        self._all.add(content)
        if is_users:
            self._user.add(content)
        self._near.add(text, is_users=is_users)

    def _add_name(self, name: str) -> None:
        """Add the name of a speaker."""
        self._user.add(content := content_of(name))
        self._all.add(content)
        self._near.add_speaker(name)

    @cached_property
    def addresses(self) -> frozenset[str]:
        """The addresses that users named, and their parents."""
        return addresses_within(self._user.addresses)

    def why_not(self, line: str, *, about_user: bool) -> str | None:
        """Why a line does not follow, None where it does.

        `about_user`: messages of the assistant that the user did not agree with are no sources.
        """
        content = content_of(line)
        known = self._user if about_user else self._all
        has_nouns_capitalised = capitalises_nouns(line)
        if reason := self._unknown_reference(content, known):
            return reason
        names = _names_of(content, has_nouns_capitalised=has_nouns_capitalised)
        if not all(_is_known(name, known, self._years, content) for name in names):
            return _UNKNOWN_NAME
        if has_nouns_capitalised and self._has_exchanged(content):
            return _UNKNOWN_NAME
        if self._near.are_strangers(content):
            return "nobody said that of whom it names"
        if content.is_negative and not known.is_negative:
            return "it denies what nobody denied"
        if not _is_mostly_known(_without_label(line, content), known):
            return "most of its words were not said"
        if not about_user and not _speaks(content, self._user):
            return "the user said nothing of it"
        return None

    def why_addressed(self, text: str) -> str | None:
        """Why a text has an address that is not from a user; else None."""
        return _UNKNOWN_ADDRESS if content_of(text).addresses - self.addresses else None

    def why_invented(self, text: str) -> str | None:
        """Why a text has an address, identifier, number, day or time that the sources lack; None where it has none.

        An identifier without digits counts as known where a word of the sources begins alike ("postgres").
        """
        content = content_of(text)
        return self._unknown_reference(content, self._all) or self._unknown_name(content, has_nouns_capitalised=True)

    def why_unnamed(self, text: str) -> str | None:
        """Why a text has a name that the sources lack, or what `why_invented` looks for; None where it has none.

        Days of the week do not count: their short names are common words (`so`, `do`, `mi`). A name counts as known
        where a word of the sources begins alike.
        """
        content = content_of(text)
        content.weekdays.clear()
        if reason := self._unknown_reference(content, self._all):
            return reason
        has_nouns_capitalised = capitalises_nouns(text)
        if has_nouns_capitalised and self._has_exchanged(content):
            return _UNKNOWN_NAME
        return self._unknown_name(content, has_nouns_capitalised=has_nouns_capitalised)

    def _unknown_name(self, content: Content, *, has_nouns_capitalised: bool) -> str | None:
        """Why a name or identifier is unknown, None where the sources have each, or a word that begins alike."""
        for name in _names_of(content, has_nouns_capitalised=has_nouns_capitalised):
            if not _is_known(name, self._all, self._years, content) and not self._begins_alike(name):
                return _UNKNOWN_NAME
        return None

    def _has_exchanged(self, line: Content) -> bool:
        """Whether a line is a sentence of the sources with a noun in it that they lack, in a language that writes
        nouns as it writes names. Other words for what was said come with other words around them."""
        others = [word for word in line.words if not _is_capitalised(word) or self._may_have(word)]
        return len(others) < len(line.words) and self._near.have_together(others)

    def _begins_alike(self, word: Word) -> bool:
        return word.folded.isalpha() and fold(word.folded)[:BEGINNING] in self._edges

    def _may_have(self, noun: Word) -> bool:
        """Whether the sources may have a noun: itself, what says the same, or one that begins or ends alike."""
        if is_neutral(noun.folded) or number_words(noun.folded) or concepts_of(noun.folded) & self._all.concepts:
            return True
        if is_weekday(noun.folded) or month_of(noun.folded) is not None or forms_of(noun.folded) & self._all.forms:
            return True
        return self._begins_alike(noun) or fold(noun.folded)[-_ENDING:] in self._edges

    @cached_property
    def _edges(self) -> frozenset[str]:
        """The first and the last letters of the words that the sources have."""
        words = fold(" ".join(self._all.forms)).split()
        return frozenset(edge for word in words for edge in (word[:BEGINNING], word[-_ENDING:]))

    @cached_property
    def _years(self) -> frozenset[str]:
        return frozenset(str(day.year) for day in self._days)

    @cached_property
    def _near_days(self) -> frozenset[tuple[int, int]]:
        spans = (day + timedelta(days=off) for day in self._days for off in range(-_DAYS_BEFORE, _DAYS_AFTER + 1))
        return frozenset((day.month, day.day) for day in spans)

    @cached_property
    def _said_days(self) -> frozenset[tuple[int, int]]:
        spans = (day + timedelta(days=off) for day in self._days for off in (-1, 0, 1))
        return frozenset((day.month, day.day) for day in spans)

    def _unknown_reference(self, content: Content, known: Content) -> str | None:
        """Why an address, a day or a time is unknown, None where all are known."""
        if not all(address in self.addresses for address in content.addresses):
            return _UNKNOWN_ADDRESS
        tells_relative = known.is_relative or bool(known.weekdays)
        for month, day in content.days:
            is_near = (month, day) in (self._near_days if tells_relative else self._said_days)
            in_words = str(day) in known.numbers and (month in known.months or is_near or not known.months)
            if (month, day) not in known.days and not is_near and not in_words:
                return "nobody named that day"
        if content.weekdays - known.weekdays and not (known.is_relative or known.days or content.days & known.days):
            return "nobody named that day of the week"
        for minutes in content.times:
            hour, minute = divmod(minutes, 60)
            spoken = {str(hour), str(hour % 12), str(hour - 12)} & known.numbers
            as_half = minute == 30 and {str((hour + 1) % 12 or 12)} & known.numbers
            is_other_half = (minutes + 720) % 1440 in known.times
            if minutes in known.times or is_other_half or (minute == 0 and spoken) or as_half:
                continue
            if minute and str(minute) in known.numbers and spoken:
                continue
            return "nobody named that time"
        return None


def _names_of(content: Content, *, has_nouns_capitalised: bool) -> list[Word]:
    return [word for word in content.words if _is_strict(word, has_nouns_capitalised)]


def _is_capitalised(word: Word) -> bool:
    """Whether a word has a capital, and not because it opens a sentence."""
    return word.written[:1].isupper() and not word.opens


def _is_strict(word: Word, has_nouns_capitalised: bool) -> bool:
    """Whether the sources must have this very word: an identifier, or a name."""
    if is_weekday(word.folded) or month_of(word.folded) is not None:
        return False
    if word.is_exact:
        return True
    if not _is_capitalised(word) or is_neutral(word.folded) or number_words(word.folded):
        return False
    return not has_nouns_capitalised or word.previous in BEFORE_NAMES


def _is_known(word: Word, known: Content, years: frozenset[str], line: Content) -> bool:
    """Whether the sources have a strict word: itself, its numbers, all its parts, or the name in another language."""
    if word.folded in years:
        return True
    numbers = list(numbers_of(word.folded))
    if numbers and not any(character.isalpha() for character in word.folded):
        # The days of the line were checked already.
        days = {str(day) for _, day in known.days | line.days}
        return all(n in known.numbers or n in days or _is_day(n, known) for n in numbers)
    exact = {form for form in forms_of(word.folded) if not form.endswith("*")}
    if exact & known.forms or concepts_of(word.folded) & known.concepts & _CONCEPTS_OF_NAMES:
        return True
    parts = [part for part in _parts(word.folded) if part]
    return len(parts) > 1 and all(part in known.forms or part in known.numbers for part in parts)


def _without_label(line: str, content: Content) -> Content:
    """The contents of a line without its label: `Bergen` of `City: Bergen`."""
    label = _LABEL.match(line)
    rest = content_of(line[label.end() :]) if label else content
    return rest if rest.words or rest.runs else content


def _is_day(number: str, known: Content) -> bool:
    """Whether a number such as `2.5` is a day that the sources name."""
    day, _, month = number.partition(".")
    return day.isdigit() and month.isdigit() and (int(month), int(day)) in known.days


def _parts(word: str) -> list[str]:
    return [part for part in "".join(c if c.isalnum() else " " for c in word).split(" ") if part]


def _weights(content: Content, known: Content) -> tuple[float, float]:
    """The weight of the contents that need a source, and the weight of those that have one."""
    # Days, times and addresses were checked already: each is known.
    total = found = float(len(content.days) + len(content.times) + len(content.addresses))
    for word in content.words:
        if is_weekday(word.folded) or month_of(word.folded) is not None:
            continue
        is_said = bool(forms_of(word.folded) & known.forms or concepts_of(word.folded) & known.concepts)
        is_said |= bool(number_words(word.folded) & known.numbers)
        if (is_neutral(word.folded) or is_negative(word.folded)) and not word.is_exact:
            continue
        total += 1
        found += is_said or word.is_exact
    for run in content.runs:
        for part in neutral_parts().sub(" ", run).split():
            pairs = [part[at : at + 2] for at in range(len(part) - 1)] or [part]
            total += _PAIR_WEIGHT * len(pairs)
            found += _PAIR_WEIGHT * sum(pair in known.bigrams for pair in pairs)
    return total, found


def _is_mostly_known(content: Content, known: Content) -> bool:
    total, found = _weights(content, known)
    if total == 0:
        return _speaks(content, known)
    return found >= GROUNDED_SHARE * total


def _speaks(content: Content, known: Content) -> bool:
    """Whether any of the contents is known."""
    if content.days & known.days or content.times & known.times or content.weekdays & known.weekdays:
        return True
    if content.numbers & known.numbers or content.addresses & known.addresses:
        return True
    total, found = _weights(content, known)
    if total:
        return found > 0
    return any(
        concepts_of(word.folded) & known.concepts or (is_negative(word.folded) and forms_of(word.folded) & known.forms)
        for word in content.words
    )


def refusal(line: str, sources: Sources, *, about_user: bool) -> str | None:
    """Why a line of a model may not be kept (an order to the agent, or not grounded), None where it may."""
    return why_order(line) or sources.why_not(line, about_user=about_user)


def without_refused(text: str, before: str, sources: Sources, *, about_user: bool) -> tuple[str, list[tuple[str, str]]]:
    """The file `text` that a model wrote without its refused entries, and these entries, each with the reason.

    Only entries that `before` lacks are checked. An entry is removed as a whole.
    """
    lines, lines_before = lines_of(text), lines_of(before)
    own = {essence(line) for line in before.splitlines()}
    own |= {_entry(block, lines_before) for block in blocks_of(before)}
    refused: list[tuple[str, str]] = []
    gone: set[int] = set()
    for block in blocks_of(text):
        entry = _entry(block, lines)
        if not entry or entry in own:
            continue
        if block.kind == "heading":
            reason = why_order(block.title)
        else:
            reason = refusal(" ".join(text_of(block, lines)), sources, about_user=about_user)
        if reason is not None:
            refused.append(("\n".join(text_of(block, lines)).strip(), reason))
            gone.update(range(block.start, block.end))
    return "".join(line for number, line in enumerate(lines) if number not in gone), refused


def _entry(block: Block, lines: Sequence[str]) -> str:
    return essence("\n".join(text_of(block, lines)))
