"""The built wheel, installed in an empty environment, works without the checkout."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


@contextmanager
def reachable_directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="reverie-wheel-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def run(*command: object, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=900)
    assert not check or done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done


def test_the_wheel_runs_by_words_alone_and_the_model_joins_by_fetch() -> None:
    with reachable_directory() as home:
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", home, CHECKOUT, cwd=home)
        [wheel] = home.glob("reverie-*.whl")
        names = set(zipfile.ZipFile(wheel).namelist())
        assert {"reverie_indexer/data/schema.sql", "reverie_indexer/data/weights.lock"} <= names
        assert "reverie_indexer/data/prompts/seeds/AGENTS.md" in names
        migrations = {f"reverie_indexer/data/migrations/{path.name}" for path in (CHECKOUT / "migrations").iterdir()}
        assert migrations
        assert migrations <= names
        assert not any(name.startswith(("tests/", "examples/", "benchmarks/")) for name in names)

        run(sys.executable, "-m", "venv", home / "venv", cwd=home)
        python = home / "venv" / "bin" / "python"
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        run(*pip, "--require-hashes", "-r", CHECKOUT / "runtime.lock", cwd=home)
        run(*pip, "--no-deps", wheel, cwd=home)

        reverie = home / "venv" / "bin" / "reverie"
        notes = home / "notes"
        notes.mkdir()
        (notes / "a.md").write_text("Ada plays the fiddle.\n\nThe bridge is closed until May.\n")
        data = ["--agent", "wren", "--data-dir", home / "data"]
        done = run(reverie, "index", notes, *data, cwd=home)
        assert "1 new" in done.stdout
        assert "reverie models fetch" in done.stderr
        done = run(reverie, "search", "When does the bridge open?", "--json", "--max-results", 1, *data, cwd=home)
        answer = json.loads(done.stdout)
        assert (answer["mode"], answer["results"][0]["text"]) == ("text", "The bridge is closed until May.")
        assert "reverie models fetch" in answer["warnings"][0]

        run(reverie, "models", "fetch", "--data-dir", home / "data", cwd=home)
        run(reverie, "index", notes, *data, cwd=home)
        done = run(reverie, "search", "Who is a violinist?", "--json", "--max-results", 1, *data, cwd=home)
        answer = json.loads(done.stdout)
        assert (answer["results"][0]["text"], answer["warnings"]) == ("Ada plays the fiddle.", [])
        assert answer["results"][0]["vector_score"] > 0.1
