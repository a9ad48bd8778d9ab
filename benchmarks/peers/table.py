"""A run's result as a table for people (a terminal, markdown) and as JSON for the record. Pure but for writing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from reverie_bench.report import rounded

FOUND_HEADS = ("version", "R@10", "nDCG@10", "MRR@10", "leaks", "lost by kill")
COST_HEADS = ("p50 ms", "p95 ms", "× embed", "8 at once /s", "share", "ingest", "RSS MB", "disk MB")
_NOTHING = "–"
_MEASURES = ("fraction@10", "ndcg@10", "mrr")


def found_row(peer: Mapping[str, Any], file: str) -> list[str]:
    """What one peer found in `file`, and what it leaked and lost, as text; what was not measured is a dash."""
    recall = peer["figures"].get("recall", {}).get(file, {})
    return [
        peer["version"] or _NOTHING,
        *(_number(recall.get(measure), 3) for measure in _MEASURES),
        leak_verdict(peer["figures"]),
        kill_verdict(peer["figures"]),
    ]


def cost_row(peer: Mapping[str, Any]) -> list[str]:
    """What one peer costs: searches by one and by all clients, beside the embedder alone; writing; sizes."""
    figures = peer["figures"]
    search, at_once = figures.get("search", {}), figures.get("at_once", {})
    alone = "*" if peer["serial_because"] and at_once else ""
    return [
        _number(search.get("ms_p50"), 1),
        _number(search.get("ms_p95"), 1),
        _number(search.get("ratio_to_embedding"), 2),
        _number(at_once.get("searches_per_second"), 0) + alone,
        _number(at_once.get("ratio_to_embedding"), 2),
        _number(figures.get("ingest", {}).get("ratio_to_embedder"), 2),
        _megabytes(figures.get("rss_bytes")),
        _megabytes(figures.get("disk_bytes")),
    ]


def leak_verdict(figures: Mapping[str, Any]) -> str:
    """`none`, or how many results were another's; a dash where the check did not come to its end."""
    leaks = figures.get("leaks")
    if leaks is None:
        return _NOTHING
    count = figures.get("foreign_results", 0) + leaks["foreign_results"] + leaks["results_for_nobody"]
    return "none" if count == 0 else str(count)


def kill_verdict(figures: Mapping[str, Any]) -> str:
    """`none`, or how many of the acknowledged items were not found again; a dash where it was not checked."""
    kill = figures.get("kill")
    if kill is None:
        return _NOTHING
    lost = kill["lost"] + kill["older_lost"]
    return "none" if lost == 0 else f"{lost} of {kill['acknowledged'] + kill['older_asked']}"


def terminal(result: Mapping[str, Any]) -> list[Table]:
    """The tables for a terminal: what was found, a table a data file, and what it costs."""
    peers = result["peers"]
    tables = [
        _table(f"{file}, k = {result['settings']['k']}", FOUND_HEADS, {n: found_row(p, file) for n, p in peers.items()})
        for file in result["data"]
    ]
    return [*tables, _table("cost", COST_HEADS, {name: cost_row(peer) for name, peer in peers.items()})]


def _table(title: str, heads: Sequence[str], rows: Mapping[str, Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("peer", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    for name, cells in rows.items():
        table.add_row(name, *cells)
    return table


def markdown(result: Mapping[str, Any]) -> str:
    """The same for reading beside the JSON, with Reverie's lead, what differs, and failures."""
    peers = result["peers"]
    parts = ["# Peers", "", _origin(result)]
    for file in result["data"]:
        parts += ["", f"## {file}", "", *_grid(FOUND_HEADS, {n: found_row(p, file) for n, p in peers.items()})]
        leads = {name: by_file[file] for name, by_file in result["differences"].items() if file in by_file}
        if leads:
            parts += ["", "Reverie minus …, mean (95 % interval, paired bootstrap over questions):", ""]
            rows = {name: [_interval(lead[measure]) for measure in _MEASURES] for name, lead in leads.items()}
            parts += _grid(FOUND_HEADS[1:4], rows)
    parts += ["", "## Cost", "", *_grid(COST_HEADS, {name: cost_row(peer) for name, peer in peers.items()})]
    parts += ["", "## What differs", "", *(_said(name, peer) for name, peer in peers.items())]
    return "\n".join(parts) + "\n"


def _said(name: str, peer: Mapping[str, Any]) -> str:
    said = list(peer["notes"])
    if peer["serial_because"]:
        said.append(f"\\* one client at a time: {peer['serial_because']}")
    if peer["error"]:
        said.append(f"**failed**: {peer['error']}")
    return f"- **{name}**: {'; '.join(said) or 'nothing'}."


def _grid(heads: Sequence[str], rows: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [_line(["peer", *heads]), _line(["---", *("--:" for _ in heads)])]
    return lines + [_line([name, *cells]) for name, cells in rows.items()]


def write_result(result: Mapping[str, Any], directory: Path, name: str) -> Path:
    """Write `name`.json and `name`.md; older ones are replaced. Returns the JSON file."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.json"
    path.write_text(json.dumps(rounded(result), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (directory / f"{name}.md").write_text(markdown(result), encoding="utf-8")
    return path


def _origin(result: Mapping[str, Any]) -> str:
    origin = result["origin"]
    changed = ", changed since" if origin["dirty"] else ""
    machine = origin["machine"]
    return (
        f"Commit {origin['commit']}{changed}; {machine['system']} {machine['architecture']}, {machine['cpus']} CPUs; "
        f"embedder {origin['model']} for all. Compare the ratios, not the times."
    )


def _interval(difference: Mapping[str, float]) -> str:
    return f"{difference['mean']:+.3f} ({difference['low']:+.3f} … {difference['high']:+.3f})"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _number(value: float | None, digits: int) -> str:
    return _NOTHING if value is None else f"{value:.{digits}f}"


def _megabytes(value: int | None) -> str:
    return _NOTHING if value is None else f"{value / 1e6:.0f}"
