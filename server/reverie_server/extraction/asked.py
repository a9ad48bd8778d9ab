"""What users ask to remember in words that no pattern has, and what they mean by it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

import numpy as np
import structlog

from reverie_indexer.errors import TextTooCostly
from reverie_indexer.isolate import isolated
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.requests.forget_requests import ForgetRequest, forget_requests
from reverie_server.heuristics.requests.likely_requests import LikelyRequest, likely_requests, topic_of
from reverie_server.heuristics.salience import MAX_TEXT_CHARS
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.search.asked.asking import chance_of_asking, most_odds
from reverie_server.search.asked.heard import WAITS, heard_at, heard_before, heard_of
from reverie_server.search.asked.targets import log_odds
from reverie_server.search.asked.vectors import vectors_of
from reverie_server.search.worth import passing_of
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

log = structlog.get_logger()
# "Could you always give me inches, too?" means itself.
_STANDING = re.compile(
    r"(?<!\w)(?:could|can|would|will) you (?:please )?(?:always|never)(?!\w)|(?<!\w)please (?:always|never)(?!\w)"
    r"|(?<!\w)from now on(?!\w)|(?<!\w)du(?: \w+){0,3} (?<!für )(?:immer|nie|niemals)(?!\w)"
    r"|(?<!\w)(?:ab jetzt|künftig|in zukunft)(?!\w)"
    r"|(?<!\w)(?:no \w+ nunca|a partir de ahora|de ahora en adelante)(?!\w)|以后(?:你|都|请|跟我|给我|别)|从今往后"
)
# What points back is not meant itself.
_POINTS = re.compile(
    r"(?<!\w)(?:that|this|it|das|es|eso|esto)(?=\W*(?:$|[,.;!?]))|\w{3}l[oa](?=\W*$)|(?:这个|那个|它)(?=\W*$)"
)
# Of one conversation so many sentences are looked at, and so many requests.
_MAX_SENTENCES, _MAX_REQUESTS = 100, 24
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


async def asked_to_remember(models: ModelSlot, heard: Sequence[Message], language: str) -> Mapping[str, Sequence[str]]:
    """The sentences of users that likely ask to remember something, also by the answers, and that no pattern reads.

    Each with the sentences that it means, itself where it says what is to be kept; none where none is likely.
    """
    asked: dict[str, Sequence[str]] = {}
    try:
        spoken = await isolated(_spoken, heard, chars=sum(len(message.content) for message in heard))
        by_message = await isolated(_likely, spoken, chars=sum(map(_chars, spoken)))
    except TextTooCostly as error:
        # It stops nothing: the conversation is extracted without.
        log.warning("requests_not_looked_for", detail=str(error))
        return asked
    for index, likely in by_message.items():
        chances = [await chance_of_asking(models, "remember", each, None) for each in likely]
        following = heard[index + 1] if index + 1 < len(heard) else None
        if following is not None and following.role == "assistant":
            # An answer is to what asks most.
            best = max(range(len(likely)), key=chances.__getitem__)
            chances[best] = await chance_of_asking(models, "remember", likely[best], following.content)
        for each, chance in zip(likely, chances, strict=True):
            if chance < _MAY_ASK or len(asked) == _MAX_REQUESTS:
                continue
            # "Let go of that secret of my father-in-law's" is near to "hold on to it".
            if chance < _UNDOUBTED and await most_odds(models, "forget", each) >= _RATHER_FORGETS:
                continue
            least = _LEAST_MEANT if chance >= _SURELY_ASKS else _LIKELY_MEANT if chance >= _ASKS else _SURELY_MEANT
            meant = await _meant(models, heard, spoken, index, each, language, least)
            if meant or chance >= _ASKS:
                # The same words may have been said before, of something else.
                asked[each.sentence] = list(dict.fromkeys([*asked.get(each.sentence, ()), *meant]))
    return asked


async def _meant(
    models: ModelSlot,
    heard: Sequence[Message],
    spoken: Sequence[Sequence[str]],
    index: int,
    likely: LikelyRequest,
    language: str,
    least: float,
) -> list[str]:
    """The sentences that a request of the message at `index` means; none where none has the chance `least`."""
    plain = aligned(likely.sentence)
    if _STANDING.search(plain) is not None and _POINTS.search(plain) is None:
        return [likely.sentence]
    said = spoken[index]
    number = said.index(likely.sentence)
    topic = topic_of(likely.sentence, language, "remember")
    request = ForgetRequest("told", likely.sentence, topic, tuple(said[:number]), tuple(said[number + 1 :]))
    before = heard_before(heard, index, spoken.__getitem__)
    candidates = heard_of(heard_at(heard, index, said), number, before.talk)
    candidates = [each for each in candidates if each.text != WAITS]
    vectors = await vectors_of(models, request, [each.text for each in candidates])
    odds = await asyncio.to_thread(log_odds, request, candidates, language, vectors, "remember")
    chances = 1 / (1 + np.exp(-odds))
    best = float(chances.max())
    if best < least:
        return []
    limit = min(max(_MEANT, least), best)
    meant = dict.fromkeys(each.text for each, chance in zip(candidates, chances, strict=True) if chance >= limit)
    if len(meant) == 1:
        return list(meant)
    # Beside the thing itself nobody means what is of no use in a month.
    passing = await passing_of(models, meant)
    return [text for text in meant if passing[text] != "surely"] or list(meant)


def _spoken(heard: Sequence[Message]) -> list[list[str]]:
    """The sentences of each message; none of an assistant's."""
    found: list[list[str]] = []
    for message in heard:
        text = strip_injected(message.content)[:MAX_TEXT_CHARS] if message.role == "user" else ""
        found.append([text[span.start : span.end].strip() for span in spoken_sentences(text)])
    return found


def _likely(spoken: Sequence[Sequence[str]]) -> dict[int, list[LikelyRequest]]:
    """By message the sentences that may ask, so many of all."""
    found: dict[int, list[LikelyRequest]] = {}
    left = _MAX_SENTENCES
    for index, said in enumerate(spoken):
        may_ask = [each for each in said if split_request(each).kind == "none" and not forget_requests(each)]
        if likely := likely_requests("remember", may_ask)[:left]:
            found[index] = likely
            left -= len(likely)
    return found


def _chars(said: Sequence[str]) -> int:
    return sum(map(len, said))
