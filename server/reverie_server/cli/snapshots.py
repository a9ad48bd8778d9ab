"""`reverie export` and `reverie import`: write an agent's memory to a ZIP and read it back."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

import typer

from reverie_indexer.errors import PayloadTooLarge, SetupError, ValidationFailed
from reverie_server.cli.frame import DataDir, load_settings, run

if TYPE_CHECKING:
    from reverie_server.files.snapshots import Export, Report
    from reverie_server.runtime import Runtime
    from reverie_server.settings.server import Settings

_PIPE = Path("-")
_PIECE = 64 * 1024
Agent = Annotated[str, typer.Option("--agent", help="The agent.")]
Owner = Annotated[str | None, typer.Option("--owner", help="Whose files, such as user:42; none: the team's.")]
Scope = Annotated[
    Literal["personal", "team", "global"] | None,
    typer.Option(help="personal, team or global; else by whether an owner is given."),
]


def export_snapshot(
    file: Annotated[Path, typer.Argument(help="The ZIP to write; -: stdout.", allow_dash=True, dir_okay=False)],
    agent: Agent,
    owner: Owner = None,
    scope: Scope = None,
    prefix: Annotated[str | None, typer.Option(help="Only files whose path begins so.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Write an agent's memory to a ZIP: its core files and what is under memory/."""
    if file == _PIPE and sys.stdout.isatty():
        raise ValidationFailed("a ZIP is nothing to print: name a file, or redirect the output")
    run(_export(_settings(data_dir), file, agent, owner, scope, prefix))


def import_snapshot(
    file: Annotated[Path, typer.Argument(help="The ZIP to read; -: stdin.", allow_dash=True, dir_okay=False)],
    agent: Agent,
    owner: Owner = None,
    scope: Scope = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Write what an exported ZIP holds into an agent's memory: all of it, or nothing."""
    with _opened(file) as source:
        run(_import(_settings(data_dir), source, agent, owner, scope, dry_run=dry_run))


def _settings(data_dir: Path | None) -> Settings:
    return load_settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")


async def _export(
    settings: Settings, file: Path, agent: str, owner: str | None, scope: Scope, prefix: str | None
) -> None:
    from reverie_indexer.file_rules import check_agent_id
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app.snapshots import open_snapshots
    from reverie_server.files.snapshots import place_to_export

    async with open_snapshots(settings) as (gate, snapshots):
        grant = await gate.read(OPERATOR, check_agent_id(agent), _checked(owner), action="export")
        place = place_to_export(grant.principal, scope, isolated=grant.settings.memory_isolation)
        export = await snapshots.export(place, prefix=prefix)
    with export.file:
        _save(export, file)


def _save(export: Export, file: Path) -> None:
    """Write the export to a file beside `file` and then rename it, so that `file` is never half an archive.

    A device or a named pipe is written to in place.
    """
    if file == _PIPE:
        shutil.copyfileobj(export.file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    try:
        target = file.resolve()
        if target.exists() and not target.is_file():
            with target.open("wb") as sink:
                shutil.copyfileobj(export.file, sink)
        else:
            _replace(export.file, target)
    except OSError as error:
        raise SetupError(f"{file} cannot be written: {error.strerror}") from None
    print(f"{export.size} bytes written to {file}", file=sys.stderr)


def _replace(source: BinaryIO, target: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".reverie-export-", delete=False) as part:
        try:
            shutil.copyfileobj(source, part)
            part.close()
            Path(part.name).replace(target)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """The archive as a seekable file, also when it comes from a pipe."""
    from reverie_server.files.strict_zip import Limits

    most = Limits().max_archive_bytes
    with tempfile.TemporaryFile(prefix="reverie-import-") as spool:
        try:
            source = sys.stdin.buffer if file == _PIPE else file.open("rb")
            with source:
                while piece := source.read(_PIECE):
                    spool.write(piece)
                    if spool.tell() > most:
                        raise PayloadTooLarge(f"an archive has at most {most} bytes")
        except OSError as error:
            raise ValidationFailed(f"{file} cannot be read: {error.strerror}") from None
        yield spool


async def _import(
    settings: Settings, source: BinaryIO, agent: str, owner: str | None, scope: Scope, *, dry_run: bool
) -> None:
    from reverie_indexer.file_rules import check_agent_id
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app.wiring import open_runtime

    # Nobody waits for an answer here: every file gets its vectors before it is written.
    async with open_runtime(settings, embed_wait_seconds=24 * 3600) as runtime:
        grant, place = await runtime.gate.write(OPERATOR, check_agent_id(agent), _checked(owner), scope)
        if dry_run:
            _print(await runtime.snapshots.preview(place, source), "would be ")
            return
        report = await runtime.snapshots.apply(place, source, by=grant.author)
        _print(report, "")
        if report.waiting:
            _print_waiting(runtime, report)


def _print(report: Report, would_be: str) -> None:
    for kind, files in (("create", report.created), ("update", report.updated)):
        if would_be:
            for file in files:
                before = f"{file.before.size} -> " if file.before else ""
                print(f"{kind} {file.path} ({before}{file.after.size} bytes)")
    print(
        f"{would_be}{len(report.created)} created, {len(report.updated)} updated, {len(report.unchanged)} unchanged, "
        f"{len(report.skipped)} skipped"
    )
    for path, reason in report.skipped.items():
        print(f"skipped {path}: {reason}", file=sys.stderr)


def _print_waiting(runtime: Runtime, report: Report) -> None:
    why = runtime.models.error.detail if runtime.models.error else "no embedding model is configured"
    print(f"{report.waiting} files are found by words only until they are embedded: {why}", file=sys.stderr)


def _checked(owner: str | None) -> str | None:
    from reverie_indexer.file_rules import check_owner_key

    return None if owner is None else check_owner_key(owner)
