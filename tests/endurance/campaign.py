"""A million requests and a thousand kills, in rounds of a fresh database each: `python -m tests.endurance.campaign`.

The directory `--state` has a line of JSON of each round that was done; started again, it goes on after the last one. A
round that fails is repeated by `--seed` and `--round`, but for the order of what happens at once. With an archive of
Citus (`--citus`, else REVERIE_TEST_CITUS) every other round is on three nodes, of which now one is killed, now another.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import subprocess
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
from tests.conftest import PLAIN
from tests.endurance.estate import Estate
from tests.endurance.people import OWNERS, TENANTS, Person, Progress
from tests.endurance.rest import check_answers, check_rows
from tests.endurance.servers import Servers, started_servers

from reverie_indexer.database.database import Database
from reverie_server.access.keys import Keys

READY_SECONDS = 120.0
# Of a round.
OPERATIONS, KILLS = 2_000, 2
_ROOT = Path(__file__).parents[2]


@dataclass
class Result:
    """What a round did, on how many `nodes` of PostgreSQL. `refused` counts answers and broken connections after which
    a request was repeated."""

    seed: int
    round: int
    operations: int
    kills: dict[str, int]
    seconds: float
    forgotten: int
    refused: dict[str, int]
    commit: str
    nodes: int = 1
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))


def run_round(seed: int, number: int, citus: Path | None) -> Result:
    """One round; on three nodes where there is an archive of Citus and its number is odd.

    AssertionError where something was lost, doubled, mixed up or not forgotten. What was logged until then is in
    `.endurance.log` in the project's folder.
    """
    with started_servers(citus if number % 2 else None) as servers:
        return asyncio.run(_round(servers, seed, number))


async def _round(servers: Servers, seed: int, number: int) -> Result:
    began = time.monotonic()
    rng = random.Random(f"{seed} {number}")
    killed: Counter[str] = Counter()
    progress = Progress()
    estate = Estate(servers, random.Random(rng.random()))
    try:
        people = await _people(servers, estate, rng, progress)
        async with asyncio.TaskGroup() as group:
            for person in people:
                group.create_task(_live(person))
            group.create_task(_kill(estate, progress, killed, rng))
        done = progress.done
        async with _client() as http, asyncio.TaskGroup() as group:
            for person in people:
                group.create_task(check_answers(person, http))
        await asyncio.to_thread(estate.rest)
        await asyncio.to_thread(check_rows, servers.conninfo, people)
        _check_logs(estate.lines())
    except BaseException as error:
        error.add_note(f"round {number} of seed {seed}, after {progress.done} requests; killed were {dict(killed)}")
        (_ROOT / ".endurance.log").write_text("\n".join(estate.lines()))
        raise
    finally:
        await asyncio.to_thread(estate.close)
    forgotten = sum(len(person.forgotten) for person in people)
    seconds, nodes = round(time.monotonic() - began, 1), len(servers.clusters)
    return Result(seed, number, done, dict(killed), seconds, forgotten, dict(progress.refused), _commit(), nodes)


async def _people(servers: Servers, estate: Estate, rng: random.Random, progress: Progress) -> list[Person]:
    await _until_ready(estate)
    urls = [f"http://127.0.0.1:{port}" for port in estate.ports]
    people = []
    async with Database(servers.conninfo) as database:
        keys = Keys(database)
        for tenant in TENANTS:
            for owner in OWNERS:
                _, key = await keys.create(tenant, "member", owner_key=owner)
                own = random.Random(rng.random())
                people.append(Person(len(people), tenant, owner, key, urls, own, progress))
    return people


async def _until_ready(estate: Estate) -> None:
    async with asyncio.timeout(READY_SECONDS), _client() as http:
        for port in estate.ports:
            while True:
                try:
                    if (await http.get(f"http://127.0.0.1:{port}/readyz")).status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.2)


async def _live(person: Person) -> None:
    async with _client() as http:
        while person.progress.done < OPERATIONS:
            await person.act(http)


async def _kill(estate: Estate, progress: Progress, killed: Counter[str], rng: random.Random) -> None:
    for instant in sorted(rng.randrange(OPERATIONS // 20, OPERATIONS * 19 // 20) for _ in range(KILLS)):
        await progress.until(instant)
        await asyncio.sleep(rng.uniform(0, 0.3))
        victim = estate.drawn()
        await asyncio.to_thread(estate.kill, victim)
        killed[victim] += 1


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=60, verify=PLAIN)


def _check_logs(lines: list[str]) -> None:
    # Nothing that people say is logged, and whatever is killed, no error is one that nobody foresaw.
    assert not [line for line in lines if "zq" in line]
    unforeseen = [line for line in lines if "Traceback" in line or '"internal_error"' in line]
    assert unforeseen == [], unforeseen[:3]


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=_ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def results_in(state: Path) -> list[Result]:
    """The rounds that a campaign has done, in order."""
    path = state / "rounds.jsonl"
    return [Result(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def carry_on(state: Path, citus: Path | None) -> list[Result]:
    """All rounds of a campaign, after the next one."""
    done = results_in(state)
    seed = done[-1].seed if done else secrets.randbelow(10**9)
    result = run_round(seed, len(done), citus)
    state.mkdir(parents=True, exist_ok=True)
    with (state / "rounds.jsonl").open("a") as file:
        file.write(json.dumps(asdict(result)) + "\n")
    return [*done, result]


def archive_of_citus() -> Path | None:
    """What the environment names, if it does."""
    named = os.environ.get("REVERIE_TEST_CITUS")
    return Path(named) if named else None


def main() -> None:
    """Carry a campaign on until all is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="of all, those before included")
    parser.add_argument("--state", type=Path, default=Path(".endurance"))
    parser.add_argument("--citus", type=Path, default=archive_of_citus())
    parser.add_argument("--seed", type=int, help="repeat one round of a campaign, and keep nothing")
    parser.add_argument("--round", type=int, default=0)
    given = parser.parse_args()
    if given.seed is not None:
        print(run_round(given.seed, given.round, given.citus))
        return
    done = results_in(given.state)
    while len(done) < given.rounds:
        done = carry_on(given.state, given.citus)
        operations, kills = sum(each.operations for each in done), sum(sum(each.kills.values()) for each in done)
        print(f"{len(done)} rounds, {operations} requests, {kills} kills: nothing lost", flush=True)


if __name__ == "__main__":
    main()
