"""The answer is read out of a stream's bytes, however they are cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.llm.streamed import Answered, StreamedAnswer, whole_answer


def event(finish: str | None = None, *, index: int = 0, **delta: Any) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}\n\n".encode()


def call(index: int, arguments: str, **begin: Any) -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": begin.pop("name")} if "name" in begin else {})}
    return {"index": index, "function": function, **begin}


DONE = b"data: [DONE]\n\n"
STREAM = b"".join(
    [
        b": a comment\n\nevent: message\n",
        event(role="assistant", content=""),
        event(content="Grüße, "),
        event(content="nicht meins", index=1),
        event(content="世界.\u2028"),
        event(tool_calls=[call(0, '{"da', name="calendar", id="c1", type="function")]),
        event(tool_calls=[call(1, "", name="clock", id="c2")]),
        event(tool_calls=[call(0, 'y": 4}')]),
        event("tool_calls"),
        b'data: {"choices": [], "usage": {"total_tokens": 3}}\n\n',
        DONE,
    ]
)
SAID = Answered(
    "Grüße, 世界.\u2028",
    (
        {"id": "c1", "type": "function", "function": {"name": "calendar", "arguments": '{"day": 4}'}},
        {"id": "c2", "type": "function", "function": {"name": "clock", "arguments": ""}},
    ),
)


def read(*pieces: bytes) -> Answered | None:
    streamed = StreamedAnswer()
    for piece in pieces:
        streamed.feed(piece)
    return streamed.answer()


@given(st.lists(st.integers(0, len(STREAM)), max_size=40), st.sampled_from([b"\n", b"\r\n"]))
def test_any_pieces_of_a_stream_give_the_same_answer(cuts: list[int], line_end: bytes) -> None:
    stream = STREAM.replace(b"\n", line_end)
    edges = [0, *sorted(cuts), len(stream)]
    assert read(*(stream[start:end] for start, end in pairwise(edges))) == SAID


def test_a_stream_that_does_not_say_that_it_is_done_may_be_whole() -> None:
    assert read(event(content="Yes."), event("stop")) == Answered("Yes.", ())
    assert read(event(content="Yes."), event("stop").rstrip()) == Answered("Yes.", ())


def test_a_stream_that_breaks_off_is_no_answer() -> None:
    assert read(event(content="Ye")) is None
    assert read(event(content="Ye"), b'data: {"choices": [{"ind') is None
    assert read() is None


@pytest.mark.parametrize(
    "failure",
    [b'data: {"error": {"message": "overloaded"}}\n\n', b'data: {"error": "x"}\n\n', event("error", content="")],
)
def test_a_stream_with_an_error_in_it_is_no_answer(failure: bytes) -> None:
    assert read(event(content="Ye"), failure, DONE) is None
    assert read(event(content="Yes."), event("stop"), failure, DONE) is None


def test_the_end_is_known_when_it_is_said() -> None:
    streamed = StreamedAnswer()
    streamed.feed(event(content="Yes.") + event("stop"))
    assert not streamed.ended
    streamed.feed(DONE)
    assert streamed.ended


@pytest.mark.parametrize(
    "noise",
    [
        b"data: not json\n\n",
        b"data: 7\n\n",
        b'data: {"choices": 7}\n\n',
        b'data: {"choices": [7]}\n\n',
        b'data: {"error": null, "choices": []}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [7]}}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"\xff\xfe\n\n",
    ],
)
def test_what_is_no_chunk_is_passed_over(noise: bytes) -> None:
    assert read(event(content="Ye"), noise, event(content="s."), event("stop"), DONE) == Answered("Yes.", ())


def test_a_refusal_is_what_was_said() -> None:
    assert read(event(refusal="I will "), event(refusal="not."), event("stop")) == Answered("I will not.", ())
    assert whole_answer(b'{"choices": [{"message": {"content": null, "refusal": "No."}}]}') == Answered("No.", ())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b'{"choices": [{"message": {"content": ""}}]}',
        b'{"choices": [{"message": 7}]}',
        b'{"choices": [{"message": {"content": "Ye"}, "finish_reason": "error"}]}',
    ],
)
def test_a_body_without_an_answer_is_none(body: bytes) -> None:
    assert whole_answer(body) is None


def test_calls_of_tools_in_a_whole_body() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]
    body = json.dumps({"choices": [{"message": {"content": None, "tool_calls": calls}}]}).encode()
    assert whole_answer(body) == Answered("", tuple(calls))
