"""The account that the embedded PostgreSQL runs as, and the accounts that may connect to it."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import structlog

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.host import Account

log = structlog.get_logger()

# The user of its own that the server runs as when we are root.
SERVER_USER = "reverie-postgres"
# Where there can be no such user: the numbers that one of them is taken from. They fit the 65,536 of a container.
_FIRST_UID, _UIDS = 59_000, 900
_UID_FILE = "postgres.uid"
_MAP = "reverie"


def server_account(home: Path) -> Account | None:
    """The unprivileged account of the server of a data directory; None where it runs as ourselves, who are not root.

    PostgreSQL refuses to run as root. It gets a system user of its own, which is made where that can be; else a number
    that belongs to nobody here, the same for each start; and where not even that can be, the user nobody, whom other
    programs run as too.
    """
    if os.geteuid() != 0:
        return None
    return named_account(SERVER_USER) or _create_user() or _numbered(home) or _nobody()


def former_uids(home: Path) -> set[int]:
    """The users that may own a cluster here from earlier starts: its files go to the present account."""
    import pwd  # not on every platform

    uids = set()
    with suppress(KeyError):
        # Up to release 0.1.0 it was always this one.
        uids.add(pwd.getpwnam("nobody").pw_uid)
    with suppress(FileNotFoundError, ValueError):
        uids.add(int((home / _UID_FILE).read_text()))
    return uids


def take_over(home: Path, cluster: Path, account: Account) -> None:
    """Give a cluster that no server works on to the account, and remember that.

    Whoever it belonged to may have put links there: only what belonged to them changes hands, and no link is followed.
    """
    former = former_uids(home) - {account.uid}
    sockets = home / "run"
    if sockets.exists() and sockets.lstat().st_uid in former:
        os.chown(sockets, account.uid, account.gid, follow_symlinks=False)
    # The log may have been moved to another disk.
    for top in {cluster, (cluster / "pg_wal").resolve()}:
        if top.exists() and top.stat().st_uid in former:
            for _, names, files, directory in os.fwalk(top):
                for name in (*names, *files):
                    if os.stat(name, dir_fd=directory, follow_symlinks=False).st_uid in former:
                        os.chown(name, account.uid, account.gid, dir_fd=directory, follow_symlinks=False)
            # Last: what was stopped in the middle is begun again.
            os.chown(top, account.uid, account.gid)
    (home / _UID_FILE).write_text(f"{account.uid}\n")


def write_access_rules(cluster: Path, account: Account | None) -> None:
    """Allow connections over the socket, as any role, to our own operating system users and to nobody else.

    Whatever an older version, or a person, wrote there is replaced at each start of the server.
    """
    names = {name for name in (_name_of(os.geteuid()), account and _name_of(account.uid)) if name}
    if os.geteuid() != 0 and not names:
        log.warning(
            "this_user_has_no_name", detail="the embedded PostgreSQL is guarded by its socket's directory alone"
        )
        rules = "local all,replication all trust\n"
    else:
        # `all` does not take in those that copy the whole cluster.
        rules = f"local all,replication all peer map={_MAP}\n"
    header = "# Written by Reverie at each start.\n"
    _replace(cluster / "pg_ident.conf", header + "".join(f'{_MAP} "{name}" all\n' for name in sorted(names)))
    _replace(cluster / "pg_hba.conf", header + rules)


def _replace(path: Path, text: str) -> None:
    """Write a file anew, with the owner of its directory."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        owner = path.parent.stat()
        # The file and not its name, which the directory's owner could give to another one by now.
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    draft.replace(path)


def _name_of(uid: int) -> str | None:
    import pwd  # not on every platform

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def named_account(name: str) -> Account | None:
    """The account of a user by name; None where there is none."""
    import pwd  # not on every platform

    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(name, entry.pw_uid, entry.pw_gid)


def _create_user() -> Account | None:
    program = shutil.which("useradd")
    if program is None:
        return None
    command = [program, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    with suppress(OSError, subprocess.TimeoutExpired):
        # Another process may be faster: then this fails, and the user is there.
        subprocess.run(  # noqa: S603  # a list, of our own making
            [*command, "--shell", "/usr/sbin/nologin", SERVER_USER],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
    return named_account(SERVER_USER)


def _numbered(home: Path) -> Account | None:
    start = int.from_bytes(sha256(os.fsencode(home)).digest()[:4], "big") % _UIDS
    uid = next(
        (uid for step in range(_UIDS) if _name_of(uid := _FIRST_UID + (start + step) % _UIDS) is None),
        None,
    )
    if uid is None or not _may_be(uid):
        return None
    return Account(f"user id {uid}", uid, uid, has_entry=False)


def _may_be(uid: int) -> bool:
    """Whether a process can become that user id: a container may have few."""
    try:
        subprocess.run(["/bin/true"], user=uid, group=uid, extra_groups=[], check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _nobody() -> Account:
    account = named_account("nobody")
    if account is None:
        raise SetupError(
            "as root, the embedded PostgreSQL needs another user to run as, and none can be made here: run Reverie as "
            "an ordinary user, or set REVERIE_DATABASE_URL"
        )
    log.warning("postgres_runs_as_nobody", detail=f"other programs may run as nobody too: make a user {SERVER_USER}")
    return account
