"""What may be told of a failure: its kind and where it was, never its words, which may be somebody's memory. Pure."""

from __future__ import annotations

import traceback
from pathlib import PurePath

from reverie_indexer.errors import ReverieError

_STANDARD_LIBRARY = str(PurePath(traceback.__file__).parent)


def code_of(error: BaseException) -> str:
    """The stable word of an error that is expected; `internal_error` for any other."""
    return error.code if isinstance(error, ReverieError) else "internal_error"


def error_site(error: BaseException) -> str:
    """The type of an error and our line that raised it, or that called the library which did."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not _is_of_library(frame.filename)] or frames
    where = f"{PurePath(own[-1].filename).name}:{own[-1].lineno}" if own else "an unknown line"
    return f"{type(error).__name__} at {where}"


def _is_of_library(filename: str) -> bool:
    return "reverie_" not in filename and ("site-packages" in filename or filename.startswith(_STANDARD_LIBRARY))
