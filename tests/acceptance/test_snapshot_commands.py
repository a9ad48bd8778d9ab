"""`reverie export` and `reverie import` as a person uses them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.archives import Raw, snapshot
from tests.clusters import cluster_directory

REVERIE = [sys.executable, "-m", "reverie_server.cli.main"]


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A data directory with two agents' files in it."""
    with cluster_directory() as directory:
        notes = directory / "notes"
        (notes / "memory").mkdir(parents=True)
        (notes / "memory" / "2026-04-03.md").write_bytes("# 2026-04-03\r\n\r\nDas Käuzchen.\r\n".encode())
        (notes / "other.md").write_text("not in a snapshot")
        done = reverie("index", notes, "--agent", "wren", "--owner", "user:42", "--data-dir", directory / "data")
        assert done.returncode == 0, done.stderr
        yield directory / "data"


def reverie(*arguments: object, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*REVERIE, *(str(part) for part in arguments)],
        capture_output=True,
        input=given,
        timeout=120,
        env={**os.environ, "REVERIE_EMBEDDER": "hashing"},
    )


def test_export_then_import_elsewhere_then_again(data_dir: Path, tmp_path: Path) -> None:
    where = ["--data-dir", data_dir]
    file = tmp_path / "ada.zip"
    done = reverie("export", "--agent", "wren", "--owner", "user:42", file, *where)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == ["manifest.json", "memory/2026-04-03.md"]
        text = archive.read("memory/2026-04-03.md")
    assert text == "# 2026-04-03\r\n\r\nDas Käuzchen.\r\n".encode()
    assert list(tmp_path.iterdir()) == [file], "nothing but the archive is left"

    into = ["--agent", "crow", "--owner", "user:7", *where]
    done = reverie("import", "--dry-run", *into, file)
    assert done.stdout.decode().splitlines() == [
        f"create memory/2026-04-03.md ({len(text)} bytes)",
        "would be 1 created, 0 updated, 0 unchanged, 0 skipped",
    ]
    assert reverie("export", *into, tmp_path / "none.zip").returncode == 1, "a dry run makes no agent"
    done = reverie("import", *into, file)
    assert (done.returncode, done.stdout) == (0, b"1 created, 0 updated, 0 unchanged, 0 skipped\n"), done.stderr
    done = reverie("export", *into, "-")
    assert done.returncode == 0, done.stderr
    done = reverie("import", *into, "-", given=done.stdout)
    assert (done.returncode, done.stdout) == (0, b"0 created, 0 updated, 1 unchanged, 0 skipped\n"), done.stderr
    found = reverie("search", "Käuzchen", *into)
    assert "memory/2026-04-03.md:1-3" in found.stdout.decode()


def test_an_export_takes_the_place_of_the_one_before_and_never_of_a_pipe(data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_text("older")
    arguments = ["--agent", "wren", "--data-dir", data_dir]
    assert reverie("export", *arguments, file).returncode == 0
    assert zipfile.is_zipfile(file)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        assert reverie("export", *arguments, pipe).returncode == 0
        assert reader.communicate(timeout=60)[0].startswith(b"PK")
    assert pipe.is_fifo()


def test_what_was_skipped_is_told(data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(snapshot({"MEMORY.md": "m"}, Raw("notes.txt", b"x")))
    done = reverie("import", "--agent", "owl", "--data-dir", data_dir, file)
    assert done.stdout == b"1 created, 0 updated, 0 unchanged, 1 skipped\n"
    assert done.stderr == b"skipped notes.txt: not a file that a snapshot holds\n"


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        (["export", "--agent", "nobody", "FILE"], 1, "there is no agent 'nobody'"),
        (["export", "--agent", "wren", "/nonexistent/x.zip"], 1, "/nonexistent/x.zip cannot be written"),
        (["export", "--agent", "wren"], 2, "Missing argument"),
        (["export", "--agent", "a b", "FILE"], 2, "an agent id has"),
        (["import", "--agent", "wren", "--owner", "nonsense", "HOSTILE"], 2, "an owner key is"),
        (["import", "--agent", "wren", "/nonexistent/x.zip"], 2, "cannot be read"),
        (["import", "--agent", "wren", "/dev/null"], 1, "this is no ZIP archive"),
        (["import", "--agent", "wren", "/dev/zero"], 1, "an archive has at most 17825792 bytes"),
        (["import", "--agent", "wren", "HOSTILE"], 2, "names an entry '../x.md'"),
        (["import", "--agent", "wren", "--scope", "personal", "HOSTILE"], 2, "scope personal needs an owner_key"),
    ],
)
def test_what_cannot_be_is_one_line_and_its_status(
    data_dir: Path, tmp_path: Path, command: list[str], status: int, message: str
) -> None:
    hostile = tmp_path / "hostile.zip"
    hostile.write_bytes(snapshot({"MEMORY.md": "m"}, Raw("../x.md", b"x")))
    names = {"FILE": str(tmp_path / "x.zip"), "HOSTILE": str(hostile)}
    done = reverie(*(names.get(part, part) for part in command), "--data-dir", data_dir)
    stderr = done.stderr.decode()
    assert (done.returncode, done.stdout, len(stderr.splitlines())) == (status, b"", 1), stderr
    assert stderr.startswith("reverie: ")
    assert message in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hostile.zip"]
