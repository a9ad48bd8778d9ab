"""Where the sentences of a text are, in any text that the memory writes: messages, notes, logs, summaries. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from reverie_server.heuristics.salience import sentence_spans

# The marks of lists, quotations, headings and boxes before what a line says.
MARKS = re.compile(r"\s*+(?:(?:[-*+•·‣–—>]++|\(?\d{1,3}[.)、]|#{1,6}|\[[ xX]\])\s++)*+")
_LOG_TIME = re.compile(r"(?:\d{4}-\d\d-\d\d\s+)?\[\d\d:\d\d\]\s+(?=User: )")
_SPEAKER = re.compile(r"(?:\*\*)?(User|Assistant):(?:\*\*)?\s++")
_SECOND_PART = " | Assistant: "
# What the memory puts behind a sentence: the days on which it was said, or until which it held.
DATED = re.compile(r"\s*+[(（](?:until |since )?\d{4}-\d\d-\d\d\??(?:(?:, | to |–)\d{4}-\d\d-\d\d)*+[)）][\s.。]*+")
# No sentence goes over the end of a line.
LINE = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]++")
_HAN_LEADS = r"(?:对了|對了|顺便说一下|順便說一下|而且|(?:不过|不過|还有|還有)(?=[，,\s我你他她它这這那]))[，,]?\s*"
_LEADS, _SHORT_LEADS = (
    "and|but|anyway|by the way|und|aber|übrigens|y|pero|por cierto",
    "oh|well|so|ach|na|also|pues|bueno",
)
_LEADING = re.compile(rf"(?:(?:{_LEADS}|{_SHORT_LEADS})(?:,\s*|\s+)|{_HAN_LEADS})++", re.IGNORECASE)
# Without a comma names begin with the short ones: "So Young", "Na Li", "Oh Min-ji".
_SURELY_LEADING = re.compile(rf"(?:(?:{_LEADS})(?:,\s*|\s+)|(?:{_SHORT_LEADS}),\s*|{_HAN_LEADS})++", re.IGNORECASE)
# Less than that behind them says nothing alone.
_SHORT_CHARS = 8


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """A sentence at `start` to `end` of a text; days in brackets behind it belong to it.

    `line_start` is where what its line says begins. `speaker` is the label before it, None where there is none.
    """

    start: int
    end: int
    line_start: int
    speaker: str | None = None


def spoken_sentences(text: str, names: Collection[str] = ()) -> list[SpokenSentence]:
    """The sentences of a text in order, without list marks, times of log lines, and labels of speakers before them.

    `names` are labels of speakers besides `User` and `Assistant`. Takes time linear in the text.
    """
    found: list[SpokenSentence] = []
    for line in LINE.finditer(text):
        found += _of_line(text, line.start(), line.end(), names)
    return found


def leading_end(text: str) -> int:
    """Where a sentence begins behind words that only lead on from what was said before, such as `And`; 0 without."""
    return _end(_SURELY_LEADING, text)


def without_leading(text: str) -> str:
    """The sentence without words that only lead on from what was said before, such as `And` or `By the way`."""
    start = _end(_LEADING, text)
    return text[start : start + 1].upper() + text[start + 1 :] if start else text


def _end(leading: re.Pattern[str], text: str) -> int:
    found = leading.match(text)
    return found.end() if found is not None and len(text) - found.end() >= _SHORT_CHARS else 0


def label_end(text: str, start: int, names: Collection[str]) -> tuple[int, str | None]:
    """Where what is said begins behind the label of a speaker at `start`, and who speaks; `start` without a label."""
    label = _SPEAKER.match(text, start)
    if label is not None:
        return label.end(), label[1]
    for name in names:
        if name and text.startswith(f"{name}: ", start):
            return start + len(name) + 2, name
    return start, None


def _of_line(text: str, start: int, end: int, names: Collection[str]) -> Iterator[SpokenSentence]:
    marks = MARKS.match(text, start, end)
    start = marks.end() if marks else start
    time = _LOG_TIME.match(text, start, end)
    start = time.end() if time else start
    start, speaker = label_end(text, start, names)
    second = text.find(_SECOND_PART, start, end) if speaker == "User" else -1
    if second < 0:
        yield from _split(text, start, end, speaker)
        return
    yield from _split(text, start, second, speaker)
    yield from _split(text, second + len(_SECOND_PART), end, "Assistant")


def _split(text: str, start: int, end: int, speaker: str | None) -> Iterator[SpokenSentence]:
    """The sentences between two places of a line; days in brackets belong to the one before them."""
    pending: SpokenSentence | None = None
    for first, last in sentence_spans(text, start, end):
        if pending is not None and DATED.fullmatch(text, first, last):
            pending = SpokenSentence(pending.start, last, start, speaker)
            continue
        if pending is not None:
            yield pending
        pending = SpokenSentence(first, last, start, speaker)
    if pending is not None:
        yield pending
