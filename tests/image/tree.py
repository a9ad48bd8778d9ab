"""A program in a root file system of its own, in namespaces of its own: the kernel ends its mounts, its network and all
that it started when it ends, or whoever started it does.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
# As a container's engine mounts one where nothing else is said.
_TMPFS = "rw,noexec,nosuid,nodev"


@dataclass(frozen=True)
class Identity:
    """Whom a program runs as, and what it may not."""

    uid: int = 0
    gid: int = 0
    groups: Sequence[int] = ()
    no_capabilities: bool = False
    no_new_privileges: bool = False

    def words(self) -> list[str]:
        """The command that becomes this, before the command that it runs."""
        # Another user is no longer killed with `unshare`, if that is not said again.
        words = ["setpriv", "--pdeathsig=KILL", f"--reuid={self.uid}", f"--regid={self.gid}"]
        words.append(f"--groups={','.join(map(str, self.groups))}" if self.groups else "--clear-groups")
        if self.no_capabilities:
            words += ["--inh-caps=-all", "--bounding-set=-all"]
        if self.no_new_privileges:
            words.append("--no-new-privs")
        return words


@dataclass(frozen=True)
class Mounts:
    """What is mounted in a tree: directories of this machine by their path in it, and directories in memory."""

    volumes: Mapping[str, Path] = field(default_factory=dict)
    machine: Sequence[Path] = ()  # directories of this machine that are read there as they are here
    tmpfs: Sequence[str] = ()
    shm_size: str = "64m"
    read_only: bool = False

    def script(self, tree: Path) -> str:
        """The commands of a shell that mount it all. What they need is there already (`mount_points`)."""
        root = shlex.quote(str(tree))
        lines = [
            "set -e",
            f"mount --bind {root} {root}",
            f"mount -t proc -o nosuid,noexec,nodev proc {root}/proc",
            f"mount -t tmpfs -o nosuid,mode=755 tmpfs {root}/dev",
            f"mkdir {root}/dev/shm",
            f"mount -t tmpfs -o {_TMPFS},mode=1777,size={shlex.quote(self.shm_size)} shm {root}/dev/shm",
        ]
        for name in _DEVICES:
            lines += [f"touch {root}/dev/{name}", f"mount --bind /dev/{name} {root}/dev/{name}"]
        for path, source in self.volumes.items():
            lines.append(f"mount --bind {shlex.quote(str(source))} {root}{shlex.quote(path)}")
        for source in self.machine:
            inside = shlex.quote(str(source))
            lines += [f"mount --bind {inside} {root}{inside}", f"mount -o remount,bind,ro {root}{inside}"]
        lines += [f"mount -t tmpfs -o {_TMPFS},mode=1777 tmpfs {root}{shlex.quote(path)}" for path in self.tmpfs]
        if self.read_only:
            lines.append(f"mount -o remount,bind,ro {root}")
        return "\n".join(lines)

    @contextmanager
    def mount_points(self, tree: Path) -> Iterator[None]:
        """Make the directories that are mounted on, and in the end remove those that were not there."""
        made: list[Path] = []
        for path in (*self.volumes, *map(str, self.machine), *self.tmpfs):
            inside = tree / path.lstrip("/")
            for directory in reversed([inside, *inside.parents]):
                if not directory.exists():
                    directory.mkdir()
                    made.append(directory)
        try:
            yield
        finally:
            for directory in reversed(made):
                directory.rmdir()


def command_in(
    tree: Path,
    mounts: Mounts,
    identity: Identity,
    environment: Mapping[str, str],
    workdir: str,
    command: Sequence[str],
    *,
    own_network: bool = False,
) -> list[str]:
    """The command that runs another as the first process in a tree; its status is that one's."""
    inner = ["chroot", str(tree), *inside(identity, environment, workdir, command)]
    script = f"{mounts.script(tree)}\n{'ip link set lo up' if own_network else ''}\nexec {shlex.join(inner)}"
    network = ["--net"] if own_network else []
    return ["unshare", "--mount", "--pid", "--ipc", "--uts", *network, "--fork", "--kill-child", "sh", "-c", script]


def command_beside(
    pid: int, identity: Identity, environment: Mapping[str, str], workdir: str, command: Sequence[str]
) -> list[str]:
    """The command that runs another in the tree and the namespaces of a process."""
    names = ["--mount", "--pid", "--ipc", "--uts", "--net", "--root", "--wd"]
    return ["nsenter", f"--target={pid}", *names, *inside(identity, environment, workdir, command)]


def inside(identity: Identity, environment: Mapping[str, str], workdir: str, command: Sequence[str]) -> list[str]:
    """The command as somebody, with these variables alone. It must be called in the tree."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    return [*identity.words(), "env", "-i", f"--chdir={workdir}", *variables, *command]


def mounts_below(directory: Path) -> list[str]:
    """What is mounted there, as this process sees it."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in lines if Path(os.fsdecode(line.split()[1])).is_relative_to(directory)]
