"""PROFILE.md has what facts know of the user: it comes with them, changes with them, and is forgotten with them."""

from __future__ import annotations

import pytest
from tests.facts import read_facts, reading, rows
from tests.talks import Talk

from reverie_server.app.pending_jobs import drain
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(reading(runtime))


async def profile(talk: Talk) -> list[str]:
    """The lines of PROFILE.md that hold something."""
    _, place = await talk.grant()
    _, text = (await talk.runtime.workspace.present(place, ["PROFILE.md"]))["PROFILE.md"]
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
    await talk.put("PROFILE.md", "# Me\n\n- Name: Ada\n- I paint.\n")
    await tell(talk, "works_as of user = cook.")
    assert await profile(talk) == ["- Name: Ada", "- Work: cook", "- I paint."]


async def test_what_is_forgotten_is_no_line(talk: Talk) -> None:
    await tell(talk, "lives_in of user = Rome.", "name of user = Ada.")
    grant, place = await talk.grant()
    await talk.runtime.forgetting.forget(grant, place, Target(text="lives_in of user = Rome."), dry_run=False)
    assert await profile(talk) == ["- Name: Ada"]
    await read_facts(talk)
    assert await profile(talk) == ["- Name: Ada"]


async def test_what_holds_of_others_is_no_line_of_theirs(talk: Talk, runtime: Runtime) -> None:
    await tell(talk, "lives_in of user = Rome.")
    other = Talk(reading(runtime), "web:2", owner_key="user:2")
    await tell(other, "name of user = Bo.")
    assert (await profile(talk), await profile(other)) == (["- Home: Rome"], ["- Name: Bo"])
