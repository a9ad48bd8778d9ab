"""Forgetting that is asked for in a conversation: "forget that", "don't keep this", "forget what I said about …".

People ask for it in more words than are known. How likely a sentence asks for it is learnt, and the assistant's answer
("Thrown out.") tells more; which statement it means is another question (`meant`).

It happens before the append of the message returns: what asks is heard once, the answer can say so, and background work
that has read the statement meanwhile sees its tombstone and begins again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, get_args

import structlog

from reverie_indexer.errors import ReverieError
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.gate import Grant
from reverie_server.forgetting.choice import LIKELY
from reverie_server.forgetting.clauses import ForgottenClause, clauses_about
from reverie_server.forgetting.echoes import behind, echoes
from reverie_server.forgetting.forget import Forgetting
from reverie_server.forgetting.meant import MeantStatements, before_message
from reverie_server.forgetting.possible_requests import not_of_text, read_requests
from reverie_server.forgetting.selection import Selection
from reverie_server.forgetting.unmet import UnmetRequests
from reverie_server.heuristics.requests.confidences import is_to_be_told
from reverie_server.heuristics.requests.forget_requests import ForgetRequest
from reverie_server.heuristics.requests.likely_requests import forgetting_asked, speaks_of_forgetting, topic_of
from reverie_server.heuristics.requests.mention_dates import is_of_mention
from reverie_server.search.asked.asking import LEAST_ALONE, chance_of_asking
from reverie_server.search.asked.heard import WAITS
from reverie_server.search.query_terms import meaning_of
from reverie_server.sessions.model import Message, Session
from reverie_server.sessions.sessions import Sessions
from reverie_server.text.redact import is_distinctive
from reverie_server.text.statement_spans import is_statement

log = structlog.get_logger()
# Of the messages of one append so many parts of sentences are embedded, a hundredth of a second each.
_MAX_PARTS = 200
# Of one append so many requests are done, each with some dozens of statements to embed; a person looks at the others.
_MAX_REQUESTS = 24
# Of one request so many statements go at once.
_MAX_STATEMENTS = 100
# A shorter text that states nothing and is no number may stand in many statements ("Yes").
_FEWEST_DIGITS = 3
# How many messages before the request are looked at.
_MESSAGES_BEFORE = 24
# So likely a message asks by itself, it needs no answer.
_SURELY = 0.8
# So likely it asks, whatever its words, that a person has to look where nothing was found.
_ALL_BUT_SURELY = 0.8
# The same without a word for keeping, for deleting or for what was told.
_LIKELY_UNSAID = 0.65
# With less it is no request, whatever the answer to it; up to LIKELY it may be one.
_DOUBTFUL = 0.2
# A person has to look where nothing was found for what is likely asked; what may be no request a language model alone
# is asked about; and a request may wait for the next message. The last one of those of a message counts.
_Outcome = Literal["done", "for_model", "unmet", "waits"]
_OUTCOMES: tuple[_Outcome, ...] = get_args(_Outcome)


@dataclass(slots=True)
class _Listening:
    """A page of a session that is listened to, what was done, how many requests may still be, and whether one waits."""

    grant: Grant
    place: Place
    session: Session
    receipts: list[str]
    page: Sequence[Message] = ()
    left: int = _MAX_REQUESTS
    is_waiting: bool = False


class SaidForgetting:
    """Listens to what is said in sessions, and forgets what a user asks to forget."""

    def __init__(
        self,
        forgetting: Forgetting,
        selection: Selection,
        sessions: Sessions,
        models: ModelSlot,
        unmet: UnmetRequests,
        *,
        has_language_model: bool = False,
    ) -> None:
        self._forgetting = forgetting
        self._unmet = unmet
        self._selection = selection
        self._meant = MeantStatements(selection, models)
        self._sessions = sessions
        self._models = models
        self._has_language_model = has_language_model

    async def listen(
        self, grant: Grant, place: Place, session: Session, messages: Sequence[Message], unheard: Sequence[int]
    ) -> Sequence[str]:
        """Do what messages that a session has just got ask; the ids of the receipts. Those `unheard` may ask.

        Each is done once, whoever else listens to it. Failures are logged, and noted as what a person has to look at,
        as is what ends with the server. That nothing was found for what a message likely asks is noted, for a person to
        look for it, or for a language model to judge (`judged`).
        """
        receipts: list[str] = []
        # What asked to forget what comes next has waited for a message behind it.
        is_over = any(message.role == "user" and message.seq > session.forgets_after for message in messages)
        waiting = session.forgets_after if is_over else 0
        if not messages or not (unheard or waiting):
            return ()
        try:
            await self._listen(_Listening(grant, place, session, receipts), messages, frozenset(unheard), waiting)
        except ReverieError as error:
            log.warning("said_forgetting_failed", code=error.code)
        return tuple(receipts)

    async def _listen(
        self, listening: _Listening, messages: Sequence[Message], unheard: Collection[int], waiting: int
    ) -> None:
        session, language = listening.session, listening.grant.settings.language
        requests_of = await self._requests_of(messages, unheard, language)
        answers = {message.seq for message in messages if message.role == "assistant" and message.seq in unheard}
        if any(requests_of.values()) or answers or waiting:
            listening.page = page = await self._page(listening.grant, session, messages)
            for index, message in enumerate(page):
                seq = message.seq
                before = page[index - 1] if index and page[index - 1].role == "user" else None
                if seq in requests_of:
                    await self._do(listening, index, requests_of[seq], seq)
                elif seq == waiting:
                    requests = [each for each in await self._asked_before(page, index, language) if _waits(each)]
                    await self._do(listening, index, requests, None)
                elif seq in answers and before is not None and before.seq not in requests_of:
                    requests = await self._asked_by_answer(before.content, message.content, language)
                    await self._do(listening, index - 1, requests, seq)
            if waiting and not listening.is_waiting:
                await self._sessions.forget_after(listening.place, session, 0)
        heard = [seq for seq in unheard if messages[0].seq <= seq <= messages[-1].seq]
        await self._unmet.drop_unheard(listening.place, session.session_key, heard)

    async def _page(self, grant: Grant, session: Session, messages: Sequence[Message]) -> Sequence[Message]:
        """Messages of a session with those before them."""
        after = max(0, messages[0].seq - 1 - _MESSAGES_BEFORE)
        limit = len(messages) + _MESSAGES_BEFORE
        return await self._sessions.messages(grant.principal, session, after=after, limit=limit)

    async def _do(
        self, listening: _Listening, index: int, requests: Sequence[ForgetRequest], unheard: int | None
    ) -> None:
        """Do what the message at `index` of a page asks, unless somebody else does; `unheard` has the note of it.

        While it is done it stands on the list of what is unmet: a process that ends leaves it there.
        """
        last = next((each.content for each in reversed(listening.page[:index]) if each.role == "user"), "")
        answer = next((each.content for each in listening.page[:index][-1:] if each.role == "assistant"), "")
        if not (requests := not_of_text(requests, last, answer)):
            return
        place, session, seq = listening.place, listening.session, listening.page[index].seq
        if not await self._unmet.begin(place, session.session_key, seq, unheard=unheard):
            return
        if unheard is None:
            await self._sessions.forget_after(place, session, 0)
        done: list[str] = []
        left = listening.left
        try:
            outcome = await self._forget(listening.grant, place, requests[:left], listening.page, index, done)
        except ReverieError as error:
            log.warning("said_forgetting_failed", code=error.code)
            outcome = "unmet"
        outcome = "unmet" if len(requests) > left else outcome
        listening.left -= len(requests[:left])
        listening.receipts += done
        if outcome == "waits":
            listening.is_waiting = True
            await self._sessions.forget_after(place, session, seq)
        await self._unmet.end(place, session.session_key, seq, outcome if outcome in ("unmet", "for_model") else "done")

    async def _forget(
        self,
        grant: Grant,
        place: Place,
        requests: Sequence[ForgetRequest],
        page: Sequence[Message],
        index: int,
        receipts: list[str],
    ) -> _Outcome:
        """Do what a message asks, by its place on a page, and say what is left of it; `receipts` get the new ids."""
        if not requests:
            return "done"
        outcomes: list[_Outcome] = ["done"]
        before = await asyncio.to_thread(before_message, page, index)
        for request in requests:
            is_said = request.kind != "told" or speaks_of_forgetting(request.sentence)
            is_likely = request.chance >= (LIKELY if is_said else _LIKELY_UNSAID)
            is_for_model = self._has_language_model and request.kind in ("told", "nearby")
            if is_for_model and not is_likely:
                outcomes.append("for_model")
                continue
            weighed = request if is_likely else replace(request, chance=1.0)
            texts = await self._meant.find(grant, place, weighed, page, index, before, is_sure=is_for_model)
            if not is_likely:
                # It may be no request: a person decides where it would mean something.
                if any(texts) and speaks_of_forgetting(request.sentence):
                    outcomes.append("unmet")
                continue
            if WAITS in texts:
                outcomes.append("waits")
            elif not texts and is_said:
                outcomes.append("unmet")
            elif not texts and is_for_model:
                outcomes.append("for_model")
            elif not texts and (request.chance >= _ALL_BUT_SURELY or is_of_mention(request.sentence)):
                outcomes.append("unmet")
            texts = [text for text in texts if text != WAITS]
            meant = [text for text in texts if _may_go(text)]
            if (texts and not meant) or len(meant) > _MAX_STATEMENTS:
                outcomes.append("unmet")
            if not (meant := meant[:_MAX_STATEMENTS]):
                continue
            told = await self._selection.exchanges(grant, place, meant)
            answers = list(dict.fromkeys([*behind([page[index].content], page[index : index + 2]), *told]))
            parts = await asyncio.to_thread(_parts_meant, request, meant, grant.settings.language)
            said = [part if isinstance(part, str) else part.text for part in parts]
            repeated = await asyncio.to_thread(echoes, said, answers, grant.settings.language)
            receipt = await self._forgetting.forget_statements(grant, place, list(dict.fromkeys([*parts, *repeated])))
            receipts += [receipt.receipt_id] if receipt.receipt_id else []
        return max(outcomes, key=_OUTCOMES.index)

    async def _requests_of(
        self, messages: Sequence[Message], unheard: Collection[int], language: str
    ) -> Mapping[int, list[ForgetRequest]]:
        """The requests of users to forget in those messages that are unheard, by the number of the message."""
        requests_of: dict[int, list[ForgetRequest]] = {}
        # One text with one answer is read once, however often it is sent.
        read: dict[tuple[str, str | None], list[ForgetRequest]] = {}
        left = _MAX_PARTS
        for message, following in zip_longest(messages, messages[1:]):
            if message.role != "user" or message.seq not in unheard:
                continue
            answer = following.content if following is not None and following.role == "assistant" else None
            if (key := (message.content, answer)) not in read:
                read[key], looked_at = await self._requests(message.content, answer, language, left)
                left -= looked_at
            requests_of[message.seq] = read[key]
        return requests_of

    async def _asked_before(self, page: Sequence[Message], index: int, language: str) -> list[ForgetRequest]:
        """The requests of the message at `index` of a page."""
        answer = next((each.content for each in page[index + 1 : index + 2] if each.role == "assistant"), None)
        return (await self._requests(page[index].content, answer, language, _MAX_PARTS))[0]

    async def _asked_by_answer(self, text: str, answer: str, language: str) -> list[ForgetRequest]:
        """The requests of a message that the answer of a later append makes likely; what it surely asked was done."""
        before, _ = await self._requests(text, None, language, _MAX_PARTS)
        if any(request.chance >= _SURELY for request in before):
            return []
        return (await self._requests(text, answer, language, _MAX_PARTS))[0]

    async def _requests(
        self, text: str, answer: str | None, language: str, left: int
    ) -> tuple[list[ForgetRequest], int]:
        """The requests of a message, in words that a pattern has, or else in others with how likely each is one.

        And how many parts of sentences were looked at, of those that are `left`. Without an answer only what surely
        asks is a request.
        """
        found, sentences, likely = await asyncio.to_thread(read_requests, text)
        looked_at = sum(len(each.parts) for each in likely)
        if not likely or looked_at > left:
            return found, 0
        chances = [await chance_of_asking(self._models, "forget", each, None) for each in likely]
        # An answer is to what asks most.
        best = max(range(len(likely)), key=chances.__getitem__)
        alone = chances[best]
        if answer is not None:
            chances[best] = await chance_of_asking(self._models, "forget", likely[best], answer)
        least = _SURELY if answer is None else _DOUBTFUL
        if self._has_language_model:
            # It judges what may ask, whatever was answered.
            chances[best] = max(chances[best], alone)
            least = LEAST_ALONE["forget"]
        for each, chance in zip(likely, chances, strict=True):
            if chance >= least:
                found.append(replace(forgetting_asked(sentences, each, language), chance=chance))
        return found, looked_at


def _parts_meant(request: ForgetRequest, texts: Sequence[str], language: str) -> list[str | ForgottenClause]:
    """Statements that a request means: of one with several clauses those about what the request names."""
    is_named = request.kind in ("topic", "nearby", "told")
    topic = (request.topic or topic_of(request.sentence, language)) if is_named else ""
    terms = meaning_of(topic, language).terms
    parts: list[str | ForgottenClause] = []
    for text in texts:
        clauses = clauses_about(text, terms, language) if terms and text != request.sentence else []
        parts += clauses or [text]
    return parts


def _waits(request: ForgetRequest) -> bool:
    """Whether a request is about what comes next: the others of its message were done."""
    return request.kind == "next" or is_to_be_told(request.sentence)


def _may_go(text: str) -> bool:
    """Whether a text says enough to be forgotten wherever it stands."""
    return is_statement(text) or is_distinctive(text) or sum(map(str.isdigit, text)) >= _FEWEST_DIGITS
