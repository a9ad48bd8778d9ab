"""Asks a language model what a request to forget means, where it was said in words that decide nothing by themselves.

The model only chooses among sentences that somebody said: it can invent none. Each request is judged once, before what
is found is forgotten: a run that is tried again must not choose among what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.forgetting.echoes import behind, echoes
from reverie_server.forgetting.forget import Forgetting
from reverie_server.forgetting.selection import Selection
from reverie_server.forgetting.unmet import UnjudgedRequest, UnmetRequests
from reverie_server.llm.answers import Forgetting as Answer
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.provider import LanguageModel
from reverie_server.sessions.model import Message, Session
from reverie_server.sessions.sessions import Sessions
from reverie_server.text.fences import strip_injected
from reverie_server.text.query import MAX_QUERY_CHARS
from reverie_server.text.statement_spans import statements

log = structlog.get_logger()
SQL = Queries(__file__)
# What was stored so long ago and is unheard, nobody listens to any more.
_HEARS_WITHIN = timedelta(minutes=1)
# Of one run; the others wait for the next.
MAX_REQUESTS = 12
MAX_FORGOTTEN = 12
"""Of a request for which a model names more, nothing is forgotten: a person decides."""
_BEFORE, _AFTER = 24, 4
# A model that answers so is not asked again: it would answer no better, and each run would ask.
_OF_THE_ANSWER = frozenset({"unusable", "truncated", "refused", "empty"})
# Statements of other days: so many that are near to the request, and of so many messages the latest.
_MAX_NEAR, _MAX_LATE_MESSAGES, _MAX_LATE = 24, 40, 60
_MAX_CHARS, _MAX_SENTENCE_CHARS = 12_000, 600


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingDependencies:
    """What judging works with. `now` gives the time, with its zone."""

    database: Database
    forgetting: Forgetting
    selection: Selection
    sessions: Sessions
    unmet: UnmetRequests
    model: LanguageModel | None
    max_tokens: int = 1024
    timeout_seconds: float = 60.0
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


class JudgedRequests:
    """Judges the requests of a place that wait, and forgets what they mean."""

    def __init__(self, dependencies: JudgingDependencies) -> None:
        self._needs = dependencies

    async def judge(self, grant: Grant, place: Place) -> None:
        """Ask about each request that no model has judged, until there is no answer; without a model about none.

        What nobody has listened to, since a server ended, is put on the list first.

        Of what it cannot answer it is not asked again. What asks for nothing leaves the list. What asks and means
        nothing that was found stays there for a person. Raises Conflict as forgetting does, and DatabaseUnavailable.
        """
        before = self._needs.now() - _HEARS_WITHIN
        await self._needs.unmet.give_up_hearing(place, before, for_model=self._needs.model is not None)
        if self._needs.model is None:
            return
        for request in await self._needs.unmet.not_judged(place, MAX_REQUESTS):
            if not await self._judge(self._needs.model, grant, place, request):
                return

    async def _judge(self, model: LanguageModel, grant: Grant, place: Place, request: UnjudgedRequest) -> bool:
        """Judge one request; whether the model can be asked about the next."""
        after = max(0, request.seq - _BEFORE - 1)
        # A memory that is one for all has the sessions of each.
        principal = replace(grant.principal, owner_key=request.owner_key)
        try:
            session = await self._needs.sessions.find(principal, request.session_id)
        except NotFound:
            return True
        page = await self._needs.sessions.messages(principal, session, after=after, limit=_BEFORE + 1 + _AFTER)
        asking = next((message for message in page if message.seq == request.seq), None)
        if asking is None:
            return True
        asker = replace(grant, principal=principal)
        found = await self._needs.selection.near_statements(asker, place, [asking.content[:MAX_QUERY_CHARS]])
        near = [each.text for each in found]
        late = await self._said_lately(place, session, asking)
        shown = await asyncio.to_thread(shown_of, page, asking, near, late)
        question = Question(
            "forgetting",
            {"memory": shown.memory, "talk": shown.talk, "request": shown.request},
            Answer,
            self._needs.max_tokens,
            self._needs.timeout_seconds,
            shown.problem_of,
        )
        asked = await ask(model, place.tenant_id, question)
        if asked.value is None and asked.fallback not in _OF_THE_ANSWER:
            return False
        is_judged = asked.value is not None
        if not await self._needs.unmet.judge(place, request.request_id, self._needs.now(), is_judged=is_judged):
            return True
        if (answer := asked.value) is None:
            return True
        texts = shown.chosen(answer)
        if answer.asks and not texts:
            return True
        if answer.asks:
            told = await self._needs.selection.exchanges(asker, place, texts)
            answers = list(dict.fromkeys([*behind([asking.content], page), *told]))
            texts += await asyncio.to_thread(echoes, texts, answers, grant.settings.language)
            await self._needs.forgetting.forget_statements(grant, place, list(dict.fromkeys(texts)))
        log.info("request_judged", asks=answer.asks, forgotten=len(texts))
        await self._needs.unmet.meet(place, request.request_id)
        return True

    async def _said_lately(self, place: Place, session: Session, asking: Message) -> list[str]:
        """What the user said last in other conversations: "what I told you yesterday" is near to nothing in words."""
        async with self._needs.database.tenant(place.tenant_id) as connection:
            params = {
                "tenant_id": place.tenant_id,
                "slice_ids": await own_slices(connection, place),
                "session_key": session.session_key,
                "owner_key": session.owner_key,
                "until": asking.at,
                "limit": _MAX_LATE_MESSAGES,
            }
            rows = await (await connection.execute(SQL["said_lately"], params)).fetchall()
        return [row["content"] for row in rows]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model is shown, and the sentences that it may name, by number from 1."""

    memory: str
    talk: str
    request: str
    sentences: Sequence[str] = field(repr=False)

    def problem_of(self, answer: Answer) -> str | None:
        """What a model is to correct in its answer: None where it names what it was shown."""
        if all(1 <= number <= len(self.sentences) for number in answer.forget):
            return None
        return f"Name only numbers that stand in brackets: 1 to {len(self.sentences)}."

    def chosen(self, answer: Answer) -> list[str]:
        """The sentences that an answer names; none where it asks for nothing, or names what is not there, or many."""
        numbers = dict.fromkeys(answer.forget)
        if not answer.asks or len(numbers) > MAX_FORGOTTEN or self.problem_of(answer) is not None:
            return []
        return list(dict.fromkeys(self.sentences[number - 1] for number in numbers))


def shown_of(page: Sequence[Message], asking: Message, near: Sequence[str], late: Sequence[str]) -> Shown:
    """The messages of a page around the one that asks, and statements of other days, numbered. Pure.

    These are statements `near` to it, the nearest first, and those of messages `late`, the newest first. Of a long talk
    the messages that are nearest to the request are shown.
    """
    sentences: list[str] = []

    def numbered(texts: Sequence[str]) -> list[str]:
        sentences.extend(texts)
        first = len(sentences) - len(texts) + 1
        return [f"[{first + at}] {text[:_MAX_SENTENCE_CHARS]}" for at, text in enumerate(texts)]

    of_talk: dict[int, list[str]] = {}
    left = _MAX_CHARS
    for message in sorted(page, key=lambda each: abs(each.seq - asking.seq)):
        text = strip_injected(message.content[:_MAX_CHARS])
        said = statements(text) if message.role in ("user", "assistant") else []
        left -= sum(min(len(each), _MAX_SENTENCE_CHARS) for each in said)
        if left < 0 and of_talk:
            break
        of_talk[message.seq] = said
    talk: list[str] = []
    request = ""
    for message in page:
        if not (said := of_talk.get(message.seq, [])):
            continue
        if message.role == "user":
            line = "user: " + " ".join(numbered(said))
        else:
            line = "assistant: " + " ".join(text[:_MAX_SENTENCE_CHARS] for text in said)
        if message.seq == asking.seq:
            request = line
        else:
            talk.append(line)
    known = set(sentences)
    newest = [text for content in late for text in statements(strip_injected(content[:_MAX_CHARS]))][:_MAX_LATE]
    others = [text for text in dict.fromkeys([*near[:_MAX_NEAR], *newest]) if text not in known]
    return Shown("\n".join(numbered(others)), "\n".join(talk), request, sentences)
