"""What the embedding model marks in sentences that no pattern reads becomes facts, which hold, end, are forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.embedders import runtime_with
from tests.facts import read_facts, rows
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.embed.built_in import E5, MINILM
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_server.forgetting.selection import Target
from reverie_server.heuristics.marked_facts import CONFIDENCE, UNSURE
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

MARCH = datetime(2026, 3, 3, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return load_local(tmp_path_factory.mktemp("graphs"), E5)


@pytest.fixture
async def reader(database: Database, embedder: LocalEmbedder) -> Runtime:
    return await runtime_with(database, embedder)


async def said(runtime: Runtime, *texts: str, session: str = "web:1") -> Talk:
    talk = Talk(runtime, session)
    messages = [NewMessage("user", text, at=MARCH + timedelta(hours=number)) for number, text in enumerate(texts)]
    await talk.add(messages)
    await read_facts(talk)
    return talk


async def holding(talk: Talk) -> set[tuple[str, str, str]]:
    """Subject, predicate and object of what holds, but for ends."""
    return {
        (str(fact["subject"]), str(fact["predicate"]), str(fact["object"]))
        for fact in await rows(talk)
        if fact["state"] == "current" and (fact["change"] or {}).get("kind") != "ends"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my husband tom's a baker", ("tom", "works_as", "baker")),
        ("helen marchbank here, senior planner wi the city council", ("user", "name", "helen marchbank")),
        # No pattern is in French.
        ("Je m'appelle Claire, j'ai 34 ans et je suis infirmière à Lyon.", ("user", "works_as", "infirmière")),
    ],
)
async def test_what_no_pattern_has_is_a_fact(reader: Runtime, text: str, expected: tuple[str, str, str]) -> None:
    talk = await said(reader, text)
    assert expected in await holding(talk)
    [fact] = [fact for fact in await rows(talk) if fact["object"] == expected[2]]
    assert UNSURE <= fact["confidence"] <= CONFIDENCE + 1e-6
    assert (fact["method"], fact["model"]) == ("extractive", E5.name)


async def test_what_a_pattern_reads_as_well_is_not_of_a_mark(reader: Runtime) -> None:
    talk = await said(reader, "Thirteen years a plasterer, me.", "I work as a plasterer.")
    await read_facts(talk)
    models = {str(fact["text"]): fact["model"] for fact in await rows(talk) if fact["predicate"] == "works_as"}
    assert models["I work as a plasterer."] is None


async def test_a_model_that_marks_nothing_adds_nothing(
    database: Database, tmp_path_factory: pytest.TempPathFactory
) -> None:
    minilm = load_local(tmp_path_factory.mktemp("graphs"), MINILM)
    talk = await said(await runtime_with(database, minilm), "helen marchbank here, senior planner wi the city council")
    assert {fact for fact in await holding(talk) if fact[1] in ("name", "works_as")} == set()


async def test_what_is_marked_as_over_holds_no_longer(reader: Runtime) -> None:
    talk = await said(reader, "Bonjour, j'habite à Lyon.", "I used to live in Lyon but I'm in York these days")
    assert {fact for fact in await holding(talk) if fact[1] == "lives_in"} == {("user", "lives_in", "York")}
    assert "superseded" in {str(fact["state"]) for fact in await rows(talk) if fact["object"] == "Lyon"}


async def test_what_is_forgotten_does_not_come_back(reader: Runtime) -> None:
    talk = await said(reader, "my husband tom's a baker")
    assert "baker" in {fact["object"] for fact in await rows(talk)}
    grant, place = await talk.grant()
    await reader.forgetting.forget(grant, place, Target(text="my husband tom's a baker"), dry_run=False)
    await read_facts(talk)
    assert "baker" not in {fact["object"] for fact in await rows(talk)}


async def test_the_same_words_are_the_same_facts_however_often_they_are_read(reader: Runtime) -> None:
    talk = await said(reader, "helen marchbank here, senior planner wi the city council", "my husband tom's a baker")
    before = {(fact["fact_id"], fact["object"]) for fact in await rows(talk)}
    async with reader.database.maintenance() as connection:
        await connection.execute("UPDATE sessions SET facts_through = 0")
    await read_facts(talk)
    assert {(fact["fact_id"], fact["object"]) for fact in await rows(talk)} == before
