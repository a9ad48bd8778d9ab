"""The health of the background work over HTTP: what waits, runs and has failed, for whoever may see it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests import scripted_model as reply
from tests.conftest import PLAIN, ServeRuntime
from tests.contract.conftest import check_problem
from tests.jobs import Recorded, deferred, with_stages, without_facts
from tests.scripted_model import ScriptedModel

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import EmbedderUnavailable
from reverie_indexer.model import Place
from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.model import STAGES, Work
from reverie_server.jobs.queue import JobRules
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.endpoint import Endpoint, EndpointConfig
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.prompts import load_prompt
from reverie_server.llm.provider import LanguageModel
from reverie_server.runtime import Runtime

ADA, BO = "user:1", "user:2"
OF_ADA = Work("semantic", "default", "wren", ADA)
PATH = "/agents/wren/pipeline"
SUMMARY = {"previous": "", "transcript": "Ada hid the key.", "max_words": "200"}


@pytest.fixture
async def system(runtime: Runtime) -> Runtime:
    """An agent with memory of two owners and the team, whose stage `semantic` fails, once and for all."""
    without_facts(runtime)
    for owner in (ADA, BO, None):
        place = Place("default", "wren", "personal" if owner else "team", owner)
        await runtime.pipeline.write(place, overwrite("a.md", "lantern", by="t", reason="t"))
    stages = {"semantic": Recorded(EmbedderUnavailable("down"), failures=1), "dedup": Recorded()}
    return with_stages(runtime, stages, JobRules(max_attempts=1))  # type: ignore[arg-type]  # the names are stages


@pytest.fixture
async def http(system: Runtime, serve_runtime: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    base_url = await serve_runtime(system)
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", timeout=30, verify=PLAIN) as client:
        yield client


async def stages_of(http: httpx.AsyncClient, **query: Any) -> dict[str, Any]:
    answer = await http.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["stages"]


def counts(stage: dict[str, Any]) -> tuple[int, int, int, int]:
    return stage["pending"], stage["running"], stage["scheduled"], stage["failed"]


async def test_the_pipeline_says_what_waits_has_failed_and_was_done(
    http: httpx.AsyncClient, system: Runtime, database: Database
) -> None:
    fresh = await stages_of(http, owner_key=ADA)
    assert fresh.keys() == set(STAGES)
    assert fresh["extraction"] == {
        **dict.fromkeys(("pending", "running", "scheduled", "failed"), 0),
        **dict.fromkeys(("last_started_at", "last_success_at", "last_failed_at"), None),
        **dict.fromkeys(("last_status", "last_reason", "last_error", "last_method"), None),
    }
    job_id = await deferred(database, OF_ADA)
    await deferred(database, Work("dreaming", "default", "wren", ADA), after_seconds=600)
    await deferred(database, Work("dedup", "default", "wren", None))
    there = await stages_of(http, owner_key=ADA)
    assert [counts(there[name]) for name in ("semantic", "dreaming", "dedup")] == [
        (1, 0, 0, 0),
        (0, 0, 1, 0),  # it waits for its time
        (1, 0, 0, 0),  # the team's is everybody's
    ]
    await drain(system)
    there = await stages_of(http, owner_key=ADA)
    assert counts(there["semantic"]) == (0, 0, 0, 1)
    assert (there["semantic"]["last_error"], there["semantic"]["last_success_at"]) == ("embedder_unavailable", None)
    assert (there["dedup"]["last_status"], there["dedup"]["last_method"]) == ("completed", "extractive")
    assert there["dedup"]["last_success_at"].endswith("Z")
    letters = (await http.get(PATH, params={"owner_key": ADA})).json()["dead_letters"]
    assert [(each["job_id"], each["stage"], each["attempts"], each["error"]) for each in letters] == [
        (str(job_id), "semantic", 1, "embedder_unavailable")
    ]
    # Tried again, it succeeds.
    for body in ({"owner_key": BO}, {"owner_key": ADA, "stage": "dedup"}, {"owner_key": ADA, "job_id": "999"}):
        answer = await http.post(f"{PATH}/retry", json=body)
        assert (answer.status_code, answer.json()) == (202, {"retried": 0}), body
    answer = await http.post(f"{PATH}/retry", json={"owner_key": ADA, "stage": "semantic", "job_id": str(job_id)})
    assert (answer.status_code, answer.json()) == (202, {"retried": 1})
    assert counts((await stages_of(http, owner_key=ADA))["semantic"]) == (1, 0, 0, 0)
    assert await drain(system) == 1
    there = await stages_of(http, owner_key=ADA)
    assert counts(there["semantic"]) == (0, 0, 0, 0)
    assert there["semantic"]["last_success_at"] > there["semantic"]["last_failed_at"]


async def test_another_owners_work_is_never_seen_or_touched(
    http: httpx.AsyncClient, system: Runtime, database: Database
) -> None:
    await deferred(database, OF_ADA)
    await drain(system)
    await deferred(database, Work("dedup", "default", "wren", ADA))
    elsewhere = Work("dedup", "acme", "wren", ADA)
    await deferred(database, elsewhere)
    _, of_bo = await system.keys.create("default", "member", owner_key=BO)
    _, admin = await system.keys.create("default", "admin")
    _, viewer = await system.keys.create("default", "viewer")
    for key, query in ((of_bo, {}), (admin, {"owner_key": BO})):
        http.headers["Authorization"] = f"Bearer {key}"
        answer = await http.get(PATH, params=query)
        assert ADA not in answer.text
        assert answer.json()["dead_letters"] == []
        assert {counts(stage) for stage in answer.json()["stages"].values()} == {(0, 0, 0, 0)}
        assert {stage["last_started_at"] for stage in answer.json()["stages"].values()} == {None}
        answer = await http.post(f"{PATH}/retry", json=query)
        assert answer.json() == {"retried": 0}
    assert (await http.post(f"{PATH}/retry", json={})).json() == {"retried": 0}
    everybody = await stages_of(http, owner_key="*")
    assert (counts(everybody["semantic"]), counts(everybody["dedup"])) == ((0, 0, 0, 1), (1, 0, 0, 0))
    http.headers["Authorization"] = f"Bearer {of_bo}"
    check_problem(await http.get(PATH, params={"owner_key": ADA}), 403, "forbidden")
    check_problem(await http.get(PATH, params={"owner_key": "*"}), 403, "forbidden")
    check_problem(await http.post(f"{PATH}/retry", json={"owner_key": "*"}), 403, "forbidden")
    http.headers["Authorization"] = f"Bearer {viewer}"
    assert counts((await stages_of(http, owner_key=ADA))["semantic"]) == (0, 0, 0, 1)
    check_problem(await http.post(f"{PATH}/retry", json={"owner_key": ADA}), 403, "forbidden")
    http.headers["Authorization"] = f"Bearer {admin}"
    assert (await http.post(f"{PATH}/retry", json={"owner_key": "*"})).json() == {"retried": 1}


async def test_without_an_owner_an_unbound_key_sees_all_and_how_the_models_did(
    http: httpx.AsyncClient, system: Runtime, database: Database, scripted: ScriptedModel
) -> None:
    for owner in (ADA, BO, None):
        await deferred(database, Work("semantic" if owner == ADA else "dedup", "default", "wren", owner))
    await deferred(database, Work("dedup", "acme", "wren", ADA))
    await drain(system)
    endpoint = Endpoint(EndpointConfig(scripted.base_url, "m", max_retries=0))
    llm = LanguageModel(endpoint, CallBudget(database, 3))
    scripted.plan(reply.says("- Ada hid the key."), reply.fails(503), reply.fails(429))

    async def summary() -> None:
        with contextlib.suppress(LanguageModelUnavailable):
            await llm.complete("default", load_prompt("summary"), SUMMARY, max_tokens=100)

    async def models(key: str | None, **query: Any) -> Any:
        http.headers.pop("Authorization", None)
        if key is not None:
            http.headers["Authorization"] = f"Bearer {key}"
        answer = await http.get(PATH, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()["models"]

    await summary()
    found = await models(None)
    assert found["embedder"] == "ready"
    up = found["language_model"]
    assert (up["name"], up["calls"], up["answered"], up["failures"], up["down"]) == (None, 1, 1, {}, None)
    for _ in range(3):
        await summary()
    await llm.aclose()
    _, of_bo = await system.keys.create("default", "member", owner_key=BO)
    _, of_crow = await system.keys.create("default", "admin", agent_ids=["crow"])
    for role in ("viewer", "member", "admin"):
        _, key = await system.keys.create("default", role)
        down = (await models(key))["language_model"]
        assert (down["calls"], down["answered"], down["down"]) == (3, 1, "over_budget")
        assert down["failures"] == {"failed": 1, "rate_limited": 1, "over_budget": 1}
        assert down["last_failed_at"] > down["last_answered_at"]
        assert counts((await stages_of(http))["semantic"]) == (0, 0, 0, 1)
        assert await models(key, owner_key=ADA) is None
    assert await models(of_bo) is None
    assert counts((await stages_of(http))["semantic"]) == (0, 0, 0, 0), "Ada's is not Bo's to see"
    _, acme = await system.keys.create("acme", "admin")
    await system.pipeline.write(Place("acme", "wren", "team"), overwrite("a.md", "x", by="t", reason="t"))
    assert (await models(acme))["language_model"]["calls"] == 0, "another tenant's are its own"
    http.headers["Authorization"] = f"Bearer {of_crow}"
    check_problem(await http.get(PATH), 403, "forbidden")
    shown = (await http.get(str(http.base_url).replace("api/v1/", "metrics"))).text
    assert "reverie_model_calls_today 3.0" in shown
    assert "reverie_model_calls_today_most 3.0" in shown
    assert "reverie_model_calls_budget 1000.0" in shown
    assert 'reverie_model_outcomes_today{outcome="answered"} 1.0' in shown
    assert 'reverie_model_outcomes_today{outcome="rate_limited"} 1.0' in shown
    assert "reverie_model_down 1.0" in shown


async def test_what_is_wrong_with_a_request_is_said(http: httpx.AsyncClient) -> None:
    check_problem(await http.get("/agents/nobody/pipeline"), 404, "not_found")
    check_problem(await http.get(PATH, params={"stage": "semantic"}), 422, "validation_error")
    for body in ({"stage": "sleep"}, {"job_id": "x"}, {"job_id": 3}, {"job_id": "9" * 30}, {"owner": ADA}):
        check_problem(await http.post(f"{PATH}/retry", json=body), 422, "validation_error")
    assert (await http.post(f"{PATH}/retry")).status_code == 202


async def test_metrics_count_runs_and_jobs_by_stage_and_nobody_by_name(
    http: httpx.AsyncClient, system: Runtime, database: Database
) -> None:
    await deferred(database, OF_ADA)
    await deferred(database, Work("dedup", "acme", "wren", ADA))
    await drain(system)
    await deferred(database, Work("dedup", "acme", "wren", ADA), after_seconds=60)
    shown = (await http.get(str(http.base_url).replace("api/v1/", "metrics"))).text
    assert 'reverie_stage_runs_total{method="none",stage="semantic",status="failed"} 1.0' in shown
    assert 'reverie_stage_runs_total{method="extractive",stage="dedup",status="completed"} 1.0' in shown
    assert 'reverie_stage_seconds_count{stage="dedup"} 1.0' in shown
    assert 'reverie_stage_seconds_bucket{le="600.0",stage="dedup"} 1.0' in shown
    assert 'reverie_jobs{stage="semantic",state="failed"} 1.0' in shown
    assert 'reverie_jobs{stage="dedup",state="scheduled"} 1.0' in shown
    assert "reverie_workers 0.0" in shown
    assert not {"acme", "wren", ADA} & set(shown.replace('"', " ").split())


async def test_metrics_say_how_long_the_oldest_job_that_is_due_waits_and_runs(
    http: httpx.AsyncClient, system: Runtime, database: Database
) -> None:
    """A job that is to wait is not late, whenever it was deferred; one that was to wait is late from its time on."""
    old, waits, was_to_wait, runs = [
        await deferred(database, Work(stage, "acme", "wren", ADA))
        for stage in ("dedup", "semantic", "episodic", "emergence")
    ]
    async with database.maintenance() as connection:
        await connection.execute("UPDATE procrastinate_events SET at = at - interval '1 hour'")
        for job_id, at in ((waits, "+ interval '1 minute'"), (was_to_wait, "- interval '10 minutes'")):
            await connection.execute(
                f"UPDATE procrastinate_jobs SET scheduled_at = now() {at} WHERE id = %s", (job_id,)
            )
        await connection.execute("UPDATE procrastinate_jobs SET status = 'doing' WHERE id = %s", (runs,))
        await connection.execute(
            "UPDATE procrastinate_events SET at = at - interval '2 minutes' WHERE job_id = %s AND type = 'started'",
            (runs,),
        )
    shown = (await http.get(str(http.base_url).replace("api/v1/", "metrics"))).text
    found = re.findall(r'^reverie_jobs_oldest_seconds\{stage="(\w+)",state="(\w+)"\} (\S+)$', shown, re.MULTILINE)
    minutes = {(stage, state): round(float(seconds) / 60) for stage, state, seconds in found}
    assert minutes.keys() == {(stage, state) for stage in STAGES for state in ("pending", "running")}
    late = {("dedup", "pending"): 60, ("episodic", "pending"): 10, ("emergence", "running"): 2}
    assert {which: at for which, at in minutes.items() if at} == late
    assert old < waits < was_to_wait < runs
