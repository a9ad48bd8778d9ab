"""The result of a run: as tables for people, and as a JSON file for the record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Report:
    """A run's result, without any text, id or name of the data.

    `name` is that of its file, `origin` is where it comes from (commit, versions, machine, model, duration), `figures`
    are the measurements: dataclasses, mappings, sequences and numbers, by the names of the result file.
    """

    name: str
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    figures: Mapping[str, Any]
    data: Any = None
    sizes: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, figure: str) -> Any:
        return self.figures[figure]

    def as_dict(self) -> dict[str, Any]:
        """The content of the result file."""
        head = {name: getattr(self, name) for name in ("data", "sizes", "settings", "origin")}
        content: dict[str, Any] = rounded({**head, **self.figures})
        return content


def rounded(value: Any) -> Any:
    """The value with floats of six digits: enough for a share of some thousand questions, and the same everywhere."""
    if isinstance(value, float):
        return round(value, 6)
    if is_dataclass(value) and not isinstance(value, type):
        return rounded(asdict(value))
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def file_name(*parts: str) -> str:
    """A name for a result file, of letters, digits, dots, underscores and hyphens."""
    return "-".join(re.sub(r"[^A-Za-z0-9_.]+", "-", part).strip("-") for part in parts)


def write_result(report: Report, directory: Path) -> Path:
    """Write the report as `NAME.json` into the directory; an older file of that name is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{report.name}.json"
    path.write_text(json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def show(report: Report, content: Iterable[RenderableType], console: Console) -> None:
    """Print where the report comes from, then its tables and sentences."""
    origin = report.origin
    model = origin["model"]["name"] if isinstance(origin["model"], Mapping) else origin["model"]
    changed = ", changed since" if origin["dirty"] else ""
    console.print(f"model {model}, commit {origin['commit']}{changed}, {origin['duration_seconds']} s", highlight=False)
    for each in content:
        console.print(each, highlight=False)


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    label: str = "",
    long_labels: bool = False,
    caption: str | None = None,
) -> Table:
    """A table whose first column, headed by `label`, names the rows; the other columns are aligned to the right.

    Labels are on one line each, unless they are `long_labels`.
    """
    drawn = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    drawn.add_column(label, no_wrap=not long_labels)
    for column in columns:
        drawn.add_column(column, justify="right")
    for row in rows:
        drawn.add_row(*row)
    return drawn


def number(value: float | None, digits: int = 2) -> str:
    """A figure with `digits` decimals; `-` where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def spread_of(figure: Mapping[str, float]) -> str:
    """A median with the lowest and the highest of the rounds."""
    return f"{figure['median']:.2f} ({figure['low']:.2f} to {figure['high']:.2f})"
