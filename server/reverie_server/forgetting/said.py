"""Forgetting that is asked for in a conversation: "forget that", "don't keep this", "forget what I said about …".

It happens before the append of the message returns: what asks is heard once, the answer can say so, and background work
that has read the statement meanwhile sees its tombstone and begins again.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from reverie_indexer.errors import ReverieError
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.forgetting.forget import Forgetting
from reverie_server.forgetting.selection import Selection
from reverie_server.heuristics.requests.forget_requests import ForgetRequest, forget_requests, last_statement
from reverie_server.search.query_terms import meaning_of
from reverie_server.sessions.model import Message, NewMessage, Session
from reverie_server.sessions.sessions import Sessions
from reverie_server.text.statement_spans import statements

log = structlog.get_logger()
# How many messages before the request are looked at.
_MESSAGES_BEFORE = 8


class SaidForgetting:
    """Listens to what is said in sessions, and forgets what a user asks to forget."""

    def __init__(self, forgetting: Forgetting, selection: Selection, sessions: Sessions) -> None:
        self._forgetting = forgetting
        self._selection = selection
        self._sessions = sessions

    async def listen(
        self, grant: Grant, place: Place, session: Session, messages: Sequence[NewMessage]
    ) -> Sequence[str]:
        """Do what new messages of a session ask; the ids of the receipts. Failures are logged."""
        if not any(message.role == "user" and forget_requests(message.content) for message in messages):
            return ()
        receipts: list[str] = []
        try:
            after = max(0, session.last_seq - len(messages) - _MESSAGES_BEFORE)
            limit = len(messages) + _MESSAGES_BEFORE
            page = await self._sessions.messages(grant.principal, session, after=after, limit=limit)
            for index, message in enumerate(page):
                if message.role != "user" or message.seq <= session.last_seq - len(messages):
                    continue
                for request in forget_requests(message.content):
                    texts = await self._meant(grant, place, request, page[:index])
                    if texts:
                        texts += echoes(texts, page[max(0, index - 3) : index + 2], grant.settings.language)
                        receipt = await self._forgetting.forget_statements(grant, place, list(dict.fromkeys(texts)))
                        receipts += [receipt.receipt_id] if receipt.receipt_id else []
        except ReverieError as error:
            log.warning("said_forgetting_failed", code=error.code)
        return tuple(receipts)

    async def _meant(self, grant: Grant, place: Place, request: ForgetRequest, before: Sequence[Message]) -> list[str]:
        """The statements that a request is about; none where nothing fits."""
        if request.kind == "own":
            return [request.sentence]
        if request.kind == "topic":
            found = await self._selection.about(grant, place, request.topic)
            # The request names it, too.
            return [*found, request.sentence] if set(found) - {request.sentence} else []
        if request.is_about_what_follows:
            return [request.after[0]]
        heard = [request.before, *(tuple(statements(each.content)) for each in reversed(before) if each.role == "user")]
        if request.kind == "nearby":
            language = grant.settings.language
            named = [text for said in heard for text in said if is_about(text, request.topic, language)]
            named = named or await self._selection.about(grant, place, request.topic)
            if named:
                return [*named, request.sentence]
        for said in heard:
            stated = last_statement(said)
            if stated:
                is_whole = request.kind == "message"
                return [text for text in said if not text.rstrip().endswith(("?", "？"))] if is_whole else stated
        return []


def is_about(text: str, topic: str, language: str) -> bool:
    """Whether a statement names what a topic is about: half of its telling words, also within longer ones. Pure."""
    terms = meaning_of(topic, language).terms
    shared = terms & meaning_of(text, language).terms
    return bool(shared) and 2 * len(shared) >= len(terms)


def echoes(texts: Sequence[str], messages: Sequence[Message], language: str) -> list[str]:
    """The statements of answers that repeat what is forgotten: a number or a name of it, or most of its words. Pure."""
    of_texts = [meaning_of(text, language) for text in texts]
    terms = frozenset().union(*(each.terms for each in of_texts))
    telling = frozenset(term for term in terms if any(map(str.isdigit, term)))
    telling |= frozenset().union(*(each.names for each in of_texts))
    found = []
    for message in messages:
        if message.role != "assistant":
            continue
        for sentence in statements(message.content):
            shared = meaning_of(sentence, language).terms & terms
            if shared & telling or (len(shared) >= 2 and 2 * len(shared) >= len(terms)):
                found.append(sentence)
    return found
