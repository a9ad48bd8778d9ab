"""Tolerant parsing of a provider's answer. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from reverie_server.llm.errors import LanguageModelUnavailable

T = TypeVar("T", bound=BaseModel)

# Some models write their thinking before the answer.
_THINKING = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
# Characters that PostgreSQL cannot store; escapes of JSON can produce them.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_PROBLEM_CHARS = 2000
_MAX_CANDIDATES = 200
# The limit of characters that are parsed as JSON, as a multiple of the text: nested brackets are parsed repeatedly.
_MAX_READINGS = 8
_FREE_CHARS = 20_000
# No answer is nested deeper. Deeper values are refused, since recursive functions may not walk them.
_MAX_DEPTH = 50
# A model that repeats itself goes on until a limit ends it, so the end of its text shows the loop. Where an endpoint
# follows a schema, the bound of a text is that limit, and the answer validates.
_LOOP_TIMES = 4
_MIN_LOOP_CHARS = 80
_LOOP_WINDOW_CHARS = 2000
_LOOPS = "It says the same words again and again: say each thing once, and end."
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Answer:
    """The text of a completion, without thinking aloud. `truncated`: it ended at the limit of tokens.

    The tokens of prompt and answer are those that the endpoint counted; None where it says none.
    """

    text: str
    truncated: bool
    input_tokens: int | None = None
    output_tokens: int | None = None


class InvalidAnswer(Exception):
    """No JSON object of an answer validates. `problem` is for the model that wrote it, not for logs.

    `is_loop`: the model said the same words again and again.
    """

    def __init__(self, problem: str, *, is_loop: bool = False) -> None:
        super().__init__("the answer does not validate")
        self.problem = problem[:_MAX_PROBLEM_CHARS]
        self.is_loop = is_loop


def read_completion(body: bytes) -> Answer:
    """The answer in the body of a completion.

    LanguageModelUnavailable for a body that is none (`unusable`), a refusal (`refused`), no text (`empty`).
    """
    try:
        completion = json.loads(body)
        choice = completion["choices"][0]
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
    usage = completion.get("usage") or {}
    return Answer(text, truncated, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _count(usage: Any, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count < 2**53 else None


def parse_answer(text: str, answer: type[T]) -> T:
    """The first JSON object in the text that validates; InvalidAnswer when none does.

    Code fences, and text around the object, are ignored. An object with a text that ends in a loop is invalid.
    """
    problem: str | None = None
    for candidate in _objects(text):
        try:
            value = answer.model_validate(candidate)
        except ValidationError as error:
            problem = problem or _described(error)
            continue
        if not any(ends_in_loop(one) for one in _texts(candidate)):
            return value
        problem = problem or _LOOPS
    is_loop = problem == _LOOPS or ends_in_loop(text)
    raise InvalidAnswer(problem or "there is no JSON object in it", is_loop=is_loop)


def ends_in_loop(text: str) -> bool:
    """Whether a text ends with the same words four times and more, over at least 80 characters.

    The least period of the end of length n is n − b(n), where b(n) is the length of its longest proper border
    (Knuth, Morris and Pratt), here of the text read backwards.
    """
    tail = text.rstrip()[: -_LOOP_WINDOW_CHARS - 1 : -1]
    borders = [0] * len(tail)
    for at in range(1, len(tail)):
        border = borders[at - 1]
        while border and tail[at] != tail[border]:
            border = borders[border - 1]
        borders[at] = border + (tail[at] == tail[border])
        length = at + 1
        period = length - borders[at]
        if length >= max(_MIN_LOOP_CHARS, _LOOP_TIMES * period):
            # Rules and tables repeat signs, not words.
            return any(character.isalnum() for character in tail[:period])
    return False


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value of JSON, names of fields left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that begin at the braces of a text, from the left; those inside another one after it."""
    left = _FREE_CHARS + _MAX_READINGS * len(text)
    for brace in islice(re.finditer(r"\{", text), _MAX_CANDIDATES):
        start, value = brace.start(), None
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            end = error.pos
        except (ValueError, RecursionError):
            # Numbers or brackets beyond the parser's limits: nothing tells where the object ends.
            end = len(text)
        left -= end - start
        if isinstance(value, dict) and _depth(value) <= _MAX_DEPTH:
            yield _storable(value)
        if left <= 0:
            return


def _depth(value: Any) -> int:
    """How deep a value of JSON is nested, counted up to _MAX_DEPTH + 1."""
    level, depth = [value], 0
    while level and depth <= _MAX_DEPTH:
        inside = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level, depth = [item for items in inside for item in items], depth + 1
    return depth


def _storable(value: Any) -> Any:
    """A value of JSON, with characters that PostgreSQL cannot store replaced."""
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
