"""A program that kills itself in the middle of its work: `python -m tests.chaos.crash_child CONNINFO WORK INSTANT`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.embedding import migrate
from reverie_indexer.index import document_index, store, transcript, vectors
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.access.gate import Grant
from reverie_server.access.keys import OPERATOR
from reverie_server.access.principal import Principal
from reverie_server.app.stores import wire_stores
from reverie_server.episodes.make import EpisodeMaking, EpisodicRules
from reverie_server.facts import settle as facts_settle
from reverie_server.facts import store as facts_store
from reverie_server.forgettable import Forgettable, Selection
from reverie_server.forgetting import forget, selection
from reverie_server.forgetting.clear import Clearing
from reverie_server.jobs import defer as deferring
from reverie_server.jobs.defer import Delays
from reverie_server.jobs.model import Work
from reverie_server.nights import reports
from reverie_server.nights.soul import due as soul_due
from reverie_server.provenance import record, tombstones
from reverie_server.search.request import SearchRules
from reverie_server.search.search import Search
from reverie_server.sessions import append as appending
from reverie_server.sessions import message_range, sessions
from reverie_server.sessions.model import Appended, NewMessage
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.tokens import estimate_tokens

TEAM = Place("default", "wren", "team")
SAID_AT = datetime(2026, 4, 3, 9, 30, tzinfo=UTC)
OLD = "the old lantern\n\nstays as it is\n"
NEW = "the new lantern\n\nstays as it is\n"


def die_after(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def wrapped(*arguments: Any, **options: Any) -> Any:
        await function(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    return wrapped


def arm(instant: str) -> None:
    """Die after an embedding, after the cache was written, or after a statement of that name."""
    if instant == "embed":
        MoodyEmbedder.embed = die_after(MoodyEmbedder.embed)  # type: ignore[method-assign]
        return
    if instant == "remember":
        vectors.remember = die_after(vectors.remember)
        return
    module, _, name = instant.partition(".")
    modules = {
        "appending": appending,
        "deferring": deferring,
        "document_index": document_index,
        "facts_settle": facts_settle,
        "facts_store": facts_store,
        "sessions": sessions,
        "store": store,
        "message_range": message_range,
        "record": record,
        "reports": reports,
        "soul_due": soul_due,
        "tombstones": tombstones,
        "transcript": transcript,
        "vectors": vectors,
    }
    fatal = modules[module].SQL[name]
    execute = psycopg.AsyncConnection.execute

    async def execute_or_die(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        result = await execute(self, query, *arguments, **options)
        if query == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    psycopg.AsyncConnection.execute = execute_or_die  # type: ignore[method-assign]


def stores() -> Sequence[Forgettable]:
    """The stores of a server without a model."""
    making = EpisodeMaking(None, estimate_tokens, EpisodicRules())
    return wire_stores(making, Delays()).forgettable


async def forget_new(database: Database, pipeline: Pipeline, search: Search) -> forget.Receipt:
    """Forget the passage that is not in both texts."""
    buried = tombstones.Tombstones(database)
    chosen = selection.Selection(database, search, buried)
    talks = sessions_of(database, pipeline)
    forgetting = forget.Forgetting(forget.ForgettingDependencies(database, pipeline, chosen, buried, stores(), talks))
    grant = Grant(OPERATOR, Principal("default", "wren", None), AgentSettings())
    return await forgetting.forget(grant, TEAM, forget.Target(text="the old lantern"), dry_run=False)


def sessions_of(database: Database, pipeline: Pipeline) -> sessions.Sessions:
    """The conversations of a database."""
    buried = tombstones.Tombstones(database)
    recorder = appending.Recorder(database, pipeline, buried, estimate_tokens, max_file_bytes=1_048_576)
    return sessions.Sessions(database, pipeline, recorder, Delays())


async def append_turn(database: Database, pipeline: Pipeline) -> Appended:
    """Add a turn to a session of the team."""
    grant = Grant(OPERATOR, Principal("default", "wren", None), AgentSettings())
    said = [NewMessage("user", "the lantern?", "m1", SAID_AT), NewMessage("assistant", "the harbour", "m2", SAID_AT)]
    return await sessions_of(database, pipeline).append(grant, TEAM, "web:1", said)


async def compact_session(database: Database, slot: ModelSlot) -> None:
    """Compact the session that there is."""
    # Slow to import, and nothing else here needs them.
    from tests.talks import Talk

    from reverie_server.app.wiring import assemble
    from reverie_server.settings.server import Settings

    await Talk(assemble(Settings(embedder="hashing"), database, slot)).compact()


async def read_facts(database: Database, slot: ModelSlot) -> None:
    """Read the facts of the conversation that there is."""
    # Slow to import, and nothing else here needs them.
    from tests.facts import read_facts
    from tests.talks import Talk

    from reverie_server.app.wiring import assemble
    from reverie_server.settings.server import Settings

    await read_facts(Talk(assemble(Settings(embedder="hashing"), database, slot)))


async def write_note(database: Database, slot: ModelSlot) -> None:
    """Write a note of a person."""
    from tests.talks import Talk

    from reverie_server.app.wiring import assemble
    from reverie_server.settings.server import Settings

    await Talk(assemble(Settings(embedder="hashing"), database, slot)).put("notes/last.md", "The last note.\n")


async def evolve_soul(database: Database, slot: ModelSlot) -> None:
    """Write SOUL.md with the model whose address the environment gives."""
    from tests.talks import Talk

    from reverie_server.app.wiring import assemble
    from reverie_server.settings.server import Settings

    settings = Settings(embedder="hashing", llm_base_url=os.environ["SOUL_MODEL"], llm_model="scripted")
    talk = Talk(assemble(settings, database, slot))
    work = Work("soul", "default", talk.agent_id, talk.owner_key)
    await talk.runtime.consolidation.stages["soul"].run(work)


async def main(conninfo: str, work: str, instant: str) -> None:
    async with Database(conninfo, pool_size=2) as database:
        slot = await filled_slot(database, MoodyEmbedder(64))
        pipeline = Pipeline(database, slot, Rules())
        if work == "migrate":
            new = await filled_slot(database, MoodyEmbedder(32), check_active=False)
            assert new.ready is not None
            arm(instant)
            await migrate(database, new.ready)
            return
        arm(instant)
        if work == "write":
            await pipeline.write(TEAM, overwrite("notes/a.md", NEW, by="user", reason="put"))
        elif work == "delete":
            await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete")
        elif work == "append":
            await append_turn(database, pipeline)
        elif work == "forget":
            await forget_new(database, pipeline, Search(database, slot, SearchRules()))
        elif work == "clear":
            await Clearing(database, stores()).clear(TEAM, Selection(None, "notes/", ("document",)), dry_run=False)
        elif work == "compact":
            await compact_session(database, slot)
        elif work == "facts":
            await read_facts(database, slot)
        elif work == "note":
            await write_note(database, slot)
        elif work == "soul":
            await evolve_soul(database, slot)
        else:
            await vectors.promote_large_slices(database, exact_max_chunks=1, max_partitions=5)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
