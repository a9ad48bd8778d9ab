"""Endpoints that take a JSON schema for an answer and those that do not; and models that fall into a loop."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests import scripted_model as reply
from tests.scripted_model import Reply, ScriptedModel

from reverie_indexer.database.database import Database
from reverie_server.llm.answers import Flush
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.endpoint import Endpoint, EndpointConfig
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.prompts import load_prompt
from reverie_server.llm.provider import LanguageModel
from reverie_server.llm.schema import response_format

GOOD = reply.says_json({"lines": ["One."]})


@pytest.fixture
async def model(database: Database, scripted: ScriptedModel) -> AsyncIterator[LanguageModel]:
    config = EndpointConfig(base_url=scripted.base_url, model="m", max_retries=1)
    model = LanguageModel(Endpoint(config), CallBudget(database, 100))
    yield model
    await model.aclose()


async def flush(model: LanguageModel) -> list[str]:
    inputs = {"previous": "", "transcript": "User: hello"}
    answer = await model.structured("t", load_prompt("flush"), inputs, Flush, max_tokens=500)
    return answer.value.lines


def given(scripted: ScriptedModel) -> list[bool]:
    """Of each request, whether it had the schema of the answer."""
    formats = [asked.body.get("response_format") for asked in scripted.requests]
    assert all(one in (None, response_format(Flush)) for one in formats)
    return [one is not None for one in formats]


async def test_the_schema_goes_with_a_question_and_its_repair_and_never_with_a_plain_one(
    model: LanguageModel, scripted: ScriptedModel
) -> None:
    scripted.plan(reply.says("Well."), GOOD, reply.says("- Ada."))
    assert await flush(model) == ["One."]
    inputs = {"previous": "", "transcript": "User: hello", "max_words": "20"}
    await model.complete("t", load_prompt("summary"), inputs, max_tokens=500)
    assert given(scripted) == [True, True, False]


@pytest.mark.parametrize(
    "refusal",
    [
        reply.fails(400, "invalid_request_error", "This response_format type is unavailable now"),
        reply.fails(400, None, "Failed to initialize samplers: failed to parse grammar"),
        reply.fails(422, None, "Extra inputs are not permitted"),
        reply.fails(501, None, "Not implemented"),
        reply.fails(500, "server_error", "JSON schema conversion failed"),
        Reply(None),
    ],
    ids=["unavailable", "grammar", "unknown_field", "not_implemented", "internal", "no_text"],
)
async def test_an_endpoint_that_answers_without_a_schema_alone_is_given_none_any_more(
    model: LanguageModel, scripted: ScriptedModel, refusal: Reply
) -> None:
    scripted.plan(refusal, GOOD, reply.says("Well."), GOOD)
    assert await flush(model) == ["One."]
    assert await flush(model) == ["One."]
    assert given(scripted) == [True, False, False, False]


@pytest.mark.parametrize(
    ("failure", "asked_again"),
    [
        (reply.fails(400, "invalid_request_error", "no"), [True, False]),
        (reply.context_too_long(), [True]),
        (reply.fails(401, "invalid_api_key"), [True]),
        (reply.refused(), [True]),
    ],
    ids=["refused_either_way", "too_long", "key", "refused_by_the_model"],
)
async def test_a_failure_that_is_not_about_the_schema_teaches_nothing(
    model: LanguageModel, scripted: ScriptedModel, failure: Reply, asked_again: list[bool]
) -> None:
    scripted.script = lambda _: failure
    with pytest.raises(LanguageModelUnavailable):
        await flush(model)
    assert given(scripted) == asked_again
    scripted.script = lambda _: GOOD
    assert await flush(model) == ["One."]
    assert given(scripted) == [*asked_again, True]


async def test_what_else_an_endpoint_refuses_is_learned_beside_the_schema(
    model: LanguageModel, scripted: ScriptedModel
) -> None:
    renamed = reply.fails(400, "unsupported_parameter", "Use 'max_completion_tokens' instead.", param="max_tokens")
    scripted.plan(renamed, reply.fails(400, None, "unknown parameter response_format"), reply.fails(503), GOOD, GOOD)
    assert await flush(model) == ["One."]
    assert await flush(model) == ["One."]
    assert given(scripted) == [True, True, False, False, False]
    assert ["max_completion_tokens" in asked.body for asked in scripted.requests] == [False, True, True, True, True]


LOOP = "I am here to help. " * 20


@pytest.mark.parametrize("looping", [reply.truncated(f'{{"lines": ["{LOOP}'), reply.says_json({"lines": [LOOP]})])
async def test_a_model_in_a_loop_is_asked_afresh_and_not_shown_its_words(
    model: LanguageModel, scripted: ScriptedModel, looping: Reply
) -> None:
    scripted.plan(looping, GOOD)
    assert await flush(model) == ["One."]
    first, second = scripted.requests
    assert second.messages == first.messages
    assert first.body["temperature"] == 0.0 < second.body["temperature"]
    scripted.script = lambda _: looping
    with pytest.raises(LanguageModelUnavailable):
        await flush(model)
    assert len(scripted.requests) == 4


async def test_of_an_answer_that_was_too_long_the_beginning_is_shown(
    model: LanguageModel, scripted: ScriptedModel
) -> None:
    long = '{"lines": ["' + ", ".join(f"item {number}" for number in range(1000))
    scripted.plan(reply.truncated(long), GOOD)
    assert await flush(model) == ["One."]
    shown = scripted.requests[1].messages[2]["content"]
    assert shown == f"{long[:1000]}…"
