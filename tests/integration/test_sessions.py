"""Sessions: what is said is kept once, in order, whatever else happens meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.consistency import assert_index_consistent
from tests.conversations import ADA, BO, SESSION, TEAM, append, assistant, grant_of, place_of, said, texts, user
from tests.embedders import MoodyEmbedder, filled_slot
from tests.rows import leftovers

from reverie_indexer.database.database import Database
from reverie_indexer.errors import (
    Conflict,
    Forbidden,
    NotFound,
    PayloadTooLarge,
    ReverieError,
    ValidationFailed,
)
from reverie_server.access.principal import Principal
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import Appended, NewCompaction, NewMessage, Session
from reverie_server.sessions.sessions import mark_compacted
from reverie_server.settings.server import Settings
from reverie_server.text.fences import CLOSE_FENCE, OPEN_FENCE, SUMMARY_MARK

MORNING = datetime(2026, 4, 3, 9, 30, tzinfo=UTC)


async def test_what_is_said_is_kept_in_order(runtime: Runtime, conninfo: str) -> None:
    appended = await append(runtime, user("When is the review?"), assistant("On Thursday at nine."))
    assert (appended.stored, appended.is_new) == (2, True)
    assert (appended.session.message_count, appended.session.last_seq) == (2, 2)
    assert not (await append(runtime, user("Thank you."))).is_new
    found = await said(runtime)
    assert [(m.seq, m.role, m.content) for m in found] == [
        (1, "user", "When is the review?"),
        (2, "assistant", "On Thursday at nine."),
        (3, "user", "Thank you."),
    ]
    session = await runtime.sessions.find(ADA, SESSION)
    assert session.tokens == sum(m.tokens for m in found) > 0
    assert_index_consistent(conninfo)


async def test_the_first_message_makes_the_agent_with_its_seeds(runtime: Runtime) -> None:
    await append(runtime, user("Hello there."))
    _, files = await runtime.workspace.listing(ADA, prefix=None, after=None, limit=50)
    assert [file.path for file in files] == ["AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md"]


async def test_a_repeated_id_is_the_same_message(runtime: Runtime, conninfo: str) -> None:
    first = [user("When?", message_id="m1", at=MORNING), user("When, again?", message_id="m1", at=MORNING)]
    assert (await append(runtime, *first)).stored == 1
    again = [
        user("When?", message_id="m1", at=MORNING),
        assistant("On Thursday.", message_id="m2", at=MORNING),
        user("Where?", message_id="m3", at=MORNING),
    ]
    assert (await append(runtime, *again)).stored == 2
    assert (await append(runtime, *again)).stored == 0
    assert await texts(runtime) == ["When?", "On Thursday.", "Where?"]
    # Of another session it is another message.
    assert (await append(runtime, again[0], session_id="web:2")).stored == 1
    assert_index_consistent(conninfo)


async def test_two_appends_of_the_same_messages_at_once_store_them_once(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    other = assemble(Settings(embedder="hashing"), database, runtime.models)
    messages = [user("When is it?", message_id="a", at=MORNING), assistant("At nine.", message_id="b", at=MORNING)]
    # The second runtime stands for another process: nothing but the database keeps the two apart.
    stored = await asyncio.gather(*(append(system, *messages) for system in (runtime, other, runtime, other)))
    assert sorted(appended.stored for appended in stored) == [0, 0, 0, 2]
    assert await texts(runtime) == ["When is it?", "At nine."]
    found = await runtime.workspace.present(place_of(ADA), ["memory/2026-04-03.md"])
    assert [text.count("When is it?") for _, text in found.values()] == [1]
    assert_index_consistent(conninfo)


async def test_messages_keep_the_order_in_which_they_came_whatever_their_time(runtime: Runtime) -> None:
    await append(runtime, user("second", at=MORNING), user("first", at=MORNING - timedelta(days=1)), user("third"))
    found = await said(runtime)
    assert [m.content for m in found] == ["second", "first", "third"]
    assert [m.at for m in found[:2]] == [MORNING, MORNING - timedelta(days=1)]


async def test_what_the_roles_of_a_protocol_need_is_kept_beside_the_content(runtime: Runtime) -> None:
    call = {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
    await append(
        runtime,
        NewMessage("system", "Be brief."),
        NewMessage("assistant", "", extra=call),
        NewMessage("tool", "", extra={"tool_call_id": "c1"}),
    )
    assert [m.for_model() for m in await said(runtime)] == [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "", **call},
        {"role": "tool", "content": "", "tool_call_id": "c1"},
    ]


async def test_an_echoed_line_is_never_ingested(runtime: Runtime, conninfo: str) -> None:
    """One echoed line became 668 copies elsewhere: what memory put into a message comes back with every turn."""
    block = f"{OPEN_FENCE}\n## Memory Context\nRecalled data.\n- (2026-04-03, MEMORY.md) zorblax\n{CLOSE_FENCE}"
    for number in range(5):
        await append(
            runtime,
            NewMessage("system", f"Be brief.\n\n{block}"),
            user(f"{block}\n\nWhat about turn {number}?"),
            user(block),
            user(f"{SUMMARY_MARK}\nThey spoke of zorblax."),
            assistant(f"Nothing about turn {number}.", extra={}),
        )
    told = await texts(runtime)
    assert told[:3] == ["Be brief.", "What about turn 0?", "Nothing about turn 0."]
    assert len(told) == 15
    assert leftovers(conninfo, "zorblax") == []
    assert_index_consistent(conninfo)


async def test_the_result_of_a_tool_stays_though_nothing_is_left_of_it(runtime: Runtime) -> None:
    block = f"{OPEN_FENCE}\n## Memory Context\n- (2026-04-03, MEMORY.md) tea\n{CLOSE_FENCE}"
    await append(runtime, NewMessage("tool", block, extra={"tool_call_id": "c1"}), NewMessage("system", block))
    assert [(m.role, m.content) for m in await said(runtime)] == [("tool", "")]


async def test_one_id_of_several_owners_is_several_sessions(runtime: Runtime, conninfo: str) -> None:
    for principal, text in ((TEAM, "of the team"), (ADA, "of Ada"), (BO, "of Bo")):
        await append(runtime, user(text), principal=principal)
    for principal, text in ((ADA, "of Ada"), (BO, "of Bo"), (TEAM, "of the team")):
        assert await texts(runtime, principal=principal) == [text]
    assert_index_consistent(conninfo)


async def test_without_an_owner_nobodys_session_is_found(runtime: Runtime) -> None:
    await append(runtime, user("of Ada"), principal=ADA)
    with pytest.raises(NotFound):
        await runtime.sessions.locate(TEAM, SESSION)
    with pytest.raises(NotFound):
        await runtime.sessions.complete(TEAM, SESSION, "web")
    with pytest.raises(NotFound):
        await runtime.sessions.find(ADA, "web:2")
    assert (await runtime.sessions.locate(ADA, SESSION))[1] == place_of(ADA)


async def test_what_names_no_owner_is_said_to_the_team_whoever_has_a_session_of_that_id(runtime: Runtime) -> None:
    await runtime.sessions.put(grant_of(ADA), place_of(ADA), SESSION, state=None, metadata={"a": 1})
    appended = await append(runtime, user("to the team"), principal=TEAM)
    assert appended.session.owner_key is None
    session, is_new = await runtime.sessions.put(grant_of(TEAM), place_of(TEAM), SESSION, state="paused", metadata=None)
    assert (session.owner_key, session.state, session.metadata, is_new) == (None, "paused", {}, False)
    assert await texts(runtime, principal=ADA) == []


async def test_a_key_of_an_owner_writes_to_no_session_that_others_read(runtime: Runtime) -> None:
    """It was begun in the team's memory while the agent had one for all."""
    grant = grant_of(ADA, memory_isolation=False)
    await runtime.sessions.append(grant, place_of(TEAM), SESSION, [user("everybody's")])
    bound = replace(ADA, is_bound=True)
    for refused in (
        runtime.sessions.append(grant_of(bound), place_of(ADA), SESSION, [user("more")]),
        runtime.sessions.put(grant_of(bound), place_of(ADA), SESSION, state="paused", metadata=None),
        runtime.sessions.complete(bound, SESSION, "web"),
        runtime.sessions.clear(bound, SESSION),
        runtime.sessions.delete(bound, SESSION),
        runtime.sessions.locate(bound, SESSION, to_write=True),
    ):
        with pytest.raises(Forbidden):
            await refused
    assert await texts(runtime, principal=bound) == ["everybody's"]


async def test_without_an_owner_nobodys_session_is_removed(runtime: Runtime) -> None:
    await append(runtime, user("of the team"), principal=TEAM)
    await append(runtime, user("of Ada"), principal=ADA)
    for _ in range(2):
        await runtime.sessions.clear(TEAM, SESSION)
    await runtime.sessions.delete(TEAM, SESSION)
    # Said a second time it must not go on with the one of that id that is left.
    for remove in (runtime.sessions.clear, runtime.sessions.delete):
        with pytest.raises(NotFound):
            await remove(TEAM, SESSION)
    assert await texts(runtime) == ["of Ada"]


async def test_without_isolation_a_session_is_still_its_owners(runtime: Runtime, conninfo: str) -> None:
    """All of them are in the team's slice then, which everybody's transaction may open."""

    async def say(principal: Principal, text: str) -> Appended:
        grant = grant_of(principal, memory_isolation=False)
        return await runtime.sessions.append(grant, place_of(TEAM), SESSION, [user(text)])

    assert (await say(TEAM, "of the team")).session.owner_key is None
    await say(ADA, "of Ada")
    await say(BO, "of Bo")
    for principal, text in ((ADA, "of Ada"), (BO, "of Bo"), (TEAM, "of the team")):
        assert await texts(runtime, principal=principal) == [text]
    await runtime.sessions.delete(TEAM, SESSION)
    with pytest.raises(NotFound):
        await runtime.sessions.delete(TEAM, SESSION)
    with pytest.raises(NotFound):
        await runtime.sessions.find(TEAM, SESSION)
    assert_index_consistent(conninfo)


async def test_a_session_stays_where_it_was_begun(runtime: Runtime, conninfo: str) -> None:
    await append(runtime, user("personal"))
    # Without isolation every write goes to the team, but not one that goes on with what was personal.
    grant = grant_of(ADA, memory_isolation=False)
    appended = await runtime.sessions.append(grant, place_of(TEAM), SESSION, [user("and so is this")])
    assert (await runtime.sessions.locate(ADA, SESSION))[1] == place_of(ADA)
    assert appended.session.message_count == 2
    shared = await runtime.sessions.append(grant, place_of(TEAM), "web:2", [user("everybody's")])
    assert shared.session.owner_key == "user:1"
    assert (await runtime.sessions.locate(ADA, "web:2"))[1] == place_of(TEAM)
    assert_index_consistent(conninfo)


async def test_a_terminated_session_takes_nothing_until_it_is_active_again(runtime: Runtime) -> None:
    grant, place = grant_of(ADA), place_of(ADA)
    session, is_new = await runtime.sessions.put(grant, place, SESSION, state="terminated", metadata={"title": "a"})
    assert (session.state, is_new, session.metadata) == ("terminated", True, {"title": "a"})
    with pytest.raises(Conflict):
        await append(runtime, user("Hello?"))
    session, is_new = await runtime.sessions.put(grant, place, SESSION, state="paused", metadata=None)
    assert (session.state, is_new, session.metadata) == ("paused", False, {"title": "a"})
    assert (await append(runtime, user("Hello?"))).stored == 1
    assert await texts(runtime) == ["Hello?"]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (user("x", message_id=""), ValidationFailed),
        (user("x", message_id="m" * 201), ValidationFailed),
        (user("x", at=datetime(1969, 12, 31, tzinfo=UTC)), ValidationFailed),
        (user("x", at=datetime.now(UTC) + timedelta(days=2)), ValidationFailed),
        (user("x" * 1_048_577), PayloadTooLarge),
        (user("NUL \x00"), ValidationFailed),
        (user("half \ud800"), ValidationFailed),
        (user("x", extra={"name": "NUL \x00"}), ValidationFailed),
        (user("x", extra={"name": float("nan")}), ValidationFailed),
    ],
)
async def test_a_message_that_may_not_be_is_refused_with_all_of_its_call(
    runtime: Runtime, message: NewMessage, error: type[ReverieError]
) -> None:
    with pytest.raises(error):
        await append(runtime, user("fine"), message)
    with pytest.raises(NotFound):
        await runtime.sessions.find(ADA, SESSION)


async def test_metadata_is_bounded(runtime: Runtime) -> None:
    deep: dict[str, object] = {}
    for _ in range(40):
        deep = {"in": deep}
    for metadata, error in (({"a": "x" * 16_384}, PayloadTooLarge), (deep, ValidationFailed)):
        with pytest.raises(error):
            await runtime.sessions.put(grant_of(ADA), place_of(ADA), SESSION, state=None, metadata=metadata)


async def test_messages_are_kept_while_the_model_is_down(database: Database, conninfo: str) -> None:
    embedder = MoodyEmbedder(down=True)
    system = assemble(Settings(embedder="hashing"), database, await filled_slot(database, embedder))
    await append(system, user("The lantern is in the harbour."))
    assert system.pipeline.backfill_wanted.is_set()
    embedder.down = False
    while await system.pipeline.backfill():
        pass
    assert not await system.pipeline.is_waiting(place_of(ADA))
    assert_index_consistent(conninfo)


def compaction(first: int, last: int) -> NewCompaction:
    return NewCompaction(first, last, "They spoke.", 0, "extractive")


async def mark(database: Database, runtime: Runtime, session: Session, first: int, last: int) -> None:
    from reverie_indexer.index.slices import lock_slice

    async with database.tenant("default") as connection:
        await lock_slice(connection, place_of(ADA))
        await mark_compacted(connection, "default", session, compaction(first, last))


async def test_of_two_compactions_one_is_first_and_the_messages_stay(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    session = (await append(runtime, *(user(f"message {n}") for n in range(6)))).session
    await mark(database, runtime, session, 1, 4)
    with pytest.raises(Conflict):
        await mark(database, runtime, session, 1, 4)
    session, live = await runtime.sessions.live(ADA, SESSION)
    assert (session.compactions, session.compacted_through, session.summary) == (1, 4, "They spoke.")
    assert [m.seq for m in live] == [5, 6]
    assert len(await said(runtime)) == 6
    await runtime.sessions.clear(ADA, SESSION)
    with pytest.raises(Conflict):
        await mark(database, runtime, session, 5, 6)
    assert_index_consistent(conninfo)


async def test_a_session_pages(runtime: Runtime) -> None:
    session = (await append(runtime, *(user(f"message {n}") for n in range(5)))).session
    page = await runtime.sessions.messages(ADA, session, after=2, limit=2)
    assert [m.content for m in page] == ["message 2", "message 3"]
    assert await runtime.sessions.messages(ADA, session, after=5, limit=2) == []
    # The message that reaches the limit of bytes is the last, and the first is always there.
    for max_bytes, count in ((1, 1), (9, 1), (10, 2), (1000, 5)):
        assert len(await runtime.sessions.messages(ADA, session, after=0, limit=9, max_bytes=max_bytes)) == count


async def test_twenty_sessions_at_once_keep_their_order_and_their_own(runtime: Runtime, conninfo: str) -> None:
    """Sessions of three owners and the team, each by appends that overlap: nothing lost, doubled, mixed or turned."""
    principals = [ADA, BO, TEAM, ADA]
    at = MORNING

    async def talk(number: int) -> None:
        principal = principals[number % len(principals)]
        for turn in range(3):
            await append(
                runtime,
                user(f"Question {turn} of session {number}?", at=at + timedelta(minutes=turn)),
                assistant(f"Answer {turn} of session {number}.", at=at + timedelta(minutes=turn)),
                session_id=f"chat:{number}",
                principal=principal,
            )

    async def crowd(number: int) -> None:
        await append(runtime, user(f"Crowd {number} a"), user(f"Crowd {number} b"), session_id="crowd")

    await asyncio.gather(*(talk(number) for number in range(20)), *(crowd(number) for number in range(8)))
    for number in range(20):
        expected = [
            text
            for turn in range(3)
            for text in (f"Question {turn} of session {number}?", f"Answer {turn} of session {number}.")
        ]
        assert await texts(runtime, f"chat:{number}", principals[number % len(principals)]) == expected
    crowded = await said(runtime, "crowd")
    assert [m.seq for m in crowded] == list(range(1, 17))
    pairs = {(crowded[n].content[:-2], crowded[n + 1].content[:-2]) for n in range(0, 16, 2)}
    assert pairs == {(f"Crowd {n}", f"Crowd {n}") for n in range(8)}
    for principal, sessions in ((ADA, 10), (BO, 5), (TEAM, 5)):
        found = await runtime.workspace.present(place_of(principal), ["memory/2026-04-03.md"])
        assert [text.count("| Assistant: Answer") for _, text in found.values()] == [3 * sessions]
    assert_index_consistent(conninfo)
