"""Settings, logging and signal handling, which all commands share."""

from __future__ import annotations

import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer

from reverie_indexer.errors import ReverieError, ValidationFailed
from reverie_server.app.line_stream import LineStream

if TYPE_CHECKING:
    from reverie_server.settings.server import Settings

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
DataDir = Annotated[Path | None, typer.Option(help="Where the embedded PostgreSQL and the models are.")]
AgentName = Annotated[str, typer.Option("--agent", help="The agent.")]
OwnerKey = Annotated[str | None, typer.Option("--owner", help="Whose memory, such as user:42; none: shared memory.")]


def load_settings(**overrides: object) -> Settings:
    """Load the settings, overridden by the command's options, and configure logging."""
    from reverie_server.settings.server import Settings

    settings = Settings.load(**overrides)
    _configure_logging(settings)
    return settings


def owner_of(owner: str | None) -> str | None:
    """The owner key, checked; ValidationFailed for a malformed one."""
    from reverie_indexer.file_rules import check_owner_key

    return None if owner is None else check_owner_key(owner)


def _configure_logging(settings: Settings) -> None:
    """Logs go to stderr: stdout is for answers."""
    import logging

    import structlog

    # A traceback with the values of variables, which is the default of both, would show what people store.
    renderers: list[Any] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if settings.log_format == "json"
        else [
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
        ]
    )
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    stream = cast("TextIO", LineStream(sys.stderr))
    level: int = getattr(logging, settings.log_level.upper())
    structlog.configure(
        processors=[*processors, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(stream),
    )
    if settings.log_format == "json":
        _route_libraries(processors, renderers, stream, level)
    # The pool logs every broken connection; the program says once what that means for a request.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


def _route_libraries(processors: list[Any], renderers: list[Any], stream: TextIO, level: int) -> None:
    """Write the warnings and errors of libraries, which otherwise reach stderr as they are, in the form of our own.

    Among them is uvicorn's traceback of a request that failed.
    """
    import logging

    import structlog

    handler = logging.StreamHandler(stream)
    handler.set_name("reverie")
    handler.setLevel(max(level, logging.WARNING))
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *processors],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    root = logging.getLogger()
    root.handlers = [*(each for each in root.handlers if each.name != handler.name), handler]
    logging.captureWarnings(True)


@contextmanager
def failure_logged(settings: Settings) -> Iterator[None]:
    """With `log_format=json`, log the error that ends the block and exit; without, it is said as of any command."""
    import structlog

    try:
        yield
    except Exception as error:
        if settings.log_format != "json":
            raise
        log = structlog.get_logger()
        if isinstance(error, ReverieError):
            log.error("service_failed", code=error.code, detail=error.detail)
        else:
            log.exception("service_failed")
        sys.exit(2 if isinstance(error, ValidationFailed) else 1)


def run(job: Coroutine[Any, Any, None]) -> None:
    """Run a job until it ends, or SIGINT or SIGTERM cancels it. Both clean up: the last client stops PostgreSQL."""
    import asyncio

    async def until_stopped() -> None:
        task = asyncio.current_task()
        assert task is not None
        is_ending = False

        def end(number: int) -> None:
            # A service manager tells all processes to end, and so does the supervisor: the second time must not
            # cancel what the first one puts in order. Whoever presses Ctrl-C again does not want to wait for that.
            nonlocal is_ending
            if not is_ending or number == signal.SIGINT:
                is_ending = True
                task.cancel()

        for number in STOP_SIGNALS:
            # A child of a supervisor ignores SIGINT: at a terminal it gets that and the supervisor's SIGTERM.
            if signal.getsignal(number) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, end, number)
        await job

    try:
        asyncio.run(until_stopped())
    except asyncio.CancelledError:
        sys.exit(130)
