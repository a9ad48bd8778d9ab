"""Makes the texts of episodes from messages: with the model in parts, or without it. Holds no connection."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date

import structlog

from reverie_indexer.text.analyse import analyse
from reverie_indexer.text.split import split, trim
from reverie_server.episodes.text import abstract_of, extractive_summary, says_something
from reverie_server.episodes.topics import key_topics
from reverie_server.heuristics.grounding import Sources
from reverie_server.heuristics.orders import why_order
from reverie_server.llm.answers import Episodic
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.llm.provider import LanguageModel
from reverie_server.sessions.model import Message
from reverie_server.sessions.transcript import PART_TOKENS, clipped, transcript
from reverie_server.text.fences import strip_injected
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
UNGROUNDED = "ungrounded"
_SENTENCES = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])|(?<=\n)")
# The share of a summary's terms that the conversation must have. A model that made use of it repeats names.
_GROUNDED_SHARE = 0.1
_SPEAKERS = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class EpisodicRules:
    """The limits of one summary: tokens and words of an answer, seconds of a question, and the number of questions."""

    max_tokens: int = 1024
    max_words: int = 450
    timeout_seconds: float = 30.0
    max_parts: int = 8

    @property
    def max_range_tokens(self) -> int:
        """The tokens of messages above which they become more than one episode."""
        return self.max_parts * PART_TOKENS


@dataclass(frozen=True, slots=True)
class PreviousSummary:
    """The summary of the first messages, up to `through_seq`, and how it was generated."""

    through_seq: int
    summary: str
    generation: Generation


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """The texts of an episode, and how they were generated.

    `fallback` says why the configured model was not used; None where it was, or where there is none.
    """

    summary: str
    abstract: str
    key_topics: Sequence[str]
    generation: Generation
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A summary before forgotten texts are removed from it, topics that the model proposed, and the generation."""

    summary: str
    topics: Sequence[str]
    generation: Generation
    fallback: str | None = None


class EpisodeMaking:
    """Makes the texts of episodes. `model` None: with heuristics alone."""

    def __init__(self, model: LanguageModel | None, count: CountTokens, rules: EpisodicRules) -> None:
        self.has_model = model is not None
        self.rules = rules
        self._model = model
        self._count = count

    async def make(
        self, tenant_id: str, messages: Sequence[Message], previous: PreviousSummary | None, clean: Callable[[str], str]
    ) -> EpisodeText | None:
        """The episode of some messages; None where nobody says anything, or `clean` leaves nothing of the summary.

        `previous` is the summary of their beginning, if there is one. Where the model fails, the episode is made
        without it at once. Raises DatabaseUnavailable.
        """
        if not says_something(messages):
            return None
        rest = [message for message in messages if previous is None or message.seq > previous.through_seq]
        draft = await self._draft(tenant_id, rest, previous)
        return await asyncio.to_thread(self._text_of, draft, messages, clean)

    def without_model(
        self, messages: Sequence[Message], clean: Callable[[str], str], fallback: str | None
    ) -> EpisodeText | None:
        """The same as `make`, always without the model, and without waiting. Pure."""
        if not says_something(messages):
            return None
        draft = _Draft(self._extractive(messages, ""), (), EXTRACTIVE, fallback)
        return self._text_of(draft, messages, clean)

    async def _draft(self, tenant_id: str, rest: Sequence[Message], previous: PreviousSummary | None) -> _Draft:
        """The summary of the messages after the previous summary, together with it: by the model, or without."""
        before = previous.summary if previous is not None else ""
        if not says_something(rest):
            return _Draft(before, (), previous.generation if previous is not None else EXTRACTIVE)
        draft, fallback = None, None
        if self._model is not None:
            draft, fallback = await self._ask_model(self._model, tenant_id, rest, before)
        if draft is not None:
            return draft
        return _Draft(await asyncio.to_thread(self._extractive, rest, before), (), EXTRACTIVE, fallback)

    async def _ask_model(
        self, model: LanguageModel, tenant_id: str, rest: Sequence[Message], summary: str
    ) -> tuple[_Draft | None, str | None]:
        """The model's draft, made part by part after a summary; without a draft, the reason."""
        draft: _Draft | None = None
        days = frozenset(message.at.date() for message in rest)
        names = " ".join(sorted({str(message.extra.get("name") or "") for message in rest}))
        for part in await asyncio.to_thread(self._parts, rest):
            inputs = {"previous": summary, "transcript": part, "max_words": str(self.rules.max_words)}
            question = Question("episodic", inputs, Episodic, self.rules.max_tokens, self.rules.timeout_seconds)
            answer = await ask(model, tenant_id, question)
            if answer.value is None:
                return None, answer.fallback
            source = f"{names}\n{summary}\n{part}"
            summary = await asyncio.to_thread(grounded_summary, answer.value.summary, source, days)
            if not summary:
                return None, UNGROUNDED
            draft = _Draft(summary, answer.value.key_topics, answer.generation)
        return draft, None

    def _extractive(self, messages: Sequence[Message], previous: str) -> str:
        return extractive_summary(messages, previous, max_tokens=self.rules.max_tokens, count=self._count)

    def _text_of(self, draft: _Draft, messages: Sequence[Message], clean: Callable[[str], str]) -> EpisodeText | None:
        """The episode of a draft without forgotten texts; None where nothing is left."""
        text = clipped(clean(draft.summary), self.rules.max_tokens, self._count) if draft.summary.strip() else ""
        if not any(character.isalnum() for character in text):
            return None
        statements = [strip_injected(message.content) for message in messages if message.role in _SPEAKERS]
        found = key_topics([text, *statements], draft.topics)
        kept = [topic for topic in found if clean(topic).strip() == topic]
        return EpisodeText(text, abstract_of(text), kept, draft.generation, draft.fallback)

    def _parts(self, messages: Sequence[Message]) -> list[str]:
        """The transcript in parts of at most PART_TOKENS; a longer message is split into pieces."""
        parts: list[list[str]] = [[]]
        size = 0
        for message in messages:
            for piece in self._pieces(transcript([message], "notes")):
                tokens = self._count(piece)
                if parts[-1] and size + tokens > PART_TOKENS:
                    parts.append([])
                    size = 0
                parts[-1].append(piece)
                size += tokens
        return ["\n".join(part) for part in parts if part]

    def _pieces(self, text: str) -> list[str]:
        tokens = self._count(text)
        span = trim(text, 0, len(text)) if text else None
        if span is None:
            return []
        if tokens <= PART_TOKENS:
            return [text]
        max_chars = max(1, len(text) * PART_TOKENS // tokens)
        cuts = split(text, *span, max_chars=max_chars, body_start=span[0], by_lines=True)
        return [text[start:end] for start, end in cuts]


def grounded_summary(summary: str, source: str, days: Collection[date]) -> str:
    """A summary without the sentences that give the agent an order, or have a name, address, number or day that its
    source does not have; "" where the rest is about something else. Pure.

    `days` are the days of the messages. Sentences may omit and rephrase as they like. Where each has such a name, the
    names were spelt otherwise: then they stay.
    """
    sources = Sources.of_texts([source], days)
    kept = without_sentences(summary, lambda sentence: why_order(sentence) or sources.why_invented(sentence))
    if not kept or not is_grounded(kept, source):
        return ""
    return without_sentences(kept, sources.why_unnamed) or kept


def without_sentences(summary: str, why_not: Callable[[str], str | None]) -> str:
    """A summary without the sentences for which `why_not` gives a reason. Pure, but for its log."""
    sentences: list[str] = []
    refused: Counter[str] = Counter()
    for sentence in _SENTENCES.split(summary):
        reason = why_not(sentence)
        if reason is None:
            sentences.append(sentence)
        else:
            refused[reason] += 1
    if refused:
        log.warning("summary_sentences_refused", reasons=dict(refused))
    return "".join(sentences).strip()


def is_grounded(summary: str, source: str) -> bool:
    """Whether a summary is about its source: it shares some of its terms with the source. Pure.

    A summary in another language still shares names and numbers. One that shares nothing is made up.
    """
    terms = set(analyse(summary, "simple"))
    shared = terms & set(analyse(source, "simple"))
    return len(shared) >= max(1, int(_GROUNDED_SHARE * len(terms)))
