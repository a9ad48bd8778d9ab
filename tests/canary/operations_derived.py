"""The table of operations: episodes, where memories come from, and the health of the background work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import Draw
from tests.canary.effects import Effect
from tests.canary.effects_turns import EpisodeGone
from tests.canary.operations import AGENT, Operation, may_write
from tests.canary.operations_memory import FAR_AHEAD, LONG_AGO, MEMORY, place_of
from tests.canary.world import Acting, Home, Job, World

from reverie_server.jobs.model import STAGES

EPISODES = f"{AGENT}/episodes"
PIPELINE = f"{AGENT}/pipeline"


def shared_with(acting: Acting, world: World) -> list[Home]:
    """The homes that a request sees without its leader's."""
    return [home for home in world.sight(acting) or () if home.agent in (acting.agent, None)]


def check_ids(world: World, table: str, rows: Sequence[dict[str, Any]], homes: Sequence[Home]) -> None:
    """Everything that an answer shows by its id is of one of these homes."""
    for row in rows:
        number = str(row["id"]).rpartition("-")[2]
        home = world.derived.home_of(table, number)
        demand(home in homes, f"an answer shows {table} {row['id']}, which is {home}'s")


def found_as_seen(
    table: str, given: str, acting: Acting, homes: Callable[[World], Sequence[Home]]
) -> Callable[[World, Answer], None]:
    """Something derived is found by its id where it is in one of some homes, and only there."""

    def exact(world: World, answer: Answer) -> None:
        if world.sight(acting) is not None and answer.status in (200, 204, 404):
            is_there = world.derived.home_of(table, given.rpartition("-")[2]) in homes(world)
            demand(answer.ok == is_there, f"{table} {given}: found {answer.ok}, there {is_there}")

    return exact


# Episodes


def list_episodes(d: Draw) -> Call:
    acting, fields = d.acting(everybody=True, reads=True)
    first = d.looted(d.loot.cursors, 0.1, "")
    limit = d.one_of(("1", "3", "500", "500"))
    shown: list[dict[str, Any]] = []

    def page(cursor: str) -> Call:
        def check(world: World, answer: Answer) -> None:
            if answer.ok:
                check_episodes(world, answer.result["episodes"], shared_with(acting, world))

        def exact(world: World, answer: Answer) -> None:
            if not answer.ok:
                return
            shown.extend(answer.result["episodes"])
            if answer.result["next_cursor"] is None and not first:
                known = world.derived.of("episodes", shared_with(acting, world)).keys()
                listed = sorted(row["id"].removeprefix("ep-") for row in shown)
                demand(listed == sorted(known), f"the episodes {listed} are listed of {sorted(known)}")

        def follow(answer: Answer) -> Call | None:
            return page(answer.result["next_cursor"]) if answer.ok and answer.result["next_cursor"] else None

        params = {**fields, "limit": limit, **({"cursor": cursor} if cursor else {})}
        url = d.url_of(acting.agent, "episodes")
        call = Call(f"GET {EPISODES}", acting.key, "GET", url, acting, params=params, said=True)
        call.homes = lambda world: shared_with(acting, world)
        call.check, call.exact, call.follow = check, exact, follow
        return call

    return page(first)


def check_episodes(world: World, rows: Sequence[dict[str, Any]], homes: Sequence[Home]) -> None:
    """Episodes are of some homes, and of the owner and the session that they say."""
    check_ids(world, "episodes", rows, homes)
    known = world.derived.of("episodes", homes)
    for row in rows:
        talk = known[row["id"].removeprefix("ep-")].talk
        named = (row["owner_key"], row["session_id"])
        demand(talk and named == (talk.owner, talk.session_id), f"an episode says that it is of {named}: {talk}")


def get_episode(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    given = d.public_id("episodes", acting)
    url = d.url_of(acting.agent, "episodes", given)
    call = Call(f"GET {EPISODES}/{{episode_id}}", acting.key, "GET", url, acting, params=fields, said=True)

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            check_episodes(world, [answer.result], world.sight(acting) or [])

    call.check = check
    call.exact = found_as_seen("episodes", given, acting, lambda world: world.sight(acting) or [])
    return call


def delete_episode(d: Draw) -> Call:
    acting, fields = d.acting()
    given = d.public_id("episodes", acting)
    number = given.rpartition("-")[2]
    url = d.url_of(acting.agent, "episodes", given)
    call = Call(f"DELETE {EPISODES}/{{episode_id}}", acting.key, "DELETE", url, acting, params=fields, derives=True)
    call.may = may_write(acting)
    before = d.world.derived.home_of("episodes", number)

    def effects(world: World, answer: Answer) -> list[Effect]:
        return [EpisodeGone(place_of(world, acting), None, number)]

    def exact(world: World, answer: Answer) -> None:
        is_own = before is not None and before == world.place(acting, None)
        demand(answer.ok == is_own or answer.status not in (204, 404), f"the episode {given} of {before} is removed")

    call.effects, call.exact = effects, exact
    return call


def search_episodes(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    body: dict[str, Any] = {"query": d.query(), "max_results": d.one_of((2, 6, 100)), **fields}
    body |= {"mode": d.one_of(("hybrid", "text", "vector"))}
    if d.chance(0.2):
        body["as_of"] = d.looted(d.loot.instants, 0.7, d.one_of((LONG_AGO, FAR_AHEAD)))
    url = d.url_of(acting.agent, "episodes", "search")
    call = Call(f"POST {EPISODES}/search", acting.key, "POST", url, acting, body=body, said=True)

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            check_episodes(world, answer.result["results"], world.sight(acting) or [])
            demand(answer.result["count"] == len(answer.result["results"]), "a search counts what it does not show")

    call.check = check
    return call


# Where a memory comes from


def memory_sources(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    given = d.public_id("episodes", acting) if d.chance(0.3) else d.passage_id(acting)
    url = d.url_of(acting.agent, "memory", given, "sources")
    call = Call(f"GET {MEMORY}/{{memory_id}}/sources", acting.key, "GET", url, acting, params=fields)
    call.past, call.said = True, True
    if given.startswith("ep-"):
        call.exact = found_as_seen("episodes", given, acting, lambda world: world.sight(acting) or [])
    return call


# Health


def jobs_seen(world: World, acting: Acting) -> list[Job]:
    """The jobs that a request may know of: the owner's and the team's."""
    owners = {None, acting.owner or acting.key.owner}
    named = (acting.key.tenant, acting.agent)
    return [job for job in world.jobs() if job.home[:2] == named and (acting.everybody or job.home.owner in owners)]


def get_pipeline(d: Draw) -> Call:
    acting, fields = d.acting(everybody=True, reads=True)
    url = d.url_of(acting.agent, "pipeline")
    call = Call(f"GET {PIPELINE}", acting.key, "GET", url, acting, params=fields)
    call.homes = lambda world: []
    # A key of an application that names nobody looks at everybody's work.
    looks = replace(acting, everybody=True) if acting.owner is None and acting.key.owner is None else acting

    def exact(world: World, answer: Answer) -> None:
        if not answer.ok:
            return
        demand((answer.result["models"] is not None) == looks.everybody, "models are shown to who may see all jobs")
        seen = jobs_seen(world, looks)
        dead = {str(job.job_id): job.home.owner for job in seen if job.dead}
        letters = {letter["job_id"]: letter["owner_key"] for letter in answer.result["dead_letters"]}
        demand(letters == dead, f"jobs that failed are shown: {letters} of {dead}")
        for name, stage in answer.result["stages"].items():
            counted = sum(stage[state] for state in ("pending", "running", "scheduled", "failed"))
            most = sum(job.stage == name for job in seen)
            # One may have been deferred since.
            demand(counted <= most, f"{counted} jobs of {name} are counted, and there are {most}")

    call.exact = exact
    return call


def retry_pipeline(d: Draw) -> Call:
    acting, fields = d.acting(everybody=True)
    dead = [job for job in d.world.jobs() if job.dead]
    body = {**fields, **({"stage": d.one_of(STAGES)} if d.chance(0.2) else {})}
    body |= {"job_id": str(d.one_of(dead).job_id)} if dead and d.chance(0.4) else {}
    url = d.url_of(acting.agent, "pipeline", "retry")
    call = Call(f"POST {PIPELINE}/retry", acting.key, "POST", url, acting, body=body or None)
    may = (lambda world: world.sight(acting) is not None) if acting.everybody else may_write(acting)
    call.may, call.homes = may, lambda world: []
    # With a key that is bound to an owner the team's are seen and not tried again.
    own = [job for job in jobs_seen(d.world, acting) if acting.key.owner in (None, job.home.owner)]
    before = [job for job in own if job.dead]
    meant = [job for job in before if job.stage == body.get("stage", job.stage)]
    meant = [job for job in meant if str(job.job_id) == body.get("job_id", str(job.job_id))]

    def exact(world: World, answer: Answer) -> None:
        if answer.ok:
            retried = answer.result["retried"]
            demand(retried == len(meant), f"{retried} jobs are tried again of {meant}")
            alive = {job.job_id for job in world.jobs() if not job.dead}
            others = {job.job_id for job in dead if job.home.tenant == acting.key.tenant} - {
                job.job_id for job in meant
            }
            demand(not alive & others, f"jobs of others are tried again: {alive & others}")

    call.exact = exact
    return call


OPERATIONS_OF_WHAT_IS_DERIVED: dict[str, tuple[int, Operation]] = {
    f"GET {EPISODES}": (6, list_episodes),
    f"GET {EPISODES}/{{episode_id}}": (5, get_episode),
    f"DELETE {EPISODES}/{{episode_id}}": (3, delete_episode),
    f"POST {EPISODES}/search": (6, search_episodes),
    f"GET {MEMORY}/{{memory_id}}/sources": (6, memory_sources),
    f"GET {PIPELINE}": (4, get_pipeline),
    f"POST {PIPELINE}/retry": (2, retry_pipeline),
}
