"""Commands that measure: recall, relevance, injection, latency, scale; and the plots of what they found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reverie_indexer.errors import SetupError, ValidationFailed
from reverie_server.cli.frame import DataDir, load_settings, run

if TYPE_CHECKING:
    from reverie_indexer.embed import Embedder
    from reverie_server.settings.server import Settings

bench_cli = typer.Typer(help="Measure on your own machine.", no_args_is_help=True)


@bench_cli.command("recall")
def bench_recall(
    data: Annotated[Path, typer.Option(help="LoCoMo conversations or an XQuAD language.", exists=True, dir_okay=False)],
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    language: Annotated[str | None, typer.Option(help="The analyser's language; else by the file's name.")] = None,
    overrides: Annotated[list[str] | None, typer.Option("--set", help="A rule to change, name=value.")] = None,
    seed: int = 20261121,
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in a database of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Ask every question of a data set, beside simple baselines on the same texts with the same model."""
    from rich.console import Console

    from reverie_bench.recall.report import render, write_result
    from reverie_bench.recall.run import RecallOptions, run_recall
    from reverie_server.app.wiring import embedder_loader

    settings = load_settings(data_dir=data_dir, log_level="warning")
    load = embedder_loader(settings)
    if load is None:
        raise SetupError("the benchmark compares by meaning too: configure an embedder")
    options = RecallOptions(
        data,
        load,
        language=language,
        database_url=database_url,
        overrides=tuple(overrides or ()),
        seed=seed,
        progress=lambda doing: print(doing, file=sys.stderr),
    )

    async def work() -> None:
        report = await run_recall(options)
        render(report, Console())
        print(f"written to {write_result(report, results)}")

    run(work())


@bench_cli.command("relevance")
def bench_relevance(
    data: Annotated[Path, typer.Option(help="LoCoMo conversations.", exists=True, dir_okay=False)],
    turns: Annotated[
        Path | None, typer.Option(help="Sets of turns beside them, as of `inject`.", exists=True, file_okay=False)
    ] = None,
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in a database of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Fit what makes relevance 0.3 the point from which a passage helps, and show how well it holds."""
    from rich.console import Console

    from reverie_bench.recall.calibrate import CalibrationOptions, run_calibration
    from reverie_bench.recall.calibration_report import render, write_result
    from reverie_server.app.wiring import embedder_loader

    load = embedder_loader(load_settings(data_dir=data_dir, log_level="warning"))
    if load is None:
        raise SetupError("relevance is fitted on words and meaning: configure an embedder")
    options = CalibrationOptions(
        data, load, turns=turns, database_url=database_url, progress=lambda doing: print(doing, file=sys.stderr)
    )

    async def work() -> None:
        report = await run_calibration(options)
        render(report, Console())
        print(f"written to {write_result(report, results)}")

    run(work())


@bench_cli.command("inject")
def bench_inject(
    turns: Annotated[Path, typer.Option(help="Sets of turns, a file a language.", exists=True, file_okay=False)] = Path(
        "benchmarks/inject"
    ),
    data: Annotated[Path | None, typer.Option(help="LoCoMo conversations beside them.", dir_okay=False)] = None,
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    language: Annotated[str, typer.Option(help="The agents' language; `own`: of each set its own.")] = "english",
    name: Annotated[str | None, typer.Option(help="The result is inject-NAME.json.")] = None,
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in a database of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Say messages that memory has something for, and others, to the injector: is the right thing injected?"""
    from rich.console import Console

    from reverie_bench.inject.report import render, write_result
    from reverie_bench.inject.run import InjectOptions, run_inject
    from reverie_server.app.wiring import embedder_loader

    load = embedder_loader(load_settings(data_dir=data_dir, log_level="error"))
    if load is None:
        raise SetupError("injection goes by words and meaning: configure an embedder")
    options = InjectOptions(
        turns,
        load,
        data=data,
        language=None if language == "own" else language,
        database_url=database_url,
        progress=lambda doing: print(doing, file=sys.stderr),
    )

    async def work() -> None:
        report = await run_inject(options)
        render(report, Console())
        folder = turns.resolve().name
        stem = ("turns" if folder == "inject" else folder) + ("" if language == "english" else f"-{language}")
        print(f"written to {write_result(report, results, name or stem)}")

    run(work())


@bench_cli.command("dreams")
def bench_dreams(
    nights: Annotated[int, typer.Option(min=1, max=3650, help="How many nights.")] = 365,
    owners: Annotated[int, typer.Option(min=1, max=100, help="How many people.")] = 3,
    model: Annotated[str, typer.Option(help="`scripted`: one that now and then errs; `none`.")] = "scripted",
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    seed: int = 20261122,
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in a database of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Live through a made-up year: what becomes of what people said?"""
    from rich.console import Console

    from reverie_bench.dreams.report import render, write_result
    from reverie_bench.dreams.run import DreamsOptions, run_dreams
    from reverie_server.app.wiring import embedder_loader

    settings = load_settings(data_dir=data_dir, log_level="error")
    load = embedder_loader(settings)
    if load is None or model not in ("scripted", "none"):
        raise SetupError("a year needs an embedder, and the model `scripted` or `none`")
    options = DreamsOptions(
        settings,
        load,
        database_url=database_url,
        nights=nights,
        owners=owners,
        seed=seed,
        model="scripted" if model == "scripted" else "none",
        progress=lambda doing: print(doing, file=sys.stderr),
    )

    async def work() -> None:
        report = await run_dreams(options)
        render(report, Console())
        print(f"written to {write_result(report, results)}")

    run(work())


async def load_configured(settings: Settings) -> Embedder:
    """The configured embedder; a function of a module, so that processes of a measurement's own can be given it."""
    from reverie_server.app.wiring import embedder_loader

    load = embedder_loader(settings)
    if load is None:
        raise SetupError("the benchmark measures search by meaning too: configure an embedder")
    return await load()


def _numbers(text: str, name: str) -> tuple[int, ...]:
    """Positive numbers, separated by commas."""
    try:
        numbers = tuple(int(part.replace("_", "")) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise ValidationFailed(f"{name} takes positive numbers, separated by commas")
    return numbers


@bench_cli.command("latency")
def bench_latency(
    chunks: Annotated[str, typer.Option(help="How many chunks the asking owner has; several by commas.")] = "2000",
    clients: Annotated[str, typer.Option(help="How many ask at once; several by commas.")] = "1,8,32",
    data: Annotated[
        list[Path] | None,
        typer.Option(help="Real text as of `recall`; repeat for several.", exists=True, dir_okay=False),
    ] = None,
    results: Annotated[Path, typer.Option(help="Where the result files go.")] = Path("benchmarks/results"),
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is measured, in turns.")] = 5,
    requests: Annotated[int, typer.Option(min=2, help="Requests a measurement at least.")] = 40,
    seed: int = 20261122,
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in a database of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Time searches over HTTP beside what they cannot do without, measured in the same minutes."""
    from functools import partial

    from rich.console import Console

    from reverie_bench.latency.report import render, write_result
    from reverie_bench.latency.run import LatencyOptions, run_latency

    settings = load_settings(data_dir=data_dir, log_level="warning")
    all_clients = _numbers(clients, "--clients")

    async def work() -> None:
        for number in _numbers(chunks, "--chunks"):
            report = await run_latency(
                LatencyOptions(
                    settings=settings,
                    load_embedder=partial(load_configured, settings),
                    chunks=number,
                    clients=all_clients,
                    data=tuple(data or ()),
                    database_url=database_url,
                    rounds=rounds,
                    requests=requests,
                    seed=seed,
                    progress=lambda doing: print(doing, file=sys.stderr),
                )
            )
            render(report, Console())
            print(f"written to {write_result(report, results)}")

    run(work())


@bench_cli.command("scale")
def bench_scale(
    sizes: Annotated[str, typer.Option(help="Chunks a table, by commas.")] = "10000,100000,1000000",
    data: Annotated[
        list[Path] | None,
        typer.Option(help="Real text as of `recall`; repeat for several.", exists=True, dir_okay=False),
    ] = None,
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    queries: Annotated[int, typer.Option(min=1, help="Queries a measurement.")] = 50,
    rounds: Annotated[int, typer.Option(min=1, help="How often the tables are compared, in turns.")] = 5,
    seed: int = 20261122,
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in databases of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Fill tables of growing sizes; measure search, recall, building, disk and memory on each."""
    from rich.console import Console

    from reverie_bench.scale.report import render, write_result
    from reverie_bench.scale.run import ScaleOptions, run_scale

    options = ScaleOptions(
        settings=load_settings(data_dir=data_dir, log_level="warning"),
        sizes=_numbers(sizes, "--sizes"),
        data=tuple(data or ()),
        database_url=database_url,
        queries=queries,
        rounds=rounds,
        seed=seed,
        progress=lambda doing: print(doing, file=sys.stderr),
    )

    async def work() -> None:
        report = await run_scale(options)
        render(report, Console())
        print(f"written to {write_result(report, results)}")

    run(work())


@bench_cli.command("ingest")
def bench_ingest(
    data: Annotated[
        list[Path] | None,
        typer.Option(help="Real text as of `recall`; repeat for several.", exists=True, dir_okay=False),
    ] = None,
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    seed: int = 20261122,
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in databases of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Index folders and append lines beside the model alone on the same passages; kill it, and run it again."""
    from functools import partial

    from rich.console import Console

    from reverie_bench.ingest.report import render, write_result
    from reverie_bench.ingest.run import IngestOptions, run_ingest

    settings = load_settings(data_dir=data_dir, log_level="warning")
    options = IngestOptions(
        settings=settings,
        load_embedder=partial(load_configured, settings),
        data=tuple(data or ()),
        database_url=database_url,
        seed=seed,
        progress=lambda doing: print(doing, file=sys.stderr),
    )

    async def work() -> None:
        report = await run_ingest(options)
        render(report, Console())
        print(f"written to {write_result(report, results)}")

    run(work())


@bench_cli.command("plots")
def bench_plots(
    results: Annotated[
        Path, typer.Option(help="Where the result files are, and the pictures go.", exists=True, file_okay=False)
    ] = Path("benchmarks/results"),
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
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is started, in turns.")] = 5,
    data_dir: DataDir = None,
) -> None:
    """Time from the start of a process to its first answers, beside an empty Python and the model alone."""
    from rich.console import Console

    from reverie_bench.startup.report import render, write_result
    from reverie_bench.startup.run import StartupOptions, run_startup

    settings = load_settings(data_dir=data_dir, log_level="warning")
    report = run_startup(
        StartupOptions(settings=settings, rounds=rounds, progress=lambda doing: print(doing, file=sys.stderr))
    )
    render(report, Console())
    print(f"written to {write_result(report, results)}")


@bench_cli.command("prompt")
def bench_prompt(
    data: Annotated[
        Path | None, typer.Option(help="LoCoMo conversations; else made-up turns.", exists=True, dir_okay=False)
    ] = None,
    results: Annotated[Path, typer.Option(help="Where the result file goes.")] = Path("benchmarks/results"),
    turns: Annotated[int, typer.Option(min=2, help="How many turns are replayed.")] = 50,
    seed: int = 20261122,
    database_url: Annotated[str | None, typer.Option(help="A PostgreSQL to work on, in a database of its own.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Replay a conversation; how much of each prompt the one before began with, by where memory is put."""
    from functools import partial

    from rich.console import Console

    from reverie_bench.prompt.report import render, write_result
    from reverie_bench.prompt.run import PromptOptions, run_prompt

    settings = load_settings(data_dir=data_dir, log_level="warning")
    options = PromptOptions(
        settings=settings,
        load_embedder=partial(load_configured, settings),
        data=data,
        database_url=database_url,
        turns=turns,
        seed=seed,
        progress=lambda doing: print(doing, file=sys.stderr),
    )

    async def work() -> None:
        report = await run_prompt(options)
        render(report, Console())
        print(f"written to {write_result(report, results)}")

    run(work())
