"""The summary and the abstract of an episode, made without a model. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reverie_indexer.text.analyse import SOUTH_EAST
from reverie_server.heuristics.extract import summarise
from reverie_server.heuristics.salience import sentences
from reverie_server.heuristics.small_talk import is_small_talk, read
from reverie_server.sessions.model import Message
from reverie_server.sessions.spoken import spoken
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.sentence_ends import SHORT_FORM_CHARS, is_within_sentence

CountTokens = Callable[[str], int]
ABSTRACT_CHARS = 200
# Many messages are summarised in at most MAX_RUNS runs, each with its share of the tokens: the end has its share, too.
MAX_RUNS = 8
_RUN_TOKENS = 1500
# The number of first and of last lines that stand for messages without notable sentences.
_EDGE_LINES = 3
_EDGE_CHARS = 200
_SPEAKERS = {"user": "User", "assistant": "Assistant"}
_HEADING = re.compile(r"\s*+#{1,6}\s|\s*+(?:\*\*|__)[^*_]++(?:\*\*|__)\s*+(?::\s*+)?$")
_NOT_TEXT = re.compile(r"\s*+(?:[-=*_|+~\s]*+|\|.*\|\s*+|```.*|~~~.*)")
# With the marks that close a quotation.
_END = re.compile(r"(?<=[.!?…؟۔։])[\"'”»›)\]}*_]*\s+|(?<=[。！？｡｡！？।॥။።។])[」』）”’\"]*\s*")
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,3}\.$")
_ASKS = re.compile(r"[?？؟][\s\"'”’»)\]]*$")
_SPACE = re.compile(r"\s+")
_SOUTH_EAST = re.compile(f"[{SOUTH_EAST}]")
# The last space, comma or the like at which a text may be cut.
_CUT = re.compile(r"[\s,，、;；:：—–](?=[^\s,，、;；:：—–]*$)")


def says_something(messages: Sequence[Message]) -> bool:
    """Whether user or assistant write anything besides injected memory and calls of tools."""
    return any(message.role in _SPEAKERS and strip_injected(message.content).strip() for message in messages)


def extractive_summary(messages: Sequence[Message], previous: str, *, max_tokens: int, count: CountTokens) -> str:
    """The best sentences of messages as lines `- User: …`, in order, within `max_tokens` by `count`; "" without any.

    `previous` is the summary of earlier messages; its best lines stay within half of the tokens. Every part of the
    messages has its share of the tokens. Where nothing is notable, the first and the last lines are the summary.
    """
    room = max_tokens
    lines: list[str] = []
    runs = _runs(messages)
    for index, run in enumerate(runs):
        # The tokens that one run leaves are for the runs after it.
        share = room // (len(runs) - index)
        summary = summarise(run, previous if index == 0 else "", max_tokens=share, count=count)
        lines += [line for line in summary.splitlines() if line not in lines]
        room = max_tokens - count("\n".join(lines)) if lines else max_tokens
    return "\n".join(lines) or "\n".join(_edges(messages, max_tokens, count))


def _runs(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages in runs of about the same size, each beginning with the user where that can be."""
    total = sum(message.tokens for message in messages)
    run_count = max(1, min(MAX_RUNS, -(-total // _RUN_TOKENS)))
    runs: list[list[Message]] = [[]]
    before = 0
    for message in messages:
        is_due = before >= total * len(runs) / run_count and len(runs) < run_count
        if runs[-1] and is_due and (message.role == "user" or before >= total * (len(runs) + 0.5) / run_count):
            runs.append([])
        runs[-1].append(message)
        before += message.tokens
    return runs


def _edges(messages: Sequence[Message], max_tokens: int, count: CountTokens) -> list[str]:
    lines = []
    for message in messages:
        text = _SPACE.sub(" ", neutralise(strip_injected(message.content))).strip()
        if message.role in _SPEAKERS and text:
            lines.append(f"- {_SPEAKERS[message.role]}: {cut(text, _EDGE_CHARS)}")
    lines = list(dict.fromkeys(lines))
    chosen = lines if len(lines) <= 2 * _EDGE_LINES else [*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]]
    while chosen and count("\n".join(chosen)) > max_tokens:
        chosen = chosen[:-1]
    return chosen


def abstract_of(summary: str) -> str:
    """The first meaningful sentence of a summary, on one line, at most ABSTRACT_CHARS characters.

    Greetings, headings, list marks, speakers and announcements that end in a colon have no meaning, and a question is
    no result. Where there is nothing else, it is the first sentence that is no small talk, else the first; "" for a
    text without letters.
    """
    first, second_choice = "", ""
    for line in strip_injected(summary).splitlines():
        if _NOT_TEXT.fullmatch(line):
            continue
        is_heading = _HEADING.match(line) is not None
        for sentence in map(_without_greeting, _sentences(spoken(line))):
            if not any(character.isalnum() for character in sentence):
                continue
            first = first or sentence
            if is_heading or sentence.endswith((":", "：")):
                continue
            if not is_small_talk(sentence) and not _ASKS.search(sentence):
                return cut(neutralise(sentence), ABSTRACT_CHARS)
            if not second_choice and (read(sentence).words or not is_small_talk(sentence)):
                second_choice = sentence
    return cut(neutralise(second_choice or first), ABSTRACT_CHARS)


def sayings(text: str) -> list[str]:
    """The sentences of a text in any script, as topics are looked for in them."""
    return [sentence for line in sentences(text) for sentence in _sentences(spoken(line))]


def cut(text: str, max_chars: int) -> str:
    """A text of at most `max_chars` characters. A longer one is cut at the last gap that fits, with an ellipsis."""
    text = _SPACE.sub(" ", text).strip()
    if len(text) <= max_chars:
        return text
    head = text[: max_chars - 1]
    gap = _CUT.search(head)
    if gap is not None and gap.start() >= max_chars // 2:
        head = head[: gap.start()]
    return f"{head.rstrip()}…"


def _without_greeting(sentence: str) -> str:
    """A sentence without the greetings before it, in a script that separates sentences by spaces alone."""
    parts = sentence.split(" ")
    first = 0
    while first + 1 < len(parts) and _SOUTH_EAST.match(parts[first]) and not read(parts[first]).words:
        first += 1
    return " ".join(parts[first:])


def _sentences(line: str) -> list[str]:
    found: list[str] = []
    start = 0
    for end in _END.finditer(line):
        before = line[max(start, end.start() - SHORT_FORM_CHARS) : end.start()]
        if is_within_sentence(before, line[end.start() : end.end() + 1]) or _ORDINAL.search(before):
            continue
        if sentence := line[start : end.end()].strip():
            found.append(sentence)
        start = end.end()
    if rest := line[start:].strip():
        found.append(rest)
    return found
