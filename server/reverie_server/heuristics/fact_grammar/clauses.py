"""The clauses of a sentence: what each says, and whether it is denied, over, planned, or no statement at all. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reverie_server.heuristics.fact_grammar.phrases import Phrases
from reverie_server.heuristics.requests.fact_requests import aligned

# Quotation marks around more than a word or two: somebody else's words, or a text that is talked about.
_QUOTED = re.compile(r"[\"“„«「『][^\"”“»」』]{12,}[\"”“»」』]")
_MAX_CLAUSES = 12


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with a subject of its own, or with the one before it (`inherits`).

    `text` is as written and `plain` the same from `aligned`, both without filler words before them.
    """

    text: str
    plain: str
    inherits: bool


@dataclass(frozen=True, slots=True)
class Denied:
    """The rest of a clause without the words that deny it. `cue` are these words; `is_over` where it has ended."""

    text: str
    plain: str
    cue: str | None = None
    is_over: bool = False


# A negation stands so near to the subject.
_NEAR = 60
# What follows from a clause does not deny it: "Ich esse vegan, also keinen Käse".
_FOLLOWS = re.compile(r"[,;] (?:also|deshalb|deswegen|daher|so|therefore|hence|así que|por eso|de modo que)(?!\w)")


def clauses_of(sentence: str, phrases: Phrases) -> list[Clause]:
    """The clauses of a sentence, in order."""
    return list(_clauses(sentence, phrases))


def is_quoted(sentence: str) -> bool:
    """Whether a sentence has somebody's words in quotation marks."""
    return _QUOTED.search(sentence) is not None


def denied(text: str, plain: str, phrases: Phrases) -> Denied:
    """What the rest of a clause says without its negation. Of several negations the first is taken out.

    What a reason denies is not the clause: `It is cancelled, because no dogs are allowed`; nor what follows from it.
    Nor is what it sets against what it says: `on Tuesday, not on Thursday`.
    """
    reason, contrast = phrases["reason"].search(plain), phrases["old"].search(plain)
    limit = reason.start() if reason is not None else len(plain)
    if (follows := _FOLLOWS.search(plain)) is not None:
        limit = min(limit, follows.start())
    if contrast is not None and contrast[0].startswith((",", "而")):
        limit = min(limit, contrast.start())
    if phrases.unspaced and (comma := plain.find("，", 1)) > 0:
        # Behind a comma another clause may go on, without words that say so.
        limit = min(limit, comma + 1)
    end = phrases["over_end"].search(plain, 0, limit)
    if end is not None:
        cue = plain[end.start() : end.end()].strip(" ,")
        text, plain = text[: end.start()] + text[end.end() :], plain[: end.start()] + plain[end.end() :]
    over = phrases["over"].search(plain, 0, min(_NEAR, limit))
    if over is not None:
        return Denied(*_without(text, plain, over), over[0].strip(), is_over=True)
    no = phrases["negation"].search(plain, 0, min(_NEAR, limit))
    if no is not None:
        cue = no[0].strip() if end is None else f"{no[0].strip()} … {cue}"
        return Denied(*_without(text, plain, no), cue, is_over=end is not None)
    return Denied(text, plain)


def _without(text: str, plain: str, found: re.Match[str]) -> tuple[str, str]:
    return text[: found.start()] + text[found.end() :], plain[: found.start()] + plain[found.end() :]


def _clauses(sentence: str, phrases: Phrases) -> Iterator[Clause]:
    plain = aligned(sentence)
    cuts = [(found.start(), found.end(), False) for found in phrases["split"].finditer(plain)]
    cuts += [(found.start(), found.end(), True) for found in phrases["inherit"].finditer(plain)]
    run_on = {found.start("cut"): found.end("cut") for found in phrases["run_on"].finditer(plain)}
    cuts += [(*cut, False) for cut in run_on.items()]
    start, inherits = 0, False
    for first, last, is_inherited in sorted(cuts)[:_MAX_CLAUSES]:
        if first < start or first == 0 or (first in run_on and not _is_of_self(plain, start, first, phrases)):
            continue
        yield from _clause(sentence, plain, start, first, phrases, inherits=inherits)
        start, inherits = last, is_inherited
    yield from _clause(sentence, plain, start, len(sentence), phrases, inherits=inherits)


def _is_of_self(plain: str, start: int, end: int, phrases: Phrases) -> bool:
    """Whether a part of a text says something of the speaker, in a verb without a subject before it."""
    while start < end and (filler := phrases["filler"].match(plain, start)) and filler.end() > start:
        start = filler.end()
    return start < end and phrases["self"].match(plain, start, end) is not None


def _clause(sentence: str, plain: str, start: int, end: int, phrases: Phrases, *, inherits: bool) -> Iterator[Clause]:
    while (filler := phrases["filler"].match(plain, start, end)) and filler.end() > start:
        start = filler.end()
    text = sentence[start:end].rstrip()
    if not text.strip():
        return
    lead = len(text) - len(text.lstrip())
    text, plain = text[lead:], plain[start + lead : start + len(text)]
    inverted = phrases["inverted"].match(plain)
    if inverted is not None:
        text, plain = _in_order(text, inverted), _in_order(plain, inverted)
    yield Clause(text, plain, inherits)


def _in_order(text: str, inverted: re.Match[str]) -> str:
    """A clause that begins with an adverbial and its verb, with the subject first: `Seit Mai wohne ich in Bonn`."""
    subject, verb, lead = (text[slice(*inverted.span(name))] for name in ("subject", "verb", "lead"))
    rest = text[inverted.end() :].rstrip(" .!")
    return f"{subject} {verb}{rest} {lead[:1].lower()}{lead[1:]}."
