"""The start-up benchmark: from the start of a process to its first answers, beside an empty Python and the model."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import RenderableType

from reverie_bench.frame import Options, Start
from reverie_bench.load.command import REVERIE, Served, Usage, environment_of, run_command, serve
from reverie_bench.report import Report, table
from reverie_bench.scratch import reachable_directory
from reverie_indexer.embed.built_in import DEFAULT_MODEL
from reverie_indexer.errors import ValidationFailed
from reverie_server.app.embedders import weights_dir_of
from reverie_server.settings.server import Settings

PYTHON = "python -c pass"
MODEL = "the model alone"
HELP = "reverie --help"
SEARCH = "reverie search"
FROM_NOTHING = "serve from nothing"
INITIALISED = "serve"
GOAL_HELP_CPU_SECONDS = 0.3
_AGENT_PATH = "/api/v1/agents/bench"
_NOTE = "# Harbour\n\nThe lantern at the harbour is green since Thursday.\n"
_QUERY = "Which colour has the lantern at the harbour?"

Environment = dict[str, str]
Measured = dict[str, list[Usage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupOptions(Options):
    """A run of `rounds` rounds. Starts from nothing are measured twice."""

    rounds: int = 5


def run_startup(options: StartupOptions) -> Report:
    """Start everything in turns, in data directories of its own. Blocking.

    `took`: medians over rounds by what was started and how far it came, with ratios to an empty Python and the model
    alone. ValidationFailed for settings with another database or embedder than those that come with the package;
    SetupError when a command fails.
    """
    settings = options.settings
    if settings.database_url is not None or settings.embedder != "local":
        raise ValidationFailed("start-up is measured with the embedded PostgreSQL and the default model")
    start = Start()
    measured: Measured = defaultdict(list)
    for number in range(2):
        options.progress(f"starting from nothing, {number + 1} of 2")
        with _data_dir() as home:
            _from_nothing(_environment(settings, home), measured)
    with _data_dir() as home:
        environment = _environment(settings, home)
        # The database, the converted model and a note are there from here on.
        _from_nothing(environment, defaultdict(list))
        for number in range(options.rounds):
            options.progress(f"starting, round {number + 1} of {options.rounds}")
            _round(settings, home, environment, measured)
    return Report(
        name="startup",
        settings={"rounds": options.rounds, "embedder_threads": settings.embedder_threads},
        origin=start.origin(DEFAULT_MODEL.name),
        figures={"took": figures(measured)},
    )


def figures(measured: Mapping[str, list[Usage]]) -> dict[str, dict[str, float]]:
    """Medians, and their ratios to those of PYTHON and MODEL. Pure."""
    medians = {
        name: Usage(median(each.seconds for each in usages), median(each.cpu_seconds for each in usages))
        for name, usages in measured.items()
    }
    python, model = medians[PYTHON], medians[MODEL]
    return {
        name: {
            "seconds": each.seconds,
            "cpu_seconds": each.cpu_seconds,
            "seconds_to_python": each.seconds / python.seconds,
            "seconds_to_model": each.seconds / model.seconds,
            "cpu_to_python": each.cpu_seconds / python.cpu_seconds,
            "cpu_to_model": each.cpu_seconds / model.cpu_seconds,
        }
        for name, each in medians.items()
    }


def startup_content(report: Report) -> Iterator[RenderableType]:
    """Medians over the rounds."""
    columns = ("seconds", "cpu_seconds", "seconds_to_python", "seconds_to_model", "cpu_to_model")
    digits = (2, 2, 0, 2, 2)
    yield table(
        "start-up, from the start of the process",
        ("s", "CPU s", "s / python", "s / model", "CPU / model"),
        (
            (name, *(f"{each[column]:.{places}f}" for column, places in zip(columns, digits, strict=True)))
            for name, each in report["took"].items()
        ),
    )
    yield f"python is `{PYTHON}`, model is {MODEL}: loaded, and one text embedded"
    yield f"{HELP}: {report['took'][HELP]['cpu_seconds']:.2f} s of CPU (goal < {GOAL_HELP_CPU_SECONDS})"


def _from_nothing(environment: Environment, measured: Measured) -> None:
    with serve(environment) as served:
        served.until("first write", _write_note)
        _until_answers(served, FROM_NOTHING, measured)


def _round(settings: Settings, home: Path, environment: Environment, measured: Measured) -> None:
    model = (
        *(sys.executable, "-m", "reverie_bench.startup.model"),
        *(str(home / "models"), str(weights_dir_of(settings)), str(settings.embedder_threads)),
    )
    for name, command in ((PYTHON, (sys.executable, "-c", "pass")), (MODEL, model), (HELP, (*REVERIE, "--help"))):
        measured[name].append(run_command(command, environment)[0])
    with serve(environment) as served:
        _until_answers(served, INITIALISED, measured)
    measured[SEARCH].append(run_command((*REVERIE, "search", "lantern", "--agent", "bench"), environment)[0])


def _until_answers(served: Served, name: str, measured: Measured) -> None:
    served.until("first answer by words", _is_found_by_words)
    served.until("first answer by meaning", _is_found_by_meaning)
    for reached, usage in served.usage.items():
        measured[f"{name}: {reached}"].append(usage)


def _write_note(served: Served) -> bool:
    status, _ = served.ask("PUT", f"{_AGENT_PATH}/files/notes/harbour.md", {"content": _NOTE})
    return status in (200, 201)


def _is_found_by_words(served: Served) -> bool:
    status, answer = served.ask("POST", f"{_AGENT_PATH}/memory/search", {"query": _QUERY, "mode": "text"})
    return status == 200 and answer["count"] > 0


def _is_found_by_meaning(served: Served) -> bool:
    """Whether a hybrid search had the query's embedding, and finds the note."""
    status, answer = served.ask("POST", f"{_AGENT_PATH}/memory/search", {"query": _QUERY})
    return status == 200 and answer["mode"] == "hybrid" and answer["count"] > 0


def _environment(settings: Settings, home: Path) -> Environment:
    weights_dir = str(weights_dir_of(settings))
    return environment_of(settings, data_dir=str(home), embedder_weights_dir=weights_dir, log_level="warning")


@contextmanager
def _data_dir() -> Iterator[Path]:
    with reachable_directory() as home:
        yield home / "data"
