"""What the embedded server refuses to touch: a SetupError that names the remedy, and nothing changed."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clusters import cluster_directory

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.account import SERVER_USER
from reverie_indexer.postgres.embedded import EmbeddedPostgres

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")


@pytest.fixture
def base() -> Iterator[Path]:
    """A directory that the server's user can reach, unlike pytest's own; nothing in it survives the test."""
    with cluster_directory() as directory:
        yield directory


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_directory_of_something_else_is_refused_and_left_alone(base: Path) -> None:
    (base / "thesis.txt").write_text("years of work")
    before = mode(base)
    with pytest.raises(SetupError, match=r"not empty.*REVERIE_DATA_DIR"):
        EmbeddedPostgres(base).start()
    assert [path.name for path in base.iterdir()] == ["thesis.txt"]
    assert mode(base) == before


def cluster_of(base: Path, name: str, content: str) -> Path:
    """A cluster directory that the server's user owns, with one file."""
    cluster = base / "postgres"
    cluster.mkdir()
    (base / "postgres.lock").touch()
    (cluster / name).write_text(content)
    if os.geteuid() == 0:
        shutil.chown(cluster, "nobody")
    return cluster


def test_a_cluster_directory_with_other_content_is_refused(base: Path) -> None:
    cluster = cluster_of(base, "thesis.txt", "years of work")
    with pytest.raises(SetupError, match="no PostgreSQL cluster"):
        EmbeddedPostgres(base).start()
    assert [path.name for path in cluster.iterdir()] == ["thesis.txt"]


@as_root
def test_a_cluster_of_another_user_is_refused(base: Path) -> None:
    os.chown(cluster_of(base, "PG_VERSION", "18\n"), 12345, 12345)
    with pytest.raises(SetupError, match="belongs to user id 12345"):
        EmbeddedPostgres(base).start()


def test_a_cluster_of_another_major_version_is_refused(base: Path) -> None:
    cluster_of(base, "PG_VERSION", "17\n")
    with pytest.raises(SetupError, match="made by PostgreSQL 17, but 18 is installed"):
        EmbeddedPostgres(base).start()


def test_missing_binaries_are_reported(base: Path) -> None:
    with pytest.raises(SetupError, match="there is no PostgreSQL in"):
        EmbeddedPostgres(base / "home", binaries=base / "nothing").start()


@as_root
def test_a_directory_closed_to_the_servers_user_is_reported_and_left_closed(base: Path) -> None:
    private = base / "private"
    private.mkdir(mode=0o700)
    with pytest.raises(SetupError, match=f"{SERVER_USER}, who cannot enter {private}: "):
        EmbeddedPostgres(private / "below" / "home").start()
    assert mode(private) == 0o700
    assert list(private.iterdir()) == []
