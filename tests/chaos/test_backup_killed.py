"""A backup that is killed leaves no half file under its name; a restore does all or nothing."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest
from tests.backups import all_rows, beside, serving, settings_of, shown_nowhere
from tests.chaos.backup_child import INSTANTS_OF_BACKUP, INSTANTS_OF_RESTORE
from tests.consistency import assert_index_consistent
from tests.integration.test_forget import GRANT, MINE, PRINCIPAL, SECRET, put
from tests.rows import leftovers

from reverie_server.app.backups.backup import take_backup
from reverie_server.app.backups.backup_file import BackupFile
from reverie_server.app.backups.restore import RestoreOptions, restore_backup
from reverie_server.forgetting.selection import Target


async def die(conninfo: str, directory: Path, instant: str) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.chaos.backup_child", conninfo, directory, instant, stderr=asyncio.subprocess.PIPE
    )
    _, said = await child.communicate()
    assert child.returncode == -signal.SIGKILL, said.decode()


@pytest.mark.parametrize("instant", INSTANTS_OF_BACKUP)
async def test_a_backup_is_whole_or_not_there(conninfo: str, tmp_path: Path, instant: str) -> None:
    settings, file = settings_of(conninfo, tmp_path), tmp_path / "a.rvb"
    async with serving(settings) as runtime:
        await put(runtime.pipeline, "notes.md", SECRET)
    await die(conninfo, tmp_path, instant)
    assert file.exists() == (instant == "when it has its name")
    if file.exists():
        await BackupFile(file).check()
    manifest = await take_backup(settings, file, shown_nowhere)
    assert BackupFile(file).manifest == manifest


@pytest.mark.parametrize("instant", INSTANTS_OF_RESTORE)
async def test_a_restore_is_done_or_nothing_was_changed(conninfo: str, tmp_path: Path, instant: str) -> None:
    settings, file = settings_of(conninfo, tmp_path), tmp_path / "a.rvb"
    async with serving(settings) as runtime:
        await put(runtime.pipeline, "notes.md", f"{SECRET}\n\nAs it was.\n")
    await take_backup(settings, file, shown_nowhere)
    async with serving(settings) as runtime:
        await runtime.forgetting.forget(GRANT, MINE, Target(text=SECRET), dry_run=False)
        await put(runtime.pipeline, "notes.md", "As it is.\n")
    before = all_rows(conninfo)
    await die(conninfo, tmp_path, instant)
    is_done = instant == "swapped"
    assert (all_rows(conninfo) == before) == (not is_done)
    async with serving(settings) as runtime:
        content = (await runtime.workspace.read(PRINCIPAL, "notes.md")).content
    assert content == ("As it was.\n" if is_done else "As it is.\n")
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)
    assert len(beside(conninfo)) == 1

    await restore_backup(settings, file, RestoreOptions(replace=True), shown_nowhere)
    async with serving(settings) as runtime:
        assert (await runtime.workspace.read(PRINCIPAL, "notes.md")).content == "As it was.\n"
    assert (leftovers(conninfo, "quince"), beside(conninfo)) == ([], [])
