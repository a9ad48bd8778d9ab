"""Jobs are deferred in the transaction of their cause and run once that has committed, each to an end."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from structlog.testing import capture_logs
from tests.jobs import Recorded, deferred, jobs_of, stage_rows, with_stages, without_facts

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import EmbedderUnavailable
from reverie_indexer.model import Place
from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.defer import defer
from reverie_server.jobs.health import Health
from reverie_server.jobs.liveness import Liveness
from reverie_server.jobs.model import Outcome, Work
from reverie_server.jobs.queue import JobRules, Queue
from reverie_server.runtime import Runtime

ADA = Work("dedup", "default", "wren", "user:1")
BO = Work("dedup", "default", "wren", "user:2")
SECRET = "the lantern code is 4711"


def tomorrow() -> datetime:
    return datetime.now(UTC) + timedelta(days=1)


async def test_a_job_is_there_when_its_cause_is(runtime: Runtime, database: Database) -> None:
    stage = Recorded()
    system = with_stages(runtime, {"dedup": stage})
    async with database.tenant("default") as connection:
        await defer(connection, ADA)
        await connection.rollback()
    assert await drain(system) == 0
    async with database.tenant("default") as connection:
        first = await defer(connection, ADA)
        assert await drain(system) == 0  # not before the commit
    async with database.tenant("default") as connection:
        # One waits: it is enough, and must not begin before what it is for now can be seen.
        assert (await defer(connection, ADA)).job_id == first.job_id
        assert await drain(system) == 0
        assert (await defer(connection, BO)).job_id != first.job_id
    assert await drain(system) == 2
    assert stage.ran == [ADA, BO]
    # What is done is not waited for: the next is another job.
    assert await deferred(database, ADA) != first.job_id
    with pytest.raises(ValueError, match="never what anybody said"):
        await deferred(database, Work("emergence", "default", "wren", None, topic=SECRET))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.tenant("acme") as connection:
            await defer(connection, ADA)


async def test_a_debounced_job_waits_and_is_brought_forward_never_put_off(runtime: Runtime, database: Database) -> None:
    stage = Recorded()
    system = with_stages(runtime, {"dedup": stage})
    job_id = await deferred(database, ADA, after_seconds=600)
    assert await drain(system) == 0
    assert await deferred(database, ADA, after_seconds=5000) == job_id
    (row,) = await jobs_of(database)
    assert row["scheduled_at"] < datetime.now(UTC) + timedelta(seconds=700)
    assert await deferred(database, ADA) == job_id
    assert await drain(system) == 1
    assert await deferred(database, ADA, after_seconds=600) != job_id
    assert await drain(system) == 0
    assert await drain(system, until=datetime.now(UTC) + timedelta(seconds=500)) == 0
    assert await drain(system, until=tomorrow()) == 1


async def test_a_failing_job_waits_longer_each_time_and_is_a_dead_letter_at_last(
    runtime: Runtime, database: Database
) -> None:
    await without_facts(runtime).pipeline.write(
        Place("default", "wren", "personal", "user:1"), overwrite("a.md", "one", by="t", reason="t")
    )
    poison, well = Recorded(EmbedderUnavailable(SECRET)), Recorded()
    system = with_stages(runtime, {"dedup": poison, "semantic": well})
    await deferred(database, ADA)
    waits = []
    with capture_logs() as logs:
        for _ in range(3):
            await deferred(database, Work("semantic", "default", "wren", "user:1"))  # others go on
            assert await drain(system) == 2
            dead, _ = (await jobs_of(database))[0], await stage_rows(database)
            waits.append(None if dead["scheduled_at"] is None else dead["scheduled_at"] - datetime.now(UTC))
            await system.consolidation.queue.bring_forward(tomorrow())
    assert waits[0] is not None
    assert waits[1] is not None
    assert timedelta(seconds=5) < waits[0] < timedelta(seconds=16) < waits[1] < timedelta(seconds=31)
    assert waits[2] is None
    assert (dead["status"], dead["attempts"], dead["error"]) == ("failed", 3, "embedder_unavailable")
    assert [work.is_last_attempt for work in poison.ran] == [False, False, True]
    assert len(well.ran) == 3
    assert await drain(system, until=tomorrow()) == 0
    (row,) = [row for row in await stage_rows(database) if row["stage"] == "dedup"]
    assert (row["last_status"], row["last_error"], row["last_success_at"]) == ("failed", "embedder_unavailable", None)
    assert SECRET not in str(logs)
    assert [line["code"] for line in logs if line.get("status") == "failed"] == ["embedder_unavailable"] * 3
    # The trouble has passed: somebody tries it again.
    poison.error = None
    assert await system.consolidation.health.retry_all(job_ids=None, agent_id=None, stage="semantic") == 0
    assert await system.consolidation.health.retry_all(job_ids=None, agent_id="wren", stage=None) == 1
    assert await drain(system) == 1
    assert ((await jobs_of(database))[0]["status"], (await jobs_of(database))[0]["error"]) == ("succeeded", None)


async def test_what_a_stage_came_to_is_written_down_and_no_memory_with_it(runtime: Runtime, database: Database) -> None:
    await without_facts(runtime).pipeline.write(
        Place("default", "wren", "team"), overwrite("a.md", "one", by="t", reason="t")
    )
    works = {
        "dedup": Recorded(ValueError(SECRET)),
        "semantic": Recorded(may_end=asyncio.Event()),
        "emergence": Recorded(outcome=Outcome("skipped", "nothing new")),
        "dreaming": Recorded(outcome=Outcome("failed", "refused", "llm")),
    }
    rules = JobRules(max_attempts=1, timeout_seconds=0.05)
    system = with_stages(runtime, works, rules)  # type: ignore[arg-type]  # the names are stages
    with capture_logs() as logs:
        for stage in (*works, "extraction"):
            await deferred(database, Work(stage, "default", "wren", None))  # type: ignore[arg-type]
        async with database.maintenance() as connection:
            await connection.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, args) "
                "VALUES ('reverie', 'dedup', '{\"tenant_id\": \"default\", \"of_another_version\": 1}')"
            )
        assert await drain(system) == 6
    assert SECRET not in str(logs)
    assert "jobs.py:" in str(logs)
    told = {
        row["stage"]: (row["last_status"], row["last_reason"], row["last_error"]) for row in await stage_rows(database)
    }
    assert told["dedup"][0] == "failed"
    assert told["dedup"][2].startswith("internal_error: ValueError at jobs.py:")
    assert told["semantic"] == ("failed", None, "timeout")
    assert told["emergence"] == ("skipped", "nothing new", None)
    assert told["dreaming"] == ("failed", "refused", "refused")
    jobs = await jobs_of(database)
    assert [job["status"] for job in jobs] == ["failed", "failed", "succeeded", "succeeded", "failed", "failed"]
    assert [job["error"] for job in jobs[-2:]] == ["unknown_stage", "job_not_understood"]
    runs = {(each.stage, each.status, each.method): each for each in await system.consolidation.health.runs()}
    assert (runs["emergence", "skipped", "none"].runs, runs["semantic", "failed", "none"].runs) == (1, 1)
    assert sum(runs["semantic", "failed", "none"].buckets) == 1


async def test_a_job_deferred_anew_while_it_runs_does_not_keep_it_from_being_put_back(
    runtime: Runtime, database: Database
) -> None:
    """The queue's library (seen elsewhere) then fails to put the job back, which stays as running for ever."""
    stage = Recorded(EmbedderUnavailable("down"), failures=1, may_end=asyncio.Event())
    system = with_stages(runtime, {"dedup": stage})
    first = await deferred(database, ADA)
    running = asyncio.create_task(drain(system, until=tomorrow()))
    await stage.began.wait()
    second = await deferred(database, ADA)
    assert second != first
    assert stage.may_end is not None
    stage.may_end.set()
    assert await running == 3
    assert [(job["id"], job["status"]) for job in await jobs_of(database)] == [
        (first, "succeeded"),
        (second, "succeeded"),
    ]


async def test_what_a_dead_worker_left_is_taken_over_at_once(runtime: Runtime, database: Database) -> None:
    stage = Recorded()
    system = with_stages(runtime, {"dedup": stage, "semantic": stage})
    queue = system.consolidation.queue
    living, dead = Liveness(database.conninfo), Liveness(database.conninfo)
    await deferred(database, ADA)
    await deferred(database, BO)
    assert await queue.take(await living.enter()) is not None
    taken = await queue.take(await dead.enter())
    assert taken is not None
    second = await deferred(database, BO)  # its queueing lock is taken again by then
    assert await queue.rescue() == 0
    await _die(dead, system.consolidation.health)
    assert await drain(system) == 2
    assert [work.owner_key for work in stage.ran] == ["user:2", "user:2"]
    jobs = {job["id"]: job for job in await jobs_of(database)}
    assert (jobs[taken.job_id]["status"], jobs[second]["status"]) == ("succeeded", "succeeded")
    assert sorted(job["status"] for job in jobs.values()) == ["doing", "succeeded", "succeeded"]
    # What comes late of the dead changes nothing.
    assert not await queue.done(taken, BO, Outcome("completed", "late"))
    await living.leave()
    assert (await system.consolidation.health.totals()).workers == 0


async def test_a_worker_whose_lock_is_gone_though_its_connection_lives_takes_it_again(
    runtime: Runtime, database: Database
) -> None:
    """As behind a pooler that gives its session to another."""
    queue = with_stages(runtime, {"dedup": Recorded()}).consolidation.queue
    living = Liveness(database.conninfo)
    await deferred(database, ADA)
    assert await queue.take(await living.enter()) is not None
    await living.renew()
    assert living._connection is not None
    await living._connection.execute("SELECT pg_advisory_unlock_all()")
    await living.renew()
    assert await queue.rescue() == 0
    await living.leave()


async def test_a_job_that_three_processes_die_of_is_a_dead_letter(runtime: Runtime, database: Database) -> None:
    queue = Queue(database, JobRules())
    await deferred(database, ADA)
    waits, queues = [], []
    for deaths in range(3):
        (job,) = await jobs_of(database)
        waits.append(job["scheduled_at"] and job["scheduled_at"] - datetime.now(UTC))
        queues.append(await queue.has_quarantined())
        await queue.bring_forward(tomorrow())
        dead = Liveness(database.conninfo)
        assert await queue.take(await dead.enter()) is not None, deaths
        await _die(dead, Health(database))
        assert await queue.rescue() == 1
    (job,) = await jobs_of(database)
    assert (job["status"], job["error"], job["attempts"], job["deaths"]) == ("failed", "worker_died", 0, 3)
    # At once in quarantine after the first death; the next waits, in case something else is killing processes.
    assert waits[:2] == [None, None]
    assert waits[2] is not None
    assert timedelta(seconds=5) < waits[2] < timedelta(seconds=16)
    assert queues == [False, True, False]
    system = with_stages(runtime, {"dedup": Recorded()})
    async with database.tenant("default") as connection:
        await connection.execute("SELECT set_config('reverie.agent', 'wren', true)")
        await connection.execute("SELECT set_config('reverie.owner', 'user:1', true)")
        assert (await (await connection.execute("SELECT retry_own_jobs(NULL, NULL) AS n")).fetchone() or {})["n"] == 1
    assert (await jobs_of(database))[0]["deaths"] == 0
    assert not await queue.has_quarantined()
    assert await drain(system) == 1


async def test_who_only_ran_beside_a_killer_has_no_death(runtime: Runtime, database: Database) -> None:
    """Of two that ran in a process nobody knows which it died of: each runs again by itself."""
    queue = Queue(database, JobRules(retry_seconds=0))
    dead = Liveness(database.conninfo)
    killer, neighbour = await deferred(database, ADA), await deferred(database, BO)
    worker_id = await dead.enter()
    assert await queue.take(worker_id) is not None
    assert await queue.take(worker_id) is not None
    await _die(dead, Health(database))
    await queue.remove_dead_workers()  # a worker's row stays until what it ran is rescued: it says who ran together
    assert await queue.rescue() == 2
    assert [(job["deaths"], job["status"]) for job in await jobs_of(database)] == [(0, "todo")] * 2
    assert await queue.take(worker_id, ["reverie"]) is None
    for _ in range(3):
        dead = Liveness(database.conninfo)
        taken = await queue.take(await dead.enter(), ["reverie-quarantine"])
        assert taken is not None
        assert taken.job_id == killer
        await _die(dead, Health(database))
        assert await queue.rescue() == 1
    assert await drain(with_stages(runtime, {"dedup": Recorded()})) == 1
    found = {job["id"]: (job["status"], job["error"]) for job in await jobs_of(database)}
    assert found == {killer: ("failed", "worker_died"), neighbour: ("succeeded", None)}
    dead_letters = await Health(database).listing(failed_only=True, agent_id=None, stage=None)
    assert [(each.job_id, each.error) for each in dead_letters] == [(killer, "worker_died")]


async def test_a_worker_that_dies_of_a_job_says_which(runtime: Runtime, database: Database) -> None:
    queue = Queue(database, JobRules(retry_seconds=0))
    here = Liveness(database.conninfo)
    worker_id = await here.enter()
    await deferred(database, ADA)
    await deferred(database, BO)
    killer = await queue.take(worker_id)
    assert killer is not None
    assert await queue.take(worker_id) is not None
    await queue.overran(killer)
    assert [(job["status"], job["deaths"]) for job in await jobs_of(database)] == [("todo", 1), ("todo", None)]
    for _ in range(2):
        again = await queue.take(worker_id, ["reverie-quarantine"])
        assert again is not None
        await queue.overran(again)
    assert [(job["status"], job["deaths"]) for job in await jobs_of(database)] == [("failed", 3), ("todo", None)]
    await queue.overran(killer)  # settled by now: nothing changes
    assert [(job["status"], job["deaths"]) for job in await jobs_of(database)] == [("failed", 3), ("todo", None)]
    await here.leave()
    assert await drain(with_stages(runtime, {"dedup": Recorded()})) == 1


async def test_a_worker_that_left_in_order_is_no_death(runtime: Runtime, database: Database) -> None:
    queue = Queue(database, JobRules())
    here = Liveness(database.conninfo)
    await deferred(database, ADA)
    assert await queue.take(await here.enter()) is not None
    await here.leave()
    assert await queue.rescue() == 1
    (job,) = await jobs_of(database)
    assert (job["status"], job["deaths"], await queue.has_quarantined()) == ("todo", 0, False)


async def test_an_agent_that_is_deleted_leaves_no_job(runtime: Runtime, database: Database) -> None:
    await without_facts(runtime).pipeline.write(
        Place("default", "wren", "team"), overwrite("a.md", "one", by="t", reason="t")
    )
    system = with_stages(runtime, {"dedup": Recorded()})
    await deferred(database, ADA)
    assert await drain(system) == 1
    await deferred(database, BO)
    kept = await deferred(database, Work("dedup", "default", "finch", None))
    other = await deferred(database, Work("dedup", "acme", "wren", None))
    await runtime.agents.delete("default", "wren")
    assert [job["id"] for job in await jobs_of(database)] == [kept, other]


async def _die(liveness: Liveness, health: Health) -> None:
    """As a process that is killed: the connection goes, nothing is said, and PostgreSQL notices in its own time."""
    assert liveness._connection is not None
    living = (await health.totals()).workers
    await liveness._connection.close()
    while (await health.totals()).workers == living:  # noqa: ASYNC110  # it is a row that is waited for
        await asyncio.sleep(0.01)
