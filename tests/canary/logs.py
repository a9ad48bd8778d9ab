"""Everything that the program logs while a test runs, at the most talkative level."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import structlog
from tests.canary.calls import SECRET, LeakError
from tests.canary.words import canaries_in

from reverie_server.cli.frame import load_settings

# The test's own client speaks in the same process; the parser tells of every rule that it tries on every line.
_SILENT = ("httpx", "httpcore", "markdown_it")


class Logs:
    """What has been logged. `written` is read and emptied by `check`."""

    def __init__(self) -> None:
        self._stream = io.StringIO()
        self.characters = 0

    @contextmanager
    def recording(self) -> Iterator[Logs]:
        """Record what `reverie serve` would log at level debug, and what libraries log."""
        configured = structlog.get_config()
        root = logging.getLogger()
        handler = logging.StreamHandler(self._stream)
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
        levels = {logger: logger.level for logger in (root, *map(logging.getLogger, _SILENT))}
        with mock.patch.object(sys, "stderr", self._stream):
            load_settings(log_level="debug", log_format="console")
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        for name in _SILENT:
            logging.getLogger(name).setLevel(logging.ERROR)
        try:
            yield self
        finally:
            root.removeHandler(handler)
            for logger, level in levels.items():
                logger.setLevel(level)
            structlog.configure(**configured)

    def check(self) -> None:
        """LeakError for a canary, or a key, in what was logged since the last time."""
        written = self._stream.getvalue()
        self._stream.seek(0)
        self._stream.truncate()
        self.characters += len(written)
        if found := canaries_in(written) or SECRET.findall(written):
            raise LeakError(f"a log has {sorted(found)}:\n{written[-2000:]}")
