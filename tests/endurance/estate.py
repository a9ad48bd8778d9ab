"""All that runs in a round: two servers and two workers over PostgreSQL, each a process that can be killed."""

from __future__ import annotations

import random
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal

import psutil
from tests.chaos.supervised import Program
from tests.endurance.servers import Servers
from tests.ports import free_ports

from reverie_indexer.postgres.host import is_live

Victim = Literal["server", "worker", "server that drains", "worker that drains", "backend", "postmaster", "postgres"]
# How often each is the next one.
VICTIMS: dict[Victim, int] = {
    "server": 30,
    "worker": 30,
    "server that drains": 5,
    "worker that drains": 5,
    "backend": 15,
    "postmaster": 10,
    "postgres": 5,
}
SETTINGS = {"REVERIE_STALL_SECONDS": "5", "REVERIE_SHUTDOWN_GRACE_SECONDS": "20"}
END_SECONDS = 60.0


class Estate:
    """The processes of a round. Methods block."""

    def __init__(self, postgres: Servers, rng: random.Random) -> None:
        self._rng = rng
        self._postgres = postgres
        self.ports = free_ports(2)
        self._servers = [self._server(port) for port in self.ports]
        self._workers = [self._worker() for _ in range(2)]
        self.ended: list[Program] = []

    def _server(self, port: int) -> Program:
        return self._program("serve", "--no-worker", "--port", str(port))

    def _worker(self) -> Program:
        return self._program("worker")

    def _program(self, *arguments: str) -> Program:
        return Program(
            *arguments, module="reverie_server.cli.main", REVERIE_DATABASE_URL=self._postgres.conninfo, **SETTINGS
        )

    def drawn(self) -> Victim:
        """Who is next."""
        return self._rng.choices(list(VICTIMS), list(VICTIMS.values()))[0]

    def kill(self, victim: Victim) -> None:
        """Kill it at this instant, and start it again."""
        number = self._rng.randrange(2)
        match victim:
            case "server" | "server that drains":
                self._end(self._servers[number], drains=victim != "server")
                self._servers[number] = self._server(self.ports[number])
            case "worker" | "worker that drains":
                self._end(self._workers[number], drains=victim != "worker")
                self._workers[number] = self._worker()
            case _:
                cluster = self._rng.choice(self._postgres.clusters)
                self._kill_postgres(cluster, victim)
                self._postgres.start(cluster)

    def _end(self, program: Program, *, drains: bool) -> None:
        if drains:
            program.process.send_signal(signal.SIGTERM)
            # uvicorn raises the signal again that ended it. One that had not begun yet dies of it.
            status = program.process.wait(END_SECONDS)
            assert status in (0, 130, -signal.SIGTERM), (status, program.lines[-50:])
        program.stop()
        self.ended.append(program)

    def _kill_postgres(self, cluster: Path, victim: Victim) -> None:
        postmaster, *others = _postgres_processes(cluster)
        victims = {"postmaster": [postmaster], "postgres": [postmaster, *others]}.get(victim)
        for process in victims or [self._rng.choice(others)]:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def lines(self) -> list[str]:
        """All that was logged."""
        return [line for program in (*self.ended, *self._servers, *self._workers) for line in program.lines]

    def rest(self) -> None:
        """End servers and workers, as an operator does."""
        for program in (*self._workers, *self._servers):
            self._end(program, drains=True)
        self._servers, self._workers = [], []

    def close(self) -> None:
        """End them, however they are."""
        for program in (*self._workers, *self._servers):
            program.stop()


def _postgres_processes(cluster: Path) -> list[psutil.Process]:
    """The live processes of a cluster, the postmaster first, as soon as there are some."""
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline:
        found = []
        for process in psutil.process_iter(["name"]):
            with suppress(psutil.Error):
                if process.info["name"] == "postgres" and process.cwd() == str(cluster) and is_live(process):
                    found.append(process)
        with suppress(OSError, ValueError, IndexError):
            first = int((cluster / "postmaster.pid").read_text().split()[0])
            if len(found) > 1 and first in [process.pid for process in found]:
                return sorted(found, key=lambda process: (process.pid != first, process.pid))
        time.sleep(0.05)
    raise AssertionError("PostgreSQL is not back")
