"""The requests of talks with what was heard before each, as the server hears it, and which of that is meant."""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reverie_bench.changes.pairs import LEFT_OUT
from reverie_bench.changes.pairs import fold_of as fold_of_life
from reverie_bench.requests.talks import FIRST_TALKS, Said, Talk, TalkMessage
from reverie_bench.tagged import tagged_lives
from reverie_bench.truth.life import Life, load_lives
from reverie_server.heuristics.requests import request_model
from reverie_server.heuristics.requests.confidences import is_to_be_told
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.forget_requests import ForgetRequest, forget_requests
from reverie_server.heuristics.requests.likely_requests import parts_of, points_back, topic_of
from reverie_server.heuristics.requests.request_model import is_worth_a_vector
from reverie_server.search.asked.heard import WAITS, Heard, HeardMessage, heard_of
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import statements

FOLDS = 6
Surroundings = Literal[
    "alone",
    "in a memory",
    "in a long talk",
    "of another day",
    "asked plainly",
    "briefly",
    "not there",
    "asks for nothing",
]
SURROUNDINGS: tuple[Surroundings, ...] = get_args(Surroundings)
"""Where the talks are had: by themselves, with other talks on other days, behind other talks; all that is before a
request on other days, and another talk in its place, where it names what it means; with plain requests in
the place of their own for what was just said, as most people ask ("Forget that, please"); with little before it; and
with what is meant left out, so that nothing is; and of what only sounds like a request."""
_MANY, _FEW = 60, 4
# So many that what is meant is among the nearest more often than not.
_MANY_DAYS = 25
_JUST = re.compile(
    r"(?<!\w)(?:just|eben|gerade|soeben|vorhin|acab\w+ de|recién|last (?:bit|line|thing|part)|letzte[ns]?)(?!\w)"
    r"|刚|剛|上面"
)
_NEWEST_LIVES = frozenset({"en_bertram", "de_ludmila", "es_fermin", "zh_jiayi"})
"""Written after the models were learnt from the others: on these it is seen what they find."""
_MOST_OF_PLAIN, _WAYS = 60, 3
Nearest = Callable[[str, Sequence[str]], list[str]]


@dataclass(frozen=True, slots=True)
class Case:
    """A request of a talk with what was heard, and which of it is meant."""

    talk: Talk
    request: ForgetRequest
    heard: Sequence[Heard]
    is_meant: NDArray[np.bool_]


def fold_of(talk: Talk) -> int:
    """The fold of a talk: those of one number are in one."""
    return zlib.crc32(f"fold {talk.number}".encode()) % FOLDS


def ordinary_lines(*, fitted: bool) -> list[str]:
    """What people say who ask for nothing: that to which models are fitted, or what tells how sure they are."""
    lives = [life for life in tagged_lives() if not life.is_held]
    chosen = [life for life in lives if (zlib.crc32(f"ordinary {life.name}".encode()) % 2 == 0) == fitted]
    return [line.text for life in chosen for line in life.lines]


def messages_of_lives() -> list[tuple[str, str]]:
    """What users say in the lives of `bench truth` that are not held back, with the answers, and that asks nothing."""
    table = tomllib.loads((Path(__file__).parent.parent / "lives.toml").read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for life in load_lives():
        for session in life.sessions:
            for message, answer in pairwise(session.messages):
                asks = _read(message.text) or any(text in message.text for text in table.get(life.name, ()))
                if message.role == "user" and answer.role == "assistant" and not asks:
                    found.setdefault(message.text, answer.text)
    return list(found.items())


def talks_of_lives() -> list[Talk]:
    """The sessions of the lives of `bench truth` that are not held back in which somebody asks to remember something.

    What asks is the sentence that has most words for it, of the message that says what is to be kept, or of the next.
    """
    found: list[Talk] = []
    for number, life in enumerate(load_lives(), FIRST_TALKS):
        for session in life.sessions:
            messages = tuple(TalkMessage(message.role, message.text, 0) for message in session.messages)
            said: list[Said] = []
            for place, message in enumerate(session.messages):
                asked = [each.text for each in message.statements if each.tag == "remember"]
                if message.role == "user":
                    said += [
                        Said(text, place, (str(place),) if any(each in text or text in each for each in asked) else ())
                        for text in statements(message.text)
                    ]
            talk = Talk(f"{life.name}-{number}", life.language, "", messages, tuple(_with_asking(said)), (), ())
            if any(each.asks for each in talk.said):
                found.append(talk)
    return found


def requests_in_lives(*, left_out: bool = False) -> list[Talk]:
    """The lives of `bench truth` that are not held back, whole, in which somebody asks to forget something; or those
    from which nothing is learnt.

    `forgotten_in_lives.toml` has how the sentences begin that ask, and those that are meant.
    """
    table = tomllib.loads((Path(__file__).parent.parent / "forgotten_in_lives.toml").read_text(encoding="utf-8"))
    found: list[Talk] = []
    for number, life in enumerate(load_lives(), FIRST_TALKS):
        if life.name in table and left_out == _is_left_out(life.name):
            found.append(_whole(life, f"{life.name}-{number}", table[life.name]))
    return found


def _is_left_out(life: str) -> bool:
    return fold_of_life(life) == LEFT_OUT or life in _NEWEST_LIVES


def _whole(life: Life, name: str, requests: Sequence[Mapping[str, Sequence[str]]]) -> Talk:
    first = life.sessions[0].sent_at.date()
    messages: list[TalkMessage] = []
    said: list[Said] = []
    for session in life.sessions:
        for message in session.messages:
            if message.role == "user":
                said += [Said(text, len(messages), ()) for text in statements(message.text)]
            messages.append(TalkMessage(message.role, message.text, (session.sent_at.date() - first).days))
    for number, request in enumerate(requests, 1):
        for key, mark in (("asks", f"ask {number}"), ("means", str(number))):
            for beginning in request[key]:
                at = next(at for at, each in enumerate(said) if each.text.startswith(beginning))
                said[at] = replace(said[at], marks=(*said[at].marks, mark))
    return Talk(name, life.language, "", tuple(messages), tuple(said), (), ())


def _with_asking(said: Sequence[Said]) -> list[Said]:
    """What a user says, with the mark of what asks for each message of which something is marked."""
    found = list(said)
    for place in dict.fromkeys(each.message for each in said if each.marks):
        own = [at for at, each in enumerate(said) if each.message == place]
        following = [at for at in range(own[-1] + 1, len(said)) if said[at].message == place + 2 and not said[at].marks]
        for some in (own, following):
            asking = max(some, key=lambda at: request_model.by_words("remember", said[at].text), default=0)
            if some and request_model.by_words("remember", said[asking].text) > 0:
                found[asking] = replace(found[asking], marks=(*found[asking].marks, f"ask {place}"))
                break
    return found


def cases_among(some: Sequence[Talk], nearest: Nearest, surroundings: Surroundings) -> list[Case]:
    """The requests of talks in surroundings; others are of their fold and language, so that no fold has seen them."""
    found: list[Case] = []
    for at, talk in enumerate(some):
        others = [
            each
            for each in some
            if each.language == talk.language and each is not talk and fold_of(each) == fold_of(talk)
        ]
        others = others[at % max(len(others), 1) :] + others[: at % max(len(others), 1)]
        is_apart = surroundings == "of another day"
        is_in_memory = surroundings in ("in a memory", "in a long talk", "of another day") or (
            surroundings in ("not there", "asks for nothing") and at % 2
        )
        memory = others[: _MANY_DAYS if is_apart else _MANY] if is_in_memory else []
        beside = others[:_FEW] if surroundings in ("in a long talk", "of another day") else []
        asks = surroundings != "asks for nothing"
        cases = cases_of(talk, nearest, memory=memory[len(beside) :], beside=beside, asks=asks, is_apart=is_apart)
        if surroundings == "asked plainly":
            found += [_asked_plainly(case, way) for case in cases if _is_just_said(case) for way in range(_WAYS)]
        elif surroundings == "briefly":
            just_said = list(filter(_is_just_said, cases))
            found += map(_briefly, [*just_said, *(_asked_plainly(case, _WAYS) for case in just_said)])
        elif is_apart:
            found += filter(_names_what_it_means, cases)
        elif surroundings == "not there":
            found += [left for case in cases for left in _without_it(case)]
        else:
            found += cases
    return found


def cases_of(
    talk: Talk,
    nearest: Nearest,
    *,
    memory: Sequence[Talk] = (),
    beside: Sequence[Talk] = (),
    asks: bool = True,
    is_apart: bool = False,
) -> Iterator[Case]:
    """The requests of a talk: of each message the sentence that asks most, with what was heard before it.

    Not `asks`, those sentences that only sound like one and mean nothing.

    `memory` are talks of other days, and those of `beside` were had before it on the same day, the last one first. With
    `is_apart` all that stands before a request in its own talk is of other days, too.
    """
    days = [message.day for message in talk.messages]
    messages = by_message(talk)
    before_it = [_heard_message(each, of_one) for each in beside for of_one in [*by_message(each).values()][::-1]]
    of_others = [said.text for each in memory for said in each.said]
    marks = {said.text: set(said.marks) for said in talk.said}
    for message, sentences in messages.items():
        asking = [at for at, said in enumerate(sentences) if said.asks]
        if not asks:
            asking = [] if asking else [at for at, said in enumerate(sentences) if _sounds_like_it(said)]
        if not asking:
            continue
        number = max(asking, key=lambda at: request_model.by_words("forget", sentences[at].text))
        means = frozenset[str]().union(*(sentences[at].means for at in asking))
        before = [each for each in messages if each < message]
        today = [each for each in before if days[each] == days[message] and not is_apart]
        earlier = [_heard_message(talk, messages[each]) for each in reversed(today)]
        of_memory = [said.text for each in before if each not in today for said in messages[each]]
        following = next((messages[each] for each in messages if each > message), None)
        is_next = following is not None and any(means & set(said.marks) for said in following if not said.asks)
        heard = heard_of(
            _heard_message(talk, sentences),
            number,
            [*earlier, *before_it],
            nearest(sentences[number].text, list(dict.fromkeys([*of_memory, *of_others]))),
            _heard_message(talk, following) if is_next and following is not None else None,
        )
        if is_next:
            heard.append(Heard(WAITS, "next"))
        elif not is_to_be_told(sentences[number].text):
            heard = [each for each in heard if each.text != WAITS]
        is_meant = [is_next if each.text == WAITS else bool(marks.get(each.text, set()) & means) for each in heard]
        yield Case(talk, _request(sentences, number), heard, np.array(is_meant))


@cache
def plain_requests(language: str) -> list[str]:
    """Requests to forget that name nothing."""
    table = tomllib.loads((Path(__file__).parent.parent / "forget.toml").read_text(encoding="utf-8"))
    return [
        text
        for text in table[language]
        if len(text) <= _MOST_OF_PLAIN and not topic_of(text, language) and len(statements(text)) == 1
    ]


def _sounds_like_it(said: Said) -> bool:
    return "none" in said.marks and any(is_worth_a_vector("forget", part) for part in parts_of(said.text))


def _names_what_it_means(case: Case) -> bool:
    """Whether a request of what is in the memory has words for it, and none by which it was just said."""
    sentence = case.request.sentence
    is_meant = [each for each, is_meant in zip(case.heard, case.is_meant, strict=True) if is_meant]
    return (
        bool(is_meant)
        and all(each.where == "memory" for each in is_meant)
        and bool(topic_of(sentence, case.talk.language))
        and _JUST.search(aligned(sentence)) is None
    )


def _is_just_said(case: Case) -> bool:
    """Whether what a request means is one statement of the message before it, or before it in its own."""
    meant = [each for each, is_meant in zip(case.heard, case.is_meant, strict=True) if is_meant]
    return len(meant) == 1 and (meant[0].where == "before" or meant[0].back == 1)


def _asked_plainly(case: Case, way: int) -> Case:
    """The case with one of the plain requests, alone in its message unless what it means stands there."""
    choice = plain_requests(case.talk.language)
    text = choice[zlib.crc32(f"{way} {case.request.sentence}".encode()) % len(choice)]
    rows = list(zip(case.heard, case.is_meant.tolist(), strict=True))
    is_in_message = any(each.where == "before" for each, is_meant in rows if is_meant)
    before = case.request.before if is_in_message else ()
    kept: list[tuple[Heard, bool]] = []
    for each, is_meant in rows:
        if each.where == "own":
            each = replace(each, text=text, number=len(before), count=len(before) + 1, following="")
            each = each if before else replace(each, previous="")
        elif each.where == "before":
            each = replace(each, count=len(before) + 1)
        if each.where != "after" and (before or each.where != "before"):
            kept.append((each, is_meant))
    read = _read(text)
    request = ForgetRequest(read[0].kind if read else "told", text, "", before, ())
    return Case(case.talk, request, [each for each, _ in kept], np.array([is_meant for _, is_meant in kept]))


def _briefly(case: Case) -> Case:
    """The case with nothing before its request but what it means, and in one of two what stands beside that."""
    is_alone = zlib.crc32(case.request.sentence.encode()) % 2 == 0
    rows = [
        (each, is_meant)
        for each, is_meant in zip(case.heard, case.is_meant.tolist(), strict=True)
        if is_meant or each.where in ("own", "next") or (not is_alone and (each.where == "before" or each.back == 1))
    ]
    if is_alone:
        rows = [
            (replace(each, number=0, count=1, previous="", following="") if is_meant else each, is_meant)
            for each, is_meant in rows
        ]
    return Case(case.talk, case.request, [each for each, _ in rows], np.array([is_meant for _, is_meant in rows]))


def _without_it(case: Case) -> Iterator[Case]:
    """The case without what it means, where that is not of itself or to come; and with the last statement alone.

    A request that only points at what was just said would mean that.
    """
    rows = list(zip(case.heard, case.is_meant.tolist(), strict=True))
    if points_back(case.request.sentence) or any(
        is_meant and each.where in ("own", "after", "next") for each, is_meant in rows
    ):
        return
    left = [each for each, is_meant in rows if not is_meant]
    yield Case(case.talk, case.request, left, np.zeros(len(left), bool))
    last = [each for each in left if each.where == "own" or (each.back == 1 and each.number == each.count - 1)]
    if len(last) > 1:
        yield Case(case.talk, case.request, last, np.zeros(len(last), bool))


def by_message(talk: Talk) -> Mapping[int, Sequence[Said]]:
    """What the user says, by message, in order."""
    found: dict[int, list[Said]] = {}
    for said in talk.said:
        found.setdefault(said.message, []).append(said)
    return found


def _request(sentences: Sequence[Said], number: int) -> ForgetRequest:
    """The request as the server reads it."""
    texts = [said.text for said in sentences]
    text, around = texts[number], (tuple(texts[:number]), tuple(texts[number + 1 :]))
    found = next((each for each in _read(" ".join(texts)) if each.sentence == text), None)
    return (
        ForgetRequest("told", text, "", *around)
        if found is None
        else ForgetRequest(found.kind, text, found.topic, *around)
    )


@cache
def _read(message: str) -> Sequence[ForgetRequest]:
    return forget_requests(message)


def _heard_message(talk: Talk, sentences: Sequence[Said]) -> HeardMessage:
    at = sentences[0].message
    answer = talk.messages[at - 1] if at else None
    is_reply = answer is not None and answer.role == "assistant" and is_question(answer.text)
    return HeardMessage([said.text for said in sentences], is_reply)
