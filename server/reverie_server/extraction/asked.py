"""What users ask to remember in words that no pattern has, and what they mean by it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import structlog

from reverie_indexer.errors import ReverieError, TextTooCostly
from reverie_indexer.isolate import isolated
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.fact_grammar.terms import is_unspaced
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.needs_context import says_why
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.requests.forget_requests import ForgetRequest, forget_requests
from reverie_server.heuristics.requests.lasting_instructions import has_instruction
from reverie_server.heuristics.requests.likely_requests import (
    LikelyRequest,
    likely_requests,
    parts_of,
    remembering_asked,
    topic_of,
)
from reverie_server.heuristics.requests.recollections import only_recalls
from reverie_server.heuristics.requests.request_model import by_words, words_of
from reverie_server.heuristics.requests.requested_lines import RequestsByMeaning
from reverie_server.heuristics.requests.words_of_others import own_words
from reverie_server.heuristics.salience import MAX_TEXT_CHARS, asks
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.search.asked.asking import chance_of_asking, most_odds
from reverie_server.search.asked.heard import WAITS, Heard, NearStatement, heard_at, heard_before, heard_of
from reverie_server.search.asked.targets import knows, log_odds
from reverie_server.search.asked.vectors import vectors_of
from reverie_server.search.worth import passing_of
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

log = structlog.get_logger()
# What points back is not meant itself.
_POINTS = re.compile(
    r"(?<!\w)(?:that|this|it|das|es|eso|esto)(?=\W*(?:$|[,.;!?]))|\w{3}l[oa](?=\W*$)|(?:这个|那个|它)(?=\W*$)"
)
# Of one conversation so many sentences are looked at, and so many requests.
_MAX_SENTENCES, _MAX_REQUESTS = 100, 24
# Without a number, of so few words or characters, what a pattern reads may name what is meant and not say it.
_MOST_OF_NAME, _MOST_OF_HAN_NAME = 14, 18
_NAMES_A_THING = re.compile(
    r"(?:that|the|those|what|where|who|das|die|der|den|was|wo|wer|lo|la|el|los|las|donde)(?!\w)|[那这]|上次|之前"
)
# What a pattern reads as a request for what was said before it, or for what it says itself.
_READ = ("before", "inside")
# By its words alone.
_ASKS_ITSELF = 1.0
_NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_DIGIT = re.compile(r"\d")
# A birthday with its day.
_BIRTHDAY = re.compile(
    r"(?:birthday|geburtstag|cumpleaños|cumple (?:años )?el)[^.!?]{0,40}\d"
    r"|\d[^.!?]{0,40}(?:birthday|geburtstag|cumpleaños)"
    r"|生日[^。！？]{0,12}[\d一二三四五六七八九十]"
)
# A number of four digits or more, and a word of letters and digits; and what is no more.
_VALUE = re.compile(r"\d(?:[ .,/-]?\d){3}|(?=[\w-]*[^\W\d_])(?=[\w-]*\d\w*\d)[\w-]{4,40}")
_OLD = re.compile(r"(?<!\w)(?:old|alte[nrsm]?|viej[oa]s?|antigu[oa]s?|anterior)(?!\w)|旧|舊|原来|原來|之前")
# What asks from the first chance on is a request, whatever it means; from the second on it surely is one.
_ASKS, _SURELY_ASKS = 0.35, 0.45
# From this on it is one where a statement is likely meant, too: of sixteen from 0.1 on none was.
_MAY_ASK = 0.2
# What may ask to forget by these log-odds is kept from the second, a chance that it asks to remember, on.
_RATHER_FORGETS, _UNDOUBTED = 1.0, 0.85
# What a request means: the likeliest statement from the first on, and each from the third: one too many is one line
# more, and of one too few nothing is left but "keep that for me". Of what does not surely ask the likeliest from the
# second on, and of what only may ask each from the last on.
_LEAST_MEANT, _LIKELY_MEANT, _MEANT, _SURELY_MEANT = 0.05, 0.25, 0.4, 0.5


NearStatements = Callable[[Sequence[str]], Awaitable[Sequence[NearStatement]]]
"""What was said on any day that is near to one of some queries."""


async def asked_to_remember(
    models: ModelSlot, heard: Sequence[Message], language: str, near_statements: NearStatements
) -> RequestsByMeaning:
    """The sentences of users that likely ask to remember something, also by the answers, and that no pattern reads."""
    asked = RequestsByMeaning()
    try:
        spoken = await isolated(_spoken, heard, chars=sum(len(message.content) for message in heard))
        by_message = await isolated(_likely, spoken, language, chars=sum(map(_chars, spoken)))
    except TextTooCostly as error:
        # It stops nothing: the conversation is extracted without.
        log.warning("requests_not_looked_for", detail=str(error))
        return asked
    # By words alone it is too uncertain what else is meant.
    is_known = models.ready is not None and knows(models.ready.embedder.identity.name)
    left = _MAX_REQUESTS
    asking = _Asking(models, heard, spoken, language, near_statements, asked.stated_at)
    for index, likely in by_message.items():
        chances = [await chance_of_asking(models, "remember", each, None) for each in likely]
        following = heard[index + 1] if index + 1 < len(heard) else None
        # "I keep looking it up. Can you hang on to that?" asks once, and so does its answer say.
        read = {sentence for sentence in spoken[index] if split_request(sentence).kind in _READ}
        if following is not None and following.role == "assistant" and not read:
            # An answer is to what asks most.
            best = max(range(len(likely)), key=chances.__getitem__)
            chances[best] = await chance_of_asking(models, "remember", likely[best], following.content)
        for each, chance in zip(likely, chances, strict=True):
            is_second = bool(read) and each.sentence not in read
            if chance < (_UNDOUBTED if is_second else _MAY_ASK) or left == 0:
                continue
            # "Let go of that secret of my father-in-law's" is near to "hold on to it".
            if chance < _UNDOUBTED and await most_odds(models, "forget", each) >= _RATHER_FORGETS:
                continue
            least = _LEAST_MEANT if chance >= _SURELY_ASKS else _LIKELY_MEANT if chance >= _ASKS else _SURELY_MEANT
            left -= 1
            is_read = split_request(each.sentence).kind != "none"
            least = _SURELY_MEANT if is_read else least
            meant = [] if is_read and not is_known else await asking.meant(index, each, least)
            if is_read and not (meant and asked.stated_at.keys() >= set(meant)):
                # What a pattern reads of it stands.
                continue
            if meant or chance >= _ASKS:
                # The same words may have been said before, of something else.
                asked.meant[each.sentence] = list(dict.fromkeys([*asked.meant.get(each.sentence, ()), *meant]))
    return asked


@dataclass(frozen=True, slots=True)
class _Asking:
    """A conversation in which somebody asks, with the sentences of each message; `stated_at` gets what is meant of
    another one."""

    models: ModelSlot
    heard: Sequence[Message]
    spoken: Sequence[Sequence[str]]
    language: str
    near_statements: NearStatements
    stated_at: dict[str, datetime]

    async def meant(self, index: int, likely: LikelyRequest, least: float) -> list[str]:
        """The sentences that a request of the message at `index` means; none where none has the chance `least`."""
        plain = aligned(likely.sentence)
        is_instruction = has_instruction(plain) and _POINTS.search(plain) is None
        if is_instruction or _says_itself(likely.sentence):
            return [likely.sentence]
        said = self.spoken[index]
        number = said.index(likely.sentence)
        topic = topic_of(likely.sentence, self.language, "remember")
        request = ForgetRequest("told", likely.sentence, topic, tuple(said[:number]), tuple(said[number + 1 :]))
        before = heard_before(self.heard, index, self.spoken.__getitem__)
        queries = list(dict.fromkeys(filter(None, (likely.sentence, topic))))
        others = await self._stated_elsewhere(queries, self.heard[index].at)
        candidates = heard_of(heard_at(self.heard, index, said), number, before.talk, list(others))
        candidates = [each for each in candidates if each.text != WAITS and _can_be_meant(each, likely.sentence)]
        vectors = await vectors_of(self.models, request, [each.text for each in candidates], self.language, "remember")
        odds = await asyncio.to_thread(log_odds, request, candidates, self.language, vectors, "remember")
        chances = 1 / (1 + np.exp(-odds))
        best = float(chances.max())
        if best < least:
            return []
        limit = min(max(_MEANT, least), best)
        meant = dict.fromkeys(each.text for each, chance in zip(candidates, chances, strict=True) if chance >= limit)
        if len(meant) > 1:
            # Beside the thing itself nobody means what is of no use in a month.
            passing = await passing_of(self.models, meant)
            meant = dict.fromkeys([text for text in meant if passing[text] != "surely"] or list(meant))
        self.stated_at.update({text: others[text] for text in meant if text in others})
        return list(meant)

    async def _stated_elsewhere(self, queries: Sequence[str], until: datetime) -> dict[str, datetime]:
        """What was said in other conversations near to queries, and when; nothing where it cannot be searched."""
        own = {text for sentences in self.spoken for text in sentences}
        try:
            near = await self.near_statements(queries)
        except ReverieError as error:
            log.warning("other_conversations_not_searched", code=error.code)
            return {}
        said = [(each.text, each.at) for each in near if each.text not in own]
        dated = {text: at for text, at in said if at is not None and at <= until}
        able = await asyncio.to_thread(lambda: set(filter(_may_be_meant, dated)))
        return {text: at for text, at in dated.items() if text in able}


def _spoken(heard: Sequence[Message]) -> list[list[str]]:
    """The sentences of each message; none of an assistant's."""
    found: list[list[str]] = []
    for message in heard:
        text = strip_injected(message.content)[:MAX_TEXT_CHARS] if message.role == "user" else ""
        found.append([text[span.start : span.end].strip() for span in spoken_sentences(text)])
    return found


def _likely(spoken: Sequence[Sequence[str]], language: str) -> dict[int, list[LikelyRequest]]:
    """By message the sentences that may ask, so many of all."""
    found: dict[int, list[LikelyRequest]] = {}
    left = _MAX_SENTENCES
    for index, said in enumerate(spoken):
        may_ask = [each for each in said if _is_unread(each, language) and not forget_requests(each)]
        may_ask = [each for each in may_ask if not _is_handed_over(each) and not only_recalls(aligned(each))]
        if likely := likely_requests("remember", may_ask)[:left]:
            found[index] = likely
            left -= len(likely)
    return found


def _may_be_meant(text: str) -> bool:
    """Whether a statement of another conversation may be what somebody means: no question, and nothing that asks."""
    if asks(text, None) or split_request(text).kind not in ("none", "inside"):
        return False
    # "The tank's size, hang on to it" asks for what it names.
    return max(by_words("remember", part) for part in (text, *parts_of(text))) < _ASKS_ITSELF


def _can_be_meant(heard: Heard, sentence: str) -> bool:
    """Whether what was heard may be meant by a request: no text of others that is to be mended, and nothing that says
    why one asks ("Ich frage nämlich jedes Mal")."""
    return heard.text == sentence or not (_is_handed_over(heard.text) or says_why(heard.text))


def _says_itself(sentence: str) -> bool:
    """Whether a sentence that asks says itself what is to be kept, a number or a code: nothing else is meant."""
    request = remembering_asked(sentence)
    said = sentence[request.start : request.end]
    has_value = _VALUE.search(said) is not None or _BIRTHDAY.search(aligned(said)) is not None
    return request.kind == "inside" and has_value and _OLD.search(aligned(said)) is None


def _is_unread(sentence: str, language: str) -> bool:
    """Whether no pattern reads what a sentence asks, or no more than a name of what is meant: "the oil for the van"."""
    request = split_request(sentence)
    if request.kind == "inside":
        named = sentence[request.start : request.end].strip()
        most = _MOST_OF_HAN_NAME if is_unspaced(named) else _MOST_OF_NAME
        is_short = _DIGIT.search(named) is None and len(words_of(named)) <= most
        is_name = is_short and _NAMES_A_THING.match(aligned(named)) is not None
        return is_name and not read_facts([Utterance(named, _NO_TIME)], language)
    return request.kind in ("none", "named")


def _is_handed_over(sentence: str) -> bool:
    """Whether a sentence hands over a text of others, to be translated or mended: it asks for that."""
    return own_words(sentence).strip() != sentence


def _chars(said: Sequence[str]) -> int:
    return sum(map(len, said))
