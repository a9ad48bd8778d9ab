"""The provider's models, by the `openai` client over real HTTP."""

from __future__ import annotations

import httpx
import openai
import pytest
from pydantic import SecretStr
from tests import scripted_model as reply
from tests.conftest import ServeRuntime
from tests.contract.conftest import check_problem
from tests.proxied import Served
from tests.scripted_model import MODELS, ScriptedModel

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.settings.server import Settings


async def test_the_providers_models_are_listed_as_it_lists_them(served: Served, scripted: ScriptedModel) -> None:
    async with served.client() as client:
        assert [model.id async for model in client.models.list()] == ["scripted"]
        raw = await client.models.with_raw_response.list(extra_query={"client_version": "1.2"})
    assert raw.content == MODELS
    assert raw.headers["content-type"] == "application/json"
    assert [asked.url for asked in scripted.requests] == ["/v1/models", "/v1/models?client_version=1.2"]


async def test_an_error_of_the_provider_is_passed_on(served: Served, scripted: ScriptedModel) -> None:
    failure = reply.rate_limited("7")
    scripted.plan(failure)
    async with served.client() as client:
        with pytest.raises(openai.RateLimitError) as failed:
            await client.models.list()
        assert failed.value.response.content == failure.body
        assert failed.value.response.headers["retry-after"] == "7"
        scripted.plan(reply.Reply(body=MODELS, cut_after=0))
        with pytest.raises(openai.APIError):
            await client.models.list()


async def test_the_providers_key_goes_through_an_open_server_and_ours_stays_here(
    served: Served, scripted: ScriptedModel
) -> None:
    async with served.client(key="sk-provider") as client:
        await client.models.list()
    assert scripted.requests[-1].headers["authorization"] == "Bearer sk-provider"
    _, key = await served.runtime.keys.create("default", "viewer")
    async with served.client(key=key) as client:
        await client.models.list()
    assert key not in scripted.requests[-1].headers["authorization"]
    async with served.client(key="rv_wrong") as client:
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()
    assert len(scripted.requests) == 2


async def test_the_servers_own_key_of_the_provider_is_used(
    database: Database, models: ModelSlot, scripted: ScriptedModel, serve_runtime: ServeRuntime
) -> None:
    settings = Settings(
        embedder="hashing", llm_base_url=scripted.base_url, llm_model="m", llm_api_key=SecretStr("sk-server")
    )
    runtime = assemble(settings, database, models)
    async with httpx.AsyncClient(base_url=await serve_runtime(runtime)) as http:
        await http.get("/v1/models", headers={"Authorization": "Bearer sk-callers"})
    assert scripted.requests[0].headers["authorization"] == "Bearer sk-server"
    assert runtime.llm is not None
    await runtime.llm.aclose()


async def test_without_a_provider_it_says_so(client: httpx.AsyncClient) -> None:
    url = str(client.base_url).replace("/api/v1", "/v1/models").rstrip("/")
    assert check_problem(await client.get(url), 503, "llm_not_configured")["error"]["code"] == "llm_not_configured"
