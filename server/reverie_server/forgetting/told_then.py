"""What a request means that says it was told on another day, of all that the user said then."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.gate import Grant
from reverie_server.forgetting.selection import Selection
from reverie_server.heuristics.requests.confidences import is_told_just_now
from reverie_server.heuristics.requests.forget_requests import ForgetRequest, forget_requests, names_told
from reverie_server.heuristics.requests.likely_requests import names_forgetting, topic_of
from reverie_server.heuristics.requests.request_kinds import odds as odds_of_kind
from reverie_server.heuristics.requests.secrecy import is_private, only_confides
from reverie_server.heuristics.requests.themes import shares_theme
from reverie_server.heuristics.requests.told_when import ToldWhen, told_when, without_when
from reverie_server.search.asked.features import Vectors
from reverie_server.search.asked.heard import Heard, NearStatement
from reverie_server.search.asked.of_another_day import meant_of, weighed
from reverie_server.search.asked.targets import log_odds
from reverie_server.search.asked.vectors import vectors_of
from reverie_server.search.query_terms import meaning_of
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import is_statement

# So many statements of other days are read. Of those that may be meant so many are embedded, a hundredth of a second
# each.
_MOST_READ, MOST_EMBEDDED = 600, 96
_LAST_BEFORE = 3
# A day ends when people go to bed.
_NIGHT = timedelta(hours=5)
# Of a day that is not known what was told in confidence is looked for so far back.
_FARTHEST = timedelta(days=120)
# What was said in so many hours before a request was not said on another day.
_JUST_NOW = timedelta(hours=2)


def whole_request(request: ForgetRequest, today: date) -> ForgetRequest:
    """A request with the sentence before it in its message that says what was told, and asks for nothing itself: "That
    thing I told you last Sunday. Let it go." It is itself where it says so itself."""
    if told_when(request.sentence, today) is not None or names_told(request.sentence):
        return request
    for back in range(1, 1 + min(_LAST_BEFORE, len(request.before))):
        told = request.before[-back]
        if is_question(told) or names_forgetting(told):
            return request
        if told_when(told, today) is not None:
            joined = f"{told} {request.sentence}"
            return replace(request, kind="told", sentence=joined, topic="", before=request.before[:-back])
    return request


def told_on(sentence: str, today: date) -> ToldWhen | None:
    """When a request says that what it means was told; None where it is of what was just said."""
    return None if is_told_just_now(sentence) else told_when(sentence, today)


class ToldThen:
    """Finds what requests mean that was told on another day."""

    def __init__(self, selection: Selection, models: ModelSlot) -> None:
        self._selection = selection
        self._models = models

    async def find(
        self, grant: Grant, place: Place, request: ForgetRequest, then: ToldWhen, at: datetime, heard: Collection[str]
    ) -> list[str]:
        """What a request that is made `at` a time means of what was told `then`; nothing where nothing is plainly
        meant. What was `heard` in the present talk is none of it where the day is not known."""
        language = grant.settings.language
        said = await self._said(grant, place, request, then, at, heard)
        today = at.astimezone(ZoneInfo(grant.settings.time_zone)).date()
        possible = await asyncio.to_thread(possible_of, request, said, language, today)
        if not possible:
            return []
        texts = [each.text for each in possible]
        vectors = await vectors_of(self._models, request, texts, language)
        return await asyncio.to_thread(_meant, request, possible, vectors, language, then, today)

    async def _said(
        self, grant: Grant, place: Place, request: ForgetRequest, then: ToldWhen, at: datetime, heard: Collection[str]
    ) -> list[NearStatement]:
        """What the user said on the days; where they are not known what is near to the request, or was told in
        confidence, before that day."""
        zone = ZoneInfo(grant.settings.time_zone)
        if then.days is not None:
            spans = [(since, min(until, at - _JUST_NOW)) for since, until in _spans(sorted(then.days), zone)]
            return await self._selection.said_between(grant, place, spans)
        until = min(datetime.combine(at.astimezone(zone).date(), time(), zone), at - _JUST_NOW)
        topic = topic_of(request.sentence, grant.settings.language)
        queries = dict.fromkeys([request.sentence, topic] if topic else [request.sentence])
        near = await self._selection.near_statements(grant, place, list(queries))
        older = await self._selection.said_between(grant, place, [(until - _FARTHEST, until)])
        confided = await asyncio.to_thread(_confided, older)
        # A note may repeat what was just said.
        found = [each for each in near if (each.text not in heard if each.at is None else each.at < until)]
        return list({each.text: each for each in [*found, *confided]}.values())


def _confided(statements: Sequence[NearStatement]) -> list[NearStatement]:
    """The statements that say that they are told in confidence, or beside which that is said."""
    return [each for each in statements if any(map(is_private, (each.previous, each.text, each.following)))]


def possible_of(
    request: ForgetRequest, said: Sequence[NearStatement], language: str, today: date
) -> list[NearStatement]:
    """The statements that a request may mean, at most MOST_EMBEDDED: of many first those that have a word or the theme
    of the request, or are private. Takes time linear in the first 600."""
    possible = [each for each in said[:_MOST_READ] if _may_be_meant(each.text, today)]
    asked = meaning_of(request.sentence, language).terms
    possible.sort(key=lambda each: not _has_evidence(each, request.sentence, asked, language))
    return possible[:MOST_EMBEDDED]


def _has_evidence(statement: NearStatement, request: str, asked: frozenset[str], language: str) -> bool:
    beside = (statement.previous, statement.text, statement.following)
    is_near = bool(asked & meaning_of(statement.text, language).terms) or shares_theme(request, statement.text)
    return is_near or any(map(is_private, beside))


def _may_be_meant(text: str, today: date) -> bool:
    """Whether a text states something, and is no request itself."""
    is_told = is_statement(text) and not is_question(text) and not only_confides(text)
    return is_told and told_when(text, today) is None and not forget_requests(text)


def _meant(
    request: ForgetRequest,
    possible: Sequence[NearStatement],
    vectors: Vectors | None,
    language: str,
    then: ToldWhen,
    today: date,
) -> list[str]:
    odds = log_odds(request, [Heard(each.text, "memory") for each in possible], language, vectors)
    name = "" if vectors is None else vectors.name
    of = {} if vectors is None else vectors.statements
    privacy = {each.text: odds_of_kind("private", each.text, of.get(each.text), name) for each in possible}
    by_text = dict(zip(privacy, odds.tolist(), strict=True))
    sentence = without_when(request.sentence, today)
    topics = [topic_of(without_when(request.topic, today), language), topic_of(sentence, language)]
    found = weighed(possible, sentence, topics, language, privacy, by_text)
    return meant_of(found, is_day_known=then.days is not None)


def _spans(days: Sequence[date], zone: ZoneInfo) -> list[tuple[datetime, datetime]]:
    """The spans of time that some days are, in order, each with the night after it; those that follow on each other
    are one."""
    parted = [
        0,
        *(at for at, (day, following) in enumerate(pairwise(days), 1) if following - day > timedelta(1)),
        len(days),
    ]
    return [
        (
            datetime.combine(days[first], time(), zone),
            datetime.combine(days[last - 1] + timedelta(days=1), time(), zone) + _NIGHT,
        )
        for first, last in pairwise(parted)
        if first < last
    ]
