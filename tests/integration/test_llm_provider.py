"""The language model over real HTTP, against an endpoint that misbehaves in every way we know of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import date
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests import scripted_model as reply
from tests.scripted_model import Reply, ScriptedModel

from reverie_indexer.database.database import Database
from reverie_indexer.errors import SetupError
from reverie_server.llm.answers import Flush
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.endpoint import Endpoint, EndpointConfig
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.prompts import load_prompt
from reverie_server.llm.provider import LanguageModel

KEY = "sk-very-secret-key"
MEMORY = "Zanzibar is where Ada hid the key."
SUMMARY = {"previous": "", "transcript": MEMORY, "max_words": "200"}
FLUSH = {"previous": "", "transcript": MEMORY}

Connect = Callable[..., LanguageModel]


@pytest.fixture
async def connect(database: Database, scripted: ScriptedModel) -> AsyncIterator[Connect]:
    made: list[LanguageModel] = []

    def connect(
        *, calls: int = 100, today: Callable[[], date] = lambda: date(2026, 4, 3), **config: Any
    ) -> LanguageModel:
        config = {"base_url": scripted.base_url, "model": "m", "api_key": KEY, **config}
        made.append(LanguageModel(Endpoint(EndpointConfig(**config)), CallBudget(database, calls, today)))
        return made[-1]

    yield connect
    for model in made:
        await model.aclose()


async def summary(model: LanguageModel, **options: Any) -> str:
    answer = await model.complete("t", load_prompt("summary"), SUMMARY, **{"max_tokens": 500, **options})
    return answer.text


async def flush(model: LanguageModel, **options: Any) -> list[str]:
    answer = await model.structured("t", load_prompt("flush"), FLUSH, Flush, **{"max_tokens": 500, **options})
    return answer.value.lines


async def calls_made(database: Database, tenant_id: str = "t") -> dict[str, int]:
    rows = await database.query(
        tenant_id, b"SELECT day, calls FROM model_calls WHERE tenant_id = %(t)s ORDER BY day", {"t": tenant_id}
    )
    return {row["day"].isoformat(): row["calls"] for row in rows}


async def test_a_completion_says_which_prompt_and_model_made_it(connect: Connect, scripted: ScriptedModel) -> None:
    scripted.plan(reply.says("- Ada hid the key.\n"))
    made = await connect().complete("t", load_prompt("summary"), SUMMARY, max_tokens=500, temperature=0.3)
    assert (made.text, made.prompt, made.prompt_version, made.model) == ("- Ada hid the key.", "summary", "1", "m")
    [asked] = scripted.requests
    assert {key: value for key, value in asked.body.items() if key != "messages"} == {
        "model": "m",
        "max_tokens": 500,
        "temperature": 0.3,
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert [message["role"] for message in asked.messages] == ["system", "user"]
    assert f"<transcript>\n{MEMORY}\n</transcript>" in asked.texts("user")


async def test_nothing_of_the_environment_goes_to_the_endpoint(
    connect: Connect, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-somebody-else")
    await summary(connect(api_key=None))
    assert "of-somebody-else" not in json.dumps(scripted.requests[0].headers)


@pytest.mark.parametrize(
    "answer", [reply.says_json({"lines": ["One.", "Two."]}), reply.fenced({"lines": ["One.", "Two."]})]
)
async def test_a_structured_answer_is_read_through_its_wrapping(
    connect: Connect, scripted: ScriptedModel, answer: Reply
) -> None:
    scripted.plan(answer)
    assert await flush(connect()) == ["One.", "Two."]
    assert len(scripted.requests) == 1


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (reply.says("I would note two things."), "no JSON object"),
        (reply.says_json({"lines": "One."}), "lines: "),
        (reply.says_json({"notes": ["One."]}), "lines: Field required"),
        (reply.truncated('{"lines": ["One.", "Tw'), "cut off"),
    ],
)
async def test_an_invalid_answer_is_asked_for_once_more_with_what_is_wrong(
    connect: Connect, scripted: ScriptedModel, bad: Reply, said: str
) -> None:
    scripted.plan(bad, reply.fenced({"lines": ["One."]}))
    assert await flush(connect()) == ["One."]
    first, second = scripted.requests
    assert second.messages[:2] == first.messages
    assert [message["role"] for message in second.messages[2:]] == ["assistant", "user"]
    assert second.messages[2]["content"] == bad.content
    assert said in second.messages[3]["content"]


async def test_two_invalid_answers_are_the_last(connect: Connect, scripted: ScriptedModel) -> None:
    scripted.script = lambda _: reply.says(MEMORY)
    with pytest.raises(LanguageModelUnavailable) as failed:
        await flush(connect())
    assert failed.value.reason == "unusable"
    assert len(scripted.requests) == 2


async def test_an_answer_that_is_cut_off_twice_is_said_to_be(connect: Connect, scripted: ScriptedModel) -> None:
    scripted.script = lambda _: reply.truncated('{"lines": ["One')
    with pytest.raises(LanguageModelUnavailable) as failed:
        await flush(connect())
    assert failed.value.reason == "truncated"


BAD = {
    "truncated": reply.truncated(f"- {MEMORY} and"),
    "refused": reply.refused(f"I will not speak of {MEMORY}"),
    "empty": Reply(""),
    "unusable": reply.broken_json(),
    "html": reply.html(),
    "rejected": reply.fails(400, "invalid_request", f"not this: {MEMORY} {KEY}"),
    "unauthorised": reply.fails(401, "invalid_api_key", f"Incorrect API key provided: {KEY}"),
    "unknown": reply.fails(404, "model_not_found", f"no model for {MEMORY}"),
    "quota": reply.fails(429, "insufficient_quota", f"pay first, {KEY}"),
    "not_again": reply.fails(503, headers={"x-should-retry": "false"}),
    "failed": reply.fails(500, "server_error", f"broke on {MEMORY}"),
    "rate_limited": reply.rate_limited(),
    "cut": Reply(MEMORY, cut_after=20),
}
REASONS = {
    "html": "unusable", "unauthorised": "rejected", "unknown": "rejected", "quota": "rate_limited",
    "not_again": "failed", "cut": "unreachable",
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
async def test_every_misbehaviour_is_a_typed_error_that_tells_no_secret(
    connect: Connect, scripted: ScriptedModel, kind: str
) -> None:
    scripted.script = lambda _: BAD[kind]
    with capture_logs() as logs, pytest.raises(LanguageModelUnavailable) as failed:
        await summary(connect(max_retries=0))
    assert failed.value.reason == REASONS.get(kind, kind)
    told = f"{failed.value.detail} {failed.value.extra} {logs} {failed.value.__cause__!r}"
    assert KEY not in told
    assert "Zanzibar" not in told
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("kind", ["quota", "not_again", "rejected", "unauthorised", "unusable", "truncated", "refused"])
async def test_what_will_not_pass_is_not_asked_again(connect: Connect, scripted: ScriptedModel, kind: str) -> None:
    scripted.script = lambda _: BAD[kind]
    with pytest.raises(LanguageModelUnavailable):
        await summary(connect(max_retries=5))
    assert len(scripted.requests) == 1


async def test_a_closed_port_is_said_to_be_unreachable(connect: Connect) -> None:
    with pytest.raises(LanguageModelUnavailable) as failed:
        await summary(connect(base_url=reply.unused_base_url(), max_retries=0))
    assert failed.value.reason == "unreachable"


async def test_an_endpoint_that_hangs_is_given_up_and_hung_up_on(connect: Connect, scripted: ScriptedModel) -> None:
    scripted.plan(reply.hangs())
    with pytest.raises(LanguageModelUnavailable) as failed:
        await summary(connect(), timeout_seconds=0.3)
    assert failed.value.reason == "timeout"
    async with asyncio.timeout(10):
        await scripted.left.wait()


@pytest.mark.parametrize(
    "passing",
    [
        reply.rate_limited("0"),
        reply.rate_limited(retry_after_ms="10"),
        reply.fails(500, headers={"Retry-After-Ms": "1"}),
        reply.fails(503, headers={"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"}),
    ],
)
async def test_what_may_pass_is_asked_again(connect: Connect, scripted: ScriptedModel, passing: Reply) -> None:
    scripted.plan(passing, passing, reply.says("Done."))
    assert await summary(connect(max_retries=2)) == "Done."
    assert len(scripted.requests) == 3


async def test_retries_end(connect: Connect, scripted: ScriptedModel) -> None:
    scripted.script = lambda _: reply.rate_limited("0")
    with pytest.raises(LanguageModelUnavailable) as failed:
        await summary(connect(max_retries=2))
    assert (failed.value.reason, failed.value.status) == ("rate_limited", 429)
    assert len(scripted.requests) == 3


async def test_a_wait_past_the_deadline_is_not_begun(connect: Connect, scripted: ScriptedModel) -> None:
    # Were it begun, the reason would be the time-out.
    scripted.script = lambda _: reply.rate_limited("100")
    with pytest.raises(LanguageModelUnavailable) as failed:
        await summary(connect(max_retries=2), timeout_seconds=15)
    assert failed.value.reason == "rate_limited"
    assert len(scripted.requests) == 1


async def test_a_model_that_wants_the_other_name_of_the_limit_gets_it(
    connect: Connect, scripted: ScriptedModel
) -> None:
    scripted.plan(
        reply.fails(
            400,
            "unsupported_parameter",
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            param="max_tokens",
        ),
        reply.fails(400, "unsupported_value", "'temperature' does not support 0.3", param="temperature"),
    )
    model = connect(max_retries=0)
    assert await summary(model, temperature=0.3) == "Noted."
    assert await summary(model, temperature=0.3) == "Noted."
    assert [asked.body.keys() - {"model", "messages"} for asked in scripted.requests] == [
        {"max_tokens", "temperature"},
        {"max_completion_tokens", "temperature"},
        {"max_completion_tokens"},
        {"max_completion_tokens"},
    ]


async def test_a_lone_surrogate_does_not_lose_the_call(connect: Connect, scripted: ScriptedModel) -> None:
    await connect().complete("t", load_prompt("flush"), {**FLUSH, "transcript": "a\ud800b"}, max_tokens=5)
    assert "a\ufffdb" in scripted.requests[0].texts("user")


async def test_the_budget_is_a_tenants_and_a_days(
    connect: Connect, scripted: ScriptedModel, database: Database
) -> None:
    day = date(2026, 12, 31)
    model = connect(calls=2, today=lambda: day)
    await summary(model)
    await summary(model)
    with pytest.raises(LanguageModelUnavailable) as failed:
        await summary(model)
    assert failed.value.reason == "over_budget"
    assert len(scripted.requests) == 2
    await model.complete("another", load_prompt("summary"), SUMMARY, max_tokens=5)
    day = date(2027, 1, 1)
    await summary(model)
    assert await calls_made(database) == {"2026-12-31": 2, "2027-01-01": 1}
    assert await calls_made(database, "another") == {"2026-12-31": 1}


async def test_no_budget_is_no_call(connect: Connect, scripted: ScriptedModel, database: Database) -> None:
    with pytest.raises(LanguageModelUnavailable):
        await summary(connect(calls=0))
    assert scripted.requests == []
    assert await calls_made(database) == {}


async def test_calls_at_once_never_spend_more_than_the_budget(
    connect: Connect, scripted: ScriptedModel, database: Database
) -> None:
    model = connect(calls=7)
    done = await asyncio.gather(*(summary(model) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(each, str) for each in done) == 7
    assert {each.reason for each in done if isinstance(each, LanguageModelUnavailable)} == {"over_budget"}
    assert len(scripted.requests) == 7
    assert await calls_made(database) == {"2026-04-03": 7}


async def test_what_the_provider_refuses_counts_and_so_does_every_repetition(
    connect: Connect, scripted: ScriptedModel, database: Database
) -> None:
    scripted.plan(reply.rate_limited("0"), reply.fails(400), reply.says("no JSON"), reply.says_json({"lines": []}))
    model = connect()
    with pytest.raises(LanguageModelUnavailable):
        await summary(model)
    assert await flush(model) == []
    assert await calls_made(database) == {"2026-04-03": 4}


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://x/v1", "http://", "http://x:99999/v1"])
def test_an_address_that_is_none_is_said_at_start(url: str) -> None:
    with pytest.raises(SetupError, match="REVERIE_LLM_BASE_URL"):
        Endpoint(EndpointConfig(base_url=url, model="m"))
