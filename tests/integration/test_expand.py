"""A passage with its surroundings: what is shown of its file, and to whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie_indexer.change import overwrite
from reverie_indexer.errors import NotFound
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.principal import Principal
from reverie_server.browse.expand import ExpandedPassage, Expansion
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest
from reverie_server.search.search import Search

ADA = Place("acme", "wren", "personal", "user:ada")
BO = Place("acme", "wren", "personal", "user:bo")
TEAM = Place("acme", "wren", "team")
GLOBAL = Place("acme", "wren", "global")
FINCH = Place("acme", "finch", "team")
UMBRA = Place("umbra", "wren", "personal", "user:ada")
PRINCIPAL = Principal("acme", "wren", "user:ada")
TEXT = "# Trip\n\n## Packing\n\n" + "\n\n".join(f"Item {n} of the list, quagga{n}." for n in range(9)) + "\n"


@pytest.fixture
def expansion(runtime: Runtime) -> Expansion:
    return runtime.expansion


async def put(pipeline: Pipeline, place: Place, text: str, path: str = "notes/a.md") -> None:
    await pipeline.write(place, overwrite(path, text, by="test", reason="test"))


async def id_of(search: Search, place: Place, word: str) -> str:
    request = SearchRequest(place.tenant_id, place.agent_id, word, place.owner_key, mode="text")
    found = (await search.search(request)).results
    return str(next(ranked.chunk_id for ranked in found if word in ranked.text))


def texts(found: ExpandedPassage) -> tuple[list[str], str, list[str]]:
    return [p.text for p in found.before], found.passage.text, [p.text for p in found.after]


async def test_a_passage_is_shown_with_three_neighbours_on_each_side(
    pipeline: Pipeline, search: Search, expansion: Expansion
) -> None:
    await put(pipeline, ADA, TEXT)
    found = await expansion.expand(PRINCIPAL, await id_of(search, ADA, "quagga4"))
    items = [f"Item {n} of the list, quagga{n}." for n in range(9)]
    assert texts(found) == (items[1:4], items[4], items[5:8])
    assert (found.more_before, found.more_after) == (True, True)
    assert (found.path, found.heading_path, found.tier) == ("notes/a.md", ("Trip", "Packing"), "document")
    assert (found.scope, found.resolved_from, found.version) == ("personal", "personal", 1)
    assert (found.passage.start_line, found.passage.end_line) == (13, 13)
    assert [p.start_line for p in found.before] == [7, 9, 11]
    again = await expansion.expand(PRINCIPAL, str(found.after[-1].chunk_id))
    assert texts(again)[1:] == (items[7], [items[8]])
    assert (again.more_before, again.more_after) == (True, False)


async def test_long_neighbours_stay_within_about_four_thousand_characters(
    pipeline: Pipeline, search: Search, expansion: Expansion
) -> None:
    paragraphs = [f"quagga{n} " + "grazes on the plain " * 45 for n in range(7)]
    await put(pipeline, ADA, "\n\n".join(paragraphs))
    found = await expansion.expand(PRINCIPAL, await id_of(search, ADA, "quagga3"))
    before, own, after = texts(found)
    assert (len(before), len(after)) == (2, 1)
    assert sum(map(len, [*before, own, *after])) <= 4000
    assert (found.more_before, found.more_after) == (True, True)


async def test_an_unchanged_passage_keeps_its_id_and_shows_its_new_surroundings(
    pipeline: Pipeline, search: Search, expansion: Expansion
) -> None:
    await put(pipeline, ADA, TEXT)
    kept, changed = [await id_of(search, ADA, word) for word in ("quagga0", "quagga1")]
    await put(pipeline, ADA, TEXT.replace("Item 1 of the list, quagga1.", "Now an okapi."))
    found = await expansion.expand(PRINCIPAL, kept)
    assert texts(found)[2][0] == "Now an okapi."
    assert found.version == 2
    with pytest.raises(NotFound):
        await expansion.expand(PRINCIPAL, changed)
    await pipeline.delete(ADA, "notes/a.md", by="test", reason="test")
    with pytest.raises(NotFound):
        await expansion.expand(PRINCIPAL, kept)


async def test_nobody_is_shown_what_they_do_not_see(pipeline: Pipeline, search: Search, expansion: Expansion) -> None:
    words = {ADA: "quaggaada", BO: "quaggabo", TEAM: "quaggateam", GLOBAL: "quaggaall", FINCH: "quaggafinch"}
    words[UMBRA] = "quaggaumbra"
    ids = {}
    for place, word in words.items():
        await put(pipeline, place, f"The {word} grazes.")
        ids[place] = await id_of(search, place, word)
    assert len(set(ids.values())) == 6
    sees = {
        PRINCIPAL: {ADA, TEAM, GLOBAL},
        replace(PRINCIPAL, owner_key=None): {TEAM, GLOBAL},
        replace(PRINCIPAL, owner_key="user:bo"): {BO, TEAM, GLOBAL},
        replace(PRINCIPAL, agent_id="finch"): {FINCH, GLOBAL},
        replace(PRINCIPAL, tenant_id="umbra"): {UMBRA},
    }
    for principal, visible in sees.items():
        for place, passage_id in ids.items():
            if place in visible:
                assert (await expansion.expand(principal, passage_id)).scope == place.scope
            else:
                with pytest.raises(NotFound):
                    await expansion.expand(principal, passage_id)


async def test_a_member_is_shown_what_its_leader_shares_and_nothing_personal_there(
    pipeline: Pipeline, search: Search, expansion: Expansion
) -> None:
    for place, word in ((ADA, "personal"), (TEAM, "team"), (GLOBAL, "global")):
        await put(pipeline, place, f"The {word} quagga{word}.")
    await put(pipeline, FINCH, "Own quaggaown.")
    member = Principal("acme", "finch", "user:ada", leader_agent_id="wren")
    shown = {}
    for place, word in ((TEAM, "quaggateam"), (GLOBAL, "quaggaglobal"), (FINCH, "quaggaown")):
        found = await expansion.expand(member, await id_of(search, place, word))
        shown[word] = (found.scope, found.resolved_from)
    assert shown == {
        "quaggateam": ("team", "leader"),
        "quaggaglobal": ("global", "global"),
        "quaggaown": ("team", "team"),
    }
    with pytest.raises(NotFound):
        await expansion.expand(member, await id_of(search, ADA, "quaggapersonal"))


@pytest.mark.parametrize(
    "passage_id",
    ["", "0", "-1", "1e3", "x", " 1", "1 ", "01", "٣", "9" * 19, "9" * 40, "1; DROP TABLE chunks", "1\0", "\ud800"],
)
async def test_what_is_no_id_is_not_found(pipeline: Pipeline, expansion: Expansion, passage_id: str) -> None:
    await put(pipeline, ADA, TEXT)
    with pytest.raises(NotFound, match="there is no passage with this id"):
        await expansion.expand(PRINCIPAL, passage_id)
