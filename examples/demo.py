"""Index the sample memory, search it over HTTP, show the answers; then fill it with conversations, for the browser.

Run by `make demo`; leaves nothing behind. With KEEP=1 the server stays until Ctrl-C.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import httpx
from rich.console import Console
from sample import AGENT, AT_ONCE, PERSON, fill

from reverie_client import Reverie

MEMORY = Path(__file__).parent / "memory"
REVERIE = [sys.executable, "-m", "reverie_server.cli.main"]
QUERIES = [
    ("a paraphrase: the passage says «gig»", "When does the band give a concert?"),
    ("an exact identifier", "SQLSTATE 40P01"),
    ("a dated fact", "Which appointment is on 10 November at 09:40?"),
    ("another language", "为什么新方案在埃尔福特变差了？"),
]
console = Console(highlight=False, soft_wrap=True)


@contextmanager
def server(data_dir: Path) -> Iterator[str]:
    """`reverie serve` on a free port, as its base URL; stopped at the end."""
    log = data_dir.with_suffix(".log")
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [*REVERIE, "serve", "--port", "0", "--data-dir", data_dir], stderr=stderr, env={**AT_ONCE, **os.environ}
        )
        try:
            for _ in range(600):
                if listening := re.search(r"listens on (http://\S+)", log.read_text()):
                    yield listening[1]
                    return
                if process.poll() is not None:
                    break
                time.sleep(0.05)
            sys.exit(f"demo: the server did not start:\n{log.read_text()}")
        finally:
            process.terminate()
            process.wait()


def index(data_dir: Path) -> None:
    """Index the notes."""
    arguments = [*REVERIE, "index", MEMORY, "--agent", AGENT, "--owner", PERSON, "--data-dir", data_dir]
    subprocess.run(arguments, check=True)


def show(name: str, query: str, answer: dict) -> None:
    """Print a query with its best passages."""
    console.print(f"\n[bold]{query}[/bold]  [dim]({name})[/dim]")
    for result in answer["results"]:
        text = " ".join(result["text"].split())
        shown = text if len(text) <= 160 else f"{text[:160]} …"
        console.print(f"  [green]{result['score']:.2f}[/green] {result['path']}:{result['start_line']}", end="  ")
        console.print(shown, markup=False)


def main() -> None:
    """Run the demo."""
    started = time.monotonic()
    os.environ.setdefault("REVERIE_EMBEDDER_THREADS", str(os.cpu_count() or 1))
    with tempfile.TemporaryDirectory(prefix="reverie-demo-") as name:
        # An embedded PostgreSQL started by root runs as an unprivileged user, who must get here.
        Path(name).chmod(0o755)
        data_dir = Path(name) / "data"
        console.print("demo: starting the server with its embedded PostgreSQL")
        with server(data_dir) as url:
            console.print(f"demo: indexing {MEMORY.name}/ as the memory of {PERSON} with agent {AGENT}")
            index(data_dir)
            console.print(f"demo: searching over HTTP at {url}")
            for number, (what, query) in enumerate(QUERIES):
                answer = httpx.post(
                    f"{url}/api/v1/agents/{AGENT}/memory/search",
                    json={"owner_key": PERSON, "query": query, "max_results": 2},
                    timeout=30,
                )
                answer.raise_for_status()
                if number == 0:
                    elapsed = time.monotonic() - started
                show(what, query, answer.json())
            console.print(f"\ndemo: {elapsed:.1f} s from start to the first answer")
            console.print("demo: adding the conversations of a month, and a night")
            with Reverie(url) as reverie:
                fill(reverie)
            console.print(f"demo: look into this memory at {url}/browser/{AGENT}/overview?owner={quote(PERSON)}")
            if os.environ.get("KEEP"):
                console.print("demo: it stays until Ctrl-C")
                with suppress(KeyboardInterrupt):
                    threading.Event().wait()
            else:
                console.print("demo: the server stays with `make demo KEEP=1`", end="; ")
        console.print("everything is stopped and removed")


if __name__ == "__main__":
    main()
