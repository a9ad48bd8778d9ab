"""A backup has every row of one instant; it is restored whole or not at all."""

from __future__ import annotations

import asyncio
import json
import shutil
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import psycopg
import pytest
from tests.backups import all_rows, beside, empty_database, serving, settings_of, shown_nowhere
from tests.conftest import PLAIN, ServeRuntime
from tests.consistency import assert_index_consistent
from tests.integration.test_forget import MINE, PRINCIPAL, put
from tests.integration.test_owner_deleted import ADA
from tests.integration.test_owner_deleted import fill as live
from tests.integration.test_upgrade import of_a_login
from tests.schema_facts import differences
from tests.scripted_model import ScriptedModel

from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.errors import Conflict, SetupError, ValidationFailed
from reverie_indexer.postgres.programs import restore
from reverie_server.app.backups.backup import Progress, take_backup
from reverie_server.app.backups.backup_file import BackupFile
from reverie_server.app.backups.restore import RestoreOptions, restore_backup
from reverie_server.app.backups.verify import verify_backup
from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest

pytestmark = pytest.mark.one_node

REPLACE = RestoreOptions(replace=True)


@pytest.fixture
def target(conninfo: str) -> Iterator[str]:
    """An empty database to restore into."""
    with empty_database(conninfo) as target:
        yield target


def names(directory: Path) -> list[str]:
    """What is in a directory."""
    return sorted(each.name for each in directory.iterdir())


async def filled(conninfo: str, tmp_path: Path) -> Path:
    """A backup of a small memory."""
    settings = settings_of(conninfo, tmp_path)
    async with serving(settings) as runtime:
        await put(runtime.pipeline, "notes.md", "Ada likes tea in the morning.\n")
    await take_backup(settings, tmp_path / "small.rvb", shown_nowhere)
    return tmp_path / "small.rvb"


async def test_every_row_of_every_table_comes_back(
    talking: Runtime,
    serve_runtime: ServeRuntime,
    scripted: ScriptedModel,
    conninfo: str,
    target: str,
    tmp_path: Path,
) -> None:
    async with httpx.AsyncClient(base_url=await serve_runtime(talking), timeout=60, verify=PLAIN) as client:
        await live(talking, client, scripted)
        await drain(talking)
        # Jobs wait, too.
        said = {"messages": [{"role": "user", "content": "Remember the zyxgantry."}] * 4, "owner_key": ADA}
        for step, body in (("messages", said), ("complete", {"owner_key": ADA})):
            (await client.post(f"/api/v1/agents/wren/sessions/last/{step}", json=body)).raise_for_status()
    await talking.keys.create("default", "admin")
    await talking.audit.flush()
    shown: list[Progress] = []
    settings = settings_of(conninfo, tmp_path)
    manifest = await take_backup(settings, tmp_path / "a.rvb", shown.append)
    before = all_rows(conninfo)
    full = {name for name, rows in before.items() if rows}
    assert full >= {
        "versions", "messages", "episodes", "facts", "entities", "mentions", "keys", "procrastinate_jobs", "receipts",
        "tombstones", "vectors_0", "postings", "reports", "audit", "tombstone_key",
    }  # fmt: skip
    assert manifest.tables == {name: len(rows) for name, rows in before.items()}
    assert names(tmp_path) == ["a.rvb", "forgotten.log"]
    assert shown[-1].total == manifest.rows >= shown[-1].done > 0

    there = settings_of(target, tmp_path)
    restored = await restore_backup(there, tmp_path / "a.rvb", RestoreOptions(), shown_nowhere)
    assert (restored.manifest, restored.acts, restored.forgotten) == (manifest, 0, {})
    assert all_rows(target) == before
    assert differences(target, conninfo) == []
    async with serving(there) as runtime:
        outcome = await runtime.search.search(SearchRequest("default", "wren", "zyxgantry", "user:adalovelace"))
        assert outcome.results
        # Numbers go on where they were.
        await put(runtime.pipeline, "new.md", "Written after it was restored.\n")


async def test_it_is_of_one_instant_while_others_write(runtime: Runtime, conninfo: str, tmp_path: Path) -> None:
    done = asyncio.Event()

    async def write() -> int:
        for number in count():
            await put(runtime.pipeline, f"notes/{number % 7}.md", f"Note {number} of the harbour.\n\nIt is long.\n")
            if done.is_set():
                return number
        return 0

    writing = asyncio.create_task(write())
    await asyncio.sleep(0.3)
    settings = settings_of(conninfo, tmp_path)
    manifests = [await take_backup(settings, tmp_path / f"{number}.rvb", shown_nowhere) for number in range(2)]
    done.set()
    written = await writing
    assert 0 < manifests[0].tables["versions"] < manifests[1].tables["versions"] <= written + 5
    with empty_database(conninfo) as target:
        await restore_backup(settings_of(target, tmp_path), tmp_path / "1.rvb", RestoreOptions(), shown_nowhere)
        assert_index_consistent(target)
        assert {name: len(rows) for name, rows in all_rows(target).items()} == manifests[1].tables


async def test_a_memory_is_replaced_when_told_and_only_while_nobody_uses_it(conninfo: str, tmp_path: Path) -> None:
    file = await filled(conninfo, tmp_path)
    settings = settings_of(conninfo, tmp_path)
    async with serving(settings) as runtime:
        await put(runtime.pipeline, "notes.md", "Something else.\n")
        with pytest.raises(Conflict, match="stop the servers and workers first"):
            await restore_backup(settings, file, REPLACE, shown_nowhere)
    with pytest.raises(Conflict, match="--replace puts the backup in its place"):
        await restore_backup(settings, file, RestoreOptions(), shown_nowhere)
    async with serving(settings) as runtime:
        assert (await runtime.workspace.read(PRINCIPAL, "notes.md")).content == "Something else.\n"
    await restore_backup(settings, file, REPLACE, shown_nowhere)
    async with serving(settings) as runtime:
        assert (await runtime.workspace.read(PRINCIPAL, "notes.md")).content == "Ada likes tea in the morning.\n"
    assert beside(conninfo) == []


async def test_tables_of_others_are_never_replaced(conninfo: str, target: str, tmp_path: Path) -> None:
    file = await filled(conninfo, tmp_path)
    with psycopg.connect(target) as connection:
        connection.execute("CREATE TABLE invoices (n integer)")
    with pytest.raises(Conflict, match=r"not Reverie's \(public.invoices\)"):
        await restore_backup(settings_of(target, tmp_path), file, REPLACE, shown_nowhere)
    await prepare_database(target)
    with psycopg.connect(target) as connection:
        assert connection.execute("SELECT count(*) FROM invoices").fetchone() == (0,)
    with pytest.raises(Conflict, match=r"not Reverie's \(public.invoices\)"):
        await restore_backup(settings_of(target, tmp_path), file, REPLACE, shown_nowhere)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def cut_at_the_end(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-30])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def rewrite(file: Path, dump: bytes | None = None, **of_manifest: object) -> None:
    with zipfile.ZipFile(file) as archive:
        old_dump, manifest = archive.read("database.dump"), json.loads(archive.read("manifest.json"))
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("database.dump", old_dump if dump is None else dump)
        archive.writestr("manifest.json", json.dumps({**manifest, **of_manifest}))


def other_dump(file: Path) -> None:
    rewrite(file, dump=b"PGDMP and more")


def other_rows(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        tables = json.loads(archive.read("manifest.json"))["tables"]
    rewrite(file, tables={**tables, "versions": tables["versions"] + 1})


def of_later(file: Path) -> None:
    rewrite(file, format=2)


def newer_schema(file: Path) -> None:
    rewrite(file, schema_number=9999)


def no_archive(file: Path) -> None:
    file.write_bytes(b"PK\x03\x04 is how it begins")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (cut, "no backup, or not whole"),
        (cut_at_the_end, "no backup, or not whole"),
        (flip, "is damaged"),
        (other_dump, "is damaged"),
        (other_rows, r"other rows than its manifest says, in: versions"),
        (of_later, "has the format 2"),
        (newer_schema, "has migration 9999"),
        (no_archive, "no backup, or not whole"),
    ],
)
async def test_a_file_that_is_not_as_it_was_written_changes_nothing(
    conninfo: str, tmp_path: Path, spoil: object, says: str
) -> None:
    file = await filled(conninfo, tmp_path)
    before = all_rows(conninfo)
    assert callable(spoil)
    spoil(file)
    with pytest.raises((ValidationFailed, SetupError), match=says):
        await restore_backup(settings_of(conninfo, tmp_path), file, REPLACE, shown_nowhere)
    assert all_rows(conninfo) == before
    assert beside(conninfo) == []


async def test_what_cannot_be_written_leaves_no_file(conninfo: str, tmp_path: Path) -> None:
    settings = settings_of(conninfo, tmp_path)
    with pytest.raises(SetupError, match="cannot be written"):
        await take_backup(settings, tmp_path / "nowhere" / "a.rvb", shown_nowhere)
    with empty_database(conninfo) as empty, pytest.raises(SetupError, match="nothing to back up"):
        await take_backup(settings_of(empty, tmp_path), tmp_path / "a.rvb", shown_nowhere)
    assert names(tmp_path) == ["forgotten.log"]


async def test_a_backup_that_fails_in_the_middle_keeps_the_one_before(
    conninfo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = await filled(conninfo, tmp_path)
    before = file.read_bytes()
    # pg_dump cannot lock a table that is gone.
    monkeypatch.setenv("PGOPTIONS", "")
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE FUNCTION wrong() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
        connection.execute("CREATE TABLE broken (n integer DEFAULT wrong())")
        connection.execute("UPDATE pg_proc SET prolang = 1 WHERE proname = 'wrong'")
    with pytest.raises(SetupError, match="pg_dump failed"):
        await take_backup(settings_of(conninfo, tmp_path), file, shown_nowhere)
    assert file.read_bytes() == before
    assert names(tmp_path) == ["forgotten.log", "small.rvb"]


async def test_it_is_verified_in_a_server_of_its_own(conninfo: str, tmp_path: Path) -> None:
    file = await filled(conninfo, tmp_path)
    before = all_rows(conninfo)
    verified = await verify_backup(settings_of(conninfo, tmp_path), file, shown_nowhere)
    assert verified.manifest == BackupFile(file).manifest
    assert verified.searches == 1
    assert all_rows(conninfo) == before
    shutil.copy(file, tmp_path / "b.rvb")
    other_rows(tmp_path / "b.rvb")
    with pytest.raises(ValidationFailed, match="other rows than its manifest"):
        await verify_backup(settings_of(conninfo, tmp_path), tmp_path / "b.rvb", shown_nowhere)


async def test_what_a_killed_restore_left_is_removed_by_the_next(conninfo: str, tmp_path: Path) -> None:
    file = await filled(conninfo, tmp_path)
    name = psycopg.conninfo.conninfo_to_dict(conninfo)["dbname"]
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}_restoring".encode())
        connection.execute(f"CREATE DATABASE {name}_replaced".encode())
    await restore_backup(settings_of(conninfo, tmp_path), file, REPLACE, shown_nowhere)
    assert beside(conninfo) == []
    async with serving(settings_of(conninfo, tmp_path)) as runtime:
        assert await runtime.workspace.present(MINE, ["notes.md"])


async def test_a_login_backs_up_its_own_and_an_operator_restores_it_for_the_login(
    server_conninfo: str, tmp_path: Path
) -> None:
    """Row-level security holds for the login too; what the operator restores is the login's again."""
    with of_a_login(server_conninfo) as (as_operator, as_login, name):
        await prepare_database(as_login)
        manifest = await take_backup(settings_of(as_login, tmp_path), tmp_path / "a.rvb", shown_nowhere)
        before = all_rows(as_operator)
        assert manifest.tables == {table: len(rows) for table, rows in before.items()}
        # The dump of release 0.1.0 has rows in each table that there was then.
        assert sum(1 for rows in before.values() if rows) > 40
        with pytest.raises(SetupError, match="which this login may not create"):
            await restore_backup(settings_of(as_login, tmp_path), tmp_path / "a.rvb", REPLACE, shown_nowhere)
        assert all_rows(as_operator) == before
        await restore_backup(settings_of(as_operator, tmp_path), tmp_path / "a.rvb", REPLACE, shown_nowhere)
        assert all_rows(as_operator) == before
        with psycopg.connect(as_operator) as connection:
            owners = connection.execute("SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = 'public'")
            assert owners.fetchall() == [(name,)]
        # The login works in it, and maintains it.
        assert (await prepare_database(as_login)).taken == ()
        again = await take_backup(settings_of(as_login, tmp_path), tmp_path / "b.rvb", shown_nowhere)
        assert again.tables == manifest.tables


async def test_of_an_older_server_one_error_is_borne_and_no_other(conninfo: str, target: str, tmp_path: Path) -> None:
    """pg_restore sets what PostgreSQL 15 and 16 do not know; it then goes on after errors, and they count."""
    file = BackupFile(await filled(conninfo, tmp_path))
    with psycopg.connect(target) as connection:
        connection.execute("CREATE EXTENSION vector")
    options = ["--no-owner", "--no-comments", "--section=pre-data"]
    await restore(target, file.dump(), options, lambda _: None, server_version=150_000)
    for version in (150_000, 180_000):
        with pytest.raises(SetupError, match=r"pg_restore failed: .*already exists"):
            await restore(target, file.dump(), options, lambda _: None, server_version=version)
