"""`python -m benchmarks.peers --data PATH`: Reverie and its peers on the same data, one after the other."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx
import platformdirs
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from rich.console import Console

from benchmarks.peers.bare import Bare
from benchmarks.peers.data import User, users_of
from benchmarks.peers.measure import CLIENTS, Ground, K, Measured, run_peer
from benchmarks.peers.process import Launch, PeerFailed
from benchmarks.peers.table import terminal, write_result
from benchmarks.peers.venvs import interpreter
from reverie_bench import origin
from reverie_bench.data import load
from reverie_bench.recall.metrics import paired_bootstrap
from reverie_bench.scratch import scratch_database
from reverie_indexer.embed.built_in import MINILM
from reverie_indexer.embed.local import load_local
from reverie_indexer.errors import ReverieError

_HERE = Path(__file__).resolve().parent
_ADAPTERS = _HERE / "adapters"
_CHECKOUT = _HERE.parents[1]
_OURS = "reverie"
_NO_ADAPTERS = {"__init__", "base", "embedder"}
_SEED = 20261122
_RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    data: tuple[Path, ...]
    only: tuple[str, ...]
    work: Path
    results: Path
    conversations: int | None


@dataclass(frozen=True, slots=True)
class Shared:
    """What every peer's run shares: the floor, the data, what adapters find in their environment, the database."""

    bare: Bare
    data: Mapping[str, Sequence[User]]
    environment: Mapping[str, str]
    server: str
    options: Options
    console: Console


def main() -> None:
    """Run, print the table, write the result."""
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 120)
    try:
        asyncio.run(_run(options, console))
    except ReverieError as error:
        console.print(f"[red]{error.detail}[/red]")
        sys.exit(1)


def names() -> list[str]:
    """All adapters, Reverie first."""
    found = sorted(path.stem for path in _ADAPTERS.glob("*.py") if path.stem not in _NO_ADAPTERS)
    return [_OURS, *(name for name in found if name != _OURS)]


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True, help="LoCoMo or XQuAD; may be repeated")
    parser.add_argument("--only", nargs="+", default=[], choices=names(), help="these adapters alone")
    parser.add_argument("--work", type=Path, default=platformdirs.user_cache_path("reverie-peers", appauthor=False))
    parser.add_argument("--results", type=Path, default=_HERE.parent / "results")
    parser.add_argument("--conversations", type=int, help="only the first of them")
    given = parser.parse_args()
    return Options(tuple(given.data), tuple(given.only), given.work.resolve(), given.results, given.conversations)


async def _run(options: Options, console: Console) -> None:
    code = await asyncio.to_thread(origin.commit)
    data = _load(options)
    model_dir = _model_dir(options.work)
    async with scratch_database(None) as (conninfo, database):
        result = await asyncio.to_thread(_measure_all, options, console, data, conninfo, model_dir)
    result["origin"] = {
        "commit": code[0],
        "dirty": code[1],
        "versions": origin.versions()
        | {"postgresql": database.server_version, "pgvector extension": database.vector_version},
        "machine": origin.machine(),
        "model": f"{MINILM.name} {MINILM.files['model.safetensors'][:12]}",
    }
    whole = not options.only and options.conversations is None
    name = "peers-" + "-".join(path.stem for path in options.data) + ("" if whole else "-partial")
    for table in terminal(result):
        console.print(table)
    console.print(f"written to {write_result(result, options.results, name)}", highlight=False)


def _load(options: Options) -> dict[str, list[User]]:
    data: dict[str, list[User]] = {}
    for path in options.data:
        count = sum(map(len, data.values()))
        data[path.name] = users_of(load(path), count, options.conversations)
    return data


def _measure_all(
    options: Options, console: Console, data: Mapping[str, Sequence[User]], server: str, model_dir: Path
) -> dict[str, Any]:
    bare = Bare(model_dir)
    measured: dict[str, Measured] = {}
    shared = Shared(bare, data, _environment(model_dir), server, options, console)
    for name in options.only or names():
        began = time.perf_counter()
        console.print(f"[bold]{name}[/bold]")
        measured[name] = _peer(name, shared)
        said = f"failed: {measured[name].error}" if measured[name].error else "done"
        console.print(f"  {said} after {time.perf_counter() - began:.0f} s", highlight=False)
    bare.close()
    return {
        "data": {
            path.name: {
                "sha256": origin.sha256_of(path),
                "users": len(users),
                "items": sum(len(user.items) for user in users),
                "questions": sum(len(user.questions) for user in users),
            }
            for path, users in zip(options.data, data.values(), strict=True)
        },
        "settings": {
            "k": K,
            "clients": CLIENTS,
            "seed": _SEED,
            "resamples": _RESAMPLES,
            "conversations": options.conversations,
        },
        "peers": {
            name: {
                "version": peer.version,
                "notes": peer.notes,
                "serial_because": peer.serial_because,
                "error": peer.error,
                "figures": peer.figures,
            }
            for name, peer in measured.items()
        },
        "differences": _differences(measured),
    }


def _peer(name: str, shared: Shared) -> Measured:
    work = shared.options.work
    directory = work / "run" / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    try:
        python = interpreter(name, _ADAPTERS, work)
    except PeerFailed as failure:
        return Measured(error=str(failure))
    environment = {**shared.environment, "HOME": str(directory)}
    launch = Launch(python, _ADAPTERS / f"{name}.py", directory, environment)

    def progress(step: str) -> None:
        shared.console.print(f"  {step}", highlight=False)

    with _database(shared.server, f"peer_{name}") as dsn:
        measured = run_peer(Ground(launch, dsn, shared.data, shared.bare, progress))
    if measured.log:
        (work / f"{name}.log").write_text(measured.log)
    shutil.rmtree(directory, ignore_errors=True)
    return measured


@contextmanager
def _database(server: str, name: str) -> Iterator[str]:
    """An empty database with pgvector on the scratch server."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        try:
            dsn = make_conninfo(server, dbname=name)
            with psycopg.connect(dsn, autocommit=True) as own:
                own.execute("CREATE EXTENSION vector")
            yield dsn
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _environment(model_dir: Path) -> dict[str, str]:
    """What adapters may see: no keys, no telemetry, no downloads; this checkout's code."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(str(_CHECKOUT / package) for package in ("client", "indexer", "server")),
        "PEERS_MODEL_DIR": str(model_dir),
        "ANONYMIZED_TELEMETRY": "False",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _model_dir(work: Path) -> Path:
    """One directory with the weights, the tokenizer and the converted model, as `embedder.py` expects it; and beside it
    the same model for those that run it themselves (`hindsight.py`)."""
    directory = work / "model"
    shutil.copytree(MINILM.find_weights(), directory / MINILM.name, dirs_exist_ok=True)
    load_local(directory, MINILM, weights_dir=directory)
    [graph] = directory.glob("*.onnx")
    _write_without_adapter(graph, directory / "plain" / "model.onnx")
    return directory


def _write_without_adapter(graph: Path, target: Path) -> None:
    """The graph of a model with matrices of rank 0 in the place of what an adapter would give."""
    model = onnx.load(graph)
    for given in list(model.graph.input):
        if given.name.endswith((".down", ".up")):
            sizes = [size.dim_value for size in given.type.tensor_type.shape.dim]
            nothing = onnx.helper.make_tensor(given.name, onnx.TensorProto.FLOAT, sizes, b"", raw=True)
            model.graph.initializer.append(nothing)
            model.graph.input.remove(given)
    target.parent.mkdir(exist_ok=True)
    onnx.save(model, target)


def _differences(measured: Mapping[str, Measured]) -> dict[str, dict[str, Any]]:
    """Reverie minus each peer, by file, over the same questions; only for peers that answered all."""
    if _OURS not in measured:
        return {}
    ours = measured[_OURS].scores
    found: dict[str, dict[str, Any]] = {}
    for name, peer in measured.items():
        if name != _OURS:
            found[name] = {
                file: {
                    which: asdict(difference)
                    for which, difference in paired_bootstrap(
                        ours[file], theirs, seed=_SEED, resamples=_RESAMPLES
                    ).items()
                }
                for file, theirs in peer.scores.items()
                if len(theirs) == len(ours.get(file, ()))
            }
    return found


if __name__ == "__main__":
    main()
