"""A job that does not end, or ends its process, stops nobody else's, and no start."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Iterator
from contextlib import suppress

import httpx
import psutil
import pytest
from tests.chaos.supervised import Program
from tests.chaos.test_worker_killed import talk, until_idle
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot
from tests.jobs import deferred, jobs_of

from reverie_indexer.database.database import Database
from reverie_server.app.wiring import assemble
from reverie_server.jobs.model import Work
from reverie_server.settings.server import Settings

GOOD = [Work("dedup", tenant, "wren", f"user:{number}") for tenant in ("acme", "umbra") for number in range(4)]


@pytest.fixture
def programs() -> Iterator[list[Program]]:
    programs: list[Program] = []
    yield programs
    for program in programs:
        program.stop()


async def ended(database: Database) -> bool:
    return {job["status"] for job in await jobs_of(database)} <= {"succeeded", "failed"}


async def until_ended(database: Database, program: Program, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not await ended(database):
        assert time.monotonic() < deadline, "\n".join(program.lines[-100:])
        await asyncio.sleep(0.1)


# A loop that stands still is found as a held interpreter is, and a thread that spins as a request's (test_server_ends).
@pytest.mark.parametrize(
    "how", ["regex", *(pytest.param(how, marks=pytest.mark.slow) for how in ("loop", "spin")), "crash"]
)
@pytest.mark.parametrize("command", ["serve", pytest.param("worker", marks=pytest.mark.slow)])
async def test_a_killer_is_a_dead_letter_after_three_deaths_and_all_others_are_done(
    database: Database, conninfo: str, programs: list[Program], how: str, command: str
) -> None:
    killer = await deferred(database, Work("dedup", "acme", "wren", f"hang:{how}"))
    others = [await deferred(database, work) for work in GOOD]
    arguments = ["serve", "--port", "0"] if command == "serve" else ["worker"]
    programs.append(Program(*arguments, REVERIE_DATABASE_URL=conninfo, REVERIE_JOB_TIMEOUT_SECONDS="2"))
    await until_ended(database, programs[0])
    late = [await deferred(database, Work("dedup", "umbra", "finch", None))]
    await until_ended(database, programs[0])
    jobs = {job["id"]: job for job in await jobs_of(database)}
    dead = jobs.pop(killer)
    assert (dead["status"], dead["error"], dead["deaths"]) == ("failed", "worker_died", 3)
    assert {job["status"] for job in jobs.values()} == {"succeeded"}
    assert set(jobs) == {*others, *late}
    # The worker itself died once at most: the killer then ran by itself.
    died = [each["process"] for each in programs[0].events("process_died")]
    assert died.count("worker") == 1
    assert died.count("quarantine") in (2, 3)
    assert len(died) == died.count("worker") + died.count("quarantine")
    programs[0].process.terminate()
    assert await asyncio.to_thread(programs[0].process.wait, 30) in (0, 130)


async def test_a_job_is_put_back_also_when_every_process_is_told_to_end(
    database: Database, conninfo: str, programs: list[Program]
) -> None:
    """As systemd does it: the worker is told twice, by it and by the supervisor, while it puts back."""
    job_id = await deferred(database, Work("dedup", "acme", "wren", "hang:wait"))
    programs.append(Program("worker", REVERIE_DATABASE_URL=conninfo, REVERIE_SHUTDOWN_GRACE_SECONDS="20"))
    program = programs[0]
    while [job["status"] for job in await jobs_of(database)] != ["doing"]:  # noqa: ASYNC110  # it is a row
        await asyncio.sleep(0.05)
    worker = next(child for child in program.children() if child.pid == program.pid_of("worker"))
    program.process.terminate()
    # Until after what a job is given to end by itself.
    for _ in range(60):
        with suppress(psutil.NoSuchProcess):
            worker.terminate()
        await asyncio.sleep(0.1)
    assert await asyncio.to_thread(program.process.wait, 30) in (0, 130)
    [job] = await jobs_of(database)
    assert (job["id"], job["status"], job["deaths"]) == (job_id, "todo", None), "\n".join(program.lines)


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
async def test_a_worker_that_is_killed_again_and_again_does_each_job_once(
    database: Database, conninfo: str, programs: list[Program], kills: int
) -> None:
    system = assemble(Settings(embedder="hashing"), database, await filled_slot(database, MoodyEmbedder(384)))
    program = Program("serve", "--port", "0", module="reverie_server.cli.main", REVERIE_DATABASE_URL=conninfo)
    programs.append(program)
    await asyncio.to_thread(program.url)
    await asyncio.to_thread(program.until, lambda: program.pid_of("server"))
    server = program.pid_of("server")
    for number in range(kills):
        await talk(system, f"web:{number}", f"user:{number % 2}")
        await talk(system, f"web:{random.randrange(number + 1)}", None)
        await asyncio.to_thread(program.until, lambda: program.pid_of("worker"))
        await asyncio.sleep(random.uniform(0, 0.6))
        victim = program.pid_of("worker")
        for child in program.children():
            if child.pid == victim:
                child.kill()
    await until_idle(database)
    async with database.maintenance() as connection:
        cursor = await connection.execute(
            "SELECT s.session_key, s.last_seq, s.summarised_through, e.from_seq, e.through_seq FROM sessions s "
            "LEFT JOIN episodes e USING (tenant_id, session_key) ORDER BY s.session_key, e.from_seq"
        )
        rows = await cursor.fetchall()
    for _, found in itertools.groupby(rows, key=lambda row: row["session_key"]):
        stretches = list(found)
        assert [row["from_seq"] for row in stretches] == [1, *(row["through_seq"] + 1 for row in stretches[:-1])]
        assert {row["summarised_through"] for row in stretches} == {stretches[-1]["through_seq"]}
        assert {row["last_seq"] for row in stretches} == {stretches[-1]["through_seq"]}
    assert [job for job in await jobs_of(database) if job["status"] == "failed"] == []
    assert program.pid_of("server") == server
    assert_index_consistent(conninfo)


@pytest.mark.parametrize("arguments", [("serve", "--port", "0"), ("worker",)])
def test_the_children_of_a_killed_program_are_gone(
    conninfo: str, programs: list[Program], arguments: tuple[str, ...]
) -> None:
    program = Program(*arguments, module="reverie_server.cli.main", REVERIE_DATABASE_URL=conninfo)
    programs.append(program)
    program.until(lambda: len(program.children()) == len(arguments) // 2 + 1)
    program.process.kill()
    program.process.wait()
    program.until(lambda: not program.children(), seconds=10)


@pytest.mark.parametrize("more", [["--no-worker"], []])
def test_no_worker_starts_none(conninfo: str, programs: list[Program], more: list[str]) -> None:
    settings = {} if more else {"REVERIE_WORKER_ENABLED": "false"}
    program = Program("serve", "--port", "0", *more, REVERIE_DATABASE_URL=conninfo, **settings)
    programs.append(program)
    assert httpx.get(f"{program.url()}/healthz", timeout=10).status_code == 200
    program.until(lambda: program.events("process_started"))
    assert [each["process"] for each in program.events("process_started")] == ["server"]
