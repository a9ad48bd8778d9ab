"""What may be told of a failure: its kind and its place, never its words, which may be somebody's memory. Pure."""

from __future__ import annotations

import traceback
from pathlib import PurePath

from reverie_indexer.errors import ReverieError


def code_of(error: BaseException) -> str:
    """The stable word of an error that is expected; `internal_error` for any other."""
    return error.code if isinstance(error, ReverieError) else "internal_error"


def place_of(error: BaseException) -> str:
    """The type of an error and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"{type(error).__name__} at {where}"
