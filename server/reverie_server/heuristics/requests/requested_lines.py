"""What users ask to remember, message by message. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.fact_reader import main_clause
from reverie_server.heuristics.requests.fact_requests import Request, is_of_next, place_of, split_request
from reverie_server.heuristics.requests.likely_requests import remembering_asked, topic_of
from reverie_server.heuristics.requests.promises import promises_to_remember
from reverie_server.heuristics.salience import MAX_TEXT_CHARS, asks
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

_MAX_CHARS = 500
# So many statements may be what a request names.
_MAX_EARLIER = 200
_PRONOUN = re.compile(
    r"(?:she|he|they|it|that|this|these|those|her|his|their|sie|er|es|ihr|ihre|sein|seine"
    r"|(?:das|dies|der|die)(?= (?:ist|war|sind|hat|heißt|kann|mag|geht|steht|liegt))|ella|él|ellos|ellas"
    r"|eso|esto|su|sus|elle|il|ils|elles)(?:'\w+)?(?!\w)|[她他它]|这|那|這"
)


def requests_of(messages: Sequence[Message], by_meaning: Mapping[str, Sequence[str]]) -> list[tuple[Message, str, str]]:
    """What users ask to remember, in any language: the message, the sentence that has it, and that as a line.

    `Please remember that` is about the statement before, also in the message before; a sentence that begins with a
    pronoun goes with the one before it. The sentences `by_meaning` ask in words that no pattern has; each has the
    sentences that it means, itself perhaps, where these are known. What the assistant promises at once to remember is
    asked for.
    """
    found: list[tuple[Message, str, str]] = []
    before: tuple[Message, str, str] | None = None
    earlier: list[tuple[tuple[Message, str, str], frozenset[str]]] = []
    is_next_asked = False
    asked_in: Message | None = None
    meant_by_any = {text for texts in by_meaning.values() for text in texts}
    for message in messages:
        if message.role == "assistant" and before is not None and message.seq == before[0].seq + 1:
            # What is promised behind a request is what that asks for.
            is_meant = before not in found and before[0] is not asked_in
            found += [before] if is_meant and promises_to_remember(message.content, before[1]) else []
        if message.role != "user":
            continue
        text = strip_injected(message.content)[:MAX_TEXT_CHARS]
        spans = spoken_sentences(text)
        for number, span in enumerate(spans):
            sentence = text[span.start : span.end].strip()
            request = remembering_asked(sentence) if sentence in by_meaning else split_request(sentence)
            if by_meaning.get(sentence) and sentence not in meant_by_any:
                # What it means is told below, wherever it stands.
                asked_in = message
                continue
            if sentence in by_meaning or request.kind == "next":
                # What is promised behind it is what it asks for.
                asked_in = message
            if sentence in meant_by_any and request.kind != "inside":
                request = Request("none", 0, len(sentence))
            is_here = before is not None and before[0] is message
            asked_in = message if request.kind == "inside" or (request.kind == "before" and is_here) else asked_in
            is_ahead = is_of_next(sentence, place_of(number, len(spans)))
            if request.kind == "next" or (request.kind == "before" and is_ahead):
                is_next_asked, asked_in = True, message
            elif request.kind == "before":
                named = _named(sentence, earlier) if sentence in by_meaning else None
                meant = named or before
                found += [meant] if meant is not None and meant not in found else []
            elif request.kind == "named" or len(sentence) > _MAX_CHARS:
                continue
            elif asks(sentence, None) and sentence not in meant_by_any:
                # "Could you never put proverbs in my messages?" means itself.
                continue
            else:
                rest = sentence[request.start : request.end].strip()
                rest = main_clause(rest) if request.is_subordinate else rest
                whole = sentence if request.kind == "none" else rest[:1].upper() + rest[1:]
                if begins_with_pronoun(whole) and before is not None:
                    whole = f"{before[2]} {whole}"[-_MAX_CHARS:]
                before = (message, sentence, whole)
                if by_meaning:
                    earlier.append((before, content_terms(whole)))
                is_meant = is_next_asked or request.kind == "inside" or sentence in meant_by_any
                found += [before] if is_meant and before not in found else []
                is_next_asked = False
    return found


def _named(
    sentence: str, earlier: Sequence[tuple[tuple[Message, str, str], frozenset[str]]]
) -> tuple[Message, str, str] | None:
    """The last of the earlier statements that have most of the words which a request to remember has of its own."""
    own = content_terms(topic_of(sentence, "english", "remember"))
    shared = [(len(own & terms), number) for number, (_, terms) in enumerate(earlier[-_MAX_EARLIER:])]
    most, number = max(shared, default=(0, 0))
    return earlier[-_MAX_EARLIER:][number][0] if most else None


def begins_with_pronoun(sentence: str) -> bool:
    """Whether a sentence begins with a word that stands for somebody or something named before."""
    return _PRONOUN.match(folded(sentence).lstrip("\"'-–— ,")) is not None


def is_request_alone(sentence: str) -> bool:
    """Whether a sentence asks to remember another one and says nothing itself."""
    return split_request(sentence).kind in ("before", "next", "named")


def asks_for_previous(sentence: str) -> bool:
    """Whether a sentence asks to remember what was said before it, and says nothing itself."""
    return split_request(sentence).kind == "before"
