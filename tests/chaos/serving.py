"""`reverie serve` as a process of its own, and clients that write to it whatever happens to it."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from reverie_indexer.postgres.host import is_live

CLIENTS = 4


class Server:
    """One data directory, and the server process that works on it now. Times itself out rather than hang.

    `settings` by their names in the environment; without them there is no worker of background jobs.
    """

    def __init__(self, data_dir: Path, **settings: str) -> None:
        self._settings = {"REVERIE_EMBEDDER": "hashing", "REVERIE_WORKER_ENABLED": "false", **settings}
        self.data_dir = data_dir.resolve()
        self.base_url = ""
        self.log: deque[str] = deque(maxlen=400)
        self._process: subprocess.Popen[str] | None = None

    def start(self, timeout_seconds: float = 60) -> None:
        given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
        command = [
            sys.executable,
            "-m",
            "reverie_server.cli.main",
            "serve",
            "--port",
            "0",
            "--data-dir",
            str(self.data_dir),
        ]
        process = self._process = subprocess.Popen(
            command,
            env={**given, **self._settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        listening = threading.Event()
        threading.Thread(target=self._read, args=(process, listening), daemon=True).start()
        assert listening.wait(timeout_seconds), "\n".join(self.log)

    def _read(self, process: subprocess.Popen[str], listening: threading.Event) -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                self.log.append(line.rstrip())
                if match := re.search(r"listens on (http://\S+)", line):
                    self.base_url = f"{match[1]}/api/v1/agents/wren"
                    listening.set()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """End it as an operator does; its exit status. PostgreSQL has then stopped too."""
        assert self._process is not None
        if self.is_running:
            self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def postgres(self) -> list[psutil.Process]:
        """The live PostgreSQL processes of the data directory, the postmaster first."""
        cluster = str(self.data_dir / "postgres")
        found = []
        for process in psutil.process_iter(["name"]):
            with suppress(psutil.Error):
                if process.info["name"] == "postgres" and process.cwd() == cluster and is_live(process):
                    found.append(process)
        return sorted(found, key=lambda process: (process.pid != self._postmaster_pid(), process.pid))

    def _postmaster_pid(self) -> int:
        try:
            return int((self.data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return -1


@dataclass
class Load:
    """Writes by several clients, each to files of its own, every one repeated until it is acknowledged.

    `acknowledged` is path → texts in order. `statuses` counts what was answered besides.
    """

    server: Server
    writes: int
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    done: int = 0
    wrong: list[str] = field(default_factory=list)
    _progress: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        await asyncio.gather(*(self._client(number) for number in range(CLIENTS)))

    async def reached(self, count: int) -> None:
        """Wait for so many acknowledged writes."""
        while self.done < count:
            self._progress.clear()
            await self._progress.wait()

    async def _client(self, number: int) -> None:
        async with httpx.AsyncClient(timeout=60) as http:
            for turn in range(self.writes // CLIENTS):
                path = f"memory/c{number}-{turn % (self.writes // CLIENTS // 2)}.md"
                token = f"token{number}x{turn}"
                text = f"# Note {turn}\n\nThe lantern {token} was lit.\n\nA second passage, of {token} too.\n"
                await self._put(http, path, text)
                if turn % 5 == 4:
                    await self._look(http, path, text, token)

    async def _put(self, http: httpx.AsyncClient, path: str, text: str) -> None:
        while True:
            try:
                answer = await http.put(f"{self.server.base_url}/files/{path}", json={"content": text})
            except httpx.TransportError as error:
                self._count(type(error).__name__)
                await asyncio.sleep(0.05)
                continue
            if answer.status_code in (200, 201):
                self.acknowledged.setdefault(path, []).append(text)
                self.done += 1
                self._progress.set()
                return
            self._count(str(answer.status_code))
            if answer.status_code != 503:
                self.wrong.append(f"PUT {path}: {answer.status_code} {answer.text}")
                return
            await asyncio.sleep(0.05)

    async def _look(self, http: httpx.AsyncClient, path: str, text: str, token: str) -> None:
        """Only this client writes the file, so what was acknowledged is what must be there now."""
        with suppress(httpx.TransportError):
            answer = await http.get(f"{self.server.base_url}/files/{path}")
            if answer.status_code != 503 and (answer.status_code != 200 or answer.json()["content"] != text):
                self.wrong.append(f"GET {path}: {answer.status_code} {answer.text}")
            answer = await http.post(f"{self.server.base_url}/memory/search", json={"query": token, "max_results": 100})
            if answer.status_code == 503:
                return
            if answer.status_code != 200 or not _is_found_once(answer.json()["results"], path, token):
                self.wrong.append(f"search {token}: {answer.status_code} {answer.text[:2000]}")

    def _count(self, what: str) -> None:
        self.statuses[what] = self.statuses.get(what, 0) + 1

    async def check(self) -> None:
        """Every acknowledged write is there: its text as the file, the ones before as versions, its passages once."""
        assert self.wrong == []
        assert sum(map(len, self.acknowledged.values())) == self.writes // CLIENTS * CLIENTS
        async with httpx.AsyncClient(timeout=60) as http:
            for path, texts in self.acknowledged.items():
                answer = await http.get(f"{self.server.base_url}/files/{path}")
                assert (answer.status_code, answer.json()["content"]) == (200, texts[-1])
                assert answer.json()["version"] == len(texts)
            for path, texts in random.sample(sorted(self.acknowledged.items()), 25):
                number = len(texts)
                answer = await http.get(f"{self.server.base_url}/files/{path}/versions")
                assert [entry["version"] for entry in answer.json()["versions"]] == list(range(number, 0, -1))
                token = re.findall(r"token\w+", texts[-1])[0]
                answer = await http.post(
                    f"{self.server.base_url}/memory/search", json={"query": token, "max_results": 100}
                )
                assert _is_found_once(answer.json()["results"], path, token), (path, token)


def _is_found_once(results: list[dict[str, object]], path: str, token: str) -> bool:
    """Both passages with the token, of this file and no other; whatever else is found, nothing twice."""
    spots = [(result["path"], result["start_line"]) for result in results]
    with_token = [r["path"] for r in results if re.search(rf"{token}\b", str(r["text"]))]
    return with_token == [path, path] and len(set(spots)) == len(spots)
