"""Lines on stderr that a reader who does not read cannot hold up."""

from __future__ import annotations

import json
import os
import select
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import TextIO

# How long a line waits for whoever reads the lines, once; the next is lost at once while nobody does.
_READER_PATIENCE_SECONDS = 0.1


class LineStream:
    """Writes lines to a stream, and loses them where they cannot be written: nobody reads on, or the disk is full.

    What is worth a line must not stop, or end, because of it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._loses = False

    def write(self, line: str) -> None:
        """Write a line and its end in one: several processes write to the same place. Never raises."""
        with suppress(OSError, ValueError):
            descriptor = self._descriptor()
            if descriptor is None:
                self._stream.write(line)
                return
            patience_seconds = 0.0 if self._loses else _READER_PATIENCE_SECONDS
            self._loses = not select.select([], [descriptor], [], patience_seconds)[1]
            if not self._loses:
                os.write(descriptor, line.encode(errors="backslashreplace"))

    def flush(self) -> None:
        """Nothing is left unwritten."""

    def _descriptor(self) -> int | None:
        try:
            return self._stream.fileno()
        except (OSError, ValueError):
            return None  # of a test, or of a notebook


def announce(line: str, *, as_json: bool) -> None:
    """Say on stderr what a program does now, whatever the level of its log; `as_json` in the form of the log."""
    if as_json:
        line = json.dumps({"event": line, "level": "info", "timestamp": datetime.now(UTC).isoformat()})
    LineStream(sys.stderr).write(f"{line}\n")
