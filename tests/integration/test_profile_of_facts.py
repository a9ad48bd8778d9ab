"""PROFILE.md has what facts know of the user: it comes with them, changes with them, and is forgotten with them."""

from __future__ import annotations

import pytest
from tests.facts import read_facts, reading, rows
from tests.talks import Talk

from reverie_indexer.index.slices import lock_slice
from reverie_server.access.keys import OPERATOR
from reverie_server.app.pending_jobs import drain
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(reading(runtime))


async def profile(talk: Talk) -> list[str]:
    """The lines of PROFILE.md that hold something."""
    _, place = await talk.grant()
    _, text = (await talk.runtime.workspace.present(place, ["PROFILE.md"])).get("PROFILE.md", (None, ""))
    return [line for line in text.splitlines() if line.startswith("- ")]


async def tell(talk: Talk, *texts: str) -> None:
    for text in texts:
        await talk.say(text, "Good.")
    await read_facts(talk)


async def test_what_facts_know_of_the_user_is_a_line(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.", "name of user = Ada.", "lives_in of Bruno = Oslo.")
    assert await profile(talk) == ["- Name: Ada", "- Home: Rome"]


async def test_a_line_changes_with_its_fact_and_leaves_with_it(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.", "works_as of user = cook.")
    await tell(talk, "lives_in of user := Milan.")
    assert await profile(talk) == ["- Home: Milan", "- Work: cook"]
    await tell(talk, "works_as of user -= cook.")
    assert await profile(talk) == ["- Home: Milan"]
    await tell(talk, "lives_in of user := Rome.")
    assert await profile(talk) == ["- Home: Rome"]


async def test_lines_of_facts_are_no_facts_themselves(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.")
    before = await rows(talk)
    await drain(talk.runtime)
    await read_facts(talk)
    assert await rows(talk) == before
    assert [source["path"] for source in await rows(talk, "fact_sources")] == [None]
    assert await profile(talk) == ["- Home: Rome"]


async def test_what_a_person_took_out_or_wrote_stays_so(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.", "name of user = Ada.")
    await talk.put("PROFILE.md", "# Me\n\n- Name: ADA\n- I paint.\n")
    await tell(talk, "works_as of user = cook.")
    assert await profile(talk) == ["- Name: ADA", "- Work: cook", "- I paint."]


async def test_a_line_that_is_written_anew_in_other_letters_is_still_one_of_facts(talk: Talk) -> None:
    await tell(talk, "lives_in of user = new york.")
    await tell(talk, "lives_in of user := New York.")
    await tell(talk, "lives_in of user := Boston.")
    assert await profile(talk) == ["- Home: Boston"]


async def test_what_a_line_of_the_file_states_already_is_no_second_line(talk: Talk) -> None:
    await talk.put("PROFILE.md", "# Me\n\n- lives_in of user = Rome.\n- I was never in Oslo.\n")
    await tell(talk, "lives_in of user = Rome.", "works_at of user = Oslo.")
    assert await profile(talk) == ["- Works at: Oslo", "- lives_in of user = Rome.", "- I was never in Oslo."]


async def test_what_a_person_writes_with_a_label_is_a_fact(talk: Talk) -> None:
    await talk.put("PROFILE.md", "# Me\n\n- Tochter: Orla\n- Home: Rome\n")
    await tell(talk, "lives_in of user := Milan.")
    found = {(fact["predicate"], fact["object"], fact["state"]) for fact in await rows(talk)}
    assert found == {
        ("daughter", "Orla", "current"),
        ("lives_in", "Rome", "superseded"),
        ("lives_in", "Milan", "current"),
    }


async def test_what_stands_under_a_heading_is_not_of_the_owner(talk: Talk) -> None:
    await talk.put("PROFILE.md", "# Me\n\n- Tochter: Orla\n\n## Anna\n\n- Tochter: Mia\n")
    await read_facts(talk)
    assert [(fact["predicate"], fact["object"]) for fact in await rows(talk)] == [("daughter", "Orla")]


async def test_a_line_that_somebody_puts_back_is_theirs(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.")
    await tell(talk, "lives_in of user := Milan.")
    await talk.put("PROFILE.md", "# Me\n\n- Home: Rome\n")
    await tell(talk, "name of user = Ada.")
    assert await profile(talk) == ["- Name: Ada", "- Home: Rome"]


async def test_a_file_that_somebody_deleted_is_not_made_anew(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.")
    _, place = await talk.grant()
    await talk.runtime.workspace.delete(place, "PROFILE.md", by="test", if_version=None)
    await tell(talk, "works_as of user = cook.")
    assert await profile(talk) == []


async def test_where_several_people_talk_nobody_is_the_user(talk: Talk, runtime: Runtime) -> None:
    settings = {"memory_isolation": False}
    await runtime.agents.put("default", talk.agent_id, name="wren", leader_agent_id=None, settings=settings)
    await tell(talk, "lives_in of user = Rome.")
    other = Talk(reading(runtime), "web:2", owner_key="user:2")
    await tell(other, "name of user = Bo.")
    assert await profile(talk) == []


async def test_what_is_forgotten_is_no_line(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.", "name of user = Ada.")
    grant, place = await talk.grant()
    await talk.runtime.forgetting.forget(grant, place, Target(text="lives_in of user = Rome."), dry_run=False)
    assert await profile(talk) == ["- Name: Ada"]
    await read_facts(talk)
    assert await profile(talk) == ["- Name: Ada"]


async def test_a_line_that_is_forgotten_does_not_come_back(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.", "name of user = Ada.")
    grant, place = await talk.grant()
    await talk.runtime.forgetting.forget(grant, place, Target(text="Home: Rome"), dry_run=False)
    await tell(talk, "works_as of user = cook.")
    assert await profile(talk) == ["- Name: Ada", "- Work: cook"]


async def test_what_a_session_said_goes_with_it_from_all_versions(talk: Talk, runtime: Runtime) -> None:
    await tell(talk, "lives_in of user = Rome.")
    later = Talk(reading(runtime), "web:2")
    await tell(later, "lives_in of user := Milan.", "name of user = Ada.")
    grant, place = await talk.grant()
    await talk.runtime.forgetting.forget(grant, place, Target(session_id=talk.session_id), dry_run=False)
    await drain(talk.runtime)
    assert await profile(talk) == ["- Name: Ada", "- Home: Milan"]
    assert [row for row in await rows(talk, "versions") if "Rome" in str(row["content"])] == []


async def test_what_holds_of_others_is_no_line_of_theirs(talk: Talk, runtime: Runtime) -> None:
    await tell(talk, "lives_in of user = Rome.")
    other = Talk(reading(runtime), "web:2", owner_key="user:2")
    await tell(other, "name of user = Bo.")
    assert (await profile(talk), await profile(other)) == (["- Home: Rome"], ["- Name: Bo"])


async def test_a_line_is_no_result_beside_what_was_said(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.", "name of user = Ada.")
    grant = await talk.runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    found = (await talk.runtime.search.search(request_for(grant, "Rome Ada"))).results
    assert [result.path for result in found if result.path == "PROFILE.md"] == []
    files = (await talk.runtime.search.search(request_for(grant, "Rome Ada", tiers=("document",)))).results
    assert "PROFILE.md" in {result.path for result in files}


async def test_what_ends_on_a_day_is_no_line(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.")
    _, place = await talk.grant()
    async with talk.runtime.database.tenant(place.tenant_id) as connection:
        await lock_slice(connection, place)
        await connection.execute("UPDATE fact_sources SET valid_to = '2099-01-01'")
    await tell(talk, "name of user = Ada.")
    assert await profile(talk) == ["- Name: Ada"]
