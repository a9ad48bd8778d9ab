"""haproxy with the configuration of `deploy/proxy`, before servers of a test."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

CONFIGURATION = (Path(__file__).parents[2] / "deploy/proxy/haproxy.cfg").read_text()
DRAIN_SECONDS = re.findall(r"REVERIE_SHUTDOWN_DRAIN_SECONDS=(\d+)", CONFIGURATION)[0]


def program() -> str:
    """haproxy; without it the test is left out and says so, or fails with REVERIE_TEST_NEEDS_HAPROXY."""
    found = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    return found or _leave_out("there is no haproxy on PATH")


def _leave_out(reason: str) -> NoReturn:
    if os.environ.get("REVERIE_TEST_NEEDS_HAPROXY"):
        pytest.fail(f"the rolling restart cannot be tested: {reason}")
    pytest.skip(f"the rolling restart is left out: {reason}")


@contextmanager
def haproxy(directory: Path, port: int, servers: Sequence[int]) -> Iterator[None]:
    """It listens on a port of this machine; nothing but addresses and the certificate is other than in `deploy`."""
    text, frontends = re.subn(r"bind :443 ssl crt \S+", f"bind 127.0.0.1:{port}", CONFIGURATION)
    ports = iter(servers)
    text, named = re.subn(r"(?m)^( +server \w+) \S+", lambda found: f"{found[1]} 127.0.0.1:{next(ports)}", text)
    assert (frontends, named) == (1, len(servers))
    path = directory / "haproxy.cfg"
    path.write_text(text)
    with subprocess.Popen([program(), "-db", "-f", str(path)]) as process:
        try:
            yield
        finally:
            process.kill()
