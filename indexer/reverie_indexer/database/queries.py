"""Named SQL: blocks of a `.sql` file, each opened by `-- name: purpose`, read once at import.

`-- name, prepared: purpose` opens one that a connection may prepare (`messages`). Its plan has to be as good for any
values as for those at hand: it says itself in which order tables are read, by LATERAL with LIMIT or OFFSET.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_HEADER = re.compile(r"^-- (?P<name>[a-z][a-z0-9_]*)(?P<prepared>, prepared)?: (?P<purpose>.+)$", re.MULTILINE)


_PACKAGES = ("reverie_indexer", "reverie_server")


class NamedStatement(bytes):
    """A statement that knows its name, `module.name`, by which traces show it, and whether it may be prepared."""

    name: str
    is_prepared: bool


def name_of(query: object) -> str:
    """The name of a statement; `unnamed` for what is of no file."""
    return query.name if isinstance(query, NamedStatement) else "unnamed"


class Queries(Mapping[str, NamedStatement]):
    """The statements of one `.sql` file by name. A name that is not there is a KeyError at first use.

    Values are bytes, which psycopg takes as they are: no SQL is composed at run time.
    """

    def __init__(self, module_file: str) -> None:
        path = Path(module_file).with_suffix(".sql")
        text = path.read_text(encoding="utf-8")
        headers = list(_HEADER.finditer(text))
        ends = [header.start() for header in headers[1:]] + [len(text)]
        self._blocks = {
            header["name"]: NamedStatement(text[header.end() : end].strip().encode())
            for header, end in zip(headers, ends, strict=True)
        }
        if len(self._blocks) != len(headers):
            raise ValueError(f"{path.name} names a statement twice")
        module = ".".join(path.with_suffix("").parts[_below_package(path) :])
        for header, (name, block) in zip(headers, self._blocks.items(), strict=True):
            block.name = f"{module}.{name}"
            block.is_prepared = header["prepared"] is not None

    def __getitem__(self, name: str) -> NamedStatement:
        return self._blocks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)


def _below_package(path: Path) -> int:
    """Where the parts of a path go on below one of our packages; the last part where it is in none."""
    parts = path.parts
    return max((number + 1 for number, part in enumerate(parts) if part in _PACKAGES), default=len(parts) - 1)
