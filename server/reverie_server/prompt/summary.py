"""Summaries that a language model writes of older messages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from reverie_indexer.errors import ReverieError
from reverie_server.episodes.make import without_sentences
from reverie_server.heuristics.grounding import Sources
from reverie_server.heuristics.orders import why_order
from reverie_server.llm.prompts import load_prompt
from reverie_server.llm.provider import LanguageModel
from reverie_server.sessions.model import Message
from reverie_server.sessions.transcript import clipped, transcript
from reverie_server.text.fences import strip_injected
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
TEMPERATURE = 0.3
# A word of most languages is about one token and a third.
_WORDS_A_TOKEN = 0.75
# Models count words badly: an answer may be longer than the prompt asks for by this factor.
_LENIENCE = 5 / 3


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, with the prompt, its version and the model that it was written by."""

    text: str
    prompt: str
    prompt_version: str
    model: str


class Summaries:
    """Writes summaries of about `max_tokens`; without a `model` it writes none."""

    def __init__(
        self, model: LanguageModel | None, count: CountTokens, *, max_tokens: int, timeout_seconds: float
    ) -> None:
        self._model = model
        self.count = count
        self.max_tokens = int(max_tokens * _LENIENCE)
        self._max_words = int(max_tokens * _WORDS_A_TOKEN)
        self._timeout_seconds = timeout_seconds

    async def write(self, tenant_id: str, previous: str, messages: Sequence[Message]) -> Summary | None:
        """One summary of the `previous` summary and of more messages; None when it cannot be had.

        It cannot be had without a model, when the model fails, when no sentence of its answer may be kept, and when the
        messages have no text. Sentences with an order to the agent, or with an address that nobody named, are taken
        out: the summary enters prompts, and episodes are made of it. Holds no connection.
        """
        transcript_text = transcript(messages, "summary")
        if self._model is None or not transcript_text:
            return None
        prompt = load_prompt("summary")
        try:
            answer = await self._model.complete(
                tenant_id,
                prompt,
                {"previous": previous, "transcript": transcript_text, "max_words": str(self._max_words)},
                max_tokens=self.max_tokens,
                temperature=TEMPERATURE,
                timeout_seconds=self._timeout_seconds,
            )
        except ReverieError as error:
            log.warning("summary_failed", code=error.code, detail=error.detail, messages=len(messages))
            return None
        text = await asyncio.to_thread(self._allowed_text, answer.text, previous, messages)
        return Summary(text, answer.prompt, answer.prompt_version, answer.model) if text else None

    def _allowed_text(self, summary: str, previous: str, messages: Sequence[Message]) -> str:
        """The sentences of a model's summary that may be kept, clipped to `max_tokens`."""
        sources = Sources.of_texts([previous, transcript(messages, "notes")])
        allowed = without_sentences(
            strip_injected(summary), lambda sentence: why_order(sentence) or sources.why_addressed(sentence)
        )
        return clipped(allowed, self.max_tokens, self.count)
