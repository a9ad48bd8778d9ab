"""`reverie doctor --distribute`: the tables of the database spread over several nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie_indexer.database.distributing import distribute
from reverie_indexer.errors import SetupError

if TYPE_CHECKING:
    from reverie_server.settings.server import Settings


async def distribute_tables(settings: Settings, *, dry_run: bool) -> None:
    """Distribute what is not distributed yet, or say what that would be."""
    if settings.database_url is None:
        raise SetupError("the embedded PostgreSQL is one node: set REVERIE_DATABASE_URL to the coordinator of Citus")
    done = await distribute(settings.database_url.get_secret_value(), dry_run=dry_run)
    verb = "would be" if dry_run else "is"
    for table in done.copied:
        print(f"{table}: {verb} copied to every node")
    for table in done.distributed:
        print(f"{table}: {verb} distributed by tenant")
    if not done.copied and not done.distributed:
        print("nothing is to be distributed")
    print(f"workers: {done.workers}")
