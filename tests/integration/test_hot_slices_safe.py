"""What is held in memory shows nobody what the database would not, is of the snapshot, and stays in its bounds."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from multiprocessing.connection import Connection as Pipe

import psycopg
import pytest
from tests.forgetting import forget_all
from tests.hot import Both, assert_held_as_in_full, assert_same
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.index.vectors import promote_large_slices
from reverie_indexer.model_slot import ModelSlot
from reverie_server.runtime import Runtime
from reverie_server.search.hot import cache
from reverie_server.search.hot.held import HeldSlice
from reverie_server.search.hot.load import term_key
from reverie_server.search.request import SearchOutcome, SearchRequest

SECRET = "the zanzibar vault opens with 4417"
MINE = "the zanzibar picnic was cold"


def ask(query: str = "zanzibar", owner: str | None = ADA, **more: object) -> SearchRequest:
    return SearchRequest("default", "wren", query, owner, **more)  # type: ignore[arg-type]


def shown(outcome: SearchOutcome) -> str:
    return repr(outcome.results)


@pytest.fixture
def both(database: Database, models: ModelSlot) -> Both:
    return Both(database, models)


@pytest.fixture
def ada(runtime: Runtime) -> Talk:
    return Talk(runtime, "web:ada", ADA)


@pytest.fixture
def bo(runtime: Runtime) -> Talk:
    return Talk(runtime, "web:bo", "user:bo")


def held_of(both: Both, owner: str) -> list[tuple[cache.SliceKey, HeldSlice]]:
    return [
        (key, slot.held) for key, slot in both.hot._slots.items() if slot.owner_key == owner and slot.held is not None
    ]


async def test_the_arrays_of_somebody_else_show_nothing_of_theirs(both: Both, ada: Talk, bo: Talk) -> None:
    """The cache's key, mutated on purpose: what Bo's slice holds is served as Ada's."""
    await ada.put("mine.md", MINE)
    await bo.put("vault/secret.md", SECRET)
    await both.warm(ask())
    await both.warm(ask(owner="user:bo"))
    [(key, own)], [(_, foreign)] = held_of(both, ADA), held_of(both, "user:bo")
    slot = both.hot._slots[key]
    slot.held = HeldSlice(
        own.revision, foreign.places, foreign.documents, foreign.traits, foreign.vectors, foreign.postings
    )
    for query in ("zanzibar vault", "4417", SECRET):
        outcome = await both.in_memory.search(ask(query))
        assert "vault/" not in shown(outcome)
        assert "opens with" not in shown(outcome)
        assert_same(await both.in_database.search(ask(query)), outcome)
        # It was found out, and let go.
        assert both.hot.counts.mismatches > 0
        both.hot._slots[key] = cache._Slot("wren", ADA, slot.held or foreign, 0.0)


async def test_places_that_are_not_as_held_are_not_shown(both: Both, ada: Talk) -> None:
    await ada.put("mine.md", MINE)
    await both.warm(ask())
    [(_, own)] = held_of(both, ADA)
    own.documents.path[:] = "another/path.md"
    outcome = await both.compare(ask())
    assert [result.path for result in outcome.results] == ["mine.md"]
    assert both.hot.counts.mismatches == 1


async def test_what_is_held_has_no_word_of_a_text(both: Both, ada: Talk) -> None:
    await ada.put("mine.md", SECRET)
    await both.warm(ask())
    [(_, own)] = held_of(both, ADA)
    assert "zanzibar" not in repr(own.__dict__)
    assert term_key("zanzibar") in own.postings.key.tolist()


async def test_the_forgotten_leaves_memory_without_being_asked_for(both: Both, ada: Talk) -> None:
    await ada.put("mine.md", f"{MINE}\n\n{SECRET}")
    await both.warm(ask())
    grant, place = await ada.grant()
    await forget_all(ada.runtime, grant, place, text=SECRET)
    await both.hot.sweep()
    [(_, own)] = held_of(both, ADA)
    assert term_key("vault") not in own.postings.key.tolist()
    assert term_key("picnic") in own.postings.key.tolist()
    await assert_held_as_in_full(both)


async def test_what_nobody_asked_for_lately_is_let_go_when_it_changes(both: Both, ada: Talk) -> None:
    await ada.put("mine.md", MINE)
    await both.warm(ask())
    for slot in both.hot._slots.values():
        slot.asked_at -= 3600
    await both.hot.sweep()
    assert held_of(both, ADA), "it has not changed"
    await ada.put("mine.md", SECRET)
    await both.hot.sweep()
    assert not held_of(both, ADA)
    assert both.hot.used_bytes == sum(
        slot.held.size_bytes for slot in both.hot._slots.values() if slot.held is not None
    )


async def test_what_is_ahead_of_the_database_is_let_go(both: Both, ada: Talk, conninfo: str) -> None:
    """A restored database counts its revisions anew: the same number would stand for something else."""
    await ada.put("mine.md", MINE)
    await both.warm(ask())
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("UPDATE slices SET revision = 0")
    await both.hot.sweep()
    assert len(both.hot) == 0
    await both.compare(ask())


async def test_the_least_recently_asked_go_first(database: Database, models: ModelSlot, runtime: Runtime) -> None:
    owners = [f"user:{number}" for number in range(6)]
    for owner in owners:
        text = "\n\n".join(f"- passage {number} of {owner} about zanzibar" for number in range(20))
        await Talk(runtime, "web:1", owner).put("a.md", text)
    both = Both(database, models)
    await both.warm(ask(owner=owners[0]))
    both = Both(database, models, max_bytes=int(both.hot.used_bytes * 3.2))
    for owner in [*owners, *owners]:
        await both.warm(ask(owner=owner))
        await both.compare(ask(owner=owner))
        assert both.hot.used_bytes <= int(both.max_bytes)
    assert both.hot.counts.evictions > 0
    assert held_of(both, owners[-1])
    assert not held_of(both, owners[0])


async def test_without_room_everything_is_searched_in_the_database(
    database: Database, models: ModelSlot, ada: Talk
) -> None:
    await ada.put("mine.md", "\n\n".join([MINE] * 12))
    for room in (0, 1000):
        both = Both(database, models, max_bytes=room)
        await both.warm(ask())
        await both.compare(ask())
        assert both.hot.counts.hits == 0
        assert both.hot.used_bytes <= room


async def test_no_request_waits_until_a_large_slice_is_read(
    both: Both, ada: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that ask for it meanwhile are answered from its index, which it has because of its size."""
    monkeypatch.setattr(cache, "_READ_APART_FROM", 10)
    await ada.put("mine.md", "\n\n".join(f"{MINE} {number}" for number in range(12)))
    assert await promote_large_slices(ada.runtime.database, exact_max_chunks=8, max_partitions=1) == 1
    await both.warm(ask())
    await both.compare(ask())
    assert not held_of(both, ADA)
    sweeping = asyncio.create_task(both.hot.run())
    for _ in range(2000):
        if held_of(both, ADA):
            break
        await asyncio.sleep(0.01)
    sweeping.cancel()
    await both.compare(ask())
    assert both.hot.counts.hits > 0
    await assert_held_as_in_full(both)


async def test_the_forgotten_is_never_found_after_the_answer(both: Both, ada: Talk) -> None:
    """Searches hammer while texts are written and forgotten: from the answer on nobody finds them."""
    gone: set[str] = set()
    ended = False
    await ada.put("notes/first.md", MINE)

    async def hammer(source: random.Random) -> int:
        searches = 0
        while not ended:
            before = set(gone)
            outcome = await both.in_memory.search(ask("zanzibar number", max_results=50))
            assert not before & {word for result in outcome.results for word in result.text.split()}
            searches += 1
            await asyncio.sleep(source.random() / 1000)
        return searches

    async def write() -> None:
        nonlocal ended
        try:
            for number in range(12):
                await ada.put(f"notes/{number % 3}.md", f"zanzibar number-{number} is here")
                await ada.say(f"I wrote zanzibar number-{number}-said down.")
                grant, place = await ada.grant()
                await forget_all(ada.runtime, grant, place, text=f"zanzibar number-{number} is here")
                gone.add(f"number-{number}")
        finally:
            ended = True

    *counts, _ = await asyncio.gather(*(hammer(random.Random(n)) for n in range(4)), write())
    assert sum(counts) > 20
    assert both.hot.counts.hits > 0
    await assert_held_as_in_full(both)
    await both.compare(ask())


async def _in_another_process(conninfo: str, pipe: Pipe) -> None:
    async def load() -> HashingEmbedder:
        return HashingEmbedder(64)

    async with Database(conninfo) as database:
        slot = ModelSlot(load)
        await slot.fill(database)
        both = Both(database, slot)
        while (query := await asyncio.to_thread(pipe.recv)) is not None:
            outcome = await both.in_memory.search(ask(query))
            pipe.send(([result.text for result in outcome.results], both.hot.counts.hits))
        await slot.aclose()


def _serve(conninfo: str, pipe: Pipe) -> None:
    asyncio.run(_in_another_process(conninfo, pipe))


async def test_two_processes_see_what_the_other_one_writes(conninfo: str, both: Both, ada: Talk) -> None:
    await ada.put("mine.md", MINE)
    here, there = multiprocessing.get_context("spawn").Pipe()
    other = multiprocessing.get_context("spawn").Process(target=_serve, args=(conninfo, there), daemon=True)
    other.start()
    try:

        async def found() -> tuple[list[str], int]:
            here.send("zanzibar")
            texts, hits = await asyncio.to_thread(here.recv)
            return texts, hits

        for _ in range(4):
            texts, hits = await found()
        assert (texts, hits > 0) == ([MINE], True)
        await both.warm(ask())
        await ada.put("more.md", "a zanzibar postcard")
        assert sorted((await found())[0]) == ["a zanzibar postcard", MINE]
        grant, place = await ada.grant()
        await forget_all(ada.runtime, grant, place, text=MINE)
        assert (await found())[0] == ["a zanzibar postcard"]
        assert [r.text for r in (await both.compare(ask())).results] == ["a zanzibar postcard"]
        here.send(None)
    finally:
        await asyncio.to_thread(other.join, 20)
        other.kill()
