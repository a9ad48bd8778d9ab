"""The supervisor alone, over services that need nothing: what it survives, and that it ends."""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from reverie_server.app.supervisor import Link, Service, supervise
from reverie_server.cli.frame import load_settings

GRACE_SECONDS = 0.5
PR_SET_CHILD_SUBREAPER = 36


def deaf(link: Link) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    link.ready()
    time.sleep(1000)


def works(link: Link) -> None:
    link.ready()
    time.sleep(1000)


def dies(_: Link) -> None:
    with Path("deaths").open("a") as deaths:
        deaths.write("x")
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)


def fails_once_more(link: Link) -> None:
    """Is ready, then killed; fails at its next start; then works."""
    count = len(list(Path().glob("start-*")))
    Path(f"start-{count}").touch()
    if count == 1:
        sys.exit(1)
    link.ready()
    time.sleep(0.1 if count == 0 else 1000)
    os.kill(os.getpid(), signal.SIGKILL)


def fails(_: Link) -> None:
    sys.exit(7)


def leaves_orphans(link: Link) -> None:
    """Starts a process that starts one that outlives it, and ends soon."""
    subprocess.run([sys.executable, "-c", "import os, time; os.fork() or time.sleep(0.2)"], check=True)
    link.ready()
    time.sleep(1000)


SERVICES = {each.__name__: each for each in (deaf, works, dies, fails_once_more, fails, leaves_orphans)}


class Supervisor:
    """This file as a program, in a directory of its own; its stderr is a pipe that the test reads, or does not."""

    def __init__(self, directory: Path, *services: str, prepare: Callable[[], None] | None = None) -> None:
        self.log, writer = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.test_supervisor", *services],
            stderr=writer,
            cwd=directory,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "REVERIE_LOG_FORMAT": "json"},
            preexec_fn=prepare,  # there is no thread
        )
        self.writer = writer

    def until(self, condition: Callable[[], object], seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline
            assert self.process.poll() is None
            time.sleep(0.02)

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children()

    def read(self, seconds: float = 20) -> bytes:
        """Something that it logs."""
        assert select.select([self.log], [], [], seconds)[0]
        return os.read(self.log, 1 << 16)


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Callable[..., Supervisor]]:
    programs: list[Supervisor] = []

    def begin(*services: str, prepare: Callable[[], None] | None = None) -> Supervisor:
        programs.append(Supervisor(tmp_path, *services, prepare=prepare))
        return programs[-1]

    yield begin
    for program in programs:
        for child in program.children() if program.process.poll() is None else []:
            child.kill()
        program.process.kill()
        program.process.wait()


def test_a_log_that_nobody_reads_does_not_keep_it_from_ending(begun: Callable[..., Supervisor]) -> None:
    program = begun("deaf")
    assert b"process_started" in program.read()
    os.set_blocking(program.writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(program.writer, b"x" * 4096)
    os.set_blocking(program.writer, True)
    program.process.terminate()
    assert program.process.wait(GRACE_SECONDS + 5) == 1


def test_a_log_whose_reader_is_gone_ends_nothing(begun: Callable[..., Supervisor], tmp_path: Path) -> None:
    program = begun("works", "dies")
    os.close(program.writer)
    os.close(program.log)
    deaths = tmp_path / "deaths"
    program.until(lambda: deaths.exists() and len(deaths.read_text()) >= 2)
    assert len(program.children()) >= 1


def test_the_end_of_the_terminal_is_an_order_to_end(begun: Callable[..., Supervisor]) -> None:
    # Whoever runs the tests under nohup hands its deafness down.
    program = begun("deaf", prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL) and None)
    program.read()
    began = time.monotonic()
    program.process.send_signal(signal.SIGHUP)
    assert program.process.wait(GRACE_SECONDS + 5) == 1  # the child had its time, and was killed
    assert time.monotonic() - began >= GRACE_SECONDS


def test_under_nohup_it_is_not(begun: Callable[..., Supervisor]) -> None:
    program = begun("works", prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None)
    program.read()
    program.process.send_signal(signal.SIGHUP)
    for child in program.children():
        child.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert program.process.poll() is None
    assert len(program.children()) == 1


def test_a_main_service_that_cannot_be_ready_again_yet_is_tried_until_it_can(
    begun: Callable[..., Supervisor], tmp_path: Path
) -> None:
    program = begun("fails_once_more")
    program.until(lambda: (tmp_path / "start-2").exists())
    assert len(program.children()) == 1


def test_a_main_service_that_never_was_ready_ends_the_program(begun: Callable[..., Supervisor]) -> None:
    assert begun("fails", "works").process.wait(20) == 7


def test_the_children_of_dead_processes_are_reaped(begun: Callable[..., Supervisor]) -> None:
    """As process 1 of a container it is given them; here it asks for them."""

    def adopt() -> None:
        assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0

    program = begun("leaves_orphans", prepare=adopt)
    program.read()
    program.until(lambda: len(program.children()) == 1)


def test_it_waits_for_room_to_start_a_process(begun: Callable[..., Supervisor], tmp_path: Path) -> None:
    program = begun("works", "dies")
    program.until(lambda: (tmp_path / "deaths").exists())
    before = resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    while b"process_not_started" not in program.read():
        pass
    resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, before)
    deaths = len((tmp_path / "deaths").read_text())
    program.until(lambda: len((tmp_path / "deaths").read_text()) > deaths)


if __name__ == "__main__":
    load_settings()
    chosen = [Service(name, SERVICES[name]) for name in sys.argv[1:]]
    sys.exit(supervise(chosen, grace_seconds=GRACE_SECONDS))
