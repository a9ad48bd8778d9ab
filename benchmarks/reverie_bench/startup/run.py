"""The start-up benchmark: from the start of a process to its first answers, beside an empty Python and the model."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from reverie_bench import origin
from reverie_bench.latency.server import environment_of
from reverie_bench.startup.process import (
    REVERIE,
    Took,
    found_by_meaning,
    found_by_words,
    serve,
    to_its_end,
    write_note,
)
from reverie_indexer.embed.local import MODEL_NAME
from reverie_indexer.errors import ValidationFailed
from reverie_server.app.wiring import weights_dir_of
from reverie_server.settings.server import Settings

PYTHON = "python -c pass"
MODEL = "the model alone"
HELP = "reverie --help"
SEARCH = "reverie search"
FROM_NOTHING = "serve from nothing"
INITIALISED = "serve"
GOAL_HELP_CPU_SECONDS = 0.3

Environment = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupOptions:
    """What to run, and how often (from nothing: twice). `progress` is told what is being done."""

    settings: Settings
    rounds: int = 5
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class StartupReport:
    """Medians over rounds, by what was started and how far it came; ratios to an empty Python and the model alone."""

    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    took: Mapping[str, Mapping[str, float]]


def run_startup(options: StartupOptions) -> StartupReport:
    """Start everything in turns, in data directories of its own. Blocking.

    ValidationFailed for settings with another database or embedder than those that come with the package; SetupError
    when a command fails.
    """
    settings = options.settings
    if settings.database_url is not None or settings.embedder != "local":
        raise ValidationFailed("start-up is measured with the embedded PostgreSQL and the default model")
    started = time.perf_counter()
    code = origin.commit()
    took: dict[str, list[Took]] = defaultdict(list)
    for number in range(2):
        options.progress(f"starting from nothing, {number + 1} of 2")
        with _data_dir() as home:
            _from_nothing(_environment(settings, home), took)
    with _data_dir() as home:
        environment = _environment(settings, home)
        # The database, the converted model and a note are there from here on.
        _from_nothing(environment, defaultdict(list))
        for number in range(options.rounds):
            options.progress(f"starting, round {number + 1} of {options.rounds}")
            _round(settings, home, environment, took)
    return StartupReport(
        settings={"rounds": options.rounds, "embedder_threads": settings.embedder_threads},
        origin={
            **dict(zip(("commit", "dirty"), code, strict=True)),
            "versions": origin.versions(),
            "machine": origin.machine(),
            "model": MODEL_NAME,
            "duration_seconds": round(time.perf_counter() - started, 1),
        },
        took=figures(took),
    )


def figures(took: Mapping[str, list[Took]]) -> dict[str, dict[str, float]]:
    """Medians, and their ratios to those of PYTHON and MODEL. Pure."""
    middle = {
        name: Took(median(t.seconds for t in each), median(t.cpu_seconds for t in each)) for name, each in took.items()
    }
    return {
        name: {
            **asdict(each),
            "seconds_to_python": each.seconds / middle[PYTHON].seconds,
            "seconds_to_model": each.seconds / middle[MODEL].seconds,
            "cpu_to_python": each.cpu_seconds / middle[PYTHON].cpu_seconds,
            "cpu_to_model": each.cpu_seconds / middle[MODEL].cpu_seconds,
        }
        for name, each in middle.items()
    }


def _from_nothing(environment: Environment, took: dict[str, list[Took]]) -> None:
    with serve(environment) as served:
        served.until("first write", write_note)
        served.until("first answer by words", found_by_words)
        served.until("first answer by meaning", found_by_meaning)
    for reached, each in served.took.items():
        took[f"{FROM_NOTHING}: {reached}"].append(each)


def _round(settings: Settings, home: Path, environment: Environment, took: dict[str, list[Took]]) -> None:
    model = (
        *(sys.executable, "-m", "reverie_bench.startup.model"),
        *(str(home / "models"), str(weights_dir_of(settings)), str(settings.embedder_threads)),
    )
    took[PYTHON].append(to_its_end((sys.executable, "-c", "pass"), environment))
    took[MODEL].append(to_its_end(model, environment))
    took[HELP].append(to_its_end((*REVERIE, "--help"), environment))
    with serve(environment) as served:
        served.until("first answer by words", found_by_words)
        served.until("first answer by meaning", found_by_meaning)
    for reached, each in served.took.items():
        took[f"{INITIALISED}: {reached}"].append(each)
    took[SEARCH].append(to_its_end((*REVERIE, "search", "lantern", "--agent", "bench"), environment))


def _environment(settings: Settings, home: Path) -> Environment:
    return environment_of(
        settings,
        data_dir=str(home),
        embedder_weights_dir=str(weights_dir_of(settings)),
        log_level="warning",
    )


@contextmanager
def _data_dir() -> Iterator[Path]:
    """Directly in the temporary directory and open to others: as root PostgreSQL runs as another user."""
    home = Path(tempfile.mkdtemp(prefix="reverie-bench-"))
    home.chmod(0o711)
    try:
        yield home / "data"
    finally:
        shutil.rmtree(home, ignore_errors=True)
