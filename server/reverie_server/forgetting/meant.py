"""The statements that a request to forget means, of what was said before it and of the whole memory.

Patterns read some requests whole: "forget everything I said about …". For the others each statement that was heard is
judged (`search.asked.targets`), beside what of the memory is relevant to the request.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np

from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.gate import Grant
from reverie_server.forgetting.choice import (
    OF_OTHERS,
    far_ahead,
    last_pointed_at,
    likeliest_of_last,
    message_before,
    names_earlier,
    of_what_is_named,
    with_evidence,
)
from reverie_server.forgetting.earlier_mentions import EarlierMentions, mentioned_on, whole_request
from reverie_server.forgetting.selection import Selection
from reverie_server.heuristics.extract import asks_to_remember
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.requests.confidences import (
    confided,
    confided_once,
    is_to_be_told,
    is_told_just_now,
    leans,
    says_last,
    told_next,
)
from reverie_server.heuristics.requests.forget_requests import ForgetRequest, last_statement, names_told
from reverie_server.heuristics.requests.likely_requests import (
    parts_of,
    points_back,
    sounds_like_forgetting,
    topic_of,
)
from reverie_server.heuristics.requests.mention_dates import is_of_mention
from reverie_server.heuristics.requests.request_kinds import odds as odds_of_kind
from reverie_server.heuristics.requests.request_model import by_words, is_han
from reverie_server.heuristics.requests.secrecy import is_private
from reverie_server.search.asked.features import Vectors
from reverie_server.search.asked.heard import (
    MAX_HEARD,
    WAITS,
    Heard,
    HeardBefore,
    HeardMessage,
    heard_at,
    heard_before,
    heard_of,
)
from reverie_server.search.asked.near_statements import MAX_NEAR
from reverie_server.search.asked.targets import knows, log_odds, nearest_first
from reverie_server.search.asked.vectors import vectors_of
from reverie_server.search.query_terms import meaning_of
from reverie_server.sessions.model import Message
from reverie_server.text.statement_spans import statements

# A statement is forgotten from this chance on that it was asked for, and it is what was meant.
_MEANT = 0.5
_CERTAIN = 0.9
# A sentence that asks for itself means another statement where it is less likely to be meant.
_OF_ITSELF = 0.3
# So likely another statement is meant than what was said last by who has no word for it.
_OF_NO_WORD = 0.85
# From these log-odds on a sentence asks to remember, by its words.
_ASKS_TO_KEEP = 2.0
_MAX_CHARS = 300
# With less by its meaning a request has nothing in itself that is to be forgotten.
_LEAST_INSIDE = -1.5
_FEWEST_OF_TOPIC, _MAX_OF_TERM = 2, 4
_EDGES = " .!?。！？…"
_TITLES = content_terms(
    "Frau Herr Fräulein Mr Mrs Ms Miss Sir lady woman man doctor Dr señor señora señorita don doña"
    " 先生 女士 太太 小姐 医生"
)
# "Don't write this down: I've been offered a job" has it in itself.
_ANNOUNCES = re.compile(r"[:：]\s*(?:\w+\W+){3}|[:：]\s*[\u3400-\u9fff]{4}")


class MeantStatements:
    """Finds what requests to forget mean."""

    def __init__(self, selection: Selection, models: ModelSlot) -> None:
        self._selection = selection
        self._models = models
        self._earlier_mentions = EarlierMentions(selection, models)

    async def find(
        self,
        grant: Grant,
        place: Place,
        request: ForgetRequest,
        page: Sequence[Message],
        index: int,
        before: HeardBefore,
        *,
        is_sure: bool = False,
    ) -> list[str]:
        """The statements that a request of the message at `index` of a page is about; none where nothing is likely.

        `before` is what was heard before that message. With `is_sure` only those that are all but certain: others are
        asked about.

        WAITS is one of them where it is about the user's next message, which the page does not have.
        """
        of_another_day = await self._of_another_day(grant, place, request, page[index].at, before, is_sure=is_sure)
        if of_another_day is not None:
            return of_another_day
        if _opens(request, page, index):
            return told_next(request.after)
        if request.kind in ("told", "own") and _announces(request.sentence) and not is_sure:
            return [request.sentence]
        if request.kind == "next":
            following = await asyncio.to_thread(_following, page, index)
            return [WAITS] if following is None else told_next(following.sentences)
        language = grant.settings.language
        earlier = before.talk
        if request.kind == "message":
            return message_before(request, earlier)
        found = await self._about(grant, place, request) if request.kind in ("topic", "nearby") else []
        is_worded = bool(found)
        if not found or request.kind != "topic":
            message = heard_at(page, index, [*request.before, request.sentence, *request.after])
            is_ahead = is_to_be_told(request.sentence)
            following = await asyncio.to_thread(_following, page, index) if is_ahead else None
            of_talk = heard_of(message, len(request.before), earlier, (), following)
            memory, vectors = await self._memory(grant, place, request, [each.text for each in of_talk], before.older)
            all_heard = heard_of(message, len(request.before), earlier, memory, following)
            heard = await asyncio.to_thread(_possible, request, all_heard)
            just_said = await asyncio.to_thread(_just_said, request, earlier, answer_in(page[:index]))
            named = await asyncio.to_thread(_named, request.sentence, heard, language)
            is_bare = points_back(request.sentence) and not topic_of(request.sentence, language)
            to_keep = await asyncio.to_thread(_to_keep, earlier) - named - set(just_said if is_bare else ())
            heard = [each for each in heard if each.text not in to_keep]
            chosen = await self._chosen(request, heard, vectors, just_said, named, language, is_sure=is_sure)
            found += of_what_is_named(request, heard, chosen, found, named)
            if not found and request.kind == "own":
                return [request.sentence]
            if not found and request.kind == "nearby" and vectors is None and not is_sure:
                found = confided([each.sentences for each in earlier])
            if not is_worded and request.kind == "nearby" and is_private(request.sentence):
                # "Take out what I said of her week, she asked me not to tell" means what was told in confidence.
                found += await asyncio.to_thread(confided_once, [each.sentences for each in earlier])
        # A request that names what it means goes with it.
        is_named = any(found) and bool(request.topic or topic_of(request.sentence, language))
        return list(dict.fromkeys([*found, request.sentence] if is_named else found))

    async def _of_another_day(
        self,
        grant: Grant,
        place: Place,
        request: ForgetRequest,
        at: datetime,
        before: HeardBefore,
        *,
        is_sure: bool,
    ) -> list[str] | None:
        """What a request that is made `at` a time means, where it says that it was told on another day; None where it
        does not."""
        today = at.astimezone(ZoneInfo(grant.settings.time_zone)).date()
        whole = whole_request(request, today)
        then = mentioned_on(whole.sentence, today)
        if then is None or whole.kind == "topic":
            return None
        of_talk = {text for each in before.talk for text in each.sentences}
        found = await self._earlier_mentions.find(grant, place, whole, then, at, of_talk)
        if not found or (is_sure and len(found) > 1):
            return []
        return [*found, *_own_words(request, whole)]

    async def _chosen(
        self,
        request: ForgetRequest,
        heard: Sequence[Heard],
        vectors: Vectors | None,
        just_said: Sequence[str],
        named: frozenset[str],
        language: str,
        *,
        is_sure: bool,
    ) -> list[str]:
        """What a request likely means of what was heard, or else of what was `just_said`, where it points at that.

        `named` are the statements that have a word of it.
        """
        if not heard:
            return []
        if vectors is None and request.kind in ("topic", "nearby", "own"):
            # Whether what it names was ever said, or is itself, words alone do not tell.
            return []
        odds = await asyncio.to_thread(log_odds, request, heard, language, vectors)
        chances = dict(zip((each.text for each in heard), (request.chance / (1 + np.exp(-odds))).tolist(), strict=True))
        # What names a thing that was told means that, wherever it was, and not what was said last.
        is_named = names_told(request.sentence)
        is_previous = request.kind == "previous" and not is_named
        if request.kind == "own":
            # It says so of itself, unless it plainly means another statement.
            others = [text for text, chance in chances.items() if chance >= _MEANT and text != request.sentence]
            return others if chances.get(request.sentence, 0.0) < _OF_ITSELF else []
        is_of_another = is_of_mention(request.sentence) or _has_nothing_inside(request, vectors)
        if is_named or (request.kind == "told" and is_of_another):
            # It speaks of another statement: where that is not found, nothing is done by forgetting the request.
            chances.pop(request.sentence, None)
        if is_sure:
            return [text for text, chance in chances.items() if chance >= _CERTAIN]
        chosen = [text for text, chance in chances.items() if chance >= _MEANT]
        is_of_last = request.kind in ("previous", "told") and not is_named and says_last(request.sentence)
        if is_of_last and (not named or named & set(just_said)) and (last := last_statement(just_said)):
            # "Scrap that last bit" says which.
            return last
        if is_previous and vectors is None and not named and not request.before:
            # Words alone do not tell which of a message is the private one: "that" is what was said last.
            return confided([just_said]) or last_statement(just_said)
        if is_previous:
            # What was said last is meant, or what has a word of it; else what is far more likely by its meaning, too,
            # the more so where the request has no word of its own for it.
            says_nothing = bool(just_said) and not topic_of(request.sentence, language)
            is_plain = bool(named) or vectors is None or not set(just_said).isdisjoint(chosen)
            least = 1.0 if is_plain else _OF_NO_WORD if says_nothing else OF_OTHERS
            chosen = [text for text in chosen if text in named or text in just_said or chances[text] >= least]
        if not chosen and is_named:
            chosen = far_ahead(chances)
        chosen = with_evidence(request, heard, chosen, named, chances)
        if not chosen and WAITS in chances and chances[WAITS] == max(chances.values()):
            return [WAITS]
        return chosen or _said_last(request, just_said, chances, language, has_vectors=vectors is not None)

    async def _about(self, grant: Grant, place: Place, request: ForgetRequest) -> list[str]:
        """The statements of the whole memory that have every word of the topic, without copies of the request.

        Of many Chinese characters that are one term the topic was cut out of a sentence at the wrong place. A title
        alone names nobody: "what I said of him and the woman" ("die Frau") is not about Frau Dr. Sahin.
        """
        terms = content_terms(request.topic)
        if terms and terms <= _TITLES:
            return []
        is_cut = len(request.topic) > _MAX_OF_TERM and is_han(request.topic[0])
        if is_cut and len(meaning_of(request.topic, grant.settings.language).terms) < _FEWEST_OF_TOPIC:
            return []
        return _without(request, await self._selection.about(grant, place, request.topic))

    async def _memory(
        self, grant: Grant, place: Place, request: ForgetRequest, of_talk: Sequence[str], older: Sequence[str]
    ) -> tuple[list[str], Vectors | None]:
        """The statements of the memory that a request may mean, the nearest first, and the vectors of all and of those
        `of_talk`.

        Without a model: those that are relevant to it by its words, and none of the vectors.
        """
        topic = request.topic or topic_of(request.sentence, grant.settings.language)
        queries = dict.fromkeys([request.sentence, topic] if topic else [request.sentence])
        ready = self._models.ready
        is_known = ready is not None and knows(ready.embedder.identity.name)
        near = await self._selection.near_statements(grant, place, list(queries)) if is_known else []
        texts = [*(each.text for each in near), *older[:MAX_NEAR]]
        others = [text for text in _without(request, texts) if text not in set(of_talk)]
        vectors = await vectors_of(
            self._models, request, list(dict.fromkeys([*of_talk, *others])), grant.settings.language
        )
        if vectors is None:
            # Only the first of them are heard: what is relevant comes before what is only of an earlier day.
            return [*await self._relevant(grant, place, request), *older], None
        return await asyncio.to_thread(nearest_first, others, vectors), vectors

    async def _relevant(self, grant: Grant, place: Place, request: ForgetRequest) -> list[str]:
        """The statements of the whole memory that are relevant to the request."""
        topic = request.topic or topic_of(request.sentence, grant.settings.language)
        return _without(request, await self._selection.relevant(grant, place, topic)) if topic else []


def _said_last(
    request: ForgetRequest,
    just_said: Sequence[str],
    chances: Mapping[str, float],
    language: str,
    *,
    has_vectors: bool,
) -> list[str]:
    """What was said last, where a request for which nothing else is likely points at that."""
    is_named, points = names_told(request.sentence), points_back(request.sentence)
    is_previous = request.kind == "previous" and not is_named
    if names_earlier(request.sentence) or not (is_previous or points):
        return []
    topic = topic_of(request.sentence, language)
    says_which = is_named or bool(topic)
    is_of_now = is_told_just_now(request.sentence) and not is_named
    if says_which and not is_previous and not is_of_now:
        return likeliest_of_last(request, just_said, chances)
    private = confided([just_said])
    # In Chinese what points stands before what it names, too: "that quarrel with his ex-girlfriend" (那出).
    is_pointing = points and not is_han(topic[:1])
    if is_previous and says_which and has_vectors and not is_pointing:
        # "My roommate's work, delete" means what was said last only where that is likely by its meaning, too.
        return private or likeliest_of_last(request, just_said, chances)
    return private or last_pointed_at(request, just_said, chances, is_previous=is_previous)


def _has_nothing_inside(request: ForgetRequest, vectors: Vectors | None) -> bool:
    """Whether a request has nothing in itself that it may mean, by its meaning."""
    if vectors is None:
        return False
    return odds_of_kind("inside", request.sentence, vectors.request, vectors.name) < _LEAST_INSIDE


def _own_words(request: ForgetRequest, whole: ForgetRequest) -> list[str]:
    """The sentences of the message that a request is, which go with what it means."""
    return [*request.before[len(whole.before) :][:1], request.sentence] if whole is not request else [request.sentence]


def _just_said(request: ForgetRequest, earlier: Sequence[HeardMessage], answer: str) -> Sequence[str]:
    """What was said last, before the request in its message unless that only replies, or in the message before."""
    own = request.before[-MAX_HEARD:]
    if last_statement(own) and not leans(own, request.sentence, answer):
        return own
    said = (each.sentences[-MAX_HEARD:] for each in earlier)
    return next((each for each in said if last_statement(each)), ())


def _to_keep(earlier: Sequence[HeardMessage]) -> frozenset[str]:
    """The statements of messages that ask to keep something: who wants one gone says which it is.

    Of a message only what may be heard is looked at.
    """
    heard = [each.sentences[:MAX_HEARD] for each in earlier]
    return frozenset(text for said in heard if any(map(_asks_to_keep, said)) for text in said)


def _asks_to_keep(sentence: str) -> bool:
    """Whether a sentence asks to remember, by a pattern or plainly by its words."""
    return asks_to_remember(sentence) or any(
        by_words("remember", part) >= _ASKS_TO_KEEP for part in parts_of(sentence[:_MAX_CHARS])
    )


def answer_in(messages: Sequence[Message]) -> str:
    """The newest answer of some messages; "" without one. Pure."""
    return next((each.content for each in reversed(messages) if each.role == "assistant"), "")


def _named(sentence: str, heard: Sequence[Heard], language: str) -> frozenset[str]:
    """Of what was heard the statements that have a word of a request."""
    terms = meaning_of(topic_of(sentence, language), language).terms
    return frozenset(
        each.text for each in heard if each.text != sentence and terms & meaning_of(each.text, language).terms
    )


def _opens(request: ForgetRequest, page: Sequence[Message], index: int) -> bool:
    """Whether a request is about what follows it in its message: it says so, or nothing was said before it."""
    if not request.after or _announces(request.sentence):
        return False
    if request.is_about_what_follows:
        return True
    is_ahead = is_to_be_told(request.sentence)
    if request.kind == "own":
        return is_ahead
    if request.kind not in ("previous", "told") or request.before:
        return False
    is_first = not any(message.role == "user" for message in page[:index])
    return is_ahead or (is_first and points_back(request.sentence))


def _announces(sentence: str) -> bool:
    """Whether a request says itself, behind a colon, what it means; "one more thing: what I said about the loan" does
    not."""
    colon = _ANNOUNCES.search(sentence)
    told = "" if colon is None else sentence[colon.start() :]
    return colon is not None and not (names_told(told) or is_of_mention(told))


def _possible(request: ForgetRequest, heard: Sequence[Heard]) -> list[Heard]:
    """Those that were heard which a request can mean: what is not said yet where it speaks of that, and no other
    request, which waits for a person.

    Of the patterns only one is about itself.
    """
    is_ahead = is_to_be_told(request.sentence)
    return [
        each
        for each in heard
        if (is_ahead or each.text != WAITS)
        and (request.kind in ("told", "own") or each.where != "own")
        and (each.text == request.sentence or not sounds_like_forgetting(each.text))
    ]


def _without(request: ForgetRequest, texts: Sequence[str]) -> list[str]:
    """Texts without copies of the request."""
    sentence = request.sentence.strip(_EDGES)
    return [text for text in texts if sentence not in text and text.strip(_EDGES) not in sentence]


def before_message(page: Sequence[Message], index: int) -> HeardBefore:
    """What the user said before the message at `index`. Pure."""
    return heard_before(page, index, lambda at: statements(page[at].content))


def _following(page: Sequence[Message], index: int) -> HeardMessage | None:
    """The next message of the user, where the page has one."""
    at = next((at for at in range(index + 1, len(page)) if page[at].role == "user"), None)
    return None if at is None else heard_at(page, at, statements(page[at].content))
