"""What users ask to remember, message by message. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from reverie_server.heuristics.before_question import before_question
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.german_clauses import main_clause
from reverie_server.heuristics.fact_grammar.terms import GENERIC_VALUES, content_terms, is_unspaced
from reverie_server.heuristics.requests.fact_requests import (
    Place,
    Request,
    aligned,
    is_of_next,
    place_of,
    split_request,
)
from reverie_server.heuristics.requests.likely_requests import remembering_asked, topic_of
from reverie_server.heuristics.requests.promises import promises_to_remember
from reverie_server.heuristics.requests.request_kinds import opening
from reverie_server.heuristics.requests.said_again import said_again
from reverie_server.heuristics.requests.said_before import points_back, what_was_said
from reverie_server.heuristics.requests.several import announced_at, last_of
from reverie_server.heuristics.salience import MAX_TEXT_CHARS, asks
from reverie_server.heuristics.small_talk import says_nothing
from reverie_server.heuristics.spoken_sentences import SpokenSentence, spoken_sentences
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

_MAX_CHARS = 500
_END_MARKS = ".!?…:;,。！？：；，)\"'”’»"
# Of the two a code is what is noted. "That" is what was said.
_CODE = re.compile(r"\d\w*\d\w*\d|[A-Za-z]\w*\d\d|\d\d\w*[A-Za-z]")
_OF_THIS = re.compile(r"(?<!\w)(?:this|esto|una cosa|dies\w*|folgend\w*)(?!\w)|[这這]")
# Messages: that of the assistant stands between two of the user.
_NEAR = 2
# Statements among which "that number" is looked for.
_NEAR_STATEMENTS = 6
_DIGIT, _LONG_NUMBER = re.compile(r"\d"), re.compile(r"\d[\d .,/-]?\d[\d .,/-]?\d")
# Among so many statements, of so many messages, is what an answer names.
_NAMED_STATEMENTS, _NAMED_NEAR = 12, 7
# So many words of a statement an answer has that names it.
_FEWEST_NAMED, _BEGINNING_CHARS = 2, 6
# So many statements may be what a request names.
_MAX_EARLIER = 200
_NAMELESS = frozenset("的那个這这她他它我你是有在了说說事 ")
_Line: TypeAlias = tuple[Message, str, str]
_PRONOUN = re.compile(
    # "They've changed the code" is of nobody who was named.
    r"(?:she|he|they(?!(?:'ve| have|'re| are)(?: just)? (?:chang|mov|clos|rais|put|cancel|switch|replac|shut))"
    r"|hes|shes|theyre|it|that|this|these|those|her|his|their|sie|er|es|ihr|ihre|sein|seine"
    r"|(?:das|dies|der|die)(?= (?:ist|war|sind|hat|heißt|kann|mag|geht|steht|liegt))|ella|él|ellos|ellas"
    r"|eso|esto|su|sus|elle|il|ils|elles)(?:'\w+)?(?!\w)|[她他它]|这|那|這"
)


_OF_ONE = {
    "he": re.compile(r"(?:hes?|his|er|seine?|él)(?:'\w+)?(?!\w)|他"),
    "she": re.compile(r"(?:shes?|her|ella)(?:'\w+)?(?!\w)|她"),
}
_BARE_VALUE = re.compile(
    r"(?:(?:and|und|y) )?(?:(?:the|das|die|der|el|la) )?(?:(?:new|neue|nuev[oa]) )?"
    rf"(?:{'|'.join(sorted(map(re.escape, GENERIC_VALUES), reverse=True))})"
    r"(?:['’]s |,? (?:is|ist|lautet|heißt|es)(?!\w)|:|[是：])"
)


@dataclass(slots=True)
class RequestsByMeaning:
    """The sentences that ask to remember something, each with what it `meant`: statements, itself where it says what is
    to be kept; none where none is likely. `stated_at` has when those were said that are of another conversation.
    """

    meant: dict[str, Sequence[str]] = field(default_factory=dict)
    stated_at: dict[str, datetime] = field(default_factory=dict)


def requests_of(
    messages: Sequence[Message],
    by_meaning: Mapping[str, Sequence[str]],
    stated_at: Mapping[str, datetime] = MappingProxyType({}),
) -> list[tuple[Message, str, str]]:
    """What users ask to remember, in any language: the message, the sentence that has it, and that as a line.

    `Please remember that` is about the statement before, also in the message before; a sentence that begins with a
    pronoun goes with the one before it. The sentences `by_meaning` ask in words that no pattern has; each has the
    sentences that it means, itself perhaps, where these are known. Those that were said in another conversation, at
    `stated_at`, come as of the message that asks, at their time. What the assistant promises at once to remember is
    asked for.
    """
    requests = _Requests(by_meaning, stated_at)
    for message in messages:
        if message.role == "assistant":
            requests.hear_answer(message)
        elif message.role == "user":
            requests.hear(message)
    return requests.lines


@dataclass(slots=True)
class _Requests:
    """What the messages so far ask for: `lines` are to be remembered, `statements` all that they state, each with its
    terms, and `last` the last of these, with what it goes on from. `meant` is what sentences ask for `by_meaning`.
    """

    by_meaning: Mapping[str, Sequence[str]]
    stated_at: Mapping[str, datetime]
    lines: list[_Line] = field(default_factory=list)
    statements: list[tuple[_Line, frozenset[str]]] = field(default_factory=list)
    last: _Line | None = None
    # Where the last statements began to speak of him, or of her.
    head: _Line | None = None
    # So many of the statements that follow are asked for.
    count_ahead: int = 0
    # The last messages that ask for something, and that ask in a question.
    request: Message | None = None
    question: Message | None = None
    # What a promise means that follows at once.
    promise: tuple[Message, _Line] | None = None
    # The last message that asks for what was said before of a thing, with what this names.
    pointed: tuple[Message, _Line] | None = None
    # What the last message states, also before a question: an answer may say it again.
    told: list[_Line] = field(default_factory=list)
    meant: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.meant = frozenset(text for texts in self.by_meaning.values() for text in texts)

    def hear_answer(self, answer: Message) -> None:
        """Add what an answer promises to remember, or names; behind a request it promises what that asks for."""
        told = [line for line in self.told if _follows(answer, line[0])]
        again = [told[at] for at in said_again(answer.content, [line[1] for line in told])]
        mistaken = {text for line in again for text in self.by_meaning.get(line[1], ()) if line[1] not in self.meant}
        self.lines = [line for line in self.lines if line[2] not in mistaken and line[1] not in mistaken]
        asked = {line[1] for line in self.lines if line[0] in [each[0] for each in again]}
        self.lines += [line for line in again if line[1] not in asked]
        is_answer = _follows(answer, self.request) or bool(again)
        promise = self.promise
        if promise is not None and not is_answer and _follows(answer, promise[0]) and promise[1] not in self.lines:
            self.lines += [promise[1]] if promises_to_remember(answer.content, promise[1][1]) else []
        if is_answer or _follows(answer, self.question):
            near = [line for line, _ in self.statements[-_NAMED_STATEMENTS:]]
            named = _named_by(answer, self.lines, near)
            pointed, self.pointed = self.pointed, None
            if not named and pointed is not None and _follows(answer, pointed[0]) and pointed[1] not in self.lines:
                # "Kept." names nothing, and the request does.
                named = [pointed[1]]
            self.lines += named

    def hear(self, message: Message) -> None:
        """Add what a message of a user asks for, and note what it states."""
        text = strip_injected(message.content)[:MAX_TEXT_CHARS]
        spans = spoken_sentences(text)
        self.told = []
        said = [text[span.start : span.end].strip() for span in spans]
        for number, sentence in enumerate(said):
            # All items of a list are one.
            items = [_is_item(text, each) for each in spans[number : number + 2]]
            following = said[number + 1] if number + 1 < len(said) else ""
            goes_on = items == [True, True]
            self._hear_sentence(message, sentence, place_of(number, said), following, goes_on=goes_on)

    def _hear_sentence(self, message: Message, sentence: str, place: Place, following: str, *, goes_on: bool) -> None:
        # Longer sentences are no requests.
        is_by_meaning = sentence in self.by_meaning and len(sentence) <= _MAX_CHARS
        request = remembering_asked(sentence) if is_by_meaning else split_request(sentence)
        request = self._of_this_or_that(request, sentence, following)
        if request.kind == "inside":
            count, start = announced_at(aligned(sentence), request.start)
            request = replace(request, start=start, count=count) if count else request
        meant = self.by_meaning.get(sentence, ())
        elsewhere = [text for text in meant if text in self.stated_at]
        self.lines += [(replace(message, at=self.stated_at[text]), sentence, text) for text in elsewhere]
        is_meant = sentence in self.meant
        if is_by_meaning or request.kind == "next" or (meant and not is_meant):
            # What is promised behind it is what it asks for.
            self.request = message
        if meant and not is_meant:
            # What it means is told in another sentence, wherever that stands, unless the answer says it again.
            self.told += [] if points_back(aligned(sentence)) else [(message, sentence, sentence)]
            return
        # "The code I just told you, look after it" means the statement that it names, and not itself.
        named = self._pointed_at(sentence) if points_back(aligned(sentence)) and not self.count_ahead else None
        if named is not None and is_by_meaning and is_meant:
            request = Request("before", 0, len(sentence))
        elif is_meant and request.kind != "inside":
            request = Request("none", 0, len(sentence))
        is_here = self.last is not None and self.last[0] is message
        request = request.where_said(is_here=is_here)
        if request.kind == "inside" or (request.kind == "before" and (is_here or request.is_of_value)):
            self.request = message
        if request.kind == "next" or (request.kind == "before" and is_of_next(sentence, place)):
            self.count_ahead, self.request = max(1, request.count), message
        elif request.kind == "before":
            self._ask_for_before(message, sentence, request, is_by_meaning=is_by_meaning)
        elif request.kind in ("named", "update") or len(sentence) > _MAX_CHARS:
            return
        elif named is not None and request.kind == "none" and not is_meant:
            thing = what_was_said(aligned(sentence))
            self.promise = (message, named) if thing is None else self.promise
            if thing is not None:
                found = _rarest(thing, self.statements)
                self.pointed, self.request = (message, found) if found is not None else None, message
        else:
            # "Could you never put proverbs in my messages?" means itself, and "what I told you of her, can you keep
            # it?" what the answer names.
            own = sentence[request.start : request.end] if request.kind == "inside" else sentence
            is_question = asks(own, None) and not is_meant
            self.question = message if is_question else self.question
            if not is_question or before_question(sentence):
                self._state(message, sentence, request)
                self.count_ahead -= 1 if self.count_ahead and not goes_on else 0

    def _of_this_or_that(self, request: Request, sentence: str, following: str) -> Request:
        """The request of a sentence, which is of what follows it where that alone has a number: "note this down. The
        code is 7046"."""
        is_of_this = _OF_THIS.search(aligned(sentence)) is not None and not asks(following, None)
        if request.kind not in ("before", "inside") or not is_of_this:
            return request
        told = sentence[request.start : request.end] if request.kind == "inside" else self.last[1] if self.last else ""
        is_of_next = _CODE.search(following) is not None and _DIGIT.search(told) is None
        return Request("next", len(sentence), len(sentence)) if is_of_next else request

    def _ask_for_before(self, message: Message, sentence: str, request: Request, *, is_by_meaning: bool) -> None:
        """Add the statements before a request that it means."""
        last = (_named(sentence, self.statements) if is_by_meaning else None) or self.last
        if request.count == 1 and not request.is_of_value:
            lines = [last] if last else []
        else:
            lines = _asked_among(self.statements, request, message)
        self.lines += [line for line in lines if line not in self.lines]

    def _state(self, message: Message, sentence: str, request: Request) -> None:
        """Note what a sentence states, and add it where it is asked for."""
        rest = sentence[request.start : request.end].strip()
        rest = main_clause(rest) if request.is_subordinate else rest
        whole = sentence if request.kind == "none" else rest[:1].upper() + rest[1:]
        whole = before_question(whole) or whole if asks(whole, None) else whole
        last = self.last
        if last is not None and (begins_with_pronoun(whole) or _is_of(whole, message, last)):
            # "Mum is in hospital. She sings. Her birthday is May 2" tells whose with its first sentence.
            goes_on = self.head is not None and _who(whole) is not None and _who(whole) == _who(last[1])
            self.head = self.head if goes_on else last
            whole = f"{ended((self.head or last)[2])} {whole}"[-_MAX_CHARS:]
        line = (message, sentence, whole)
        if points_back(aligned(sentence)):
            # "What I wrote before, that number of the insurance" says nothing new.
            self.last = self._pointed_at(sentence)
        elif not says_nothing(whole) or self.last is None:
            self.last = line
        self.told += [] if points_back(aligned(sentence)) else [line]
        self.promise = self.promise if says_nothing(whole) else (message, line)
        self.statements.append((line, content_terms(whole)))
        is_asked_for = self.count_ahead > 0 or request.kind == "inside" or sentence in self.meant
        self.lines += [line] if is_asked_for and line not in self.lines else []
        self.count_ahead = max(self.count_ahead, request.count)

    def _pointed_at(self, sentence: str) -> _Line | None:
        """What a sentence that points back is about; without spaces a single character may name it: the last one."""
        return _named(sentence, self.statements) or (self.last if is_unspaced(sentence) else None)


def _follows(answer: Message, message: Message | None) -> bool:
    return message is not None and answer.seq == message.seq + 1


def ended(sentence: str) -> str:
    """A sentence before which another follows, with a mark at its end."""
    return sentence if sentence[-1:] in _END_MARKS else f"{sentence}{'。' if is_unspaced(sentence) else '.'}"


def _is_item(text: str, span: SpokenSentence) -> bool:
    """Whether a sentence is of an item of a list."""
    return bool(text[text.rfind("\n", 0, span.line_start) + 1 : span.line_start].strip())


def _named(sentence: str, earlier: Sequence[tuple[_Line, frozenset[str]]]) -> _Line | None:
    """The last of the earlier statements that have most of the words which a request to remember has of its own."""
    own = content_terms(topic_of(sentence, "english", "remember"))
    shared = [(len(own & terms), number) for number, (_, terms) in enumerate(earlier[-_MAX_EARLIER:])]
    most, number = max(shared, default=(0, 0))
    return earlier[-_MAX_EARLIER:][number][0] if most else None


def _rarest(thing: str, earlier: Sequence[tuple[_Line, frozenset[str]]]) -> _Line | None:
    """The last of the earlier statements that have most of the words which name a thing; a word of many counts less."""
    near = earlier[-_MAX_EARLIER:]
    own, terms, fewest = content_terms(thing), [each for _, each in near], 1
    if is_unspaced(thing) and not any(own & each for each in terms):
        # A pair of characters is seldom said twice in the same way: "她妈那个病", "她妈有糖尿病".
        own, terms, fewest = frozenset(thing) - _NAMELESS, [frozenset(line[2]) for line, _ in near], 2
    weights = {term: 1 / count for term in own if (count := sum(term in each for each in terms))}
    scores = [
        sum(weights[term] for term in has) if len(has := weights.keys() & each) >= fewest else 0.0 for each in terms
    ]
    best = max(scores, default=0.0)
    return near[len(scores) - 1 - scores[::-1].index(best)][0] if best else None


def _asked_among(earlier: Sequence[tuple[_Line, frozenset[str]]], request: Request, message: Message) -> list[_Line]:
    """Those of the statements just before that a request of a message means, in their order: of several things the last
    ones, of a number those that have one, of three digits or more if there is one."""
    lines = [line for line, _ in earlier[-_NEAR_STATEMENTS:]]
    if request.is_of_value:
        lines = [line for line in lines if _DIGIT.search(line[1])]
        lines = [line for line in lines if _LONG_NUMBER.search(line[1])] or lines
        if request.count == 1:
            return lines[-1:]
    else:
        lines = [line for line in lines if message.seq - line[0].seq <= _NEAR and not says_nothing(line[2])]
    return [lines[at] for at in last_of([(line[2], line[0].seq) for line in lines], request.count)]


def _named_by(answer: Message, found: Sequence[_Line], earlier: Sequence[_Line]) -> list[_Line]:
    """What an answer that promises to remember something names, where that is none of what is `found`: "I've kept the
    number of the locker". It was said in a message shortly before."""
    near = [line for line in earlier if answer.seq - line[0].seq <= _NAMED_NEAR]
    again = said_again(answer.content, [line[2] for line in near])
    if len(again) == 1:
        # "Kept: size 312, brown tab" has a number that one statement has.
        return [] if near[again[0]] in found else [near[again[0]]]
    if not promises_to_remember(answer.content, ""):
        return []
    named = _beginnings(opening(answer.content))
    shared = [len(named & _beginnings(line[2])) for line in near]
    best = max(shared, default=0)
    if best < _FEWEST_NAMED or any(len(named & _beginnings(line[2])) >= best for line in found):
        return []
    return [near[len(near) - 1 - shared[::-1].index(best)]]


def _beginnings(text: str) -> set[str]:
    """How the words of a text begin that carry meaning: "Allergie" as "allergisch"."""
    return {term[:_BEGINNING_CHARS] for term in content_terms(text)}


def _who(sentence: str) -> str | None:
    """Whether a sentence begins with him or with her."""
    plain = folded(sentence).lstrip("\"'-–— ,")
    return next((who for who, pattern in _OF_ONE.items() if pattern.match(plain)), None)


def begins_with_pronoun(sentence: str) -> bool:
    """Whether a sentence begins with a word that stands for somebody or something named before."""
    return _PRONOUN.match(folded(sentence).lstrip("\"'-–— ,")) is not None


def _is_of(sentence: str, message: Message, before: _Line) -> bool:
    """Whether a sentence tells a code or a number without what it is of, which the one before may say."""
    is_near = message.seq - before[0].seq <= _NEAR and not says_nothing(before[2])
    return is_near and _BARE_VALUE.match(folded(sentence)) is not None


def is_request_alone(sentence: str) -> bool:
    """Whether a sentence asks to remember another one and says nothing itself."""
    request = split_request(sentence)
    is_elsewhere = request.kind in ("before", "next", "named") or request.may_be_why
    return is_elsewhere or what_was_said(aligned(sentence)) is not None


def asks_for_previous(sentence: str) -> bool:
    """Whether a sentence asks to remember what was said before it, and says nothing itself."""
    return split_request(sentence).kind == "before"
