"""What was said is found verbatim, by its owner, beside the files and not instead of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.consistency import assert_index_consistent
from tests.conversations import ADA, BO, SESSION, TEAM, append, assistant, place_of, user

from reverie_indexer.change import overwrite
from reverie_indexer.errors import NotFound
from reverie_indexer.model import Tier
from reverie_server.access.principal import Principal
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest, SearchResult
from reverie_server.sessions.model import NewMessage

AT = datetime(2026, 4, 3, 9, 30, tzinfo=UTC)
LONG = "The gantry crane is inspected by Marguerite every second Wednesday, " + "and then again. " * 30


async def search(runtime: Runtime, query: str, principal: Principal = ADA, **more: Any) -> list[SearchResult]:
    request = SearchRequest(principal.tenant_id, principal.agent_id, query, principal.owner_key, **more)
    return list((await runtime.search.search(request)).results)


async def test_a_past_exchange_is_found_as_it_was_said(runtime: Runtime) -> None:
    await append(runtime, user("Who inspects the gantry crane?", at=AT), assistant(LONG, at=AT + timedelta(hours=1)))
    found = await search(runtime, "gantry crane inspected Marguerite", tiers=("message",))
    assert [(r.text, r.tier, r.path, r.start_line, r.end_line) for r in found] == [
        (LONG.strip(), "message", f"sessions/{SESSION}", 2, 2),
        ("Who inspects the gantry crane?", "message", f"sessions/{SESSION}", 1, 1),
    ]
    assert [r.updated_at for r in found] == [AT + timedelta(hours=1), AT]
    assert [(r.scope, r.owner_key, r.boost) for r in found] == [("personal", "user:1", 1.2)] * 2


def named(role: str, name: str, content: str) -> NewMessage:
    return NewMessage("user" if role == "user" else "assistant", content, at=AT, extra={"name": name})


async def test_the_name_of_a_speaker_finds_what_this_one_said(runtime: Runtime, conninfo: str) -> None:
    """Messages say `I`; a question names who it is about. The text stays as it was said."""
    said = [("Caroline", "I took up pottery."), ("Melanie", "I took up pottery too.")]
    said += [("Caroline", "Nice weather."), ("Melanie", "It is.")]
    roles = {"Caroline": "user", "Melanie": "assistant"}
    await append(runtime, *(named(roles[name], name, content) for name, content in said))
    for name, content in said[:2]:
        found = await search(runtime, f"What did {name} say about pottery?", tiers=("message",), max_results=1)
        assert [r.text for r in found] == [content]
        assert found[0].speaker_match == 1.0
    assert_index_consistent(conninfo)


async def test_a_line_of_the_log_is_no_result_where_its_message_is_indexed(runtime: Runtime) -> None:
    """Also where the message itself is no candidate: cut in the log, and far from the query."""
    await append(runtime, user("zorblax " + "and so on " * 40, at=AT), assistant("Fine, zorblax it is.", at=AT))
    found = await search(runtime, "zorblax", max_results=10)
    assert {r.tier for r in found} == {"message"}
    asked_for = await search(runtime, "zorblax", tiers=("document",))
    assert [r.path for r in asked_for] == ["memory/2026-04-03.md"]


async def test_a_line_of_the_log_is_a_result_where_a_filter_leaves_out_its_messages(runtime: Runtime) -> None:
    parked = user("I parked the van at lot #parking seven.", at=AT)
    await append(runtime, parked, assistant("Stored under #car then.", at=AT + timedelta(seconds=5)))
    both = await search(runtime, "van parked", tags=("parking", "car"))
    assert [r.path for r in both] == ["memory/2026-04-03.md"]
    assert {r.tier for r in await search(runtime, "van parked", tags=("parking",))} == {"message"}
    later = await search(runtime, "van parked", since=AT + timedelta(hours=2), until=AT + timedelta(hours=9))
    assert [r.path for r in later] == ["memory/2026-04-03.md"]


async def test_an_entry_of_the_memory_that_a_message_says_competes_as_the_message(runtime: Runtime) -> None:
    said = "My sister Ada cannot eat gluten, and the bakery at the corner knows that by now, as they all do."
    await append(runtime, user(f"Hello there. {said} So what do I cook on Sunday evening?", at=AT))
    entry = overwrite("MEMORY.md", f"## Notes\n\n- {said}\n", by="t", reason="t")
    await runtime.pipeline.write(place_of(ADA), entry)
    query = "Ada gluten bakery corner"
    alone = (await search(runtime, query, tiers=("message",)))[0]
    [found] = await search(runtime, query, max_results=10)
    assert (found.tier, found.chunk_id) == ("message", alone.chunk_id)
    assert found.score > alone.score


async def test_nobody_else_finds_it(runtime: Runtime) -> None:
    await append(runtime, user("The gantry crane is mine."))
    await append(runtime, user("The gantry crane is ours."), principal=TEAM, session_id="team")
    for principal, expected in ((ADA, {"mine", "ours"}), (BO, {"ours"}), (TEAM, {"ours"})):
        found = await search(runtime, "gantry crane", principal, tiers=("message",))
        assert {r.text.removesuffix(".").split()[-1] for r in found} == expected
    for elsewhere in (Principal("default", "finch", "user:1"), Principal("other", "wren", "user:1")):
        await append(runtime, user("Nothing of it."), principal=elsewhere)
        found = await search(runtime, "gantry crane", elsewhere, tiers=("message",))
        assert [r.text for r in found] == ["Nothing of it."]


async def test_another_session_is_another_document(runtime: Runtime) -> None:
    """What stands beside a passage is of its own conversation, never of another one of the agent's."""
    for number in range(3):
        for session_id in ("web:1", "web:2"):
            await append(runtime, user(f"Line {number} of {session_id}, zorblax."), session_id=session_id)
    found = await search(runtime, "zorblax line", tiers=("message",), path_prefix="sessions/web:2", max_results=9)
    assert {r.path for r in found} == {"sessions/web:2"}
    middle = next(r for r in found if r.start_line == 2)
    expanded = await runtime.expansion.expand(ADA, str(middle.chunk_id))
    around = [p.text for p in (*expanded.before, expanded.passage, *expanded.after)]
    assert around == [f"Line {n} of web:2, zorblax." for n in range(3)]
    assert (expanded.tier, expanded.path, expanded.updated_at) == ("message", "sessions/web:2", middle.updated_at)
    with pytest.raises(NotFound):
        await runtime.expansion.expand(BO, str(middle.chunk_id))


@pytest.mark.parametrize(("tiers", "expected"), [(("document",), set()), (("message",), {"message"})])
async def test_tiers_are_a_filter(runtime: Runtime, tiers: tuple[Tier, ...], expected: set[str]) -> None:
    await append(runtime, user("zorblax"))
    assert {r.tier for r in await search(runtime, "zorblax", tiers=tiers) if "zorblax" in r.text} == expected


async def test_tools_and_the_system_are_not_found(runtime: Runtime, conninfo: str) -> None:
    await append(runtime, NewMessage("system", "zorblax s"), NewMessage("tool", "zorblax t"), user("zorblax u"))
    assert [r.text for r in await search(runtime, "zorblax", tiers=("message",))] == ["zorblax u"]
    assert_index_consistent(conninfo)


async def test_an_agent_may_keep_what_is_said_out_of_search(runtime: Runtime) -> None:
    await append(runtime, user("zorblax"), index_messages=False)
    assert await search(runtime, "zorblax", tiers=("message",)) == []
    await append(runtime, user("zorblax again"))
    assert [r.text for r in await search(runtime, "zorblax", tiers=("message",))] == ["zorblax again"]


async def test_a_date_finds_what_was_said_then(runtime: Runtime) -> None:
    late = datetime(2026, 4, 3, 22, 30, tzinfo=UTC)
    zone = {"time_zone": "Europe/Berlin"}
    await append(runtime, user("We met.", at=late), user("We spoke.", at=late - timedelta(days=2)), **zone)
    found = await search(runtime, "what happened on April 4, 2026", mode="text", tiers=("message",))
    assert found[0].text == "We met."


async def test_as_of_shows_what_had_been_said_by_then(runtime: Runtime) -> None:
    await append(runtime, user("zorblax one", at=AT), user("zorblax two", at=AT + timedelta(days=2)))
    for days, expected in ((-1, set()), (1, {"zorblax one"}), (2, {"zorblax one", "zorblax two"})):
        found = await search(runtime, "zorblax", as_of=AT + timedelta(days=days), tiers=("message",))
        assert {r.text for r in found} == expected
        assert all(r.updated_at in (AT, AT + timedelta(days=2)) for r in found)


async def test_messages_take_at_most_half_of_the_places_while_files_match(runtime: Runtime) -> None:
    await append(runtime, *(user(f"zorblax number {n} was spoken of") for n in range(20)))
    changes = [overwrite(f"n/{n}.md", f"a file on zorblax, {n}", by="t", reason="t") for n in range(9)]
    await runtime.pipeline.write_many(place_of(ADA), changes)
    found = await search(runtime, "zorblax number spoken", max_results=7)
    assert sum(r.tier == "message" for r in found) == 4
    assert len(found) == 7


async def test_an_exchange_does_not_take_two_places(runtime: Runtime) -> None:
    """It stands in the daily log and as messages: the messages are shown, and the line where no message of it is."""
    at = [AT + timedelta(minutes=n) for n in range(2)]
    await append(runtime, user("Who inspects the gantry crane?", at=at[0]), assistant(LONG, at=at[0]))
    await append(runtime, user("Thanks.", at=at[1]), assistant("The gantry crane thanks you.", at=at[1]))
    found = await search(runtime, "gantry crane", max_results=10)
    lines = [r for r in found if r.path == "memory/2026-04-03.md" and "User:" in r.text]
    assert lines == []
    assert {r.text for r in found if r.tier == "message"} >= {LONG.strip(), "The gantry crane thanks you."}
    # Where messages are not asked for, the log stands for them.
    found = await search(runtime, "gantry crane", tiers=("document",))
    assert [r.text.count("User:") for r in found if "gantry" in r.text] == [1, 1]


async def test_what_is_said_often_is_found_once(runtime: Runtime) -> None:
    await append(runtime, *(user("Where is the zorblax?", at=AT + timedelta(days=n)) for n in range(5)))
    await append(runtime, user("The zorblax is in the harbour."), session_id="web:2")
    found = await search(runtime, "where is the zorblax", tiers=("message",))
    assert sorted(r.text for r in found) == ["The zorblax is in the harbour.", "Where is the zorblax?"]


async def test_a_file_of_the_same_path_is_another_thing(runtime: Runtime, conninfo: str) -> None:
    await append(runtime, user("zorblax said"), session_id="notes.md")
    await runtime.pipeline.write(
        place_of(TEAM), overwrite("sessions/notes.md", "zorblax written", by="t", reason="t", enabled=True)
    )
    file = await runtime.workspace.read(ADA, "sessions/notes.md")
    assert (file.content, file.resolved_from) == ("zorblax written", "team")
    hits = await runtime.keywords.search(ADA, "zorblax", scope=None, limit=9)
    assert [(hit.path, hit.line) for hit in hits.hits] == [("sessions/notes.md", 1)]
    count, files = await runtime.workspace.listing(ADA, prefix="sessions/", after=None, limit=9)
    assert (count, [file.path for file in files]) == (1, ["sessions/notes.md"])
    found = await search(runtime, "zorblax", path_prefix="sessions/notes.md")
    assert {(r.tier, r.text) for r in found} == {("message", "zorblax said"), ("document", "zorblax written")}
    assert_index_consistent(conninfo)
