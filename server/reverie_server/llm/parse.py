"""What a provider answered, read tolerantly. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from reverie_server.llm.errors import LanguageModelUnavailable

T = TypeVar("T", bound=BaseModel)

# Models that think aloud do it before the answer.
_THINKING = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
# Escapes of JSON can stand for them.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_PROBLEM_CHARS = 2000
_MAX_CANDIDATES = 200
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Answer:
    """The text of a completion, without thinking aloud. `truncated`: it ended at the limit of tokens."""

    text: str
    truncated: bool


class InvalidAnswer(Exception):
    """No JSON object of an answer validates. `problem` is for the model that wrote it, not for logs."""

    def __init__(self, problem: str) -> None:
        super().__init__("the answer does not validate")
        self.problem = problem[:_MAX_PROBLEM_CHARS]


def read_completion(body: bytes) -> Answer:
    """The answer in the body of a completion.

    LanguageModelUnavailable for a body that is none (`unusable`), a refusal (`refused`), no text (`empty`).
    """
    try:
        choice = json.loads(body)["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
        finish = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise LanguageModelUnavailable("unusable", "the language model's endpoint answered no completion") from None
    if refusal or finish == "content_filter":
        raise LanguageModelUnavailable("refused", "the language model refused to answer")
    text = _without_thinking(_text_of(content))
    truncated = finish == "length"
    if not text and not truncated:
        raise LanguageModelUnavailable("empty", "the language model answered without text")
    return Answer(text, truncated)


def parse_answer(text: str, answer: type[T]) -> T:
    """The first JSON object in the text that validates; InvalidAnswer when none does.

    Code fences, and what stands before and after, are looked past.
    """
    problem: str | None = None
    for candidate in _objects(text):
        try:
            return answer.model_validate(candidate)
        except ValidationError as error:
            problem = problem or _described(error)
    raise InvalidAnswer(problem or "there is no JSON object in it")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that begin at the braces of a text, from the left; those inside another one after it."""
    for number, brace in enumerate(re.finditer(r"\{", text)):
        if number >= _MAX_CANDIDATES:
            return
        try:
            value, _ = _DECODER.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield _storable(value)


def _storable(value: Any) -> Any:
    """A value of JSON without what no database holds as text."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return {_storable(name): _storable(item) for name, item in value.items()} if isinstance(value, dict) else value


def _described(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "\n".join(f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}" for item in found[:10])


def _text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some are texts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return _UNSTORABLE.sub("\ufffd", content) if isinstance(content, str) else ""


def _without_thinking(text: str) -> str:
    thought = _THINKING.match(text)
    return (text[thought.end() :] if thought else text).strip()
