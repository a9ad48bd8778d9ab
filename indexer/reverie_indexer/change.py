"""A change of one file, as the pipeline takes it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One file's change. `edit` gives the new text from the present one (None: there is no such file).

    `edit` may raise any ReverieError, which ends the write with nothing changed, and may be called again when
    another writer was faster. `overwrites` says that it does not look at the present text. `if_version` is the
    version the file must have (0: any, but it must exist). `reserved` allows the paths that the server alone writes.
    """

    path: str
    edit: Callable[[str | None], str]
    by: str
    reason: str
    enabled: bool | None = None
    sort_order: int | None = None
    if_version: int | None = None
    overwrites: bool = False
    reserved: bool = False


def overwrite(path: str, text: str, *, by: str, reason: str, enabled: bool | None = None) -> Change:
    """The change that makes a file hold `text`, whatever it held."""
    return Change(path, lambda _: text, by, reason, enabled=enabled, overwrites=True)
