"""What was forgotten stays so: no import brings it back, nor one that was under way."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.archives import snapshot
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer import isolate
from reverie_indexer.database.database import Database
from reverie_indexer.embed.protocol import Embedding, Role
from reverie_indexer.errors import Conflict, NotFound, TextTooCostly
from reverie_indexer.index.slices import lock_slice
from reverie_indexer.model import Place
from reverie_server.access.keys import OPERATOR
from reverie_server.access.principal import Principal
from reverie_server.app.wiring import assemble
from reverie_server.files.files import Write
from reverie_server.files.ingest import index_folder
from reverie_server.files.snapshots import Report, Snapshots, TextFilter
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

ADA = Place("default", "wren", "personal", "user:ada")


async def imported(snapshots: Snapshots, place: Place, archive: bytes) -> Report:
    return await snapshots.apply(place, io.BytesIO(archive), by="key:1")


async def content(runtime: Runtime, owner_key: str = "user:ada") -> str:
    return (await runtime.workspace.read(Principal("default", "wren", owner_key), "MEMORY.md")).content


def with_filter(runtime: Runtime, without_forgotten: Any) -> Snapshots:
    return Snapshots(
        runtime.database, runtime.pipeline, max_file_bytes=1024 * 1024, without_forgotten=without_forgotten
    )


async def test_what_was_forgotten_is_left_out_of_an_import_before_it_is_compared(runtime: Runtime) -> None:
    asked = []

    async def without_forgotten(place: Place) -> TextFilter:
        asked.append(place)
        return lambda text: text.replace("the secret ", "")

    own = with_filter(runtime, without_forgotten)
    archive = snapshot({"MEMORY.md": "the secret lantern", "memory/a.md": "heron"})
    assert (await own.preview(ADA, io.BytesIO(archive))).created[0].after.size == len("lantern")
    await imported(own, ADA, archive)
    assert await content(runtime) == "lantern"
    again = await imported(own, ADA, archive)
    assert (again.created, again.updated) == ([], [])
    assert set(asked) == {ADA}


async def test_an_old_snapshot_does_not_bring_back_what_was_forgotten(runtime: Runtime, conninfo: str) -> None:
    await runtime.workspace.put(
        ADA, Write("MEMORY.md", "user", "put"), "# Long-term Memory\n\n- Ada likes tea.\n- The locker's code is 4711.\n"
    )
    export = await runtime.snapshots.export(ADA)
    with export.file:
        archive = export.file.read()
    grant = await runtime.gate.read(OPERATOR, "wren", "user:ada")
    target = Target(text="The locker's code is 4711.")
    receipt = await runtime.forgetting.forget(grant, ADA, target, dry_run=False)
    assert receipt.removed["document"].files == 1
    report = await runtime.snapshots.preview(ADA, io.BytesIO(archive))
    assert report == await imported(runtime.snapshots, ADA, archive)
    text = await content(runtime)
    assert ("tea" in text, "4711" in text) == (True, False)
    await imported(runtime.snapshots, Place("default", "wren", "personal", "user:ben"), archive)
    assert "4711" in await content(runtime, "user:ben")
    assert_index_consistent(conninfo)


# What is forgotten, the longer line of an archive that says it, and what is left of that: no stump, as of forgetting.
WITHIN = [
    ("my door code is 1234", "- I have a dog, my door code is 1234, and a cat.", "- I have a dog, and a cat.\n"),
    ("my door code is 1234", "- Remember: my door code is 1234", ""),
    ("my door code is 1234", "- A note for her: (my door code is 1234).", ""),
    ("mein Türcode ist 1234", "- Ich habe einen Hund. Und mein Türcode ist 1234.", "- Ich habe einen Hund.\n"),
    ("el código de mi puerta es 1234", "- Tengo un perro, el código de mi puerta es 1234.", "- Tengo un perro.\n"),
    ("我家的门码是1234", "- 我有一只狗，我家的门码是1234，还有一只猫。", "- 我有一只狗，还有一只猫。\n"),
    ("PIN 4711", "- The locker has the PIN 4711, I think.", ""),
]


async def forget(runtime: Runtime, text: str) -> None:
    grant = await runtime.gate.read(OPERATOR, "wren", "user:ada")
    await runtime.forgetting.forget(grant, ADA, Target(text=text), dry_run=False)


@pytest.mark.parametrize(("secret", "line", "left"), WITHIN)
async def test_what_was_forgotten_does_not_come_back_within_a_longer_line(
    runtime: Runtime, tmp_path: Path, secret: str, line: str, left: str
) -> None:
    await runtime.workspace.put(ADA, Write("MEMORY.md", "user", "put"), f"# Notes\n\n- Tea.\n- {secret}\n")
    await forget(runtime, secret)
    await imported(runtime.snapshots, ADA, snapshot({"MEMORY.md": f"# Notes\n\n- Tea.\n{line}\n"}))
    assert await content(runtime) == f"# Notes\n\n- Tea.\n{left}"
    (tmp_path / "folder.md").write_text(f"- Milk.\n{line}\n")
    folder = (runtime.workspace, runtime.pipeline, ADA, tmp_path)
    await index_folder(*folder, tombstones=runtime.tombstones, max_file_bytes=10_000)
    indexed = await runtime.workspace.read(Principal("default", "wren", "user:ada"), "folder.md")
    assert indexed.content == f"- Milk.\n{left}"


async def test_a_word_or_two_that_were_forgotten_do_not_go_out_of_what_else_is_said(runtime: Runtime) -> None:
    """A message "ok" that was cleared takes no "ok" out of an archive."""
    for secret in ("ok", "thank you", "2026", "yes, Monday"):
        await runtime.workspace.put(ADA, Write("MEMORY.md", "user", "put"), f"- {secret}\n")
        await forget(runtime, secret)
    kept = "- The plan is ok for 2026.\n- They said thank you to Ada.\n- Closed on Monday.\n"
    await imported(runtime.snapshots, ADA, snapshot({"MEMORY.md": kept}))
    assert await content(runtime) == kept


async def test_a_long_archive_is_looked_through_in_a_process_that_can_be_ended(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        secret = " ".join(["my door code is", *"abc"[:number], "1234"])
        await runtime.workspace.put(ADA, Write("MEMORY.md", "user", "put"), f"- {secret}\n")
        await forget(runtime, secret)
    monkeypatch.setattr(isolate, "CPU_SECONDS", 0.05)
    archive = snapshot({"MEMORY.md": "".join(f"- Line {n} says that {n} is a number.\n" for n in range(25_000))})
    with pytest.raises(TextTooCostly):
        await runtime.snapshots.preview(ADA, io.BytesIO(archive))


@dataclass
class Waiting(MoodyEmbedder):
    """Waits with what is about zebras."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        if any("zebra" in text for text in texts):
            self.begun.set()
            await self.may_go_on.wait()
        return await super().embed(texts, role)


async def test_what_is_forgotten_while_an_import_waits_for_vectors_does_not_come_back(
    database: Database, conninfo: str
) -> None:
    embedder = Waiting()
    slot = await filled_slot(database, embedder)
    runtime = assemble(Settings(embedder="hashing"), database, slot)
    secret = "The locker's code is 4711."
    await runtime.workspace.put(ADA, Write("notes.md", "user", "put"), f"- Tea.\n- {secret}\n")
    archive = snapshot({"MEMORY.md": f"- The zebra grazes.\n- {secret}\n", "memory/a.md": "The zebra sleeps.\n"})
    importing = asyncio.create_task(imported(runtime.snapshots, ADA, archive))
    await embedder.begun.wait()
    grant = await runtime.gate.read(OPERATOR, "wren", "user:ada")
    receipt = await runtime.forgetting.forget(grant, ADA, Target(text=secret), dry_run=False)
    assert receipt.tombstones > 0
    embedder.may_go_on.set()
    assert len((await importing).created) == 2
    assert await content(runtime) == "- The zebra grazes.\n"
    history = await runtime.workspace.history(
        Principal("default", "wren", "user:ada"), "MEMORY.md", None, before=None, limit=5
    )
    assert [version.version for version in history[1]] == [1], "what was begun in vain left nothing"
    with psycopg.connect(conninfo) as connection:
        for table, column in (("versions", "content"), ("chunks", "text")):
            held = connection.execute(f"SELECT count(*) FROM {table} WHERE {column} LIKE '%4711%'").fetchone()
            assert held == (0,), table
    assert_index_consistent(conninfo)
    await slot.aclose()


async def test_an_import_gives_up_when_passages_are_forgotten_all_the_time(runtime: Runtime) -> None:
    asked = 0

    async def forget_something_then_tell(place: Place) -> TextFilter:
        nonlocal asked
        asked += 1
        await runtime.tombstones.load_secret()
        async with runtime.database.tenant(place.tenant_id) as connection:
            slice_ = await lock_slice(connection, place)
            await runtime.tombstones.add(connection, place.tenant_id, slice_.slice_id, [f"thing number {asked}"])
        return await runtime.tombstones.without_forgotten(place)

    await runtime.workspace.put(ADA, Write("notes.md", "user", "put"), "x")
    own = with_filter(runtime, forget_something_then_tell)
    with pytest.raises(Conflict):
        await imported(own, ADA, snapshot({"MEMORY.md": "x" * 30}))
    assert asked > 1
    with pytest.raises(NotFound):
        await runtime.workspace.read(Principal("default", "wren", "user:ada"), "memory/a.md")
    assert "x" * 30 not in await content(runtime), "the team's seed is what is seen"
