"""Groups of files are prepared beside each other and committed in their order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.bulk import GROUPS_AT_ONCE, write_groups
from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.access.principal import Principal
from reverie_server.files.files import Workspace

TEAM = Place("default", "wren", "team")
PRINCIPAL = Principal("default", "wren", None)
GROUPS = 6


def group(number: int) -> list[Change]:
    return [overwrite(f"g{number}-{n}.md", f"note {n} of group {number}", by="test", reason="test") for n in range(3)]


@pytest.fixture
def embedder() -> MoodyEmbedder:
    return MoodyEmbedder(64)


@pytest.fixture
async def bulk(database: Database, embedder: MoodyEmbedder) -> Pipeline:
    pipeline = Pipeline(database, await filled_slot(database, embedder), Rules())
    await pipeline.write_many(TEAM, [])
    return pipeline


async def asked_for(embedder: MoodyEmbedder, text: str) -> None:
    """Wait until the model was asked for a text."""
    async with asyncio.timeout(10):
        while text not in embedder.texts:
            embedder.called.clear()
            await embedder.called.wait()


async def written(workspace: Workspace) -> list[str]:
    _, documents = await workspace.listing(PRINCIPAL, prefix="g", after=None, limit=100)
    return sorted(document.path for document in documents)


async def test_groups_are_answered_in_order_and_the_next_are_embedded_meanwhile(
    bulk: Pipeline, workspace: Workspace, embedder: MoodyEmbedder, conninfo: str
) -> None:
    begun: list[int] = []

    async def groups() -> AsyncGenerator[Sequence[Change], None]:
        for number in range(GROUPS):
            begun.append(number)
            yield group(number)

    embedder.texts.clear()
    done = 0
    async with aclosing(write_groups(bulk, TEAM, groups())) as answers:
        async for answer in answers:
            assert [each.path for each in answer] == [f"g{done}-{n}.md" for n in range(3)]
            done += 1
            # What follows is before the model already, no more of it than is allowed, and none of it is stored.
            for ahead in range(done, min(done + GROUPS_AT_ONCE - 1, GROUPS)):
                await asked_for(embedder, f"note 2 of group {ahead}")
            assert len(begun) == min(done + GROUPS_AT_ONCE - 1, GROUPS)
            assert await written(workspace) == [f"g{number}-{n}.md" for number in range(done) for n in range(3)]
    assert done == GROUPS
    assert_index_consistent(conninfo)


async def test_a_group_that_fails_ends_it_and_nothing_later_is_written(
    bulk: Pipeline, workspace: Workspace, conninfo: str
) -> None:
    async def groups() -> AsyncGenerator[Sequence[Change], None]:
        yield group(0)
        yield [overwrite("../outside.md", "x", by="test", reason="test")]
        for number in range(2, GROUPS):
            yield group(number)

    async with aclosing(write_groups(bulk, TEAM, groups())) as answers:
        assert [each.path for each in await anext(answers)] == [f"g0-{n}.md" for n in range(3)]
        with pytest.raises(ValidationFailed):
            await anext(answers)
    assert await written(workspace) == [f"g0-{n}.md" for n in range(3)]
    assert_index_consistent(conninfo)


async def test_leaving_early_leaves_what_was_answered_and_no_task_behind(bulk: Pipeline, workspace: Workspace) -> None:
    async def groups() -> AsyncGenerator[Sequence[Change], None]:
        for number in range(GROUPS):
            yield group(number)

    before = asyncio.all_tasks()
    async with aclosing(write_groups(bulk, TEAM, groups())) as answers:
        async for _ in answers:
            break
    assert asyncio.all_tasks() == before
    assert await written(workspace) == [f"g0-{n}.md" for n in range(3)]
