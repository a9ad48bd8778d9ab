"""What users ask to remember in words that no pattern has."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.isolate import isolated
from reverie_indexer.model_slot import ModelSlot
from reverie_server.heuristics.requests.fact_requests import split_request
from reverie_server.heuristics.requests.likely_requests import LikelyRequest, likely_requests
from reverie_server.heuristics.salience import MAX_TEXT_CHARS
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.search.asking import asks_to_remember
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

# Of one conversation so many sentences are looked at.
_MAX_SENTENCES = 100


async def asked_to_remember(models: ModelSlot, heard: Sequence[Message]) -> frozenset[str]:
    """The sentences of users that ask to remember something and that no pattern reads as a request."""
    of_user = [message for message in heard if message.role == "user"]
    likely = await isolated(_likely, of_user, chars=sum(len(message.content) for message in of_user))
    return frozenset([each.sentence for each in likely if await asks_to_remember(models, each)])


def _likely(messages: Sequence[Message]) -> list[LikelyRequest]:
    found: list[LikelyRequest] = []
    for message in messages:
        text = strip_injected(message.content)[:MAX_TEXT_CHARS]
        said = [text[span.start : span.end].strip() for span in spoken_sentences(text)]
        found += likely_requests("remember", [each for each in said if split_request(each).kind == "none"])
    return found[:_MAX_SENTENCES]
