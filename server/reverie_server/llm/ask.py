"""One question of a stage to the language model: a validated answer, or why the stage does without a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog
from pydantic import BaseModel

from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.llm.prompts import load_prompt
from reverie_server.llm.provider import LanguageModel

log = structlog.get_logger()
T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    """A validated answer with its generation. `value` None: `fallback` is why a configured model gave no answer."""

    value: T | None
    generation: Generation
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """A prompt by name, its inputs, the model of its answer, and the limits of tokens and time.

    `check` returns the fault of an answer that validates, in words for the model (None: no fault). The model is then
    asked once more, and its second answer is taken as it is.
    """

    prompt: str
    inputs: Mapping[str, str]
    answer: type[T]
    max_tokens: int
    timeout_seconds: float
    check: Callable[[T], str | None] | None = None


async def ask(model: LanguageModel | None, tenant_id: str, question: Question[T]) -> ModelAnswer[T]:
    """The model's answer to a question, asked once more where it did not validate. Holds no connection meanwhile.

    A failure of the model is no error here: the stage then works without it. Raises DatabaseUnavailable.
    """
    if model is None:
        return ModelAnswer(None, EXTRACTIVE)
    try:
        answer = await model.structured(
            tenant_id,
            load_prompt(question.prompt),
            question.inputs,
            question.answer,
            max_tokens=question.max_tokens,
            timeout_seconds=question.timeout_seconds,
            check=question.check,
        )
    except LanguageModelUnavailable as error:
        log.warning("stage_without_model", prompt=question.prompt, reason=error.reason)
        return ModelAnswer(None, EXTRACTIVE, error.reason)
    generation = Generation("llm", answer.prompt, answer.prompt_version, answer.model)
    return ModelAnswer(answer.value, generation)
