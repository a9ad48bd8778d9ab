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
from reverie_server.heuristics.requests.likely_requests import names_forgetting, sounds_like_forgetting, topic_of
from reverie_server.heuristics.requests.mention_dates import MentionDate, mention_date, without_dates
from reverie_server.heuristics.requests.request_kinds import odds as odds_of_kind
from reverie_server.heuristics.requests.secrecy import is_private, only_confides
from reverie_server.heuristics.requests.themes import shares_theme
from reverie_server.search.asked.earlier_statements import meant_of, weighed
from reverie_server.search.asked.features import Vectors
from reverie_server.search.asked.heard import Heard, NearStatement
from reverie_server.search.asked.targets import log_odds
from reverie_server.search.asked.vectors import vectors_of
from reverie_server.search.query_terms import meaning_of
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import is_statement

# So many statements of other days are read. Of those that may be meant so many are embedded, a hundredth of a second
# each.
_MOST_READ, MOST_EMBEDDED = 600, 96
_MOST_BEFORE = 3
# A day ends when people go to bed.
_NIGHT = timedelta(hours=5)
# Of a day that is not known what was told in confidence is looked for so far back.
_FARTHEST = timedelta(days=120)
# What was said in so many hours before a request was not said on another day.
_JUST_NOW = timedelta(hours=2)


def whole_request(request: ForgetRequest, today: date) -> ForgetRequest:
    """A request with the sentence before it in its message that says what was told, and asks for nothing itself: "That
    thing I told you last Sunday. Let it go." It is itself where it says so itself."""
    if mention_date(request.sentence, today) is not None or names_told(request.sentence):
        return request
    for back in range(1, 1 + min(_MOST_BEFORE, len(request.before))):
        previous = request.before[-back]
        if is_question(previous) or names_forgetting(previous):
            return request
        if mention_date(previous, today) is not None:
            joined = f"{previous} {request.sentence}"
            return replace(request, kind="told", sentence=joined, topic="", before=request.before[:-back])
    return request


def mentioned_on(sentence: str, today: date) -> MentionDate | None:
    """When a request says that what it means was told; None where it is of what was just said."""
    return None if is_told_just_now(sentence) else mention_date(sentence, today)


class EarlierMentions:
    """Finds what requests mean that was told on another day."""

    def __init__(self, selection: Selection, models: ModelSlot) -> None:
        self._selection = selection
        self._models = models

    async def find(
        self,
        grant: Grant,
        place: Place,
        request: ForgetRequest,
        then: MentionDate,
        at: datetime,
        heard: Collection[str],
    ) -> list[str]:
        """What a request that is made `at` a time means of what was told `then`; nothing where nothing is plainly
        meant. What was `heard` in the present talk is none of it where the day is not known."""
        language = grant.settings.language
        statements = await self._statements(grant, place, request, then, at, heard)
        today = at.astimezone(ZoneInfo(grant.settings.time_zone)).date()
        candidates = await asyncio.to_thread(candidates_of, request, statements, language, today)
        if not candidates:
            return []
        texts = [each.text for each in candidates]
        vectors = await vectors_of(self._models, request, texts, language)
        return await asyncio.to_thread(_meant, request, candidates, vectors, language, then, today)

    async def _statements(
        self,
        grant: Grant,
        place: Place,
        request: ForgetRequest,
        then: MentionDate,
        at: datetime,
        heard: Collection[str],
    ) -> list[NearStatement]:
        """What the user said on the days; where they are not known what is near to the request, or was told in
        confidence, before that day."""
        zone = ZoneInfo(grant.settings.time_zone)
        if then.days is not None:
            spans = [(since, min(until, at - _JUST_NOW)) for since, until in _spans(sorted(then.days), zone)]
            return await self._selection.statements_between(grant, place, spans)
        until = min(datetime.combine(at.astimezone(zone).date(), time(), zone), at - _JUST_NOW)
        topic = topic_of(request.sentence, grant.settings.language)
        queries = dict.fromkeys([request.sentence, topic] if topic else [request.sentence])
        near = await self._selection.near_statements(grant, place, list(queries))
        older = await self._selection.statements_between(grant, place, [(until - _FARTHEST, until)])
        confided = await asyncio.to_thread(_confided, older)
        # A note may repeat what was just said.
        found = [each for each in near if (each.text not in heard if each.at is None else each.at < until)]
        return list({each.text: each for each in [*found, *confided]}.values())


def _confided(statements: Sequence[NearStatement]) -> list[NearStatement]:
    """The statements that say that they are told in confidence, or beside which that is said."""
    return list(filter(_is_confided, statements))


def candidates_of(
    request: ForgetRequest, statements: Sequence[NearStatement], language: str, today: date
) -> list[NearStatement]:
    """The statements that a request may mean, at most MOST_EMBEDDED: of many first those that have a word or the theme
    of the request, or are private. Takes time linear in the first 600."""
    candidates = [each for each in statements[:_MOST_READ] if _may_be_meant(each.text, today)]
    terms = meaning_of(request.sentence, language).terms
    candidates.sort(key=lambda each: not _has_evidence(each, request.sentence, terms, language))
    return candidates[:MOST_EMBEDDED]


def _has_evidence(statement: NearStatement, request: str, terms: frozenset[str], language: str) -> bool:
    shares_term = not terms.isdisjoint(meaning_of(statement.text, language).terms)
    return shares_term or shares_theme(request, statement.text) or _is_confided(statement)


def _is_confided(statement: NearStatement) -> bool:
    """Whether a statement, or what stands around it, says that it is told in confidence."""
    return any(map(is_private, (statement.previous, statement.text, statement.following)))


def _may_be_meant(text: str, today: date) -> bool:
    """Whether a text states something, and is no request itself."""
    states = is_statement(text) and not is_question(text) and not only_confides(text)
    is_request = mention_date(text, today) is not None or bool(forget_requests(text)) or sounds_like_forgetting(text)
    return states and not is_request


def _meant(
    request: ForgetRequest,
    candidates: Sequence[NearStatement],
    vectors: Vectors | None,
    language: str,
    then: MentionDate,
    today: date,
) -> list[str]:
    odds = log_odds(request, [Heard(each.text, "memory") for each in candidates], language, vectors)
    name = "" if vectors is None else vectors.name
    of = {} if vectors is None else vectors.statements
    privacy = {each.text: odds_of_kind("private", each.text, of.get(each.text), name) for each in candidates}
    by_text = dict(zip(privacy, odds.tolist(), strict=True))
    sentence = without_dates(request.sentence, today)
    topics = [topic_of(without_dates(request.topic, today), language), topic_of(sentence, language)]
    found = weighed(candidates, sentence, topics, language, privacy, by_text)
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
