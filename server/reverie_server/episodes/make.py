"""What a stretch of a session comes to: by the model in parts, or without it. Holds no connection."""

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
# Of the terms of a summary so many must be the conversation's: a model that says anything at all repeats names.
_GROUNDED_SHARE = 0.1
_SAID_BY = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class EpisodicRules:
    """What one summary may take: tokens and words of the answer, seconds of one question, questions in all."""

    max_tokens: int = 1024
    max_words: int = 450
    timeout_seconds: float = 30.0
    max_parts: int = 8

    @property
    def stretch_tokens(self) -> int:
        """From so many tokens on a stretch is more than one episode."""
        return self.max_parts * PART_TOKENS


@dataclass(frozen=True, slots=True)
class Before:
    """A summary that stands for the messages of a stretch up to a number, and how it was made."""

    through_seq: int
    summary: str
    made: Generation


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """What an episode says, how that was made, and why not with the model that is configured (None: it was)."""

    summary: str
    abstract: str
    key_topics: Sequence[str]
    made: Generation
    fallback: str | None = None


class EpisodeMaking:
    """Makes the texts of episodes; `model` None: without one."""

    def __init__(self, model: LanguageModel | None, count: CountTokens, rules: EpisodicRules) -> None:
        self.has_model = model is not None
        self.rules = rules
        self._model = model
        self._count = count

    async def make(
        self, tenant_id: str, messages: Sequence[Message], before: Before | None, clean: Callable[[str], str]
    ) -> EpisodeText | None:
        """The text of a stretch; None where nobody says anything in it, or nothing that `clean` leaves.

        What the model fails at is made without it at once. Raises DatabaseUnavailable.
        """
        if not says_something(messages):
            return None
        rest = [message for message in messages if before is None or message.seq > before.through_seq]
        summary, topics, made, fallback = await self._asked(tenant_id, rest, before)
        if summary is None:
            previous = before.summary if before is not None else ""
            summary = await asyncio.to_thread(self._extractive, rest, previous)
        return await asyncio.to_thread(self._told, summary, topics, messages, (made, fallback), clean)

    def without_model(
        self, messages: Sequence[Message], clean: Callable[[str], str], fallback: str | None
    ) -> EpisodeText | None:
        """As `make`, without a model whatever is configured, and without waiting. Pure."""
        if not says_something(messages):
            return None
        return self._told(self._extractive(messages, ""), (), messages, (EXTRACTIVE, fallback), clean)

    async def _asked(
        self, tenant_id: str, rest: Sequence[Message], before: Before | None
    ) -> tuple[str | None, Sequence[str], Generation, str | None]:
        """The model's summary and topics; no summary: why there is none."""
        topics: Sequence[str] = ()
        summary = before.summary if before is not None else ""
        made = before.made if before is not None else EXTRACTIVE
        if not says_something(rest):
            return summary, topics, made, None
        if self._model is None:
            return None, (), EXTRACTIVE, None
        days = frozenset(message.at.date() for message in rest)
        for part in await asyncio.to_thread(self._parts, rest):
            inputs = {"previous": summary, "transcript": part, "max_words": str(self.rules.max_words)}
            question = Question("episodic", inputs, Episodic, self.rules.max_tokens, self.rules.timeout_seconds)
            asked = await ask(self._model, tenant_id, question)
            if asked.value is None:
                return None, (), EXTRACTIVE, asked.fallback
            kept = await asyncio.to_thread(grounded_summary, asked.value.summary, f"{summary}\n{part}", days)
            if not kept:
                return None, (), EXTRACTIVE, UNGROUNDED
            summary, topics, made = kept, asked.value.key_topics, asked.generation
        return summary, topics, made, None

    def _extractive(self, messages: Sequence[Message], previous: str) -> str:
        return extractive_summary(messages, previous, max_tokens=self.rules.max_tokens, count=self._count)

    def _told(
        self,
        summary: str,
        topics: Sequence[str],
        messages: Sequence[Message],
        made: tuple[Generation, str | None],
        clean: Callable[[str], str],
    ) -> EpisodeText | None:
        text = clipped(clean(summary), self.rules.max_tokens, self._count) if summary.strip() else ""
        if not any(character.isalnum() for character in text):
            return None
        said = [strip_injected(message.content) for message in messages if message.role in _SAID_BY]
        found = key_topics([text, *said], topics)
        kept = [topic for topic in found if clean(topic).strip() == topic]
        return EpisodeText(text, abstract_of(text), kept, *made)

    def _parts(self, messages: Sequence[Message]) -> list[str]:
        """The transcript in parts that a model can be given one after the other; a long message in pieces."""
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

    def _pieces(self, said: str) -> list[str]:
        tokens = self._count(said)
        span = trim(said, 0, len(said)) if said else None
        if span is None:
            return []
        if tokens <= PART_TOKENS:
            return [said]
        max_chars = max(1, len(said) * PART_TOKENS // tokens)
        cuts = split(said, *span, max_chars=max_chars, body_start=span[0], by_lines=True)
        return [said[start:end] for start, end in cuts]


def grounded_summary(summary: str, source: str, days: Collection[date]) -> str:
    """A summary without the sentences that give an order to the agent, or an address, a number or a day that is not in
    what it was made of; "" where the rest is about something else. Pure.

    `days` are those on which it was said. Sentences may leave out and put in other words what they like.
    """
    sources = Sources.of_texts([source], days)
    kept = without_sentences(summary, lambda sentence: why_order(sentence) or sources.why_invented(sentence))
    return kept if kept and is_grounded(kept, source) else ""


def without_sentences(summary: str, why_not: Callable[[str], str | None]) -> str:
    """A summary without the sentences for which there is a reason why they may not be kept. Pure, but for its log."""
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


def is_grounded(summary: str, given: str) -> bool:
    """Whether a summary is about what it was made of: it shares some of its terms with that. Pure.

    One in another language still has names and numbers in common; one that has nothing in common is made up.
    """
    terms = set(analyse(summary, "simple"))
    shared = terms & set(analyse(given, "simple"))
    return len(shared) >= max(1, int(_GROUNDED_SHARE * len(terms)))
