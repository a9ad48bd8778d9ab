"""A container of an image: its command as its user, with its variables and volumes, at an address of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import httpx
import psutil
from tests.conftest import PLAIN
from tests.image.build import Image
from tests.image.tree import Identity, Mounts, command_beside, command_in

_READY_SECONDS = 180.0


@dataclass(frozen=True)
class Options:
    """How an engine is told to run it. `user`, `group` and `fs_group` are numbers in place of the image's."""

    environment: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()
    mounts: Mounts = field(default_factory=Mounts)
    no_capabilities: bool = False
    no_new_privileges: bool = False
    user: int | None = None
    group: int | None = None
    fs_group: int | None = None


def named_volume(image: Image, path: str, directory: Path) -> Path:
    """An empty directory as an engine makes a volume at a path of the image: with its owner, mode and content."""
    inside = image.tree / path.lstrip("/")
    assert path in image.volumes
    shutil.copytree(inside, directory, symlinks=True)
    os.chown(directory, inside.stat().st_uid, inside.stat().st_gid)
    return directory


class Container:
    """Start it with `with`; in the end nothing of it runs, and nothing of it is mounted or listens."""

    def __init__(self, image: Image, options: Options, log: Path, *, beside: Container | None = None) -> None:
        """`beside`: the container whose network it shares, as those of a pod do."""
        self._image = image
        self._options = options
        self._beside = beside
        self.log = log
        own = image if options.user is None else replace(image, user=str(options.user))
        found = own.identity()
        self._identity = Identity(
            found.uid,
            found.gid if options.group is None else options.group,
            found.groups if options.fs_group is None else [options.fs_group],
            options.no_capabilities,
            options.no_new_privileges,
        )
        self._environment = {"HOSTNAME": "reverie", "HOME": own.home(), **image.environment, **options.environment}
        self._stack = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        # Two addresses, for this machine and for it, of a range for tests of networks.
        self._network = 0xC6120000 + 4 * (os.getpid() % 0x4000)

    def __enter__(self) -> Self:
        mounts = self._options.mounts
        command = self._options.command or self._image.command
        words = (self._image.tree, mounts, self._identity, self._environment, self._image.workdir, command)
        try:
            self._stack.enter_context(mounts.mount_points(self._image.tree))
            output = self._stack.enter_context(self.log.open("ab"))
            started = command_in(*words, own_network=self._beside is None)
            if self._beside is not None:
                started = ["nsenter", f"--target={self._beside.pid()}", "--net", *started]
            self._process = subprocess.Popen(started, stdout=output, stderr=output)
            self._stack.callback(self._kill)
            self.until(self._is_inside, 20)
            if self._beside is None:
                self._connect()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def address(self) -> str:
        """Where it is reached from this machine."""
        return _dotted(self._network + 2)

    def http(self, **headers: str) -> httpx.Client:
        """A client, whose server knows itself by the address at which compose.yaml publishes it."""
        (port,) = self._image.ports
        published = {"Host": f"127.0.0.1:{port}"}
        return httpx.Client(
            base_url=f"http://{self.address}:{port}", headers={**published, **headers}, timeout=60, verify=PLAIN
        )

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Another command in it, as `docker exec` runs it."""
        words = command_beside(self.pid(), self._identity, self._environment, self._image.workdir, command)
        return subprocess.run(words, capture_output=True, text=True, timeout=_READY_SECONDS, check=False)

    def until_healthy(self) -> float:
        """Wait until the image's health check succeeds; the seconds that it took."""
        began = time.monotonic()
        self.until(lambda: self.run(*self._image.healthcheck).returncode == 0, _READY_SECONDS)
        return time.monotonic() - began

    def wait(self) -> int:
        """Until its command ends; its status."""
        assert self._process is not None
        return self._process.wait(_READY_SECONDS)

    def stop(self, grace_seconds: float) -> tuple[int, float]:
        """End it as an engine does, by SIGTERM to its first process; its status and the seconds that it took.

        TimeoutExpired after the grace, when an engine would kill it.
        """
        assert self._process is not None
        began = time.monotonic()
        os.kill(self.pid(), signal.SIGTERM)
        return self._process.wait(grace_seconds), time.monotonic() - began

    def said(self) -> str:
        """What it has logged so far."""
        return self.log.read_text(errors="replace")

    def pid(self) -> int:
        """Its first process, as this machine counts them."""
        assert self._process is not None
        (first,) = psutil.Process(self._process.pid).children()
        return first.pid

    def _is_inside(self) -> bool:
        """Whether it is in its tree: before, it is a shell of this machine."""
        with suppress(ValueError, OSError):
            return Path(f"/proc/{self.pid()}/root").readlink() == self._image.tree
        return False

    def until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait for something; AssertionError with its log when that does not come, or it ends."""
        assert self._process is not None
        deadline = time.monotonic() + seconds
        while not condition():
            assert self._process.poll() is None, f"it has ended\n{self.said()[-4000:]}"
            assert time.monotonic() < deadline, self.said()[-4000:]
            time.sleep(0.1)

    def _connect(self) -> None:
        """A cable between this machine and it, which is gone with it."""
        pid, name = str(self.pid()), f"reverie{os.getpid()}"
        beside = ["nsenter", f"--target={pid}", "--net", "ip"]
        for command in (
            ["ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", pid],
            ["ip", "address", "add", f"{_dotted(self._network + 1)}/30", "dev", name],
            ["ip", "link", "set", name, "up"],
            [*beside, "address", "add", f"{self.address}/30", "dev", "eth0"],
            [*beside, "link", "set", "eth0", "up"],
        ):
            subprocess.run(command, check=True, timeout=20)

    def _kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()


def _dotted(address: int) -> str:
    return ".".join(str(part) for part in address.to_bytes(4, "big"))
