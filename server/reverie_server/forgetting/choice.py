"""Which of the statements that were heard is chosen, by how likely each is meant and what a request says. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reverie_server.heuristics.requests.confidences import is_of_another_day, is_told_just_now
from reverie_server.heuristics.requests.forget_requests import ForgetRequest, names_told
from reverie_server.heuristics.requests.secrecy import is_private
from reverie_server.heuristics.requests.themes import shares_theme
from reverie_server.search.asked.heard import Heard, HeardMessage
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import is_statement

LIKELY = 0.6
"""From this chance on a message asks to forget something; with less it may ask."""
OF_OTHERS = 0.7
"""So likely another statement is meant than what was said last, or one that has nothing of a request."""
# What a request names that is so likely, and so many times as likely as anything else.
_OF_NAMED, _TIMES_AHEAD = 0.35, 3
# The chance of what else there may be, where only one statement was heard.
_UNKNOWN = 0.15
# Of what was just said, where a request has a word for that.
_OF_POINTING = 0.25


def names_earlier(sentence: str) -> bool:
    """Whether a request names what was told, or the day, and does not say that it was told just now."""
    return (names_told(sentence) or is_of_another_day(sentence)) and not is_told_just_now(sentence)


def message_before(request: ForgetRequest, earlier: Sequence[HeardMessage]) -> list[str]:
    """What the last message that states something says; "Ok." before the request is no message of its own."""
    own = request.before if any(map(is_statement, request.before)) else ()
    messages = [own, *(each.sentences for each in earlier)]
    return next((kept for each in messages if (kept := [text for text in each if not is_question(text)])), [])


def likeliest_of_last(request: ForgetRequest, just_said: Sequence[str], chances: Mapping[str, float]) -> list[str]:
    """Of what was said last the statement that is likelier than all that was said before; none where there is none."""
    near = [text for text in just_said if text in chances]
    others = [chances[text] for text in chances if text not in near and text != request.sentence]
    best = max(near, key=chances.__getitem__, default="")
    is_meant = bool(best) and chances[best] > max(others, default=0.0) and chances[best] >= _OF_POINTING
    return [best] if is_meant else []


def last_pointed_at(
    request: ForgetRequest, just_said: Sequence[str], chances: Mapping[str, float], *, is_previous: bool
) -> list[str]:
    """Of what was said last the likeliest statement, for a request that names none."""
    near = [text for text in just_said if text in chances]
    best = max(near, key=chances.__getitem__, default="")
    is_surely = is_previous or (len(near) == 1 and request.chance >= LIKELY)
    return [best] if best and (is_surely or chances[best] >= _OF_POINTING) else []


def with_evidence(
    request: ForgetRequest,
    heard: Sequence[Heard],
    chosen: Sequence[str],
    named: frozenset[str],
    chances: Mapping[str, float],
) -> list[str]:
    """Of what is `chosen` by its chance what is of the present talk, or has a word or the theme of the request, or is
    told in confidence, or is far likelier than not. Where one statement alone has both a word and the theme, that is
    meant. Where what was told before is named, to be of the present talk says nothing: that stands near whatever is
    meant."""
    asked = request.sentence
    of_theme = {each.text for each in heard if each.text != asked and shares_theme(asked, each.text)}
    if len(both := of_theme & named) == 1 and request.kind in ("nearby", "told"):
        return list(both)
    present = frozenset() if names_earlier(asked) else {each.text for each in heard if each.where != "memory"}
    is_evident = named | of_theme | present
    return [text for text in chosen if text in is_evident or chances[text] >= OF_OTHERS or is_private(text)]


def far_ahead(chances: Mapping[str, float]) -> list[str]:
    """The one statement that is likelier by far than any other; none where there is no such."""
    first, second = ([*sorted(chances, key=chances.__getitem__, reverse=True), "", ""])[:2]
    is_ahead = chances.get(first, 0.0) >= max(_OF_NAMED, _TIMES_AHEAD * chances.get(second, _UNKNOWN))
    return [first] if first and is_ahead else []


def of_what_is_named(
    request: ForgetRequest, heard: Sequence[Heard], chosen: Sequence[str], found: Sequence[str], named: frozenset[str]
) -> Sequence[str]:
    """What is `chosen` by its meaning, where a request names a thing: of it what has a word of the request, or stands
    beside what has, if there is any such. "Forget that with the key in the flowerpot" is not about the new flat."""
    if not names_told(request.sentence):
        return chosen
    of_thing = {*found, *(text for text in chosen if text in named)}
    if not of_thing:
        return chosen
    beside = {each.text for each in heard if each.previous in of_thing or each.following in of_thing}
    return [text for text in chosen if text in of_thing or text in beside]
