"""A search that names the owner of a memory finds what they said of themselves, and nobody else's memory knows them."""

from __future__ import annotations

import pytest
from tests.facts import read_facts, reading
from tests.talks import Talk

from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(reading(runtime))


async def tell(talk: Talk, *texts: str) -> None:
    for text in texts:
        await talk.say(text, "Good.")
    await read_facts(talk)


async def terms(talk: Talk, query: str) -> tuple[str, ...]:
    """The words that a query of the owner's is searched for by."""
    grant, _ = await talk.grant()
    return (await talk.runtime.search.search(request_for(grant, query))).terms.terms


async def test_the_name_of_the_owner_is_not_searched_for(talk: Talk) -> None:
    query = "boat of Ada"
    await tell(talk, "lives_in of user = Rome.")
    assert "ada" in await terms(talk, query)
    await tell(talk, "name of user = Ada.")
    assert await terms(talk, query) == ("boat",)
    assert await terms(talk, "Ada") == ("ada",)
    # Held in memory, too.
    assert await terms(talk, query) == ("boat",)


async def test_a_name_that_somebody_else_has_as_well_is_searched_for(talk: Talk) -> None:
    await tell(talk, "name of user = Ada.", "lives_in of Ada Hart = Oslo.")
    assert "ada" in await terms(talk, "boat of Ada")


async def test_a_name_that_does_not_hold_any_more_is_searched_for(talk: Talk) -> None:
    await tell(talk, "name of user = Ada.")
    await tell(talk, "name of user := Eve.")
    assert "ada" in await terms(talk, "boat of Ada")
    assert await terms(talk, "boat of Eve") == ("boat",)


async def test_others_are_searched_for_by_their_names(talk: Talk) -> None:
    await tell(talk, "name of user = Ada.")
    other = Talk(talk.runtime, owner_key="user:other")
    await tell(other, "lives_in of user = Rome.")
    assert "ada" in await terms(other, "boat of Ada")
