"""Forgetting that is asked for in a conversation: "forget that", "don't keep this", "forget what I said about …".

People ask for it in more words than are known. Where the assistant's answer promises it ("I won't keep it"), a sentence
that only may have asked for it has.

It happens before the append of the message returns: what asks is heard once, the answer can say so, and background work
that has read the statement meanwhile sees its tombstone and begins again.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import structlog

from reverie_indexer.errors import ReverieError
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.gate import Grant
from reverie_server.forgetting.forget import Forgetting
from reverie_server.forgetting.selection import Selection
from reverie_server.forgetting.unmet import UnmetRequests
from reverie_server.heuristics.requests.confidences import (
    confided,
    is_of_another_day,
    is_to_be_told,
    last_matter,
    leans,
    told_next,
)
from reverie_server.heuristics.requests.forget_requests import (
    MAX_CHARS,
    ForgetRequest,
    forget_requests,
    goes_on,
    last_statement,
)
from reverie_server.heuristics.requests.likely_requests import (
    LikelyRequest,
    forgetting_asked,
    likely_requests,
    points_back,
    speaks_of_forgetting,
    topic_of,
)
from reverie_server.heuristics.requests.promises import promises_to_forget
from reverie_server.heuristics.requests.request_model import by_words
from reverie_server.search.asking import asks_for
from reverie_server.search.query_terms import meaning_of
from reverie_server.sessions.model import Message, NewMessage, Session
from reverie_server.sessions.sessions import Sessions
from reverie_server.text.statement_spans import statements

log = structlog.get_logger()
# Of the messages of one append so many parts of sentences are embedded, a hundredth of a second each.
_MAX_PARTS = 200
# How many messages before the request are looked at.
_MESSAGES_BEFORE = 8
# A statement is what words are about that has this share of them, by weight.
_NAMED_SHARE = 0.5
_FULL_STOPS = ".!?。！？…"
_EDGES = f" {_FULL_STOPS}"


class SaidForgetting:
    """Listens to what is said in sessions, and forgets what a user asks to forget."""

    def __init__(
        self,
        forgetting: Forgetting,
        selection: Selection,
        sessions: Sessions,
        models: ModelSlot,
        unmet: UnmetRequests,
    ) -> None:
        self._forgetting = forgetting
        self._unmet = unmet
        self._selection = selection
        self._sessions = sessions
        self._models = models

    async def listen(
        self, grant: Grant, place: Place, session: Session, messages: Sequence[NewMessage]
    ) -> Sequence[str]:
        """Do what new messages of a session ask; the ids of the receipts. Failures are logged.

        That nothing was found for what a message surely asks is noted, for a person to look for it, and so is what may
        be no request: nothing is deleted for it.
        """
        receipts: list[str] = []
        try:
            language = grant.settings.language
            requests_of = await self._requests_of(messages, language)
            is_answer = messages[0].role == "assistant" and promises_to_forget(messages[0].content)
            if not any(requests_of.values()) and not is_answer:
                return ()
            after = max(0, session.last_seq - len(messages) - _MESSAGES_BEFORE)
            limit = len(messages) + _MESSAGES_BEFORE
            page = await self._sessions.messages(grant.principal, session, after=after, limit=limit)
            answered = session.last_seq - len(messages) if is_answer else -1
            for index, message in enumerate(page):
                if message.role != "user":
                    continue
                if message.seq == answered:
                    requests = await self._asked_by_answer(message.content, language)
                elif message.seq > session.last_seq - len(messages):
                    requests = requests_of.get(message.content, [])
                else:
                    continue
                done, is_unmet = await self._forget(grant, place, requests, page, index)
                receipts += done
                if done or is_unmet:
                    await self._unmet.note(place, session.session_key, message.seq, is_unmet=is_unmet)
        except ReverieError as error:
            log.warning("said_forgetting_failed", code=error.code)
        return tuple(receipts)

    async def _forget(
        self, grant: Grant, place: Place, requests: Sequence[ForgetRequest], page: Sequence[Message], index: int
    ) -> tuple[list[str], bool]:
        """Do what a message asks, by its place on a page: the ids of the receipts, and whether a person has to look:
        nothing was found for something that it surely asks, or it may be no request and names something."""
        receipts: list[str] = []
        is_unmet = False
        for request in requests:
            texts = await self._meant(grant, place, request, page[:index])
            if request.is_doubtful:
                is_unmet = is_unmet or bool(texts)
            elif not texts:
                is_unmet = is_unmet or request.is_certain
            else:
                texts += echoes(texts, page[max(0, index - 3) : index + 2], grant.settings.language)
                receipt = await self._forgetting.forget_statements(grant, place, list(dict.fromkeys(texts)))
                receipts += [receipt.receipt_id] if receipt.receipt_id else []
        return receipts, is_unmet

    async def _requests_of(self, messages: Sequence[NewMessage], language: str) -> dict[str, list[ForgetRequest]]:
        """The requests of users to forget, by message."""
        promises = {
            message.content: promises_to_forget(answer.content)
            for message, answer in pairwise(messages)
            if message.role == "user" and answer.role == "assistant"
        }
        requests_of: dict[str, list[ForgetRequest]] = {}
        left = _MAX_PARTS
        for text in dict.fromkeys(message.content for message in messages if message.role == "user"):
            requests_of[text], looked_at = await self._requests(text, promises.get(text, False), language, left)
            left -= looked_at
        return requests_of

    async def _asked_by_answer(self, text: str, language: str) -> list[ForgetRequest]:
        """The requests of a message that the promise of a later append confirms.

        What it surely asked was done at once, and what it may have asked stands in it no longer where that was done.
        """
        if any(request.is_certain for request in (await self._requests(text, False, language, _MAX_PARTS))[0]):
            return []
        return (await self._requests(text, True, language, _MAX_PARTS))[0]

    async def _requests(
        self, text: str, is_promised: bool, language: str, left: int
    ) -> tuple[list[ForgetRequest], int]:
        """The requests of a message, in words that a pattern has, or else in others; and how many parts of
        sentences were looked at, of those that are `left`.
        """
        found, sentences, likely = await asyncio.to_thread(_read, text)
        looked_at = 0
        for each in likely:
            looked_at += len(each.parts)
            asks = await asks_for(self._models, "forget", each) if looked_at <= left else "no"
            if asks != "no":
                is_certain = asks == "does" or is_promised
                is_doubtful = not is_certain and not speaks_of_forgetting(each.sentence)
                request = forgetting_asked(sentences, each, language)
                found.append(replace(request, is_certain=is_certain, is_doubtful=is_doubtful))
        # "Do you keep my card number?" asks, and "no, I don't keep it" tells.
        wishes = [each for each in likely if not each.sentence.rstrip().endswith(("?", "？"))]
        if not found and wishes and is_promised:
            likeliest = max(wishes, key=lambda each: max(by_words("forget", part) for part in each.parts))
            found.append(replace(forgetting_asked(sentences, likeliest, language), is_certain=True))
        return found, looked_at

    async def _meant(self, grant: Grant, place: Place, request: ForgetRequest, before: Sequence[Message]) -> list[str]:
        """The statements that a request is about; none where nothing fits."""
        if request.kind == "own":
            return [request.sentence]
        if request.kind == "topic":
            found = await self._about(grant, place, request)
            # The request names it, too.
            return [*found, request.sentence] if found else []
        earlier = [tuple(statements(each.content)) for each in reversed(before) if each.role == "user"]
        if _opens(request, earlier):
            return told_next(request.after)
        if request.kind == "next":
            return []
        found = await self._meant_of_before(grant, place, request, [request.before, *earlier], before)
        # What a request names, or says itself, is all that it means; and so is a matter of its own beside it.
        is_pointing = request.kind == "told" and points_back(request.sentence)
        is_named = request.sentence in found and not is_pointing
        is_all = request.kind == "message" or not request.is_certain or is_named
        own = last_statement(request.before)
        if is_all or (own and found and not leans(request.before, request.sentence, answer_in(before))):
            return found
        return [*found, *confided(earlier)]

    async def _meant_of_before(
        self,
        grant: Grant,
        place: Place,
        request: ForgetRequest,
        heard: Sequence[Sequence[str]],
        before: Sequence[Message],
    ) -> list[str]:
        """What a request means of what was said before it; `heard` has that by messages, the newest first."""
        language = grant.settings.language
        if request.kind == "told":
            spoken = [text for sentences in heard for text in sentences]
            named = await self._named(grant, place, request, request.topic, spoken)
            if not named and (request.is_certain or points_back(request.sentence)):
                # "The party is off, that place and time can go": what is meant may stand beside the request.
                whole = topic_of(request.sentence, language)
                named = await self._named(grant, place, request, whole, spoken)
            if named:
                return [*with_what_goes_on(named, heard), request.sentence]
            if request.is_certain and request.has_content:
                return [request.sentence]
            is_just_said = points_back(request.sentence) and not is_of_another_day(request.sentence)
            if not request.is_certain or (request.topic and not is_just_said):
                return []
        if request.kind == "nearby":
            named = [text for sentences in heard for text in sentences if is_about(text, request.topic, language)]
            named = with_what_goes_on(named, heard) or await self._about(grant, place, request)
            # The statement before it, which shares no word with the topic, may be what replaced what is meant.
            return [*named, request.sentence] if named else []
        answer = answer_in(before)
        taken: list[str] = []
        for number, sentences in enumerate(heard):
            stated, is_matter = last_matter(sentences)
            if not stated and taken:
                # Before a remark there was a question: what was said earlier is another matter.
                break
            if not stated:
                continue
            is_whole = request.kind == "message"
            taken += [text for text in sentences if not text.rstrip().endswith(("?", "？"))] if is_whole else stated
            if number or is_whole or (is_matter and not leans(sentences, request.sentence, answer)):
                break
        return taken

    async def _about(self, grant: Grant, place: Place, request: ForgetRequest) -> list[str]:
        """The statements of the whole memory that have every word of the topic, without copies of the request."""
        request_text = request.sentence.strip(_EDGES)
        found = await self._selection.about(grant, place, request.topic)
        return [text for text in found if request_text not in text and text.strip(_EDGES) not in request_text]

    async def _named(
        self, grant: Grant, place: Place, request: ForgetRequest, topic: str, heard: Sequence[str]
    ) -> list[str]:
        """The statements that some words of a request are about, of what was just said and of the whole memory."""
        found = await self._selection.relevant(grant, place, topic) if topic else []
        others = [text for text in dict.fromkeys([*heard, *found]) if text.rstrip(_FULL_STOPS) not in request.sentence]
        return named_by(topic, others, grant.settings.language)


def answer_in(messages: Sequence[Message]) -> str:
    """The newest answer of some messages; "" without one. Pure."""
    return next((each.content for each in reversed(messages) if each.role == "assistant"), "")


def _opens(request: ForgetRequest, earlier: Sequence[Sequence[str]]) -> bool:
    """Whether a request is about what follows it in its message: it says so, or nothing was said before it."""
    if request.is_about_what_follows:
        return True
    if (
        request.kind == "own"
        and is_to_be_told(request.sentence)
        and not any(mark in request.sentence for mark in ":：")
    ):
        return True
    if request.kind not in ("previous", "told") or request.before or not request.after or not request.is_certain:
        return False
    return is_to_be_told(request.sentence) or (not earlier and points_back(request.sentence))


def _read(message: str) -> tuple[list[ForgetRequest], list[str], list[LikelyRequest]]:
    """The requests of a message that patterns read, its sentences, and where there are none those that may ask."""
    found = forget_requests(message)
    if found or len(message) > MAX_CHARS:
        return found, [], []
    sentences = statements(message)
    return found, sentences, likely_requests("forget", sentences)


def named_by(topic: str, texts: Sequence[str], language: str) -> list[str]:
    """The texts that have most of a topic's words, of those that any text has; the rarer ones weigh more. Pure."""
    terms = meaning_of(topic, language).terms
    shared = [meaning_of(text, language).terms & terms for text in texts]
    counts = Counter(term for each in shared for term in each)
    weights = {term: math.log1p(len(texts) / count) for term, count in counts.items()}
    least = _NAMED_SHARE * sum(weights.values())
    return [
        text for text, each in zip(texts, shared, strict=True) if each and sum(weights[term] for term in each) >= least
    ]


def is_about(text: str, topic: str, language: str) -> bool:
    """Whether a statement names what a topic is about: half of its telling words, also within longer ones. Pure."""
    terms = meaning_of(topic, language).terms
    shared = terms & meaning_of(text, language).terms
    return bool(shared) and 2 * len(shared) >= len(terms)


def with_what_goes_on(named: Sequence[str], heard: Sequence[Sequence[str]]) -> list[str]:
    """Some statements with those that go on from them in their message: "Col is tired. He's on pills." Pure."""
    found = list(named)
    for sentences in heard:
        goes = False
        for sentence in sentences:
            goes = sentence in named or (goes and goes_on(sentence) and not sentence.rstrip().endswith(("?", "？")))
            if goes and sentence not in found:
                found.append(sentence)
    return found


def echoes(texts: Sequence[str], messages: Sequence[Message], language: str) -> list[str]:
    """The statements of answers that repeat what is forgotten: a number or a name of it, or most of its words. Pure."""
    of_texts = [meaning_of(text, language) for text in texts]
    terms = frozenset().union(*(each.terms for each in of_texts))
    distinctive = frozenset(term for term in terms if any(map(str.isdigit, term)))
    distinctive |= frozenset().union(*(each.names for each in of_texts))
    found = []
    for message in messages:
        if message.role != "assistant":
            continue
        for sentence in statements(message.content):
            shared = meaning_of(sentence, language).terms & terms
            if shared & distinctive or (len(shared) >= 2 and 2 * len(shared) >= len(terms)):
                found.append(sentence)
    return found
