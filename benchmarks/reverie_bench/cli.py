"""`reverie bench …`: the commands that measure, and the plots of their results."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from reverie_indexer.errors import SetupError, ValidationFailed
from reverie_server.cli.frame import DataDir, load_settings, run

if TYPE_CHECKING:
    from rich.console import RenderableType

    from reverie_bench.frame import Options
    from reverie_bench.report import Report

bench_cli = typer.Typer(help="Measure on your own machine.", no_args_is_help=True)

RESULTS = Path("benchmarks/results")
TURNS = Path("benchmarks/inject")
SEED = 20261122
Results = Annotated[Path, typer.Option(help="Where the result file goes.")]
DatabaseUrl = Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in databases of its own.")]
DataFile = Annotated[Path, typer.Option(exists=True, dir_okay=False, help="LoCoMo conversations or an XQuAD language.")]
Conversations = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="LoCoMo conversations.")]
Texts = Annotated[
    list[Path] | None,
    typer.Option(exists=True, dir_okay=False, help="Real text as of `recall`; repeat for several. Else made up."),
]
AnyOptions = TypeVar("AnyOptions", bound="Options")


def _measure(
    measure: Callable[[AnyOptions], Awaitable[Report]],
    all_options: Iterable[AnyOptions],
    content: Callable[[Report], Iterable[RenderableType]],
    results: Path,
) -> None:
    """The frame of every command: measure by each of the options, print the tables and write the result files."""

    async def work() -> None:
        for options in all_options:
            _finish(await measure(options), content, results)

    run(work())


def _finish(report: Report, content: Callable[[Report], Iterable[RenderableType]], results: Path) -> None:
    """Print the tables of a report and write its file."""
    from rich.console import Console

    from reverie_bench.report import show, write_result

    show(report, content(report), Console())
    print(f"written to {write_result(report, results)}")


def _common(
    data_dir: Path | None, database_url: str | None, *data: Path | None, log_level: str = "warning"
) -> dict[str, Any]:
    """The options that every run has: settings, database, data files and where progress is printed."""
    return {
        "settings": load_settings(data_dir=data_dir, log_level=log_level),
        "database_url": database_url,
        "data": tuple(path for path in data if path is not None),
        "progress": lambda step: print(step, file=sys.stderr),
    }


def _numbers(text: str, name: str) -> tuple[int, ...]:
    """Positive numbers, separated by commas."""
    try:
        numbers = tuple(int(part.replace("_", "")) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise ValidationFailed(f"{name} takes positive numbers, separated by commas")
    return numbers


@bench_cli.command("recall")
def bench_recall(
    data: DataFile,
    results: Results = RESULTS,
    language: Annotated[str | None, typer.Option(help="The analyser's language; else by the file's name.")] = None,
    overrides: Annotated[list[str] | None, typer.Option("--set", help="A rule to change, name=value.")] = None,
    stored_as: Annotated[
        str, typer.Option("--as", help="How conversations are stored: `notes`; `sessions`, with all that follows.")
    ] = "notes",
    seed: int = 20261121,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Ask every question of a data set, beside simple baselines on the same texts with the same model."""
    from reverie_bench.recall.report import recall_content
    from reverie_bench.recall.run import RecallOptions, run_recall
    from reverie_bench.recall.sessions import SessionsOptions, run_sessions, sessions_content

    if stored_as == "sessions":
        if language or overrides:
            raise ValidationFailed("conversations stored as sessions are measured in English, by the rules as they are")
        _measure(run_sessions, [SessionsOptions(**_common(data_dir, database_url, data))], sessions_content, results)
        return
    if stored_as != "notes":
        raise ValidationFailed("conversations are stored as `notes` or as `sessions`")
    options = RecallOptions(
        **_common(data_dir, database_url, data), language=language, overrides=tuple(overrides or ()), seed=seed
    )
    _measure(run_recall, [options], recall_content, results)


@bench_cli.command("relevance")
def bench_relevance(
    data: DataFile,
    turns: Annotated[
        list[Path] | None,
        typer.Option(
            help="Sets of turns; repeat for several. Default: `inject`, `inject/meaning`.", exists=True, file_okay=False
        ),
    ] = None,
    results: Results = RESULTS,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Fit what makes relevance 0.3 the point from which a passage helps, and show how well it holds."""
    from reverie_bench.recall.calibrate import CalibrationOptions, run_calibration
    from reverie_bench.recall.report import relevance_content

    folders = tuple(turns) if turns else (TURNS, TURNS / "meaning")
    options = CalibrationOptions(**_common(data_dir, database_url, data), turns=folders)
    _measure(run_calibration, [options], relevance_content, results)


@bench_cli.command("inject")
def bench_inject(
    turns: Annotated[
        Path, typer.Option(help="Sets of turns, a file a language.", exists=True, file_okay=False)
    ] = TURNS,
    data: Conversations = None,
    results: Results = RESULTS,
    language: Annotated[str, typer.Option(help="The agents' language; `own`: of each set its own.")] = "english",
    unfitted: Annotated[bool, typer.Option("--unfitted", help="As a model that no constants were fitted for.")] = False,
    name: Annotated[str | None, typer.Option(help="The result is inject-NAME.json.")] = None,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Say messages that memory has something for, and others, to the injector: is the right thing injected?"""
    from reverie_bench.inject.report import inject_content
    from reverie_bench.inject.run import InjectOptions, run_inject

    options = InjectOptions(
        **_common(data_dir, database_url, data, log_level="error"),
        turns=turns,
        language=None if language == "own" else language,
        unfitted=unfitted,
        name=name,
    )
    _measure(run_inject, [options], inject_content, results)


@bench_cli.command("dreams")
def bench_dreams(
    nights: Annotated[int, typer.Option(min=1, max=3650, help="How many nights.")] = 365,
    owners: Annotated[int, typer.Option(min=1, max=100, help="How many people.")] = 3,
    model: Annotated[str, typer.Option(help="`scripted`: one that now and then errs; `none`.")] = "scripted",
    results: Results = RESULTS,
    seed: int = SEED,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Live through a made-up year: what becomes of what people said?"""
    from reverie_bench.dreams.run import DreamsOptions, dreams_content, run_dreams

    if model not in ("scripted", "none"):
        raise SetupError("a year needs the model `scripted` or `none`")
    options = DreamsOptions(
        **_common(data_dir, database_url, log_level="error"),
        nights=nights,
        owners=owners,
        model="scripted" if model == "scripted" else "none",
        seed=seed,
    )
    _measure(run_dreams, [options], dreams_content, results)


@bench_cli.command("latency")
def bench_latency(
    chunks: Annotated[str, typer.Option(help="How many chunks the asking owner has; several by commas.")] = "2000",
    clients: Annotated[str, typer.Option(help="How many ask at once; several by commas.")] = "1,8,32",
    data: Texts = None,
    results: Results = RESULTS,
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is measured, in turns.")] = 5,
    requests: Annotated[int, typer.Option(min=2, help="Requests a measurement at least.")] = 40,
    seed: int = SEED,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Time searches over HTTP beside what they cannot do without, measured in the same minutes."""
    from reverie_bench.latency.report import latency_content
    from reverie_bench.latency.run import LatencyOptions, run_latency

    common = _common(data_dir, database_url, *(data or ()))
    counts = _numbers(clients, "--clients")
    all_options = [
        LatencyOptions(**common, chunks=number, clients=counts, rounds=rounds, requests=requests, seed=seed)
        for number in _numbers(chunks, "--chunks")
    ]
    _measure(run_latency, all_options, latency_content, results)


@bench_cli.command("scale")
def bench_scale(
    sizes: Annotated[str, typer.Option(help="Chunks a table, by commas.")] = "10000,100000,1000000",
    data: Texts = None,
    results: Results = RESULTS,
    queries: Annotated[int, typer.Option(min=1, help="Queries a measurement.")] = 50,
    rounds: Annotated[int, typer.Option(min=1, help="How often the tables are compared, in turns.")] = 5,
    seed: int = SEED,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Fill tables of growing sizes; measure search, recall, building, disk and memory on each."""
    from reverie_bench.scale.report import scale_content
    from reverie_bench.scale.run import ScaleOptions, run_scale

    common = _common(data_dir, database_url, *(data or ()))
    options = ScaleOptions(**common, sizes=_numbers(sizes, "--sizes"), queries=queries, rounds=rounds, seed=seed)
    _measure(run_scale, [options], scale_content, results)


@bench_cli.command("ingest")
def bench_ingest(
    data: Texts = None,
    results: Results = RESULTS,
    seed: int = SEED,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Index folders and append lines beside the model alone on the same passages; kill it, and run it again."""
    from reverie_bench.frame import Options
    from reverie_bench.ingest.run import ingest_content, run_ingest

    options = Options(**_common(data_dir, database_url, *(data or ())), seed=seed)
    _measure(run_ingest, [options], ingest_content, results)


@bench_cli.command("nodes")
def bench_nodes(
    nodes_url: Annotated[
        str, typer.Option(help="An empty database on a coordinator of Citus that has workers; the run fills it.")
    ],
    tenants: Annotated[int, typer.Option(min=1, max=1000, help="How many tenants there are.")] = 16,
    chunks: Annotated[int, typer.Option(min=1, help="How many chunks each tenant has.")] = 200,
    clients: Annotated[int, typer.Option(min=1, max=100, help="How many ask at once.")] = 8,
    requests: Annotated[int, typer.Option(min=2, help="Searches, and writes, of a round on each side.")] = 160,
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is measured, in turns.")] = 5,
    data: Texts = None,
    results: Results = RESULTS,
    seed: int = SEED,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Search and write on several nodes beside one node: the work of each node, and what crosses between them."""
    from reverie_bench.nodes.run import NodesOptions, nodes_content, run_nodes

    options = NodesOptions(
        **_common(data_dir, database_url, *(data or ())),
        nodes_url=nodes_url,
        tenants=tenants,
        chunks=chunks,
        clients=clients,
        requests=requests,
        rounds=rounds,
        seed=seed,
    )
    _measure(run_nodes, [options], nodes_content, results)


@bench_cli.command("plots")
def bench_plots(
    results: Annotated[
        Path, typer.Option(help="Where the result files are, and the pictures go.", exists=True, file_okay=False)
    ] = RESULTS,
) -> None:
    """Draw the result files: a PNG or two beside each."""
    try:
        from reverie_bench.plots.all import draw_all
    except ModuleNotFoundError as error:
        raise SetupError(f"the plots need matplotlib: pip install 'reverie[bench]' ({error.name} is missing)") from None
    for path in draw_all(results):
        print(path)


@bench_cli.command("startup")
def bench_startup(
    results: Results = RESULTS,
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is started, in turns.")] = 5,
    data_dir: DataDir = None,
) -> None:
    """Time from the start of a process to its first answers, beside an empty Python and the model alone."""
    from reverie_bench.startup.run import StartupOptions, run_startup, startup_content

    options = StartupOptions(**_common(data_dir, None), rounds=rounds)
    _finish(run_startup(options), startup_content, results)


@bench_cli.command("pages")
def bench_pages(
    results: Results = RESULTS,
    passages: Annotated[int, typer.Option(min=50, help="Passages of notes.")] = 10_000,
    sessions: Annotated[int, typer.Option(min=2, help="Conversations, of four messages each.")] = 1_000,
    facts: Annotated[int, typer.Option(min=1, help="Facts in notes.")] = 2_000,
    requests: Annotated[int, typer.Option(min=1, help="How often each page is asked for.")] = 20,
    seed: int = SEED,
    data_dir: DataDir = None,
) -> None:
    """What each page of the Memory Browser takes of the CPU over a large memory."""
    from reverie_bench.pages.run import PagesOptions, pages_content, run_pages

    options = PagesOptions(
        **_common(data_dir, None), passages=passages, sessions=sessions, facts=facts, requests=requests, seed=seed
    )
    _finish(run_pages(options), pages_content, results)


@bench_cli.command("prompt")
def bench_prompt(
    data: Conversations = None,
    results: Results = RESULTS,
    turns: Annotated[int, typer.Option(min=2, help="How many turns are replayed.")] = 50,
    seed: int = SEED,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Replay a conversation; how much of each prompt the one before began with, by where memory is put."""
    from reverie_bench.prompt.run import PromptOptions, prompt_content, run_prompt

    options = PromptOptions(**_common(data_dir, database_url, data), turns=turns, seed=seed)
    _measure(run_prompt, [options], prompt_content, results)


@bench_cli.command("truth")
def bench_truth(
    held: Annotated[
        bool, typer.Option("--held", help="The lives that are not looked at while rules are chosen.")
    ] = False,
    life: Annotated[str | None, typer.Option(help="One life by its name; else all.")] = None,
    model: Annotated[str, typer.Option(help="The language model: none, or scripted (over HTTP; it errs).")] = "none",
    seed: Annotated[int, typer.Option(help="What the scripted model's errors are drawn from.")] = 20261122,
    show: Annotated[bool, typer.Option("--show", help="Print wrong answers, memory and facts to read.")] = False,
    results: Results = RESULTS,
    database_url: DatabaseUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Live scripted lives over HTTP: is what memory gives true, current, and worth it?"""
    from reverie_bench.truth.report import shown_lines, truth_content
    from reverie_bench.truth.run import TruthOptions, run_truth

    if model not in ("scripted", "none"):
        raise SetupError("lives need the model `scripted` or `none`")
    if held and show:
        raise SetupError("lives that are held back are given as figures, never to read")
    options = TruthOptions(
        **_common(data_dir, database_url, log_level="error"),
        held=held,
        life=life,
        model="scripted" if model == "scripted" else "none",
        seed=seed,
    )

    async def work() -> None:
        report, lived = await run_truth(options)
        if show:
            for each in lived:
                print("\n".join(shown_lines(each)))
        _finish(report, truth_content, results)

    run(work())
