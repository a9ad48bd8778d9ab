"""Slices held in memory find what PostgreSQL finds, whatever changes, and never more."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from tests.episodes import complete, run
from tests.facts import read_facts, reading
from tests.forgetting import forget_all
from tests.hot import Both, assert_held_as_in_full
from tests.talks import ADA, Talk

from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import lock_slice
from reverie_indexer.index.vectors import promote_large_slices
from reverie_indexer.model_slot import ModelSlot
from reverie_server.runtime import Runtime
from reverie_server.search.rank import Weights
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.sessions.model import NewMessage

WORDS = ["lantern", "amber", "birch", "cedar", "observatory", "kettle", "harbour", "violin", "garden", "lantern green"]
PATHS = ["notes/a.md", "notes/b.md", "MEMORY.md", "memory/2026-11-02.md", "deep/er/c.md"]
NAMES = ["Ada", "Bo", None]


def sentence(source: random.Random) -> str:
    words = " ".join(source.choices(WORDS, k=source.randint(1, 5)))
    end = source.choice([".", ".", "?", "!"])
    return source.choice(["The {} is here{}", "I like the {}{}", "{}{}", "home of user = {}{}"]).format(words, end)


def text_of(source: random.Random) -> str:
    parts = [source.choice(["", "# Heading\n\n", "- "]) + sentence(source) for _ in range(source.randint(1, 6))]
    return "\n\n".join(parts)


class Life:
    """Random changes of the memories of two owners, their team and the tenant."""

    def __init__(self, runtime: Runtime, source: random.Random) -> None:
        self.source = source
        self.talks = [Talk(runtime, f"web:{n}", owner) for n, owner in enumerate((ADA, "user:bo", ADA))]

    async def change(self) -> str:
        source = self.source
        talk = source.choice(self.talks)
        name = source.choice(
            [
                "put",
                "put",
                "append",
                "delete",
                "say",
                "say",
                "facts",
                "episode",
                "forget",
                "clear",
                "expire",
                "backfill",
                "promote",
            ]
        )
        match name:
            case "put":
                scope = source.choice(["personal", "personal", "team", "global"])
                owner = talk.owner_key if scope == "personal" else None
                await talk.put(source.choice(PATHS), text_of(source), scope=scope, owner_key=owner)
            case "append":
                path = source.choice(PATHS)
                place = (await talk.grant())[1]
                present = await talk.runtime.workspace.present(place, [path])
                before = next(iter(present.values()))[1] if present else ""
                await talk.put(path, f"{before}\n\n{text_of(source)}")
            case "delete":
                place = (await talk.grant())[1]
                path = source.choice(PATHS)
                if await talk.runtime.workspace.present(place, [path]):
                    await talk.runtime.pipeline.delete(place, path, by="test", reason="delete")
            case "say":
                extra = source.choice(NAMES)
                texts = [sentence(source) for _ in range(source.randint(1, 3))]
                more = {"extra": {"name": extra}} if extra else {}
                roles = [source.choice(["user", "assistant"]) for _ in texts]
                await talk.add([NewMessage(role, text, **more) for role, text in zip(roles, texts, strict=True)])
            case "facts":
                await read_facts(talk)
            case "episode":
                await talk.say(*(sentence(source) for _ in range(4)))
                await complete(talk)
                await run(talk)
            case "forget":
                grant, place = await talk.grant()
                await forget_all(talk.runtime, grant, place, text=source.choice(WORDS))
            case "backfill":
                await talk.runtime.pipeline.backfill()
            case "promote":
                await promote_large_slices(talk.runtime.database, exact_max_chunks=8, max_partitions=2)
            case "expire":
                async with talk.runtime.database.tenant("default") as connection:
                    slice_ = await lock_slice(connection, (await talk.grant())[1])
                    await connection.execute(
                        "UPDATE documents SET expires_at = now() - interval '1 day' "
                        "WHERE slice_id = %s AND episode_id IS NOT NULL AND document_id %% 2 = 0",
                        [slice_.slice_id],
                    )
            case _:
                with suppress(NotFound):
                    await talk.runtime.sessions.clear(talk.principal, talk.session_id)
        return name


def request(source: random.Random) -> SearchRequest:
    """A search of any kind that is answered from memory."""
    options: dict[str, object] = {"max_results": source.choice([1, 6, 6, 20])}
    if source.random() < 0.2:
        options["path_prefix"] = source.choice(["memory/", "notes/", "nowhere/"])
    if source.random() < 0.2:
        options["tiers"] = tuple(source.sample(["document", "message", "episodic", "fact"], 2))
    if source.random() < 0.2:
        options["min_score"] = 0.3
    options["mode"] = source.choice(["hybrid", "hybrid", "text", "vector"])
    owner = source.choice([ADA, ADA, "user:bo", None])
    query = source.choice(
        [sentence(source), sentence(source), "What did Ada say about the lantern?", '"lantern green"']
    )
    return SearchRequest("default", "wren", query, owner, **options)  # type: ignore[arg-type]


@pytest.fixture
async def lively(runtime: Runtime) -> AsyncIterator[Runtime]:
    """A system that reads facts of plain lines."""
    other = reading(runtime)
    yield other
    await other.compactions.aclose()


RULES = (
    SearchRules(),
    SearchRules(frequent_df=3, frequent_share=0.05),
    SearchRules(weights=Weights(context=0.0), bm25_k1=0.5, bm25_b=0.2),
)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40))])
async def test_after_any_changes_memory_and_database_find_the_same(
    lively: Runtime, database: Database, models: ModelSlot, seed: int
) -> None:
    source = random.Random(seed)
    life, both = Life(lively, source), Both(database, models, RULES[seed % len(RULES)])
    for talk in life.talks:
        await talk.put("notes/first.md", text_of(source))
    for _ in range(40):
        done = [await life.change() for _ in range(source.randint(1, 3))]
        for _ in range(3):
            try:
                await both.compare(request(source))
            except AssertionError as error:
                error.add_note(f"after {done}")
                raise
        await assert_held_as_in_full(both)
    assert both.hot.counts.hits > 60
    assert both.hot.counts.refreshes > 20
    assert both.hot.counts.mismatches == 0
