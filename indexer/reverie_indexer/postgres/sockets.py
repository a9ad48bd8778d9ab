"""Where the embedded PostgreSQL has its socket."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.host import Account, is_reachable

PORT = "5432"
SOCKET = f".s.PGSQL.{PORT}"
# A socket's path ends at 103 bytes on macOS and 107 on Linux.
_MAX_BYTES = 100


def socket_directory(home: Path, account: Account | None) -> Path:
    """A directory that only the server's user (and root) may enter, short enough for a socket's path."""
    owner = account.uid if account else os.geteuid()
    name = f"reverie-{owner}-{sha256(os.fsencode(home)).hexdigest()[:16]}"
    temporary = Path(tempfile.gettempdir()).resolve()
    if not _holds_socket(temporary / name) or (account and not is_reachable(temporary, account)):
        temporary = Path("/tmp")  # noqa: S108  # what is made in it is private, and looked at below
    private = home / "run" if _holds_socket(home / "run") else temporary / name
    with suppress(FileExistsError):
        private.mkdir(mode=0o700)
    if account and private.lstat().st_uid == 0:
        os.chown(private, account.uid, account.gid, follow_symlinks=False)
    found = private.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or stat.S_IMODE(found.st_mode) != 0o700:
        raise SetupError(f"{private} must be a directory of user id {owner} with mode 0700: remove it")
    return private


def _holds_socket(directory: Path) -> bool:
    # libpq takes a comma for the end of a host.
    return len(os.fsencode(directory / SOCKET)) <= _MAX_BYTES and "," not in str(directory)
