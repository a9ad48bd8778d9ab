"""A text without the sentences that do not hold any more, or with the day until which each did. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from reverie_server.heuristics.fact_sentences import SentenceSpan, keyed_sentences
from reverie_server.heuristics.requests.requested_lines import begins_with_pronoun
from reverie_server.heuristics.small_talk import says_nothing
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.sessions.daily_log import parts_of
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import is_statement

# A message, by the document of its session and its number, or a line of a file, by its identity.
Place = tuple[int, int | bytes]
# Where a fact is stated.
StatedAt = tuple[int, Place]
# What stands behind `then:` is no longer.
_MOST_CHARS = 120
_LEADS_UP = (":", "：")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
# Behind it a line of the daily log has the answer.
_ANSWER_LABEL = " | Assistant:"


@dataclass(frozen=True, slots=True)
class Superseded:
    """A fact that does not hold any more: until when it did, and the fact that replaces it, where these are known.

    `holding` are statements of what else its sentence says and still holds. `is_likely`: by a model, it likely does not
    hold; `is_guessed`: it may not. `replacing` is the statement that replaces it, where that holds. `elsewhere` are the
    places where equal words tell of somebody else and hold.
    """

    fact_id: int
    valid_to: datetime | None
    superseded_by: int | None
    holding: tuple[str, ...] = ()
    is_likely: bool = False
    is_guessed: bool = False
    replacing: str = ""
    elsewhere: Sequence[StatedAt] = ()


def until_text(fact: Superseded) -> str:
    """` (until 2026-11-10)`, ` (until 2026-11-10?)` where that is a guess, or "" where the day is not known.

    What a model found goes with what it takes for the new state, so that a reader can see whether it is one:
    `(until 2026-11-10) [then: We signed for the house!]`.
    """
    if fact.valid_to is None:
        return ""
    doubt = "?" if fact.is_guessed else ""
    then = f" [then: {_short(fact.replacing)}]" if fact.is_likely and fact.replacing else ""
    return f" (until {fact.valid_to.date().isoformat()}{doubt}){then}"


def _short(statement: str) -> str:
    if len(statement) <= _MOST_CHARS:
        return statement
    begin = statement[:_MOST_CHARS]
    return f"{begin.rsplit(' ', 1)[0] if ' ' in begin else begin} …"


def places_of(document_id: int, text: str, seq: int | None = None) -> set[Place]:
    """Where a passage stands: the message of this number, or the lines of a file."""
    lines: set[Place] = {(document_id, line_sha256(line)) for line in text.splitlines()}
    return lines if seq is None else {(document_id, seq)}


def ended_at(superseded: Mapping[bytes, Superseded], places: Collection[Place]) -> dict[bytes, Superseded]:
    """Those of the sentences that do not hold in some places."""
    return {key: fact for key, fact in superseded.items() if not tells_of_others(fact.elsewhere, places)}


def tells_of_others(elsewhere: Sequence[StatedAt], places: Collection[Place]) -> bool:
    """Whether one of some places is one where a sentence tells of somebody else."""
    return any(place in places for _, place in elsewhere)


def current_text(text: str, superseded: Mapping[bytes, Superseded], *, marked: bool) -> str:
    """A text without the sentences that do not hold, or, `marked`, with the day until which each did.

    Where a part of a sentence holds, that part takes its place. A sentence that likely does not hold stays, with the
    day. A line of which nothing is left goes.
    """
    if not superseded:
        return text
    pieces: list[str] = []
    done = 0
    for span in keyed_sentences(text):
        fact = superseded.get(span.key)
        if fact is None:
            continue
        if marked or fact.is_likely:
            if not text[done : span.end].rstrip().endswith(until := until_text(fact)) or not until:
                pieces += text[done : span.end], until
                done = span.end
        else:
            pieces += text[done : span.start], " ".join(fact.holding)
            done = span.end
    pieces.append(text[done:])
    return "".join(pieces) if marked else _without_stumps(text, "".join(pieces))


def without_said(text: str, said: Collection[bytes]) -> str:
    """A text without the sentences that stand elsewhere, by their keys; "" where what is left states nothing.

    One stays without which those that are left behind it say nothing: a question, a line that leads up to them
    (`The code is:`), and what a pronoun at the beginning of the next may stand for.
    """
    spans = keyed_sentences(text)
    if not any(span.key in said for span in spans):
        return text
    left = [text[span.start : span.end] for span in spans if span.key not in said]
    is_logged = parts_of(text.strip()) is not None
    if not any(_states_something(sentence, is_logged=is_logged) for sentence in left):
        return ""
    goes = _going(text, spans, said)
    pieces = [text[: spans[0].start]]
    for span, following, is_gone in zip_longest(spans, spans[1:], goes):
        end = following.start if following is not None else len(text)
        rest = text[span.end if is_gone else span.start : end]
        # Nothing but space behind what is left out goes with it; the end of a line is that of what stands before, too.
        pieces.append(rest if rest.strip() or "\n" in rest or following is None else "")
    rest = _without_stumps(text, "".join(pieces))
    return rest.removesuffix(_ANSWER_LABEL) if is_logged else rest


def _going(text: str, spans: Sequence[SentenceSpan], said: Collection[bytes]) -> list[bool]:
    """Which of the sentences of a text go, of those that stand elsewhere."""
    goes = [span.key in said for span in spans]
    # Whether some of what follows a sentence is left, up to a blank line.
    is_left_below = False
    for index in range(len(spans) - 2, -1, -1):
        span, following = spans[index], spans[index + 1]
        sentence, next_sentence = text[span.start : span.end], text[following.start : following.end]
        is_next_left = not goes[index + 1]
        is_left_below = is_next_left or is_left_below
        if sentence.rstrip().endswith(_LEADS_UP):
            goes[index] &= not is_left_below
        elif is_next_left:
            goes[index] &= not (is_question(sentence) or begins_with_pronoun(next_sentence))
        is_left_below &= _BLANK_LINE.search(text, span.end, following.start) is None
    return goes


def _states_something(sentence: str, *, is_logged: bool) -> bool:
    """Whether a sentence states something; short answers in a line of the daily log do not, but for numbers."""
    if is_question(sentence):
        return False
    return is_statement(sentence) or any(map(str.isdigit, sentence)) or not (is_logged or says_nothing(sentence))


def _without_stumps(before: str, after: str) -> str:
    """The lines of which something is left: a list mark or the label of a speaker alone says nothing."""
    if before == after:
        return after
    known = set(before.splitlines())
    kept = [line.rstrip() for line in after.splitlines() if line in known or any(map(_says, keyed_sentences(line)))]
    return "\n".join(kept).strip()


def _says(span: SentenceSpan) -> bool:
    return span.end > span.start
