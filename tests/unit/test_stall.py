"""A process ends whose loop stands still, and no other, however busy."""

from __future__ import annotations

import signal
import subprocess
import sys

# Threads of a library, such as a model's, hold no lock of the interpreter: all processors are at work at once.
PROGRAM = """
import asyncio, hashlib, os, sys
from reverie_server.app.stall import ends_when_stalled

def embed():
    hashlib.pbkdf2_hmac("sha256", b"lantern", b"wren", 3_000_000)

async def main():
    async with ends_when_stalled(0.3):
        if sys.argv[1] == "stalled":
            while True:
                embed()
        await asyncio.gather(*(asyncio.to_thread(embed) for _ in range(os.cpu_count() or 1)))

asyncio.run(main())
"""


def status_of(what: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, what], capture_output=True, check=False, timeout=60
    ).returncode


def test_a_loop_that_stands_still_ends_its_process() -> None:
    assert status_of("stalled") == -signal.SIGPROF


def test_busy_processors_beside_a_loop_that_turns_do_not() -> None:
    assert status_of("busy") == 0
