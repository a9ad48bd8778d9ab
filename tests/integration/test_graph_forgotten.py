"""What is forgotten or deleted leaves the graph, with what stands on it alone, and nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.graphs import Graph, answer, answers, day, thing
from tests.scripted_model import ScriptedModel
from tests.talks import ADA

from reverie_server.access.keys import OPERATOR
from reverie_server.app.pending_jobs import drain
from reverie_server.forgetting.forget import Receipt
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime

TABLES = ("entities", "mentions", "entity_terms", "entity_names", "relations", "statements", "duplicates", "merges")


async def forget(runtime: Runtime, text: str, *, dry_run: bool = False) -> Receipt:
    grant, place = await runtime.gate.write(OPERATOR, "wren", ADA, None)
    return await runtime.forgetting.forget(grant, place, Target(text=text), dry_run=dry_run)


async def everything(graph: Graph) -> str:
    """All that the tables of the graph hold, as one text."""
    return "\n".join([str(await graph.rows(f"SELECT * FROM {table}")) for table in TABLES])


async def test_a_name_a_description_and_an_alias_that_are_forgotten_are_nowhere_any_more(
    talking: Runtime, scripted: ScriptedModel
) -> None:
    graph = Graph(talking)
    ada = thing(
        "Ada",
        description="keeps the swordfish",
        aliases=["Countess Swordfish", "Countess"],
        properties={"pet": "swordfish"},
    )
    answers(
        scripted,
        answer(
            ("Ada", "works_on", "Reverie"),
            ("Eve", "manages", "Swordfish"),
            entities=[ada, {**thing("Swordfish", type="project"), "name": "Secret Swordfish"}],
        ),
        answer(("Ada", "works_on", "Atlas")),
        answer(("Eve", "reports_to", "Bo")),
        answer(("Eve", "reports_to", "Cy")),
    )
    texts = (
        "Ada and Eve, Reverie, a secret.",
        "Ada works on Atlas.",
        "Eve reports to Bo.",
        "Eve reports to Cy, in secret.",
    )
    for number, text in enumerate(texts):
        await graph.hear(text, day(number), f"web:{number}")
    await graph.dedup()
    dry = await forget(talking, "Swordfish", dry_run=True)
    assert dry.removed["fact"].files == 2
    assert {item.path for item in dry.items if item.tier == "fact"} == {"graph/ada", "graph/swordfish"}
    assert "swordfish" in (await everything(graph)).lower()
    done = await forget(talking, "swordfish")
    assert done.removed["fact"].files >= 2
    assert "swordfish" not in (await everything(graph)).lower()
    assert await graph.names() == ["Ada", "Atlas", "Bo", "Cy", "Eve", "Reverie"]
    assert await graph.history() == [
        "Ada works_on Reverie 0..",
        "Ada works_on Atlas 1..",
        "Eve reports_to Bo 2..3",
        "Eve reports_to Cy 3..",
    ]
    view = await talking.consolidation.graph.view.entity(graph.principal, str(await graph.id_of("Ada")))
    assert (list(view.entity.aliases), view.entity.properties, "keeps the" in view.entity.description) == (
        ["Countess"],
        {},
        False,
    )
    # What contradicted it is forgotten: the earlier fact holds on.
    answers(scripted)
    await forget(talking, "Eve reports to Cy, in secret.")
    await drain(talking)
    assert [fact for fact in await graph.history() if "Eve" in fact] == ["Eve reports_to Bo 2.."]
    assert "Cy" not in await graph.names()


async def test_what_stands_on_a_forgotten_message_alone_goes_after_its_episode_expired_too(runtime: Runtime) -> None:
    graph = Graph(runtime)
    await graph.hear("I live in Lisbon and Ada works on Reverie.", day(0))
    await graph.hear("Ada works on Reverie.", day(1), "web:2")
    await graph.hear("Ada works on Atlas.", day(2), "web:3")
    # Expired episodes are pruned; the graph stays.
    await graph.rows("UPDATE episodes SET expires_at = now() - interval '1 day' RETURNING 1")
    await runtime.consolidation.episodes.prune(datetime.now(UTC))
    [left] = await graph.rows("SELECT count(*) AS n FROM episodes")
    assert left["n"] == 0
    facts = ["User located_in Lisbon 0..", "Ada works_on Reverie 0..", "Ada works_on Atlas 2.."]
    assert sorted(await graph.history()) == sorted(facts)
    await forget(runtime, "I live in Lisbon and Ada works on Reverie.")
    assert sorted(await graph.history()) == ["Ada works_on Atlas 2..", "Ada works_on Reverie 1.."]
    assert await graph.names() == ["Ada", "Atlas", "Reverie"]
    # A part of a message takes only what it says along.
    await forget(runtime, "Atlas")
    assert await graph.history() == ["Ada works_on Reverie 1.."]


async def test_a_session_that_is_deleted_takes_what_the_graph_has_of_it_alone(runtime: Runtime) -> None:
    graph = Graph(runtime)
    await graph.hear("Ada works on Reverie.", day(0), "web:1")
    await graph.hear("Ada works on Reverie. Ada works at Acme.", day(1), "web:2")
    await graph.hear("Ada works at Globex.", day(2), "web:3")
    await runtime.sessions.clear(graph.principal, "web:1")
    assert len(await graph.history()) == 3
    await runtime.sessions.delete(graph.principal, "web:2")
    assert await graph.history() == ["Ada works_on Reverie 0..", "Ada based_at Globex 2.."]
    await runtime.sessions.delete(graph.principal, "web:1")
    assert await graph.history() == ["Ada based_at Globex 2.."]
    await runtime.sessions.delete(graph.principal, "web:3")
    rows: list[Any] = [await graph.rows(f"SELECT * FROM {table}") for table in TABLES]
    assert rows == [[] for _ in TABLES]
