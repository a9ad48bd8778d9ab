"""`reverie upgrade`: bring the database's schema up to date, or list the pending migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from reverie_indexer.errors import SetupError
from reverie_server.cli.frame import DataDir, load_settings, run

if TYPE_CHECKING:
    from reverie_server.settings.server import Settings


def upgrade(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Bring the database's schema up to date, as every start does by itself."""
    settings = load_settings(data_dir=data_dir, log_level="warning")
    run(_say_pending(settings) if dry_run else _upgrade(settings))


async def _upgrade(settings: Settings) -> None:
    from reverie_indexer.database.preparing import prepare_database
    from reverie_server.app.databases import open_server

    async with open_server(settings) as (conninfo, _):
        report = await prepare_database(conninfo)
    for step in report.taken:
        print(f"{step.name}: {step.purpose}")
    done = f"{len(report.taken)} steps were taken" if report.taken else "nothing was to be done"
    print(f"{'the schema was made' if report.is_made else done}: the database is at migration {report.number}")


async def _say_pending(settings: Settings) -> None:
    from reverie_indexer.database.preparing import inspect_database
    from reverie_indexer.database.upgrade import shipped_program
    from reverie_server.app.databases import open_server

    async with open_server(settings) as (conninfo, _):
        report, problem = await inspect_database(conninfo)
    if problem:
        raise SetupError(problem)
    newest = shipped_program().number
    if report.number is None:
        print(f"there is no schema yet: it would be made as of migration {newest}")
        return
    for step in report.pending:
        print(f"{step.name}: {step.purpose}")
    todo = f"{len(report.pending)} steps would be taken" if report.pending else "nothing is to be done"
    print(f"{todo}: the database is at migration {report.number} of {newest}")
