"""The benchmark of pages: CPU of a page of the Memory Browser over a large memory, beside the health check."""

from __future__ import annotations

import http.client
import json
import random
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from rich.console import RenderableType

from reverie_bench.frame import Options, Start
from reverie_bench.load.command import Served, cpu_of_family, environment_of, is_ready, serve
from reverie_bench.report import Report, table
from reverie_bench.scratch import reachable_directory
from reverie_indexer.errors import SetupError, ValidationFailed

GOAL_CPU_MS = 60.0
HEALTH = "GET /healthz"
_AGENT, _OWNER = "bench", "user:bench"
_API, _FILE_PASSAGES, _FILE_FACTS = f"/api/v1/agents/{_AGENT}", 50, 100
# A paragraph of so many words is a passage of its own.
_VOCABULARY, _PARAGRAPH_WORDS = 5_000, 140
_SYLLABLES = ["ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu"]
_NIGHT_NOTES, _NIGHT_LINES = 7, 20
_WARM_UP, _SETTLE_SECONDS = 3, 600.0
PAGES = (
    *("overview", "timeline", "memory", "memory/file?path=MEMORY.md", "memory/lines?path=notes/0.md", "facts"),
    *("contradictions", "conversations", "conversations/bench:1", "turns", "graph", "nights", "nights/next", "forget"),
    *("jobs", "agent", "people", "keys", "audit", "connect", "snapshot", "search"),
)
# What a server waits for in daily use.
_AT_ONCE = {"extraction_cooldown_seconds": "0", "facts_debounce_seconds": "0.5", "dreaming_debounce_seconds": "1"}
_TOKEN = re.compile(rb'name="form_token" value="([0-9a-f]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesOptions(Options):
    """A run over a memory of one owner, of so many passages of notes, conversations and facts."""

    passages: int = 10_000
    sessions: int = 1_000
    facts: int = 2_000
    requests: int = 20


@dataclass(frozen=True, slots=True)
class PageCost:
    """What a page costs on average: CPU of the server's processes and of PostgreSQL's, the time, and its size."""

    cpu_ms: float
    milliseconds: float
    bytes: int


def run_pages(options: PagesOptions) -> Report:
    """Fill a server of its own over HTTP, and ask for each page in turns. Blocking.

    `pages`: the cost of each, that of the health check first, and the ratio to it. ValidationFailed for settings with
    another database; SetupError when the server refuses something. The model is the hashing one: no page embeds
    anything, but for a search.
    """
    if options.settings.database_url is not None:
        raise ValidationFailed("pages are measured with the embedded PostgreSQL")
    start = Start()
    with reachable_directory() as home:
        environment = environment_of(options.settings, data_dir=str(home / "data"), embedder="hashing", **_AT_ONCE)
        with serve(environment) as served:
            served.until("ready", is_ready)
            passages = _fill(served, options)
            sizes = {"passages of notes": passages, **_sizes(served)}
            idle = _idle_cpu_ms(served)
            costs = _measure(served, options)
    return Report(
        name="pages",
        settings={"requests": options.requests, "seed": options.seed},
        sizes=sizes,
        origin=start.origin("hashing"),
        figures={
            "goal_cpu_ms": GOAL_CPU_MS,
            "idle_cpu_ms_per_second": idle,
            "pages": {
                name: {
                    "cpu_ms": cost.cpu_ms,
                    "cpu_to_healthz": cost.cpu_ms / costs[HEALTH].cpu_ms,
                    "ms": cost.milliseconds,
                    "bytes": cost.bytes,
                }
                for name, cost in costs.items()
            },
        },
    )


def pages_content(report: Report) -> Iterator[RenderableType]:
    """The cost of each page, the dearest first."""
    rows = sorted(report["pages"].items(), key=lambda item: -item[1]["cpu_ms"])
    yield table(
        "pages, on average",
        ("CPU ms", "CPU / healthz", "ms", "kB"),
        (
            (
                name,
                f"{cost['cpu_ms']:.1f}",
                f"{cost['cpu_to_healthz']:.0f}",
                f"{cost['ms']:.0f}",
                f"{cost['bytes'] / 1000:.0f}",
            )
            for name, cost in rows
        ),
    )
    over = [name for name, cost in rows if cost["cpu_ms"] > GOAL_CPU_MS]
    yield f"over {GOAL_CPU_MS:.0f} ms of CPU: {', '.join(over) or 'none'}"
    idle = report["idle_cpu_ms_per_second"]
    yield f"CPU of all processes, PostgreSQL's too; at rest they take {idle:.1f} ms a second"


def _fill(served: Served, options: PagesOptions) -> int:
    """Write the memory, and wait for what follows from it; how many passages of notes it has."""
    draw = random.Random(options.seed)  # noqa: S311  # texts, no secrets
    # Words that state nothing: what is known of this memory is in the notes of shelves.
    words = ["".join(draw.choices(_SYLLABLES, k=draw.randint(1, 4))) for _ in range(_VOCABULARY)]
    paragraphs = [" ".join(draw.choices(words, k=_PARAGRAPH_WORDS)) for _ in range(options.passages)]
    options.progress(f"writing {options.passages} passages")
    passages = 0
    for number in range(0, options.passages, _FILE_PASSAGES):
        text = "\n\n".join(paragraphs[number : number + _FILE_PASSAGES])
        passages += _write(served, f"notes/{number // _FILE_PASSAGES}.md", f"# Notes\n\n{text}\n")
    options.progress(f"writing {options.facts} facts")
    for number in range(0, options.facts, _FILE_FACTS):
        some = range(number, min(number + _FILE_FACTS, options.facts))
        lines = "\n".join(f"- The code of shelf {fact} is {draw.randint(1000, 9999)}." for fact in some)
        _write(served, f"memory/facts-{number // _FILE_FACTS}.md", f"# Shelves\n\n{lines}\n")
    _write(
        served, "MEMORY.md", "# Long-term Memory\n\n" + "\n".join(f"- {text[:80]}" for text in paragraphs[:100]) + "\n"
    )
    # What the next night looks at: the notes of the last days.
    today = datetime.now(UTC).date()
    for back in range(1, _NIGHT_NOTES + 1):
        lines = "\n".join(f"- {' '.join(draw.choices(words, k=14))}" for _ in range(_NIGHT_LINES))
        _write(served, f"memory/{today - timedelta(days=back)}.md", f"# Notes\n\n{lines}\n")
    options.progress(f"writing {options.sessions} conversations")
    for number in range(options.sessions):
        at = f"2026-{1 + number % 10:02}-{1 + number // 10 % 28:02}T09:00:00Z"
        messages = [
            {"role": role, "content": " ".join(draw.choices(words, k=20)), "at": at}
            for role in ("user", "assistant") * 2
        ]
        _ask(served, "POST", f"{_API}/sessions/bench:{number}/messages", {"messages": messages, "owner_key": _OWNER})
    for number in range(100):
        _ask(
            served, "POST", f"{_API}/context", {"message": f"What is the code of shelf {number}?", "owner_key": _OWNER}
        )
    _ask(served, "POST", f"{_API}/sessions/bench:1/complete", {"owner_key": _OWNER})
    options.progress("waiting for the background work")
    until = time.monotonic() + _SETTLE_SECONDS
    while _ask(served, "GET", f"{_API}/summary?owner_key={_OWNER}")["open_jobs"]:
        if time.monotonic() > until:
            raise SetupError("the background work of the memory to be measured does not end")
        time.sleep(1.0)
    return passages


def _sizes(served: Served) -> dict[str, int]:
    summary = _ask(served, "GET", f"{_API}/summary?owner_key={_OWNER}")
    return {name: summary[name] for name in ("files", "sessions", "messages", "episodes", "facts", "contradictions")}


def _idle_cpu_ms(served: Served, seconds: float = 10.0) -> float:
    before = cpu_of_family(served.process)
    time.sleep(seconds)
    return 1000 * (cpu_of_family(served.process) - before) / seconds


def _measure(served: Served, options: PagesOptions) -> dict[str, PageCost]:
    connection = http.client.HTTPConnection(served.host, served.port, timeout=60)
    try:
        costs = {HEALTH: _cost(served, options.requests * 5, lambda: _get(connection, "/healthz"))}
        for page in PAGES:
            options.progress(f"asking for {page}")
            costs[page] = _cost(served, options.requests, lambda page=page: _get(connection, _address(page)))
        token = _TOKEN.search(_get(connection, _address("search")))
        if token is None:
            raise SetupError("the page of searches has no form")
        form = {"form_token": token[1].decode(), "query": "What is the code of shelf 7?"}
        costs["search, sent"] = _cost(served, options.requests, lambda: _post(connection, _address("search"), form))
        return costs
    finally:
        connection.close()


def _cost(served: Served, count: int, ask: Any) -> PageCost:
    for _ in range(_WARM_UP):
        ask()
    before, started = cpu_of_family(served.process), time.perf_counter()
    size = 0
    for _ in range(count):
        size = len(ask())
    seconds, cpu = time.perf_counter() - started, cpu_of_family(served.process) - before
    return PageCost(1000 * cpu / count, 1000 * seconds / count, size)


def _address(page: str) -> str:
    name, _, query = page.partition("?")
    return f"/browser/{_AGENT}/{quote(name)}?{urlencode({'owner': _OWNER})}{'&' + query if query else ''}"


def _get(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    return _answer(connection, path)


def _post(connection: http.client.HTTPConnection, path: str, form: Mapping[str, str]) -> bytes:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    connection.request("POST", path, urlencode(form), headers)
    return _answer(connection, path)


def _answer(connection: http.client.HTTPConnection, path: str) -> bytes:
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise SetupError(f"the page {path} is refused with status {answer.status}")
    return content


def _write(served: Served, path: str, content: str) -> int:
    written = _ask(served, "PUT", f"{_API}/files/{path}", {"content": content, "owner_key": _OWNER})
    return int(written["chunk_count"])


def _ask(served: Served, method: str, path: str, body: Any = None) -> Any:
    status, answer = served.ask(method, path, body)
    if status >= 300:
        raise SetupError(f"the server refuses {method} {path}: {json.dumps(answer)[:200]}")
    return answer
