"""Settings, logging and signal handling, which all commands share."""

from __future__ import annotations

import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer

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
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, settings.log_level.upper())),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", LineStream(sys.stderr))),
    )
    # The pool logs every broken connection; the program says once what that means for a request.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


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
