"""The commands that PostgreSQL archives its log by, as a shell runs them; and what is found in an archive."""

from __future__ import annotations

import gzip
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.archive import RESTORE_COMMAND, Restored, WalArchive

NAME = "000000010000000000000007"
CONTENT = bytes(range(256)) * 4096


@pytest.fixture
def archive(tmp_path: Path) -> WalArchive:
    found = WalArchive(tmp_path / 'it\'s "a" $(touch x) `touch y` %f;\n*')
    found.wal.mkdir(parents=True)
    return found


def run(archive: WalArchive, command: str, name: str, path: str, directory: Path) -> int:
    """Run a command as PostgreSQL does, in its own directory; the exit status."""
    text = command.replace("%f", name).replace("%p", path)
    environment = {"PATH": "/usr/bin:/bin", **archive.environment}
    return subprocess.run(["sh", "-c", text], cwd=directory, env=environment, timeout=60).returncode


def keep(archive: WalArchive, content: bytes, directory: Path) -> int:
    (directory / "segment").write_bytes(content)
    return run(archive, archive.settings["archive_command"], NAME, "segment", directory)


def test_a_segment_is_archived_once_and_no_other_takes_its_place(archive: WalArchive, tmp_path: Path) -> None:
    cluster = tmp_path / "cluster"
    cluster.mkdir()
    assert keep(archive, CONTENT, cluster) == 0
    assert [path.name for path in archive.wal.iterdir()] == [f"{NAME}.gz"]
    assert gzip.decompress((archive.wal / f"{NAME}.gz").read_bytes()) == CONTENT
    assert (archive.wal / f"{NAME}.gz").stat().st_mode & 0o777 == 0o600
    # After a crash PostgreSQL does not know that it was archived.
    assert keep(archive, CONTENT, cluster) == 0
    assert keep(archive, CONTENT[:-1] + b"x", cluster) == 1
    assert gzip.decompress((archive.wal / f"{NAME}.gz").read_bytes()) == CONTENT
    assert run(archive, RESTORE_COMMAND, NAME, "back", cluster) == 0
    assert (cluster / "back").read_bytes() == CONTENT
    assert run(archive, RESTORE_COMMAND, "0" * 24, "none", cluster) != 0
    assert {path.name for path in cluster.iterdir()} == {"segment", "back"}


def test_what_cannot_be_written_is_not_archived(archive: WalArchive, tmp_path: Path) -> None:
    archive.wal.rename(archive.directory / "away")
    assert keep(archive, CONTENT, tmp_path) == 1
    assert [path.name for path in archive.directory.iterdir()] == ["away"]
    (archive.directory / "away").rename(archive.wal)
    # A disk that is full in the middle of a file.
    limited = f"ulimit -f 8\n{archive.settings['archive_command']}"
    (tmp_path / "segment").write_bytes(b"".join(index.to_bytes(4) * index.bit_length() for index in range(100_000)))
    assert run(archive, limited, NAME, "segment", tmp_path) != 0
    assert archive.segments() == set()


def test_segments_are_listed_looked_through_and_removed_by_their_place(archive: WalArchive) -> None:
    names = [
        "000000010000000000000009",
        "00000001000000000000000A",
        "00000002000000000000000A",
        "000000020000000100000000",
    ]
    for name in (*names, "00000002.history", "00000001000000000000000A.00000028.backup"):
        (archive.wal / f"{name}.gz").write_bytes(gzip.compress(b"1\t0/A000000\tbefore\n"))
    (archive.wal / "draft.12").touch()
    assert archive.segments() == {*names}
    assert (archive.history(1), archive.history(2)) == ("", "1\t0/A000000\tbefore\n")
    assert archive.is_whole(names[0])
    (archive.wal / f"{names[0]}.gz").write_bytes(gzip.compress(CONTENT)[:-4])
    assert not archive.is_whole(names[0])
    assert archive.remove_before("00000001000000000000000A") == 1
    assert archive.segments() == {*names[1:]}
    assert sorted(path.name for path in archive.wal.glob("*.h*")) == ["00000002.history.gz"]
    assert not (archive.wal / "draft.12").exists()


def test_an_archive_is_of_one_server(tmp_path: Path) -> None:
    archive, clusters = WalArchive(tmp_path / "archive"), [tmp_path / "one", tmp_path / "two"]
    for number, cluster in enumerate(clusters):
        (cluster / "global").mkdir(parents=True)
        (cluster / "global" / "pg_control").write_bytes(number.to_bytes(8, "little") + CONTENT)
    for _ in range(2):
        archive.claim(clusters[0], None)
    assert sorted(path.name for path in archive.directory.iterdir()) == ["base", "cluster", "restored", "wal"]
    with pytest.raises(SetupError, match="is the archive of another PostgreSQL"):
        archive.claim(clusters[1], None)
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "cat.jpg").touch()
    with pytest.raises(SetupError, match="is not empty and no archive"):
        WalArchive(photos).claim(clusters[0], None)
    assert [path.name for path in photos.iterdir()] == ["cat.jpg"]
    with pytest.raises(SetupError, match="is no archive of WAL"):
        WalArchive(photos).identifier()


def test_a_restore_is_known_when_its_cluster_is_served(archive: WalArchive, tmp_path: Path) -> None:
    (archive.directory / "restored").mkdir()
    archive.note_restored(tmp_path)
    assert archive.restores() == []
    at = datetime(2026, 4, 3, tzinfo=UTC)
    for timeline in (2, 10):
        restored = Restored(timeline=timeline, at=at, to=at)
        (tmp_path / "reverie_restored.json").write_text(restored.model_dump_json())
        archive.note_restored(tmp_path)
    assert [each.timeline for each in archive.restores()] == [2, 10]
