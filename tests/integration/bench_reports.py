"""The text that a benchmark prints."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType

from reverie_bench.report import Report, show


def shown_text(report: Report, content: Iterable[RenderableType]) -> str:
    """What a wide terminal shows of a report."""
    console = Console(file=io.StringIO(), record=True, width=160)
    show(report, content, console)
    return console.export_text()
