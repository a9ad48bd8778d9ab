"""The language model: prompts in, texts or validated answers out, within a deadline and a budget of calls."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import structlog
from pydantic import BaseModel

from reverie_indexer import tracing
from reverie_indexer.breaker import Breaker
from reverie_indexer.embed.protocol import replace_surrogates
from reverie_indexer.tracing import Span
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.endpoint import Endpoint, EndpointConfig, Failed, RawAnswer, Resource
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.parse import Answer, InvalidAnswer, parse_answer, read_completion
from reverie_server.llm.prompts import Prompt, load_prompt
from reverie_server.llm.schema import response_format

__all__ = ["Completion", "EndpointConfig", "LanguageModel", "LanguageModelUnavailable", "Structured"]

log = structlog.get_logger()
T = TypeVar("T", bound=BaseModel)

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 8.0
# The statuses of endpoints that do not know a `response_format` or cannot use it; the words of a 500 because of it.
_SCHEMA_STATUSES = frozenset({400, 422, 501})
_SCHEMA_WORDS = ("response_format", "schema", "grammar")
# A model that loops at one temperature often does not at another.
_LOOP_TEMPERATURE = 0.6
# The model is shown this much of an answer that was too long: the whole might leave no room for another answer.
_QUOTED_CHARS = 1000
_TRUNCATED = "It was cut off at the limit of its length: write less."


@dataclass(frozen=True, slots=True)
class Completion:
    """A text that a model wrote, and by which version of which prompt."""

    text: str
    prompt: str
    prompt_version: str
    model: str


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """A validated answer of a model, and by which version of which prompt."""

    value: T
    prompt: str
    prompt_version: str
    model: str


@dataclass(frozen=True, slots=True)
class _Call:
    """The limits of one use of the model. `deadline` is the event loop's time; `answer` the form of the answer."""

    tenant_id: str
    max_tokens: int
    temperature: float
    deadline: float
    answer: type[BaseModel] | None = None


class _SchemaRefused(Exception):
    """A request with a schema was refused, or answered without a text; the schema may be the cause."""


class LanguageModel:
    """One model of one OpenAI-compatible endpoint. Holds no database connection while the model works."""

    def __init__(self, endpoint: Endpoint, budget: CallBudget) -> None:
        self._endpoint = endpoint
        self._config = endpoint.config
        self._budget = budget
        # The parameters that this model does not take, learned from its refusals.
        self._renamed_limit = False
        self._without_temperature = False
        self._without_schema = False

    @property
    def model(self) -> str:
        """The model's name at the endpoint."""
        return self._config.model

    @property
    def host(self) -> str:
        """The endpoint's host and port."""
        return self._config.host

    @property
    def breaker(self) -> Breaker:
        """The breaker, which says whether the endpoint is asked now."""
        return self._endpoint.breaker

    @property
    def has_key(self) -> bool:
        """Whether a key of the endpoint is configured."""
        return self._config.api_key is not None

    async def complete(
        self,
        tenant_id: str,
        prompt: Prompt,
        inputs: Mapping[str, str],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        timeout_seconds: float | None = None,
    ) -> Completion:
        """The model's text for a prompt, stripped; never empty.

        `timeout_seconds` is for everything, retries included; None is the configured one. Raises
        LanguageModelUnavailable, also for a text that was cut off; DatabaseUnavailable when the budget cannot be asked.
        """
        call = self._call(tenant_id, max_tokens, temperature, timeout_seconds)
        async with self._budget.outcomes.noted(tenant_id):
            answer = await self._ask(call, prompt.messages(inputs))
            if answer.truncated:
                raise LanguageModelUnavailable("truncated", f"the language model wrote more than {max_tokens} tokens")
        return Completion(answer.text, prompt.name, prompt.version, self.model)

    async def structured(
        self,
        tenant_id: str,
        prompt: Prompt,
        inputs: Mapping[str, str],
        answer: type[T],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        timeout_seconds: float | None = None,
        check: Callable[[T], str | None] | None = None,
    ) -> Structured[T]:
        """The model's answer as a value. Where it does not validate, or `check` (run in a thread) names a fault, the
        model is asked once more: with the fault, or afresh where the answer ended in a loop. After a fault by `check`
        the second answer is taken unchecked, and the first one where the second fails.

        The endpoint gets the answer's JSON schema, unless it has refused one. Time-out and errors are those of
        `complete`; where both answers do not validate the reason is `unusable`, or `truncated` where the second was
        cut off.
        """
        call = replace(self._call(tenant_id, max_tokens, temperature, timeout_seconds), answer=answer)
        messages = prompt.messages(inputs)
        async with self._budget.outcomes.noted(tenant_id):
            first = await self._ask(call, messages)
            valid: T | None = None
            try:
                value = valid = _validated(first, answer)
                if check is not None and (problem := await asyncio.to_thread(check, value)) is not None:
                    raise InvalidAnswer(problem)
            except InvalidAnswer as invalid:
                log.info("language_model_repair", prompt=prompt.name, truncated=first.truncated, loop=invalid.is_loop)
                try:
                    value = await self._repaired(call, messages, (first, invalid), answer)
                except LanguageModelUnavailable:
                    if valid is None:
                        raise
                    value = valid
        return Structured(value, prompt.name, prompt.version, self.model)

    @asynccontextmanager
    async def forward(
        self, resource: Resource, body: Mapping[str, Any], authorization: str | None = None
    ) -> AsyncIterator[RawAnswer | Failed]:
        """Send somebody else's request as it is: no retries, no budget, no prompt of ours."""
        with self._traced() as span:
            async with self._endpoint.forward(resource, body, authorization) as answer:
                span.put(**{"http.response.status_code": answer.status})
                yield answer

    def _traced(self) -> AbstractContextManager[Span]:
        """A span of a call; somebody else's request may name another model, in words of theirs."""
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.model}
        return tracing.part("model call", "client", **attributes)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    def _call(self, tenant_id: str, max_tokens: int, temperature: float, timeout_seconds: float | None) -> _Call:
        timeout = self._config.timeout_seconds if timeout_seconds is None else timeout_seconds
        return _Call(tenant_id, max_tokens, temperature, asyncio.get_running_loop().time() + timeout)

    async def _repaired(
        self, call: _Call, messages: Sequence[Mapping[str, str]], wrong: tuple[Answer, InvalidAnswer], answer: type[T]
    ) -> T:
        first, invalid = wrong
        repair = load_prompt("repair").messages({"problem": invalid.problem})[1]
        is_long = first.truncated and len(first.text) > _QUOTED_CHARS
        quoted = f"{first.text[:_QUOTED_CHARS]}…" if is_long else first.text
        conversation = [*messages, {"role": "assistant", "content": quoted or "…"}, repair]
        if invalid.is_loop:
            # A model that is shown its loop goes on with it, so it is asked afresh.
            conversation, call = list(messages), replace(call, temperature=max(call.temperature, _LOOP_TEMPERATURE))
        second = await self._ask(call, conversation)
        try:
            return _validated(second, answer)
        except InvalidAnswer:
            if second.truncated:
                detail = f"the language model's answer needs more than {call.max_tokens} tokens"
                raise LanguageModelUnavailable("truncated", detail) from None
            detail = "the language model's answer is not what was asked for, nor was the second one"
            raise LanguageModelUnavailable("unusable", detail) from None

    async def _ask(self, call: _Call, messages: Sequence[Mapping[str, str]]) -> Answer:
        """The answer to messages. An endpoint that answers only without a schema gets none from then on."""
        if call.answer is not None and not self._without_schema:
            try:
                return await self._sent(call, messages)
            except _SchemaRefused:
                answer = await self._sent(replace(call, answer=None), messages)
            self._without_schema = True
            log.info("language_model_takes_no_schema", host=self.host)
            return answer
        return await self._sent(replace(call, answer=None), messages)

    async def _sent(self, call: _Call, messages: Sequence[Mapping[str, str]]) -> Answer:
        """The answer to messages, with retries of failures that may pass, while the deadline has room for them."""
        loop = asyncio.get_running_loop()
        pause, retries = _FIRST_PAUSE_SECONDS, 0
        while True:
            if (paused := self._endpoint.paused()) is not None:
                raise paused.error()
            # Outside the deadline: a database that answers slowly must not look like a slow model.
            await self._budget.spend(call.tenant_id)
            with self._traced() as span:
                answered = await self._endpoint.post(self._body(call, messages), call.deadline)
                if not isinstance(answered, Failed):
                    answer = _read(call, answered)
                    tokens = {"input": answer.input_tokens, "output": answer.output_tokens}
                    span.put(**{f"gen_ai.usage.{which}_tokens": count for which, count in tokens.items()})
                    return answer
                span.put(**{"error.type": answered.reason, "http.response.status_code": answered.status})
            if self._learned(answered):
                continue
            if call.answer is not None and _may_be_the_schema(answered):
                raise _SchemaRefused
            wait = answered.wait_seconds
            if wait is None:
                wait = pause * random.uniform(0.75, 1.0)  # noqa: S311  (spreads clients, protects nothing)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            # The library would sleep past the deadline, up to two minutes, only to be interrupted.
            if not answered.may_pass or retries >= self._config.max_retries or loop.time() + wait >= call.deadline:
                raise answered.error()
            retries += 1
            log.info("language_model_retry", reason=answered.reason, status=answered.status, wait_seconds=wait)
            await asyncio.sleep(wait)

    def _body(self, call: _Call, messages: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        limit = "max_completion_tokens" if self._renamed_limit else "max_tokens"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{**message, "content": replace_surrogates(message["content"])} for message in messages],
            limit: call.max_tokens,
        }
        if not self._without_temperature:
            body["temperature"] = call.temperature
        if call.answer is not None:
            body["response_format"] = response_format(call.answer)
        return body

    def _learned(self, failed: Failed) -> bool:
        """Whether a refusal names a parameter that this model does not take, or takes under another name, for the
        first time."""
        if failed.status not in (400, 422):
            return False
        if not self._renamed_limit and "max_completion_tokens" in failed.message:
            self._renamed_limit = True
            return True
        if not self._without_temperature and "temperature" in (failed.param, *failed.message.split("'")):
            self._without_temperature = True
            return True
        return False


def _read(call: _Call, body: bytes) -> Answer:
    try:
        return read_completion(body)
    except LanguageModelUnavailable as error:
        # Some servers put an answer after a schema into a field of their own.
        if call.answer is not None and error.reason == "empty":
            raise _SchemaRefused from None
        raise


def _may_be_the_schema(failed: Failed) -> bool:
    """Whether a failure may be about the schema. Each endpoint has its own words for it, some none at all."""
    if failed.status in _SCHEMA_STATUSES:
        return failed.code != "context_length_exceeded"
    return failed.status == 500 and any(word in failed.message.lower() for word in _SCHEMA_WORDS)


def _validated(answer: Answer, model: type[T]) -> T:
    try:
        return parse_answer(answer.text, model)
    except InvalidAnswer as invalid:
        if answer.truncated:
            raise InvalidAnswer(_TRUNCATED, is_loop=invalid.is_loop) from None
        raise
