"""Answers of models are read whatever they are wrapped in, and only when they are what was asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from reverie_server.llm.answers import MAX_LINES, Flush
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.parse import Answer, InvalidAnswer, ends_in_loop, parse_answer, read_completion


class Point(BaseModel):
    model_config = ConfigDict(extra="forbid")

    x: int
    label: str = ""


def completion(content: Any, *, finish: str = "stop", **message: Any) -> bytes:
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return json.dumps({"choices": [choice]}).encode()


@pytest.mark.parametrize(
    "text",
    [
        '{"x": 1}',
        '```json\n{"x": 1}\n```',
        'Sure!\n```\n{"x": 1}\n```\nAnything else? {"x": 2}',
        'The form {x} is filled in: {"x": 1}.',
        '{"answer": {"x": 1}}',
        '{"y": 3} is wrong, so {"x": 1}',
        '{"x": 1, "label": "a } in a string, and \\"quotes\\" {"}'[:-1] + "}",
    ],
)
def test_the_first_object_that_validates_is_taken(text: str) -> None:
    assert parse_answer(text, Point).x == 1


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"x": 1', "{}", '{"x": "many"}', '{"x": 1, "z": 2}', "{" * 5000])
def test_what_does_not_validate_is_said_so(text: str) -> None:
    with pytest.raises(InvalidAnswer):
        parse_answer(text, Point)


@pytest.mark.parametrize(
    ("text", "is_loop"),
    [
        ("She lives in Oslo. " + "I am here to help. " * 5, True),
        # Cut in the middle, as a bound cuts it.
        (("We decided. " + "2026-05-12. " * 40)[:300], True),
        ("前面的话。" + "我喜欢这个。" * 20, True),
        ("no " * 27 + "\n", True),
        ("no " * 20, False),
        ("I am here to help. " * 3, False),
        (
            "I am here to help. " * 10
            + "Then she moved to Bergen, where her sister runs a small bakery by the harbour.",
            False,
        ),
        ("# Long-term Memory\n\n## Notes\n\n" + "".join(f"- Service {n} listens on {n}.\n" for n in range(40)), False),
        ("A table.\n|" + "---|" * 40, False),
        ("-" * 200, False),
        ("", False),
    ],
)
def test_a_text_that_ends_in_a_loop_is_told_from_one_that_repeats_itself_once(text: str, is_loop: bool) -> None:
    assert ends_in_loop(text) == is_loop


def test_an_answer_whose_text_ends_in_a_loop_is_not_used() -> None:
    with pytest.raises(InvalidAnswer) as invalid:
        parse_answer(json.dumps({"lines": ["Ada moved.", "I love it. " * 45]}), Flush)
    assert "again and again" in invalid.value.problem
    assert invalid.value.is_loop
    looped, mended = ({"x": x, "label": "I love it. " * times} for x, times in ((1, 45), (2, 1)))
    assert parse_answer(f"{json.dumps(looped)} {json.dumps(mended)}", Point).x == 2


def test_the_problem_names_the_field_and_not_the_input() -> None:
    with pytest.raises(InvalidAnswer) as invalid:
        parse_answer('{"x": "a secret"}', Point)
    assert invalid.value.problem.startswith("x: ")
    assert "secret" not in invalid.value.problem
    assert "secret" not in str(invalid.value)


def test_lines_of_a_flush_are_texts_and_few() -> None:
    assert parse_answer('{"lines": [" Ada moved. ", "2"]}', Flush).lines == ["Ada moved.", "2"]
    assert parse_answer('{"lines": []}', Flush).lines == []
    for lines in (["…"], [""], ["x" * 501], ["a"] * (MAX_LINES + 1), "a line"):
        with pytest.raises(InvalidAnswer):
            parse_answer(json.dumps({"lines": lines}), Flush)


def test_the_prompts_own_example_is_not_an_answer() -> None:
    assert parse_answer('{"lines": ["…", "…"]}\n{"lines": ["Ada moved."]}', Flush).lines == ["Ada moved."]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (completion(" Fine.\n"), Answer("Fine.", truncated=False)),
        (completion("Fi", finish="length"), Answer("Fi", truncated=True)),
        (completion("", finish="length"), Answer("", truncated=True)),
        (completion("<think>Hm. {}</think>\nFine."), Answer("Fine.", truncated=False)),
        (completion([{"type": "text", "text": "Fi"}, {"type": "text", "text": "ne."}]), Answer("Fine.", False)),
    ],
)
def test_the_text_of_a_completion(body: bytes, expected: Answer) -> None:
    assert read_completion(body) == expected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "unusable"),
        (b"<!doctype html>", "unusable"),
        (b'{"choices": [', "unusable"),
        (b'{"choices": []}', "unusable"),
        (b'{"choices": [null]}', "unusable"),
        (b"[" * 100_000, "unusable"),
        (b"\xff\xfe", "unusable"),
        (b'{"error": {"message": "a secret"}}', "unusable"),
        (completion(None), "empty"),
        (completion("  \n"), "empty"),
        (completion(["text"]), "empty"),
        (completion("<think>Hm.</think>"), "empty"),
        (completion(None, refusal="I will not."), "refused"),
        (completion("Half an", finish="content_filter"), "refused"),
    ],
)
def test_a_body_without_an_answer_is_a_typed_error(body: bytes, reason: str) -> None:
    with pytest.raises(LanguageModelUnavailable) as failed:
        read_completion(body)
    assert failed.value.reason == reason
    assert "secret" not in failed.value.detail


def test_what_no_database_holds_is_not_in_an_answer() -> None:
    """Seen in a black-box test: a NUL in a summary kept a session from ever being compacted."""
    assert parse_answer('{"x": 1, "label": "a\\u0000b\\ud800"}', Point).label == "a\ufffdb\ufffd"
    assert read_completion(completion("a\x00b")) == Answer("a\ufffdb", truncated=False)
