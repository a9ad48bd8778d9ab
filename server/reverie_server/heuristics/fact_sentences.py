"""Sentences by their content, so that each copy of one is recognised wherever the memory wrote it. Pure.

A message, its line in the daily log, an extracted line, a line of an episode and an entry of MEMORY.md write the same
sentence with other marks around it: `sentence_key` is equal for all of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass

from reverie_indexer.text.analyse import fold
from reverie_server.heuristics.known_texts import KnownTexts
from reverie_server.heuristics.requests.fact_requests import split_request
from reverie_server.heuristics.spoken_sentences import DATED, LINE, MARKS, label_end, leading_end, spoken_sentences
from reverie_server.sessions.daily_log import ASSISTANT_CHARS, USER_CHARS, excerpt

# A sentence that a log line cuts off is recognised by a beginning of at least this many characters.
MIN_CUT_CHARS = 20
# Longer sentences are known by their beginning.
_MAX_CHARS = 4_000
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "’": "'", "‘": "'", "ʼ": "'"})
_EDGES = " \t.,;:!。，；：！、\"'()-–—"


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """A sentence of a text: `text[start:end]`, and its key."""

    start: int
    end: int
    key: bytes


def sentence_key(sentence: str, *, names: Collection[str] = ()) -> bytes:
    """The key of a sentence: equal for all copies of it, whatever marks, speaker, request or date are around it, and
    whether it leads on from another (`And`) or not.

    `names` are labels of speakers besides `User` and `Assistant`. A question has another key than the statement.
    """
    return _key(essence(sentence, names=names))


def keyed_sentences(text: str, *, names: Collection[str] = ()) -> list[SentenceSpan]:
    """The sentences of a text in order. The label of a line belongs to none; days in brackets belong to the one before.

    Takes time linear in the text. What a passage was found to say is remembered, since a search reads those of its
    results, and what a line of a longer text was: a turn reads the files of its prompt.
    """
    if names:
        return list(_keyed(text, names))
    if len(text) <= _MAX_KNOWN_CHARS:
        return list(_KNOWN.of(text))
    return [
        SentenceSpan(line.start() + span.start, line.start() + span.end, span.key)
        for line in LINE.finditer(text)
        for span in _KNOWN.of(line[0])
    ]


def _keyed(text: str, names: Collection[str] = ()) -> tuple[SentenceSpan, ...]:
    return tuple(
        SentenceSpan(span.start, span.end, _key(said))
        for span in spoken_sentences(text, names)
        if (said := essence(text[span.start : span.end], names=names))
    )


_MAX_KNOWN_CHARS = 2_000
# Some 200 bytes for each text and each sentence.
_KNOWN = KnownTexts(_keyed, size=100_000, max_chars=_MAX_KNOWN_CHARS)


def copy_keys(sentence: str, message: str) -> frozenset[bytes]:
    """The keys under which copies of a sentence of a message are found: its own, and those of beginnings of it, where
    a line of the daily log cuts the message off within the sentence."""
    keys = {sentence_key(sentence)}
    for chars in (USER_CHARS, ASSISTANT_CHARS):
        shown = excerpt(message, chars)
        spans = spoken_sentences(shown)
        if not spans or not shown.endswith("…"):
            continue
        beginning = shown[spans[-1].start : spans[-1].end - 1]
        is_of_sentence = fold(" ".join(sentence.split()).replace("|", "｜")).startswith(fold(beginning))
        if len(beginning) >= MIN_CUT_CHARS and is_of_sentence:
            keys.add(sentence_key(f"{beginning}…"))
    return frozenset(keys)


def _key(said: str) -> bytes:
    return hashlib.sha256(said.encode()).digest()


def essence(sentence: str, *, names: Collection[str] = ()) -> str:
    """What a key is made of: the folded words without what is written around them, and before them leads on."""
    return _essence(sentence[:_MAX_CHARS], names)


def _essence(sentence: str, names: Collection[str]) -> str:
    marks = MARKS.match(sentence)
    start, _ = label_end(sentence, marks.end() if marks else 0, names)
    rest = _undated(sentence[start:])
    request = split_request(rest)
    if request.kind == "inside":
        rest = rest[request.start : request.end]
    plain = fold(" ".join(_EMPHASIS.sub("", rest).translate(_QUOTES).split()))
    plain = plain.strip(_EDGES)
    return plain[leading_end(plain) :]


def _undated(sentence: str) -> str:
    at = max(sentence.rfind("("), sentence.rfind("（"))
    if at < 0:
        return sentence
    space = len(sentence[:at].rstrip())
    return sentence[:space] if DATED.fullmatch(sentence, space) else sentence
