"""A server, a worker and a real model live through what two people say; what is then to be seen of it.

Whatever the model answers, this goes to its end, and takes as long as the model does.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from tests.chaos.serving import Server
from tests.live.said import ADA, ASKED, BO, NOTED, TALKS, long_term_memory

BUDGET = 500
# What a model on a laptop's processor may take for an answer; and debounces short, since nobody waits for the night.
SETTINGS = {
    **dict.fromkeys(
        (
            "REVERIE_LLM_TIMEOUT_SECONDS",
            "REVERIE_EPISODIC_TIMEOUT_SECONDS",
            "REVERIE_EXTRACTION_TIMEOUT_SECONDS",
            "REVERIE_EMERGENCE_TIMEOUT_SECONDS",
            "REVERIE_MEMORY_COMPACT_TIMEOUT_SECONDS",
            "REVERIE_FLUSH_TIMEOUT_SECONDS",
            "REVERIE_SUMMARY_TIMEOUT_SECONDS",
        ),
        "1200",
    ),
    "REVERIE_JOB_TIMEOUT_SECONDS": "14400",
    "REVERIE_LLM_CALLS_PER_DAY": str(BUDGET),
    "REVERIE_EXTRACTION_COOLDOWN_SECONDS": "1",
    "REVERIE_DREAMING_DEBOUNCE_SECONDS": "5",
    "REVERIE_WORKER_ENABLED": "true",
    "REVERIE_WORKER_CONCURRENCY": "1",
    "REVERIE_LOG_FORMAT": "json",
}
# Longer than the debounces: what is due then has begun.
_QUIET_SECONDS = 30.0
# No answer takes so long.
_STALLED_SECONDS = 3600.0


@dataclass
class Lived:
    """What was asked of the server in the end, by owner; `log` are its lines, parsed."""

    model: str
    memory_before: str = ""
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    lines: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    pipeline: Mapping[str, Any] = field(default_factory=dict)
    candidate: Mapping[str, Any] = field(default_factory=dict)
    emergence: Mapping[str, Any] = field(default_factory=dict)
    compaction: Mapping[str, Any] = field(default_factory=dict)
    session: Mapping[str, Any] = field(default_factory=dict)
    log: list[Mapping[str, Any]] = field(default_factory=list)
    calls: int = 0
    seconds: float = 0.0

    def reports(self, owner_key: str, mode: str) -> list[Mapping[str, Any]]:
        return [one for one in self.seen[owner_key]["reports"] if one["mode"] == mode]

    def jobs(self, *stages: str) -> list[Mapping[str, Any]]:
        """What the log says of the runs of stages."""
        return [line for line in self.log if line.get("event") == "job" and line["stage"] in stages]


def endpoint_settings() -> dict[str, str]:
    """What the environment says of the model, and of the server."""
    return {**SETTINGS, **{name: value for name, value in os.environ.items() if name.startswith("REVERIE_")}}


def live(data_dir: Path, database_url: str) -> Lived:
    """Start a server, live through everything, end the server."""
    settings = {**endpoint_settings(), "REVERIE_DATABASE_URL": database_url}
    server = Server(data_dir, **settings)
    server.log = deque()
    began = time.monotonic()
    server.start()
    try:
        lived = asyncio.run(_Life(server.base_url, Lived(settings["REVERIE_LLM_MODEL"])).through())
    finally:
        server.stop()
    lived.seconds = time.monotonic() - began
    lived.log = [json.loads(line) for line in server.log if line.startswith("{")]
    return lived


class _Life:
    def __init__(self, agent_url: str, lived: Lived) -> None:
        self._agent = agent_url
        self._control = agent_url.replace("/agents/", "/memory/")
        self._lived = lived
        self._client = httpx.AsyncClient(timeout=httpx.Timeout(14_400, connect=10))

    async def through(self) -> Lived:
        lived = self._lived
        async with self._client:
            lived.memory_before = long_term_memory()
            memory = {"content": lived.memory_before, "owner_key": ADA}
            await self._ask("PUT", f"{self._agent}/files/MEMORY.md", json=memory)
            note = {"strategy": "append", "content": NOTED, "owner_key": ADA}
            for day in (datetime.now(UTC) - timedelta(days=1), datetime.now(UTC)):
                await self._ask("POST", f"{self._agent}/files/memory/{day:%Y-%m-%d}.md/writes", json=note)
            for owner_key, talks in TALKS.items():
                for session_id, texts in talks.items():
                    await self._talk(owner_key, session_id, texts)
            await self._quiet()
            await self._recall()
            _say("emergence, by hand")
            by_hand = {"owner_key": ADA}
            lived.emergence = (await self._ask("POST", f"{self._control}/emergence", json=by_hand))["data"]
            _say(f"{lived.emergence}\ncompaction of MEMORY.md, by hand")
            lived.compaction = await self._ask("POST", f"{self._agent}/memory/compact", json=by_hand)
            _say(f"{lived.compaction}\ncompaction of a conversation")
            session = f"{self._agent}/sessions/web:ada-3"
            shorter = {"keep_last": 2, **by_hand}
            lived.session = await self._ask("POST", f"{session}/compact", json=shorter)
            _say(str(lived.session))
            await self._quiet()
            for owner_key in (ADA, BO):
                await self._look(owner_key)
            return lived

    async def _ask(self, method: str, url: str, **given: Any) -> Any:
        answer = await self._client.request(method, url, **given)
        assert answer.is_success, f"{method} {url}: {answer.status_code} {answer.text}"
        return answer.json()

    async def _talk(self, owner_key: str, session_id: str, texts: Sequence[str]) -> None:
        roles = ("user", "assistant")
        messages = [
            {"role": roles[number % 2], "content": text, "id": f"m-{number}"} for number, text in enumerate(texts)
        ]
        session = f"{self._agent}/sessions/{session_id}"
        await self._ask("POST", f"{session}/messages", json={"messages": messages, "owner_key": owner_key})
        completed = {"trigger_source": "web", "owner_key": owner_key}
        await self._ask("POST", f"{session}/complete", json=completed)

    async def _recall(self) -> None:
        """Ask for what the note says, until it counts as recalled: that is written down in passing."""
        for question in ASKED:
            await self._ask("POST", f"{self._agent}/memory/search", json={"query": question, "owner_key": ADA})
        async with asyncio.timeout(60):
            while not self._lived.candidate:
                url, owner = f"{self._control}/dreaming/candidates", {"owner_key": ADA}
                found = (await self._ask("GET", url, params=owner))["data"]
                noted = (one for one in found if one["snippet"] in NOTED)
                self._lived.candidate = next((one for one in noted if one["gates"]["recalls"]["passed"]), {})
                await asyncio.sleep(0.5)

    async def _quiet(self) -> None:
        """Wait until nothing is due any more. What failed for the model waits minutes to be tried again: that may."""
        before, since, began = "", time.monotonic(), time.monotonic()
        while True:
            self._lived.pipeline = await self._ask("GET", f"{self._agent}/pipeline", params={"owner_key": "*"})
            stages = self._lived.pipeline["stages"]
            now = " ".join(
                f"{name}:{stage['pending']}+{stage['running']}+{stage['scheduled']}" for name, stage in stages.items()
            )
            if now != before:
                _say(f"{time.monotonic() - began:6.0f} s  {now}")
                before, since = now, time.monotonic()
            still = time.monotonic() - since
            if not any(stage["pending"] + stage["running"] for stage in stages.values()) and still > _QUIET_SECONDS:
                return
            assert still < _STALLED_SECONDS, f"nothing has moved for an hour: {self._lived.pipeline}"
            await asyncio.sleep(1)

    async def _look(self, owner_key: str) -> None:
        """Everything that the owner can see."""
        agent, control, owner = self._agent, self._control, {"owner_key": owner_key}
        listed = (await self._ask("GET", f"{agent}/files", params={**owner, "limit": 200}))["files"]
        paths = [one["path"] for one in listed if one["owner_key"] == owner_key]
        files = {path: await self._ask("GET", f"{agent}/files/{path}", params=owner) for path in paths}
        self._lived.files[owner_key] = {path: file["content"] for path, file in files.items()}
        found = {"query": "Who works where, and what was decided?", "max_results": 100, "min_score": 0.0, **owner}
        results = (await self._ask("POST", f"{agent}/memory/search", json=found))["results"]
        derived = [one["id"] for one in results if one["tier"] == "document"]
        sources = [await self._ask("GET", f"{agent}/memory/{one}/sources", params=owner) for one in derived]
        self._lived.lines[owner_key] = [line for one in sources for line in one["lines"]]
        entities = (await self._ask("GET", f"{agent}/graph/entities", params={**owner, "limit": 200}))["entities"]
        self._lived.seen[owner_key] = {
            "episodes": (await self._ask("GET", f"{agent}/episodes", params={**owner, "limit": 200}))["episodes"],
            "entities": [
                await self._ask("GET", f"{agent}/graph/entities/{one['id']}", params=owner) for one in entities
            ],
            "graph": await self._ask("POST", f"{agent}/graph/search", json={"query": "work", **owner}),
            "duplicates": await self._ask("GET", f"{agent}/graph/duplicates", params=owner),
            "reports": (await self._ask("GET", f"{control}/dream/reports", params=owner))["data"]["reports"],
            "candidates": await self._ask("GET", f"{control}/dreaming/candidates", params=owner),
            "status": await self._ask("GET", f"{control}/dreaming/status", params=owner),
            "card": await self._ask("GET", f"{control}/dream/morning-card", params=owner),
            "found": results,
            "sources": sources,
        }


def summary_of(lived: Lived) -> str:
    """What the model did, in a few lines."""
    runs: dict[str, Counter[str]] = {}
    for line in lived.log:
        if line.get("event") == "job" and line["status"] != "skipped":
            way = line.get("method") or "nothing to make"
            why = f" ({line['fallback']})" if line.get("fallback") else ""
            runs.setdefault(line["stage"], Counter())[f"{way}{why}"] += 1
    told = [f"  {stage:11} " + ", ".join(f"{way} {n}" for way, n in ways.items()) for stage, ways in runs.items()]
    refused = Counter(f"{x['prompt']}: {x['reason']}" for x in lived.log if x.get("event") == "stage_without_model")
    repairs = Counter(x["prompt"] for x in lived.log if x.get("event") == "language_model_repair")
    return "\n".join(
        [
            f"{lived.model}: {lived.calls} calls, {lived.seconds:.0f} s",
            *told,
            f"  emergence by hand: {lived.emergence}",
            f"  of a candidate: { {name: gate['passed'] for name, gate in lived.candidate['gates'].items()} }",
            f"  compaction by hand: {lived.compaction}",
            f"  of a conversation: {lived.session['method']}, {lived.session['flushed']} lines noted",
            f"  asked again: {dict(repairs)}",
            f"  no usable answer: {dict(refused)}",
        ]
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
