"""The parts of an error for a log: its type and the line in our code. Its message may be somebody's memory. Pure."""

from __future__ import annotations

import traceback
from pathlib import PurePath

from reverie_indexer.errors import ReverieError

_STANDARD_LIBRARY = str(PurePath(traceback.__file__).parent)


def code_of(error: BaseException) -> str:
    """The code of one of our own errors; `internal_error` for any other."""
    return error.code if isinstance(error, ReverieError) else "internal_error"


def error_site(error: BaseException) -> str:
    """The type of an error and the line of our code that raised it, or that called the library that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    our_frames = [frame for frame in frames if not _is_of_library(frame.filename)] or frames
    if not our_frames:
        return f"{type(error).__name__} at an unknown line"
    return f"{type(error).__name__} at {PurePath(our_frames[-1].filename).name}:{our_frames[-1].lineno}"


def _is_of_library(filename: str) -> bool:
    return "reverie_" not in filename and ("site-packages" in filename or filename.startswith(_STANDARD_LIBRARY))
