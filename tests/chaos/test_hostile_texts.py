"""Adversarial texts go through every way in while `/healthz` is asked all the time: nothing stops, nothing is a 5xx."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from queue import Empty
from typing import Any

import httpx
import pytest
from tests.chaos.serving import Server
from tests.clusters import cluster_directory
from tests.conftest import PLAIN

OWNER = "user:mallory"
# What one way in may take before it counts as stopped; the server's own deadlines are shorter.
TIMEOUT_SECONDS = 90.0
# A busy machine delays an answer; a text that holds the process does so for much longer.
HEALTH_SECONDS = 3.0
SLOW_SECONDS = 60.0
Call = Callable[[httpx.AsyncClient, str], Any]


def repeated(pattern: str, chars: int) -> str:
    """The pattern again and again, up to so many characters."""
    return (pattern * (chars // len(pattern) + 1))[:chars]


def texts(chars: int) -> dict[str, str]:
    """Texts that meet a backtracking pattern, a scan within a scan or a recursion, each with its name for a message."""
    patterns = [
        *"'-._`*#>|[](){}<>\"\\/@:;,!?&%+=~^$0aA \té中ก한ا",
        *("a_", "A. ", "a@", "[10:00] User: ", "](", "![", "<a ", "&#", "a.b", "http://a", "'a", "a' ", "**a", "<!--"),
        *("- a\n", "a\n=\n", "a\n-\n", "# a\n", "```\n", "| a ", "1. a\n", "> ", "\n\n", "  - a\n", "a: b\n", "A b. "),
        *(
            "\u200b",
            "\u0301",
            "\u2028",
            "\u202e",
            "\U0001f600\u200d",
            "\ufdfa",
            "My A is B. ",
            "not A but B. ",
            "、",
            "。",
        ),
        *("[a]: b\n", "[a][", "<memory-context>", "$$", "a\u00ad", "PROJ-1 ", "2026-01-01 ", "I'm A. ", "Aa", "aA1"),
    ]
    found = {f"{pattern!r} again and again": repeated(pattern, chars) for pattern in patterns}
    underscores = "a_" * 18
    found["the identifier of the issue"] = f"Please have a look at `{underscores}a@b` in the log."
    found["an identifier in the middle"] = f"The log says `{'a_' * 3000}@b`, and {'x' * 3000}-{'y/' * 3000}!"
    found["indented lists"] = "".join(f"{'  ' * depth}- a\n" for depth in range(int((chars) ** 0.5)))
    found["quotes in quotes"] = ">" * (chars // 2) + "a" + "<" * (chars // 2)
    found["spaces, then a word"] = " " * chars + "a"
    found["one word"] = "Supercali" + "f" * chars + "!"
    return found


@dataclass(frozen=True)
class Way:
    """One way by which a text comes in."""

    name: str
    call: Call


def post(route: str, body: Callable[[str], dict[str, Any]], *, control: bool = False) -> Call:
    """A request with the text in its body."""

    async def call(http: httpx.AsyncClient, text: str) -> httpx.Response:
        base = "/api/v1/memory/wren" if control else "/api/v1/agents/wren"
        return await http.post(f"{base}{route}", json={"owner_key": OWNER, **body(text)})

    return call


async def put_file(http: httpx.AsyncClient, text: str) -> httpx.Response:
    return await http.put("/api/v1/agents/wren/files/MEMORY.md", json={"content": text, "owner_key": OWNER})


async def patch_file(http: httpx.AsyncClient, text: str) -> httpx.Response:
    body = {"old_text": text[: len(text) // 2], "new_text": "b", "replace_all": True, "owner_key": OWNER}
    return await http.patch("/api/v1/agents/wren/files/MEMORY.md", json=body)


async def diff(http: httpx.AsyncClient, text: str) -> httpx.Response:
    return await http.get("/api/v1/agents/wren/files/MEMORY.md/versions", params={"owner_key": OWNER, "diff_to": 1})


async def candidates(http: httpx.AsyncClient, text: str) -> httpx.Response:
    return await http.get("/api/v1/memory/wren/dreaming/candidates", params={"owner_key": OWNER})


def conversation(text: str) -> list[dict[str, str]]:
    """Five messages: enough for every stage."""
    return [
        {"role": "user", "content": text},
        {"role": "assistant", "content": f"You said: {text}"},
        {"role": "user", "content": f"Please remember that {text}"},
        {"role": "assistant", "content": "I will."},
        {"role": "user", "content": "Thank you, that is all for today."},
    ]


async def converse(http: httpx.AsyncClient, text: str) -> httpx.Response:
    session = f"/api/v1/agents/wren/sessions/web:{hash(text) % 10**9}"
    answer = await http.post(f"{session}/messages", json={"owner_key": OWNER, "messages": conversation(text)})
    if answer.status_code >= 400:
        return answer
    return await http.post(f"{session}/complete", json={"owner_key": OWNER, "trigger_source": "web"})


async def compact_session(http: httpx.AsyncClient, text: str) -> httpx.Response:
    route = f"/api/v1/agents/wren/sessions/web:{hash(text) % 10**9}/compact"
    return await http.post(route, json={"owner_key": OWNER, "keep_last": 2})


async def summarize(http: httpx.AsyncClient, text: str) -> httpx.Response:
    return await http.post(f"/api/v1/memory/wren/summarize/web:{hash(text) % 10**9}", json={"owner_key": OWNER})


async def tool(http: httpx.AsyncClient, text: str) -> httpx.Response:
    body = {"owner_key": OWNER, "arguments": {"query": text[:8000]}}
    return await http.post("/api/v1/agents/wren/tools/memory_search", json=body)


def edit(strategy: str) -> Call:
    """A write of one strategy to today's note."""
    return post("/files/memory/2026-11-22.md/writes", lambda text: {"strategy": strategy, "content": text})


WAYS: Sequence[Way] = [
    Way("put", put_file),
    *(Way(strategy, edit(strategy)) for strategy in ("append", "replace_section", "upsert_kv")),
    Way("save", post("/memory/save", lambda text: {"content": text[:5000]})),
    Way("update", post("/memory/update", lambda text: {"old_text": text[:5000], "new_text": "b"})),
    Way("search", post("/memory/search", lambda text: {"query": text[:8000]})),
    Way("keyword-search", post("/memory/keyword-search", lambda text: {"query": text[:8000]})),
    Way("inject", post("/memory/inject", lambda text: {"message": text, "recent_user_messages": [text]})),
    Way("context", post("/context", lambda text: {"message": text, "system_prompt": text})),
    Way("converse", converse),
    Way("compact session", compact_session),
    Way("summarize", summarize),
    Way("candidates", candidates),
    Way("emergence", post("/emergence", lambda text: {}, control=True)),
    Way("focused", post("/dreaming/focused", lambda text: {"topic": text[:200]}, control=True)),
    Way("episodes", post("/episodes/search", lambda text: {"query": text[:8000]})),
    Way("graph", post("/graph/search", lambda text: {"query": text[:8000]})),
    Way("tool", tool),
    Way("compact memory", post("/memory/compact", lambda text: {})),
    Way("patch", patch_file),
    Way("diff", diff),
    Way("forget", post("/memory/forget", lambda text: {"text": text[:5000], "dry_run": True})),
    Way("forget by query", post("/memory/forget", lambda text: {"query": text[:8000]})),
    Way("reindex", post("/memory/reindex", lambda text: {})),
    Way("forget for good", post("/memory/forget", lambda text: {"text": text[:4000], "dry_run": False})),
]


def watch(base_url: str, ended: Event, out: multiprocessing.Queue[float]) -> None:
    """In a process of its own: ask `/healthz` five times a second and put the longest wait into the queue."""
    longest = 0.0
    with httpx.Client(base_url=base_url, timeout=600, verify=PLAIN) as http:
        while not ended.is_set():
            began = time.monotonic()
            try:
                assert http.get("/healthz").status_code == 200
            except httpx.TransportError:
                longest = max(longest, 1e6)
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.2)
    out.put(longest)


@dataclass
class Outcome:
    """What went wrong, in words."""

    wrong: list[str] = field(default_factory=list)
    calls: int = 0


async def attack(base_url: str, hostile: dict[str, str], ways: Sequence[Way]) -> Outcome:
    """Send each text by each way, one after the other."""
    outcome = Outcome()
    async with httpx.AsyncClient(base_url=base_url, timeout=TIMEOUT_SECONDS, verify=PLAIN) as http:
        for name, text in hostile.items():
            for way in ways:
                began = time.monotonic()
                outcome.calls += 1
                try:
                    answer = await way.call(http, text)
                except httpx.TransportError as error:
                    outcome.wrong.append(f"{way.name}: {name}: {type(error).__name__}")
                    continue
                if answer.status_code >= 500:
                    outcome.wrong.append(f"{way.name}: {name}: {answer.status_code} {answer.text[:300]}")
                if (seconds := time.monotonic() - began) > SLOW_SECONDS:
                    outcome.wrong.append(f"{way.name}: {name}: {seconds:.1f} s")
    return outcome


async def unfinished_jobs(base_url: str) -> tuple[int, list[str]]:
    """How many jobs wait or run, and those that failed for good."""
    async with httpx.AsyncClient(base_url=base_url, timeout=TIMEOUT_SECONDS, verify=PLAIN) as http:
        answer = await http.get("/api/v1/agents/wren/pipeline", params={"owner_key": OWNER})
    stages = answer.json()["stages"]
    waiting = sum(stage["pending"] + stage["running"] for stage in stages.values())
    return waiting, [f"{name}: {stage['last_error']}" for name, stage in stages.items() if stage["failed"]]


@pytest.fixture
def server() -> Iterator[Server]:
    with cluster_directory() as directory:
        server = Server(
            directory,
            REVERIE_WORKER_ENABLED="true",
            REVERIE_EXTRACTION_COOLDOWN_SECONDS="0",
            REVERIE_DREAMING_DEBOUNCE_SECONDS="0",
        )
        try:
            server.start()
            yield server
        finally:
            if server.is_running:
                server.kill()


SHORT = (
    "the identifier of the issue",
    '"\'" again and again',
    "'- a\\n' again and again",
    "'[10:00] User: ' again and again",
)


@pytest.mark.parametrize(
    ("chars", "names"), [(50_000, SHORT), pytest.param(200_000, None, marks=pytest.mark.slow)], ids=["known", "all"]
)
async def test_no_text_stops_the_server(server: Server, chars: int, names: Sequence[str] | None) -> None:
    hostile = texts(chars)
    hostile = hostile if names is None else {name: hostile[name] for name in names}
    base_url = server.base_url.partition("/api/")[0]
    spawn = multiprocessing.get_context("spawn")
    ended, longest = spawn.Event(), spawn.Queue()
    watching = spawn.Process(target=watch, args=(base_url, ended, longest), daemon=True)
    watching.start()
    try:
        outcome = await attack(base_url, hostile, WAYS)
        deadline = time.monotonic() + 600
        waiting, failed = await unfinished_jobs(base_url)
        while waiting and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
            waiting, failed = await unfinished_jobs(base_url)
    finally:
        ended.set()
    try:
        seconds = await asyncio.to_thread(longest.get, True, 60)
    except Empty:
        seconds = float("inf")
    assert (outcome.wrong, failed, waiting) == ([], [], 0), "\n".join(server.log)
    assert seconds < HEALTH_SECONDS
