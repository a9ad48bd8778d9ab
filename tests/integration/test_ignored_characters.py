"""Words with characters inside that nobody sees are found as the words that one reads, and are shown as they stand."""

from __future__ import annotations

import pytest
from tests.hot import Both
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.reindex import reindex
from reverie_indexer.text import analyse, passages
from reverie_server.files.keyword_search import KeywordSearch
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest

TEXT = """The spoon\u00adbill lives here.

A pass\u200bword is heron7, of PROJ\u2060-1234.

Donau\u00addampf\ufeffschiff fährt.
"""
SPELLINGS = ["spoonbill", "password", "Donaudampfschiff", "spoon\u00adbill", "pass\u200bword", "DONAU\u2060DAMPFSCHIFF"]


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(runtime)


@pytest.mark.parametrize("query", [*SPELLINGS, '"spoonbill lives here"', "PROJ-1234"])
async def test_a_file_and_a_message_are_found_by_the_word_that_one_reads(
    talk: Talk, database: Database, models: ModelSlot, query: str
) -> None:
    await talk.put("notes/n.md", TEXT)
    await talk.say(TEXT, "Noted.")
    # What is to be found to the letter is found below any threshold.
    min_score = 0.0 if query in SPELLINGS else 0.99
    request = SearchRequest("default", "wren", query, ADA, mode="text", min_score=min_score, max_results=20)
    both = Both(database, models)
    await both.warm(request)
    found = (await both.compare(request)).results
    assert {result.tier for result in found} == {"document", "message"}
    assert all(result.text in TEXT for result in found)


@pytest.mark.parametrize("query", SPELLINGS)
async def test_keywords_are_found_and_marked_as_they_stand(talk: Talk, database: Database, query: str) -> None:
    await talk.put("notes/n.md", TEXT)
    grant, _ = await talk.grant()
    [hit] = (await KeywordSearch(database).search(grant.principal, query)).hits
    assert hit.snippet in {
        "The [[spoon\u00adbill]] lives here.",
        "A [[pass\u200bword]] is heron7, of PROJ\u2060-1234.",
        "[[Donau\u00addampf\ufeffschiff]] fährt.",
    }


async def test_what_was_indexed_with_them_is_found_once_it_is_indexed_anew(
    talk: Talk, database: Database, models: ModelSlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        for module in (analyse, passages):
            before.setattr(module, "without_ignored", lambda text: text)
        await talk.put("notes/n.md", f"{TEXT}\nA plain line about herons.\n")
    search = Both(database, models).in_database
    request = SearchRequest("default", "wren", "spoonbill", ADA, mode="text")
    assert [result.text for result in (await search.search(request)).results] == []
    _, place = await talk.grant()
    done = await reindex(database, talk.runtime.pipeline, place)
    assert (done.chunks, done.reused) == (4, 1)
    [result] = (await search.search(request)).results
    assert "spoon\u00adbill" in result.text
    again = await reindex(database, talk.runtime.pipeline, place)
    assert again.reused == again.chunks
