"""`reverie backup` and `reverie restore` as a person uses them, while a server runs and on another machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clusters import cluster_directory

REVERIE = [sys.executable, "-m", "reverie_server.cli.main"]
ENVIRONMENT = {**os.environ, "REVERIE_EMBEDDER": "hashing", "REVERIE_LOG_LEVEL": "error"}
MINE = ("--agent", "wren", "--owner", "user:1")
SECRET = "The vault opens with 4711-quince."


def reverie(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*REVERIE, *(str(part) for part in arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, env=ENVIRONMENT)


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory for data directories, with a folder of notes."""
    with cluster_directory() as directory:
        (directory / "notes").mkdir()
        (directory / "notes" / "a.md").write_text(f"Ada likes tea in the morning.\n\n{SECRET}\n")
        yield directory


@contextmanager
def serving(data_dir: Path) -> Iterator[None]:
    """A server, which is stopped in the end."""
    command = [*REVERIE, "serve", "--port", "0", "--data-dir", str(data_dir)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        assert server.stderr is not None
        assert "listens on" in server.stderr.readline()
        yield
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)


def test_backup_while_serving_then_forget_then_restore_on_another_machine(directory: Path, tmp_path: Path) -> None:
    old, new, file = directory / "old", directory / "new", tmp_path / "a.rvb"
    done = reverie("index", directory / "notes", *MINE, "--data-dir", old)
    assert done.returncode == 0, done.stderr
    with serving(old):
        done = reverie("backup", file, "--verify", "--data-dir", old)
        assert done.returncode == 0, done.stderr
        backed_up, verified = done.stdout.splitlines()
        assert backed_up.startswith("backup of ")
        assert backed_up.endswith(f"written to {file}")
        assert verified.startswith("verified: ")
        assert "searches found what they should" in verified
        assert [each.name for each in tmp_path.iterdir()] == ["a.rvb"]
        done = reverie("forget", SECRET, "--text", "--yes", *MINE, "--data-dir", old)
        assert "receipt rcp-1" in done.stdout, done.stderr
        done = reverie("restore", file, "--replace", "--data-dir", old)
        assert (done.returncode, "stop the servers and workers first" in done.stderr) == (1, True), done.stderr
    done = reverie("restore", file, "--data-dir", old)
    assert (done.returncode, "--replace puts the backup in its place" in done.stderr) == (1, True)

    done = reverie("restore", file, "--data-dir", new)
    assert (done.returncode, "would come back" in done.stderr) == (1, True), done.stderr
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    shutil.copy(old / "forgotten.log", new / "forgotten.log")
    done = reverie("restore", file, "--data-dir", new)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == "forgotten since then, in 1 acts: 1 texts"
    assert "tea in the morning" in reverie("search", "tea", *MINE, "--data-dir", new).stdout
    assert "quince" not in reverie("search", "vault quince", *MINE, "--data-dir", new).stdout

    done = reverie("restore", file, "--replace", "--without-forgotten-log", "--data-dir", new)
    assert (done.returncode, "is there again" in done.stderr) == (0, True), done.stderr
    assert "quince" in reverie("search", "vault quince", *MINE, "--data-dir", new).stdout
    again = tmp_path / "again.rvb"
    assert reverie("backup", again, "--data-dir", new).returncode == 0
    done = reverie("restore", again, "--replace", "--data-dir", new)
    assert done.stdout.splitlines()[1:] == ["nothing was forgotten since then"], done.stderr


def test_wrong_use_and_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.rvb").write_text("no backup")
    done = reverie("restore", tmp_path / "a.rvb", "--data-dir", tmp_path / "data")
    assert (done.returncode, done.stderr) == (
        2,
        f"reverie: {tmp_path}/a.rvb is no backup, or not whole: nothing was changed\n",
    )
    done = reverie("restore", tmp_path / "none.rvb", "--data-dir", tmp_path / "data")
    assert (done.returncode, done.stderr) == (
        2,
        f"reverie: {tmp_path}/none.rvb cannot be read: No such file or directory\n",
    )
    done = reverie("restore", tmp_path / "a.rvb", "--verify", "--replace")
    assert (done.returncode, "goes with no other option" in done.stderr) == (2, True)
    assert not (tmp_path / "data").exists()
