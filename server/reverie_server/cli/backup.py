"""`reverie backup` and `reverie restore`: the whole database in one file, and back."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reverie_indexer.errors import ValidationFailed
from reverie_server.cli.frame import DataDir, load_settings, run

if TYPE_CHECKING:
    from reverie_server.app.backups.backup import Progress as At
    from reverie_server.app.backups.backup import Show
    from reverie_server.app.backups.backup_file import Manifest
    from reverie_server.app.backups.restore import RestoreOptions
    from reverie_server.provenance.forgotten_log import Act
    from reverie_server.settings.server import Settings


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; one that is there is replaced.", dir_okay=False)],
    verify: Annotated[
        bool, typer.Option("--verify", help="Then restore it aside, and look whether all is there.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Write the whole database to a file, as of one instant, while servers and workers go on."""
    settings = load_settings(data_dir=data_dir, log_level="warning")
    run(_backup(settings, file))
    if verify:
        run(_verify(settings, file))


def restore(
    file: Annotated[Path | None, typer.Argument(help="A file of `reverie backup`.", dir_okay=False)] = None,
    to_time: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Instead of a file: a time with its zone, such as 2026-11-26T03:00:00Z, from the archive of WAL.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of the memory that is there.")
    ] = False,
    forgotten_log: Annotated[
        list[Path] | None, typer.Option(help="The log of what another server forgot; repeat it.", dir_okay=False)
    ] = None,
    without_forgotten_log: Annotated[
        bool,
        typer.Option("--without-forgotten-log", help="Accept that what was forgotten or revoked since comes back."),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Only restore it aside, and look whether all is there.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Restore a backup or a point in time: all of it, without what was forgotten since then, or nothing."""
    from reverie_server.app.backups.restore import RestoreOptions

    settings = load_settings(data_dir=data_dir, log_level="warning")
    if (file is None) == (to_time is None):
        raise ValidationFailed("give a file of `reverie backup`, or --to-time")
    restore_options = RestoreOptions(replace, tuple(forgotten_log or ()), without_forgotten_log)
    if to_time is not None:
        if verify:
            raise ValidationFailed("--verify is for a file")
        run(_restore_to_time(settings, _time(to_time), restore_options))
        return
    assert file is not None
    if verify:
        if replace or forgotten_log or without_forgotten_log:
            raise ValidationFailed("--verify changes nothing, and goes with no other option")
        run(_verify(settings, file))
        return
    run(_restore(settings, file, restore_options))


def _time(text: str) -> datetime:
    """A time with its zone; ValidationFailed for another one."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValidationFailed(f"{text!r} is no time: give one such as 2026-11-26T03:00:00Z") from None
    if time.tzinfo is None:
        raise ValidationFailed(f"{text!r} has no zone: give one such as 2026-11-26T03:00:00Z (UTC) or …T04:00:00+01:00")
    return time


async def _backup(settings: Settings, file: Path) -> None:
    from reverie_server.app.backups.backup import take_backup

    with _shown() as show:
        manifest = await take_backup(settings, file, show)
    size = sum(part.size for part in manifest.parts.values())
    print(f"backup of {_words(manifest)}, {size} bytes, written to {file}")


async def _restore(settings: Settings, file: Path, options: RestoreOptions) -> None:
    from reverie_server.app.backups.restore import restore_backup

    with _shown() as show:
        restored = await restore_backup(settings, file, options, show)
    print(f"restored: {_words(restored.manifest)}, as of {restored.manifest.at:%Y-%m-%d %H:%M:%S} UTC")
    _say_forgotten(options, restored.acts, restored.forgotten)


async def _restore_to_time(settings: Settings, to: datetime, options: RestoreOptions) -> None:
    from reverie_server.app.backups.point_in_time import restore_to_time

    with _shown() as show:
        restored = await restore_to_time(settings, to, options, show)
    last, base = (f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC" for at in (restored.last, restored.base))
    print(f"restored: the last transaction is of {last}, from the base backup of {base}")
    _say_forgotten(options, restored.acts, restored.forgotten)


def _say_forgotten(options: RestoreOptions, acts: int, forgotten: Mapping[Act, int]) -> None:
    if options.without_log:
        print(
            "what was forgotten since then is there again, and keys that were revoked since then are valid",
            file=sys.stderr,
        )
        return
    if not acts:
        print("nothing was forgotten since then")
        return
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(forgotten.items())) or "nothing of it was there"
    print(f"forgotten since then, in {acts} acts: {found}")


async def _verify(settings: Settings, file: Path) -> None:
    from reverie_server.app.backups.verify import verify_backup

    with _shown() as show:
        verified = await verify_backup(settings, file, show)
    print(f"verified: {_words(verified.manifest)} restored aside; {verified.searches} searches found what they should")


def _words(manifest: Manifest) -> str:
    return f"{manifest.rows} rows in {len(manifest.tables)} tables"


@contextmanager
def _shown() -> Iterator[Show]:
    """Progress on stderr: a bar at a terminal, else nothing."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("starting", total=None)

        def show(at: At) -> None:
            bar.update(task, description=at.step, completed=at.done, total=at.total or None)

        yield show
