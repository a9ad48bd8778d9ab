"""The log of what was forgotten: whole lines, without a text, that tell which acts a backup does not have."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie_indexer.errors import SetupError
from reverie_server.app.backups.backup_file import LogMark, Manifest
from reverie_server.app.backups.restore import entries_to_apply
from reverie_server.provenance.forgotten_log import Contents, Entry, append, begin, is_in_snapshot, read_log

AT = datetime(2026, 4, 3, 12, tzinfo=UTC)


def entry(xid: int, cluster: str = "7", minutes: int = 0) -> Entry:
    return Entry("agent", AT + timedelta(minutes=minutes), cluster, xid, f"{xid:x}", {})


def line(number: int) -> dict[str, object]:
    return {"at": AT.isoformat(), "cluster": "7", "xid": number, "act": "agent", "subject": "ab", "more": number}


def add(path: Path, first: int, count: int) -> None:
    for number in range(first, first + count):
        append(path, line(number))


def manifest(mark: LogMark | None, snapshot: str = "10:12:10") -> Manifest:
    return Manifest(
        format=1, program="1", schema_number=1, postgresql="18", pgvector="1", at=AT, cluster="7", snapshot=snapshot,
        tables={}, forgotten=mark, parts={},
    )  # fmt: skip


def test_a_log_is_begun_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "forgotten.log"
    begin(path)
    first = read_log(path)
    begin(path)
    assert read_log(path) == first
    assert first.entries == ()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    append(path, line(1))
    assert [(each.xid, each.details) for each in read_log(path).entries] == [(1, {"more": 1})]


def test_processes_that_add_at_once_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "forgotten.log"
    with ProcessPoolExecutor(3) as pool:
        for each in [pool.submit(add, path, first, 20) for first in (0, 100, 200)]:
            each.result()
    assert sorted(each.xid for each in read_log(path).entries) == [*range(20), *range(100, 120), *range(200, 220)]


@pytest.mark.parametrize("torn", ['{"at":"2026', "x" * 200_000])
def test_a_line_that_was_not_finished_is_no_act(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "forgotten.log"
    append(path, line(1))
    with path.open("a") as file:
        file.write(torn)
    assert [each.xid for each in read_log(path).entries] == [1]
    append(path, line(2))
    assert [each.xid for each in read_log(path).entries] == [1, 2]
    assert len(path.read_text().splitlines()) == 3


def test_a_damaged_line_and_no_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "forgotten.log"
    with pytest.raises(SetupError, match="cannot be read"):
        read_log(path)
    add(path, 1, 2)
    lines = path.read_text().splitlines()
    for text in ("", "\n".join([lines[0], lines[1][:-9], lines[2], ""]), "\n".join([*lines[1:], ""])):
        path.write_text(text)
        with pytest.raises(SetupError, match="is damaged"):
            read_log(path)


@pytest.mark.parametrize(
    ("xid", "snapshot", "expected"),
    [
        (9, "10:12:10", True),
        (10, "10:12:10", False),
        (11, "10:12:10", True),
        (12, "10:12:10", False),
        (9, "10:10:", True),
    ],
)
def test_a_backup_has_the_acts_whose_transactions_its_snapshot_sees(xid: int, snapshot: str, expected: bool) -> None:
    assert is_in_snapshot(entry(xid), "7", snapshot, AT) is expected


def test_acts_of_another_cluster_go_by_their_time() -> None:
    assert is_in_snapshot(entry(99, "8", minutes=-1), "7", "10:12:", AT)
    assert not is_in_snapshot(entry(1, "8", minutes=1), "7", "10:12:", AT)


def test_what_a_backup_does_not_have_is_applied_oldest_first_from_all_logs() -> None:
    own = Contents("a", (entry(5), entry(10), entry(13, minutes=2)))
    other = Contents("b", (entry(12, minutes=1),))
    new = entries_to_apply(manifest(LogMark(log_id="a", entries=1)), [own, other, own])
    assert [each.xid for each in new] == [10, 12, 13]


def test_a_log_that_is_not_the_backups_or_lost_its_end_is_refused() -> None:
    log = Contents("a", (entry(5),))
    for mark in (None, LogMark(log_id="b", entries=0), LogMark(log_id="a", entries=2)):
        with pytest.raises(SetupError, match="not the one that the backup was made beside"):
            entries_to_apply(manifest(mark), [log])
    with pytest.raises(SetupError):
        entries_to_apply(manifest(LogMark(log_id="a", entries=0)), [])
    assert json.loads(manifest(None).model_dump_json())["forgotten"] is None
