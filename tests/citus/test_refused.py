"""What a database on several nodes refuses, because it would not be whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.backups import serving, settings_of, shown_nowhere
from tests.citus.memories import remember

from reverie_indexer.errors import SetupError
from reverie_server.app.backups.backup import take_backup
from reverie_server.app.backups.restore import RestoreOptions, restore_backup


async def test_neither_a_backup_nor_a_restore_is_made_of_a_part(
    distributed: str, conninfo: str, tmp_path: Path
) -> None:
    await remember(distributed, tmp_path, ["acme"])
    several = settings_of(distributed, tmp_path)
    with pytest.raises(SetupError, match="spread over several nodes"):
        await take_backup(several, tmp_path / "several.rvb", shown_nowhere)
    assert not (tmp_path / "several.rvb").exists()
    one = settings_of(conninfo, tmp_path, "one.log")
    async with serving(one):
        pass
    await take_backup(one, tmp_path / "one.rvb", shown_nowhere)
    options = RestoreOptions(replace=True, without_log=True)
    with pytest.raises(SetupError, match="spread over several nodes"):
        await restore_backup(several, tmp_path / "one.rvb", options, shown_nowhere)
    await remember(distributed, tmp_path, ["birch"])
