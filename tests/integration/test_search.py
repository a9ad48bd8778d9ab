"""Search on real PostgreSQL: scores worked by hand, scopes, filters, modes, and what other systems got wrong."""

from __future__ import annotations

import asyncio
import math

import pytest
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.embed import Embedder, Embedding, Role
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import EmbedderUnavailable, NotFound, ValidationFailed
from reverie_indexer.model import ModelIdentity, Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.search.rank import Weights
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.search.request import SearchOutcome, SearchRequest, SearchRules
from reverie_server.search.search import Search

# A paragraph each, so a chunk each. No headings: a chunk's terms are its words.
HARBOUR = "lantern harbour harbour"
BRIDGE = "lantern bridge"
MEADOW = "meadow stream willow heron"


async def write(
    pipeline: Pipeline,
    path: str,
    text: str,
    *,
    agent: str = "wren",
    owner: str | None = None,
    tenant: str = "default",
    is_global: bool = False,
) -> None:
    scope = "global" if is_global else "personal" if owner else "team"
    await pipeline.write(Place(tenant, agent, scope, owner), overwrite(path, text, by="test", reason="test"))


# What neighbours and files add to a passage's own scores is worked by hand in tests/unit/test_rank.py.
ALONE = SearchRules(weights=Weights(context=0.0))


async def find(search: Search, query: str, rules: SearchRules | None = None, **more: object) -> SearchOutcome:
    return await search.search(
        SearchRequest(**{"tenant_id": "default", "agent_id": "wren", "query": query, **more}), rules
    )


def texts(outcome: SearchOutcome) -> list[str]:
    return [r.text for r in outcome.results]


@pytest.fixture
async def wren(pipeline: Pipeline, database: Database) -> None:
    """Agent wren without its seed files, so that the statistics of its slice are known."""
    async with database.maintenance() as connection:
        await connection.execute("INSERT INTO agents (tenant_id, agent_id, name) VALUES ('default', 'wren', 'wren')")


@pytest.mark.usefixtures("wren")
async def test_bm25_is_the_one_worked_by_hand(pipeline: Pipeline, search: Search) -> None:
    """N = 3, lengths 3, 2 and 4 (mean 3), k1 = 1.2, b = 0.75; df(lantern) = 2, df(harbour) = 1, tf(harbour) = 2."""
    await write(pipeline, "a.md", f"{HARBOUR}\n\n{BRIDGE}\n\n{MEADOW}")
    outcome = await find(search, "lantern harbour", ALONE, mode="text")
    idf_lantern, idf_harbour = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    first = idf_lantern * 1 * 2.2 / (1 + 1.2 * 1.0) + idf_harbour * 2 * 2.2 / (2 + 1.2 * 1.0)
    second = idf_lantern * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3))
    assert texts(outcome) == [HARBOUR, BRIDGE]
    assert [r.bm25 for r in outcome.results] == [pytest.approx(first), pytest.approx(second)]
    assert [r.score for r in outcome.results] == [pytest.approx(1.0), pytest.approx(second / first)]


@pytest.mark.usefixtures("wren")
async def test_the_hybrid_score_is_three_parts_words_and_seven_parts_meaning(
    pipeline: Pipeline, search: Search, models: ModelSlot
) -> None:
    await write(pipeline, "a.md", f"{HARBOUR}\n\n{BRIDGE}\n\n{MEADOW}")
    outcome = await find(search, "lantern bridge", ALONE)
    assert models.ready is not None
    query = await models.ready.queries.embed("lantern bridge", "question")
    for result in outcome.results:
        [vector] = await models.ready.embedder.embed([result.text])
        similarity = max(0.0, float(vector @ query))
        top = max(r.bm25 for r in outcome.results)
        expected = 0.3 * result.bm25 / top + 0.7 * similarity
        assert result.score == pytest.approx(expected, abs=2e-3), "half precision"
    assert texts(outcome)[0] == BRIDGE
    assert len(outcome.results) == 3, "a passage without a word of the query is still a candidate by meaning"


@pytest.mark.usefixtures("wren")
async def test_any_shared_word_makes_a_match(pipeline: Pipeline, search: Search) -> None:
    """Seen elsewhere: all words had to occur in one passage, and 758 of 760 questions matched nothing."""
    await write(pipeline, "a.md", f"{HARBOUR}\n\n{MEADOW}")
    outcome = await find(search, "which harbour has the blue submarine museum", mode="text")
    assert texts(outcome) == [HARBOUR]


async def test_statistics_are_of_the_searched_slices_and_of_no_other_tenant_or_agent(
    pipeline: Pipeline, search: Search
) -> None:
    await write(pipeline, "a.md", f"{HARBOUR}\n\n{BRIDGE}\n\n{MEADOW}")
    before = await find(search, "lantern harbour", ALONE, mode="text")
    for number in range(5):
        await write(pipeline, "x.md", f"{HARBOUR} {number}", tenant="other")
        await write(pipeline, "x.md", f"{HARBOUR} {number}", agent=f"agent-{number}")
        await write(pipeline, "x.md", f"{HARBOUR} {number}", owner=f"user:{number}")
    after = await find(search, "lantern harbour", ALONE, mode="text")
    assert [(r.text, r.bm25) for r in after.results] == [(r.text, r.bm25) for r in before.results]


async def test_an_owner_sees_their_own_the_teams_and_the_tenants_memory_and_nobody_elses(
    pipeline: Pipeline, search: Search
) -> None:
    await write(pipeline, "own.md", "lantern of Ada", owner="user:ada")
    await write(pipeline, "his.md", "lantern of Ben", owner="user:ben")
    await write(pipeline, "team.md", "lantern of the team")
    await write(pipeline, "all.md", "lantern of everybody", agent="other-agent", is_global=True)
    await write(pipeline, "theirs.md", "lantern of the other agent", agent="other-agent")
    mine = await find(search, "lantern", owner_key="user:ada", mode="text", max_results=50)
    assert sorted(texts(mine)) == ["lantern of Ada", "lantern of everybody", "lantern of the team"]
    assert {r.scope for r in mine.results} == {"personal", "team", "global"}
    assert mine.fallback is None
    shared = await find(search, "lantern", mode="text", max_results=50)
    assert sorted(texts(shared)) == ["lantern of everybody", "lantern of the team"]


async def test_fallback_tells_that_nothing_personal_was_found(pipeline: Pipeline, search: Search) -> None:
    await write(pipeline, "team.md", "lantern of the team")
    await write(pipeline, "own.md", "bread and butter", owner="user:ada")
    assert (await find(search, "lantern", owner_key="user:ada", mode="text")).fallback == "global"
    assert (await find(search, "butter", owner_key="user:ada", mode="text")).fallback is None
    assert (await find(search, "lantern", mode="text")).fallback is None


@pytest.mark.parametrize("mode", ["text", "hybrid"])
async def test_a_personal_passage_that_shares_a_stray_word_does_not_count_as_found(
    pipeline: Pipeline, search: Search, mode: str
) -> None:
    """It is in the list, but its relevance is under 0.3: what the owner asked for is the team's."""
    await write(pipeline, "team.md", "the submarine museum of the harbour has a blue lantern")
    await write(pipeline, "own.md", "bread with butter and honey near the harbour", owner="user:ada")
    outcome = await find(search, "which harbour has the blue submarine museum", owner_key="user:ada", mode=mode)
    relevance = {r.path: r.relevance for r in outcome.results}
    assert relevance["own.md"] < MIN_RELEVANCE <= relevance["team.md"]
    assert outcome.fallback == "global"


async def test_filters_apply_before_the_limit(pipeline: Pipeline, search: Search) -> None:
    """Seen elsewhere: the filter came after the limit, and the only fitting passage was cut off before it."""
    strong = "\n\n".join(f"lantern lantern lantern {n}" for n in range(400))
    await write(pipeline, "loud/a.md", strong)
    await write(pipeline, "quiet/b.md", "one lantern among many other words of a long and quiet sentence")
    for mode in ("hybrid", "text", "vector"):
        outcome = await find(search, "lantern", path_prefix="quiet/", max_results=1, mode=mode)
        assert [r.path for r in outcome.results] == ["quiet/b.md"]


async def test_a_prefix_is_text_and_not_a_pattern(pipeline: Pipeline, search: Search) -> None:
    await write(pipeline, "a_b/x.md", "lantern one")
    await write(pipeline, "aXb/x.md", "lantern two")
    assert texts(await find(search, "lantern", path_prefix="a_b/", mode="text")) == ["lantern one"]
    assert texts(await find(search, "lantern", path_prefix="%", mode="text")) == []


async def test_a_deleted_or_rewritten_passage_never_takes_a_place(pipeline: Pipeline, search: Search) -> None:
    place = Place("default", "wren", "team")
    for number in range(3):
        await write(pipeline, f"{number}.md", f"lantern number {number}")
    await pipeline.delete(place, "0.md", by="test", reason="test")
    await write(pipeline, "1.md", "something else")
    assert texts(await find(search, "lantern", max_results=1, mode="text")) == ["lantern number 2"]


async def test_as_many_results_as_asked_for_when_there_are_as_many(pipeline: Pipeline, search: Search) -> None:
    await write(pipeline, "a.md", "\n\n".join(f"lantern number {n}" for n in range(150)))
    for mode in ("hybrid", "text", "vector"):
        outcome = await find(search, "lantern", max_results=100, mode=mode)
        assert len({r.chunk_id for r in outcome.results}) == 100


async def test_equal_input_gives_equal_output(pipeline: Pipeline, search: Search) -> None:
    await write(pipeline, "a.md", "\n\n".join(f"lantern number {n % 7}" for n in range(60)))
    first, *others = [await find(search, "lantern number 3", max_results=30) for _ in range(4)]
    order = [r.chunk_id for r in first.results]
    assert all([r.chunk_id for r in other.results] == order for other in others)


async def test_frequent_terms_bound_the_work_but_not_the_scores(
    pipeline: Pipeline, search: Search, database: Database, models: ModelSlot
) -> None:
    """With the bound at work, the passages that hold the rare term get the very scores they had without it."""
    await write(pipeline, "a.md", "\n\n".join(f"flour bread {n}" for n in range(80)) + "\n\nflour heron\n\nheron")
    bounded = Search(database, models, SearchRules(frequent_df=10, frequent_share=0.0))
    plain = await find(search, "flour heron", mode="text", max_results=100)
    less = await find(bounded, "flour heron", mode="text", max_results=100)
    assert len(plain.results) == 82
    assert [(r.text, pytest.approx(r.bm25)) for r in plain.results[:2]] == [(r.text, r.bm25) for r in less.results]


async def test_without_a_word_of_the_query_meaning_has_all_the_weight(pipeline: Pipeline, search: Search) -> None:
    await write(pipeline, "a.md", HARBOUR)
    outcome = await find(search, "zebra")
    assert outcome.mode == "vector"
    assert outcome.warnings == []
    assert (outcome.weights.text, outcome.weights.vector) == (0.0, 1.0)


async def test_chinese_and_thai_are_found_by_words_alone(pipeline: Pipeline, search: Search) -> None:
    await write(pipeline, "zh.md", "我们昨天在港口看到了灯笼。\n\n今天下雨了。")
    await write(pipeline, "th.md", "แม่ชอบดื่มชาร้อนตอนเช้า\n\nวันนี้ฝนตก")
    assert texts(await find(search, "港口的灯笼在哪里", mode="text", max_results=1)) == ["我们昨天在港口看到了灯笼。"]
    assert texts(await find(search, "ชาร้อน", mode="text", max_results=1)) == ["แม่ชอบดื่มชาร้อนตอนเช้า"]


@pytest.mark.parametrize("query", ["", "   ", "x" * 8001, "nul \x00 character", "half \ud800 pair"])
async def test_a_query_that_cannot_be_is_an_error(search: Search, query: str) -> None:
    with pytest.raises(ValidationFailed):
        await find(search, query)


async def test_an_unknown_agent_is_an_error_even_when_the_tenant_shares_memory(
    pipeline: Pipeline, search: Search
) -> None:
    await write(pipeline, "all.md", "lantern", is_global=True)
    with pytest.raises(NotFound):
        await find(search, "lantern", agent_id="nobody")


class Broken:
    """An embedder that is down."""

    def __init__(self) -> None:
        self.identity = ModelIdentity("hashing", "hashing", "1", 64, True)

    async def embed(self, texts: list[str], role: Role = "passage") -> list[Embedding]:
        del role
        raise EmbedderUnavailable(f"the endpoint does not answer for {len(texts)} texts")

    def familiarity(self, text: str) -> float:
        del text
        return 1.0

    async def aclose(self) -> None:
        pass


async def test_search_goes_by_words_while_the_model_loads(database: Database) -> None:
    release = asyncio.Event()

    async def load() -> Embedder:
        await release.wait()
        return HashingEmbedder(64)

    slot = ModelSlot(load)
    loading = asyncio.create_task(slot.fill(database))
    pipeline = Pipeline(database, slot, Rules(embed_wait_seconds=0.05))
    search = Search(database, slot, SearchRules())
    await write(pipeline, "a.md", f"{HARBOUR}\n\n{MEADOW}")
    for mode in ("hybrid", "vector"):
        outcome = await find(search, "harbour", mode=mode, max_results=1)
        assert (texts(outcome), outcome.mode) == ([HARBOUR], "text")
        assert "still loading" in outcome.warnings[0]
    release.set()
    await loading
    await pipeline.backfill()
    outcome = await find(search, "harbour", max_results=1)
    assert (outcome.mode, outcome.warnings) == ("hybrid", [])
    assert outcome.results[0].similarity is not None
    await slot.aclose()


async def test_an_embedder_that_fails_is_a_warning_and_not_an_error(database: Database) -> None:
    async def load() -> Embedder:
        return Broken()

    slot = ModelSlot(load)
    await slot.fill(database)
    search = Search(database, slot, SearchRules())
    await write(Pipeline(database, slot, Rules()), "a.md", HARBOUR)
    outcome = await find(search, "harbour", max_results=1)
    assert (texts(outcome), outcome.mode) == ([HARBOUR], "text")
    assert "does not answer for 1" in outcome.warnings[0]


async def test_a_server_that_missed_a_change_of_model_says_so_and_goes_by_words(
    pipeline: Pipeline, search: Search, database: Database
) -> None:
    await write(pipeline, "a.md", HARBOUR)
    async with database.maintenance() as connection:
        await connection.execute("UPDATE models SET active = false")
        await connection.execute(
            "INSERT INTO models (provider, name, revision, dimension, normalised, active)"
            " VALUES ('other', 'other', '1', 64, true, true)"
        )
    outcome = await find(search, "harbour", max_results=1)
    assert (texts(outcome), outcome.mode) == ([HARBOUR], "text")
    assert "restart" in outcome.warnings[0]


async def test_a_query_in_a_script_the_model_does_not_know_goes_by_words(database: Database) -> None:
    """Its vector is noise that outweighs the words (Thai paragraphs were found in 26 % instead of 99 %)."""
    embedder = MoodyEmbedder(64)
    slot = await filled_slot(database, embedder)
    pipeline = Pipeline(database, slot, Rules())
    await write(pipeline, "notes.md", "李明住在北京。\n\nAda lives in Leeds.")
    search = Search(database, slot, SearchRules())
    asked = len(embedder.texts)
    outcome = await search.search(SearchRequest("default", "wren", "李明住在哪里"))
    assert (outcome.mode, len(embedder.texts)) == ("text", asked)
    assert outcome.warnings == ["the embedding model does not know the script of the query: searched by words"]
    assert outcome.results[0].text == "李明住在北京。"
    assert (await search.search(SearchRequest("default", "wren", "where does Ada live"))).mode == "hybrid"
    # Asked for by name it is done.
    assert (await search.search(SearchRequest("default", "wren", "李明住在哪里", mode="vector"))).mode == "vector"
