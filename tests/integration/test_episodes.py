"""Episodes as a tier of memory: found, expired, kept apart, removed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.consistency import assert_index_consistent
from tests.episodes import Clock, complete, episode_rows, run, session_row, shown, summarised, tiers
from tests.talks import ADA, Talk

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.errors import NotFound
from reverie_indexer.index import vectors
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.principal import Principal
from reverie_server.app.wiring import assemble
from reverie_server.browse.episodes import EpisodeQuery
from reverie_server.browse.expand import ExpandedEpisode
from reverie_server.episodes import store as stored
from reverie_server.forgettable import Selection
from reverie_server.forgetting.selection import Target
from reverie_server.inject.inject import Injection, InjectRequest
from reverie_server.jobs.model import episode_name
from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for
from reverie_server.sessions.model import NewMessage
from reverie_server.settings.server import Settings

REVIEW = "We decided to move the review with Ada Lovelace to Thursday."
QUESTION = "When is the review with Ada Lovelace?"
APRIL = datetime(2026, 4, 3, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime.now(UTC))


@pytest.fixture
async def talk(database: Database, models: ModelSlot, clock: Clock) -> AsyncIterator[Talk]:
    """A talk of a system whose time is the clock's; what is said is not in the index itself."""
    runtime = assemble(Settings(embedder="hashing"), database, models, now=clock)
    for agent_id in ("wren", "lark"):
        await runtime.agents.put("default", agent_id, None, None, {"index_messages": False})
    yield Talk(runtime)
    await runtime.compactions.aclose()


async def inject(talk: Talk, message: str = QUESTION, threshold: float = 0.3) -> Injection:
    grant, _ = await talk.grant()
    return await talk.runtime.injector.inject(grant, InjectRequest(message, threshold=threshold, max_tokens=1000))


async def forget_notes(talk: Talk) -> None:
    """Take the daily notes away, which hold the same."""
    _, place = await talk.grant()
    await talk.runtime.clearing.clear(place, Selection(None, "memory/", ("document",)), dry_run=False)


async def searches(talk: Talk) -> dict[str, bool]:
    """In which ways of reading an episode about the review is found."""
    runtime, (grant, place) = talk.runtime, await talk.grant()
    now, expansion = datetime.now(UTC), runtime.expansion
    chunk_id, name = await any_chunk(talk), episode_name((await episode_rows(runtime.database))[0]["episode_id"])

    async def answers(call: object) -> bool:
        try:
            return bool(await call)  # type: ignore[misc]
        except NotFound:
            return False

    async def forgettable() -> bool:
        receipt = await runtime.forgetting.forget(grant, place, Target(id=chunk_id), dry_run=True)
        return bool(receipt.items)

    found = await runtime.consolidation.episodes.search(grant, EpisodeQuery(QUESTION))
    return {
        "hybrid": "episodic" in await tiers(talk, QUESTION),
        "text": "episodic" in await tiers(talk, QUESTION, mode="text"),
        "vector": "episodic" in await tiers(talk, QUESTION, mode="vector"),
        "path": "episodic" in await tiers(talk, QUESTION, path_prefix="episodes/"),
        "as_of": "episodic" in await tiers(talk, QUESTION, as_of=now + timedelta(days=1)),
        "list": bool(await shown(talk)),
        "get": await answers(runtime.consolidation.episodes.get(talk.principal, name)),
        "search": bool(found[0]),
        "expand": await answers(expansion.expand(talk.principal, name)),
        "expand a passage": await answers(expansion.expand(talk.principal, chunk_id)),
        "inject": (await inject(talk)).injected > 0,
        "forget": await answers(forgettable()),
        "dreaming": bool(await unpromoted(talk)),
    }


async def any_chunk(talk: Talk) -> str:
    async with talk.runtime.database.maintenance() as connection:
        row = await (await connection.execute("SELECT chunk_id FROM chunks WHERE tier = 'episodic'")).fetchone()
    return str((row or {"chunk_id": 0})["chunk_id"])


async def unpromoted(talk: Talk) -> list[stored.Episode]:
    row = await session_row(talk.runtime.database, talk.session_id)
    async with talk.runtime.database.tenant("default") as connection:
        await visible_slices(connection, "default", talk.agent_id, talk.owner_key)
        now = talk.runtime.consolidation.episodes._now()
        return await stored.unpromoted(connection, "default", row["slice_id"], 10, now=now)


@pytest.mark.parametrize("plan", ["exact", "hnsw"])
async def test_an_episode_is_read_in_every_way_until_it_expires_and_in_none_from_then_on(
    talk: Talk, clock: Clock, conninfo: str, plan: str
) -> None:
    database = talk.runtime.database
    await summarised(talk, REVIEW, "Noted.")
    await forget_notes(talk)
    if plan == "hnsw":
        promoted = await vectors.promote_large_slices(database, exact_max_chunks=0, max_partitions=10)
        assert promoted > 0
    assert set((await searches(talk)).values()) == {True}
    clock.pass_days(90)
    # To the instant, long before anything prunes it.
    assert set((await searches(talk)).values()) == {False}
    assert len(await episode_rows(database)) == 1
    assert await talk.runtime.consolidation.episodes.prune(clock()) == 1
    assert await talk.runtime.consolidation.episodes.prune(clock()) == 0
    assert await episode_rows(database) == []
    async with database.maintenance() as connection:
        cursor = await connection.execute("SELECT count(*) AS count FROM chunks WHERE tier = 'episodic'")
        assert (await cursor.fetchone()) == {"count": 0}
    assert_index_consistent(conninfo)


async def test_pruning_goes_page_by_page_over_all_tenants_and_leaves_what_is_valid(
    talk: Talk, clock: Clock, database: Database, monkeypatch: pytest.MonkeyPatch, conninfo: str
) -> None:
    monkeypatch.setattr(stored, "PAGE", 2)
    for number in range(5):
        await summarised(replace(talk, session_id=f"web:{number}"), f"{REVIEW} Number {number}.")
    clock.pass_days(60)
    await summarised(replace(talk, session_id="web:late", agent_id="lark", owner_key=None), REVIEW)
    clock.pass_days(40)
    assert await talk.runtime.consolidation.episodes.prune(clock()) == 5
    assert [row["session_id"] for row in await episode_rows(database)] == ["web:late"]
    # The conversations stay.
    assert (await session_row(database, "web:0"))["message_count"] == 1
    assert_index_consistent(conninfo)


async def test_a_result_leads_to_the_whole_episode_and_its_sources(talk: Talk) -> None:
    found = await summarised(talk, REVIEW, "Noted.", "I prefer tea to coffee.", "Tea then.")
    grant, _ = await talk.grant()
    outcome = await talk.runtime.search.search(request_for(grant, "tea or coffee", tiers=("episodic",)))
    [best, *_] = outcome.results
    assert best.path == "episodes/web:1/4"
    assert best.updated_at == found.episode.ended_at
    for shown_id in (str(best.chunk_id), episode_name(found.episode.episode_id)):
        expanded = await talk.runtime.expansion.expand(talk.principal, shown_id)
        assert isinstance(expanded, ExpandedEpisode)
        assert expanded.episode == found.episode
        assert [message["seq"] for message in expanded.sources[0]["messages"]] == [1, 2, 3, 4]
        assert expanded.scope == "personal"
    with pytest.raises(NotFound):
        await talk.runtime.expansion.expand(Principal("default", "wren", "user:bo"), str(best.chunk_id))
    with pytest.raises(NotFound):
        await talk.runtime.expansion.expand(talk.principal, "ep-99999999999999999999")


async def test_key_topics_are_searchable_and_not_shown(talk: Talk, database: Database) -> None:
    found = await summarised(talk, REVIEW)
    async with database.maintenance() as connection:
        await connection.execute("UPDATE episodes SET key_topics = '{Quayside}'")
    grant, place = await talk.grant()
    done = await talk.runtime.consolidation.episodes.reindex(place, grant.settings)
    assert (done.documents, done.chunks, done.reused) == (1, 1, 0)
    outcome = await talk.runtime.search.search(request_for(grant, "quayside", mode="text"))
    assert [(result.tier, result.text) for result in outcome.results][:1] == [("episodic", found.episode.summary)]


async def test_an_injected_episode_shows_its_abstract_with_date_and_source(talk: Talk) -> None:
    await talk.add([NewMessage("user", f"{REVIEW} Bo will write the agenda for it.", None, APRIL)])
    await complete(talk)
    await run(talk)
    await forget_notes(talk)
    injection = await inject(talk)
    assert f"- (2026-04-03, episodes/web:1/1) {REVIEW}\n" in injection.section
    assert [memory.tier for memory in injection.memories] == ["episodic"]
    # In the prompt of its own session, whose messages are there, it is not said again.
    context = await talk.context(QUESTION)
    assert context.injection.injected == 0
    elsewhere = await replace(talk, session_id="web:2").context(QUESTION)
    assert elsewhere.injection.injected == 1
    # A passage that is not the abstract's says what it says.
    injection = await inject(talk, "Who writes the agenda?", threshold=0.0)
    assert "Bo will write the agenda for it." in injection.section


async def test_as_of_goes_by_the_last_message(talk: Talk) -> None:
    await talk.add(
        [NewMessage("user", REVIEW, None, APRIL), NewMessage("user", "Bo agrees.", None, APRIL + timedelta(hours=2))]
    )
    await complete(talk)
    await run(talk)
    asked = {"tiers": ("episodic",)}
    assert await tiers(talk, QUESTION, as_of=APRIL + timedelta(hours=1), **asked) == []
    assert "episodic" in await tiers(talk, QUESTION, as_of=APRIL + timedelta(hours=2), **asked)


async def test_many_episodes_leave_the_files_their_half(talk: Talk) -> None:
    """Seen elsewhere: 550 sessions crowded out the files."""
    _, place = await talk.grant()
    for number in range(12):
        await summarised(
            replace(talk, session_id=f"web:{number}"), f"The review with Ada Lovelace is about lamp {number}."
        )
    await forget_notes(talk)
    for number in range(4):
        text = f"Ada keeps file {number} of lanterns."
        await talk.runtime.pipeline.write(place, overwrite(f"n/{number}.md", text, by="t", reason="t"))
    found = await tiers(talk, "review with Ada Lovelace about a lamp", max_results=5)
    assert (found.count("episodic"), found.count("document")) == (3, 2)
    assert (await tiers(talk, QUESTION, max_results=5, path_prefix="episodes/")).count("episodic") == 5
    every = await tiers(talk, "review with Ada Lovelace about a lamp", max_results=100)
    assert every.count("document") >= 4
    assert every.count("episodic") >= 12


async def test_what_was_said_so_is_shown_once(runtime: Runtime) -> None:
    """An extractive episode, the message and the line of the log say the same: the message is shown."""
    talk = Talk(runtime)
    await summarised(talk, REVIEW, "Noted.")
    found = await tiers(talk, QUESTION, max_results=10)
    assert found[0] == "message"
    assert "episodic" not in found
    _, place = await talk.grant()
    # Without the message and the log it is the episode that has it.
    await runtime.clearing.clear(place, Selection(None, None, ("message",)), dry_run=False)
    await forget_notes(talk)
    assert (await tiers(talk, QUESTION))[0] == "episodic"


async def test_an_episode_is_its_owners(talk: Talk, database: Database) -> None:
    runtime = talk.runtime
    mine = await summarised(talk, REVIEW)
    others = replace(talk, owner_key="user:bo"), replace(talk, owner_key=None)
    for other in others:
        assert await shown(other) == []
        assert "episodic" not in await tiers(other, QUESTION)
        assert (await inject(other)).injected == 0
        name = episode_name(mine.episode.episode_id)
        for look in (
            runtime.consolidation.episodes.get(other.principal, name),
            runtime.expansion.expand(other.principal, name),
            runtime.consolidation.episodes.delete((await other.grant())[1], name),
        ):
            with pytest.raises(NotFound):
                await look
    assert len(await episode_rows(database)) == 1
    assert len(await shown(replace(talk, owner_key="*"))) == 1


async def test_without_isolation_there_is_one_memory_and_the_owner_is_told(talk: Talk, database: Database) -> None:
    await talk.say("Hello there.")
    async with database.maintenance() as connection:
        settings = '{"memory_isolation": false, "index_messages": false}'
        await connection.execute("UPDATE agents SET settings = %s", [settings])
    shared = replace(talk, session_id="web:2")
    await shared.say(REVIEW)
    await complete(shared)
    await run(shared, slice_owner=False)
    other = replace(talk, owner_key="user:bo")
    for principal in (talk, other, replace(talk, owner_key=None)):
        [found] = await shown(principal)
        assert found.episode.owner_key == ADA
        assert "episodic" in await tiers(principal, QUESTION)
    # Elsewhere nobody sees it.
    await Talk(talk.runtime, agent_id="lark").say("Hello.")
    assert await shown(Talk(talk.runtime, agent_id="lark")) == []


async def test_removing_an_episode_leaves_the_conversation(talk: Talk, database: Database, conninfo: str) -> None:
    found = await summarised(talk, REVIEW)
    _, place = await talk.grant()
    await talk.runtime.consolidation.episodes.delete(place, episode_name(found.episode.episode_id))
    with pytest.raises(NotFound):
        await talk.runtime.consolidation.episodes.delete(place, episode_name(found.episode.episode_id))
    assert await episode_rows(database) == []
    assert (await session_row(database))["message_count"] == 1
    # It is not made again.
    assert (await run(talk)).status == "skipped"
    assert_index_consistent(conninfo)


async def test_a_session_takes_its_episodes_along_and_clearing_it_does_not(
    talk: Talk, database: Database, conninfo: str
) -> None:
    await summarised(talk, REVIEW)
    await talk.runtime.sessions.clear(talk.principal, "web:1")
    [found] = await shown(talk)
    assert found.sources[0]["messages"] == []
    assert (found.sources[0]["from_seq"], found.sources[0]["through_seq"]) == (1, 1)
    assert "episodic" in await tiers(talk, QUESTION)
    assert_index_consistent(conninfo)
    await talk.runtime.sessions.delete(talk.principal, "web:1")
    assert await episode_rows(database) == []
    assert "episodic" not in await tiers(talk, QUESTION)
    assert_index_consistent(conninfo)
    await summarised(talk, REVIEW)
    await talk.runtime.agents.delete("default", "wren")
    assert await episode_rows(database) == []
    assert_index_consistent(conninfo)


async def test_episodes_are_cleared_by_age_and_path_and_messages_without_them(
    talk: Talk, database: Database, conninfo: str
) -> None:
    clearing = talk.runtime.clearing
    await summarised(talk, REVIEW)
    old = replace(talk, session_id="web:2")
    await old.add([NewMessage("user", REVIEW, None, APRIL - timedelta(days=900))])
    await complete(old)
    await run(old)
    _, place = await talk.grant()
    dry = await clearing.clear(place, Selection(365, None, ("episodic",)), dry_run=True)
    assert dry.removed == {"episodic": 1}
    assert len(await episode_rows(database)) == 2
    done = await clearing.clear(place, Selection(365, None, ("episodic",)), dry_run=False)
    assert done.removed == {"episodic": 1}
    assert [row["session_id"] for row in await episode_rows(database)] == ["web:1"]
    # What was said goes; what it came to is another tier.
    done = await clearing.clear(place, Selection(None, None, ("message",)), dry_run=False)
    assert done.removed == {"message": 2}
    assert [row["session_id"] for row in await episode_rows(database)] == ["web:1"]
    nothing = await clearing.clear(place, Selection(None, "episodes/web:2/", ("episodic",)), dry_run=False)
    assert nothing.removed == {"episodic": 0}
    both = await clearing.clear(place, Selection(None, None, ("episodic", "message")), dry_run=False)
    assert both.removed == {"episodic": 1, "message": 0}
    assert await episode_rows(database) == []
    assert_index_consistent(conninfo)


async def test_dreaming_takes_the_oldest_once(talk: Talk, database: Database) -> None:
    for number in range(3):
        await summarised(replace(talk, session_id=f"web:{number}"), f"{REVIEW} Number {number}.")
    row = await session_row(database, "web:0")
    numbers = [one["episode_id"] for one in await episode_rows(database)]
    async with database.tenant("default") as connection:
        await visible_slices(connection, "default", talk.agent_id, talk.owner_key)
        of_slice = (connection, "default", row["slice_id"])
        now = datetime.now(UTC)
        assert [one.episode_id for one in await stored.unpromoted(*of_slice, 2, now=now)] == numbers[:2]
        assert await stored.mark_promoted(*of_slice, numbers[:2], "_system/x.md", now) == 2
        assert await stored.mark_promoted(*of_slice, numbers[1:], "_system/y.md", now) == 1
        assert await stored.count_unpromoted(*of_slice, now=now) == 0
        first = await stored.read_episode(*of_slice, numbers[0], now=now)
        assert first is not None
        assert (first.promoted_at, first.promoted_to) == (now, "_system/x.md")
        assert not await stored.mark_semantic(*of_slice, numbers[0], "something else", now)
        assert await stored.mark_semantic(*of_slice, numbers[0], first.summary, now)
        assert not await stored.mark_semantic(*of_slice, numbers[0], first.summary, now)
