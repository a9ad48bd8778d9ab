"""A module that calls itself pure reaches no database, no model and no settings, by whatever it imports."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import grimp

OUTSIDE = (
    "psycopg",
    "psycopg_pool",
    "reverie_indexer.database.database",
    "reverie_indexer.embed",
    "reverie_server.settings.server",
)
PACKAGES = ("reverie_indexer", "reverie_server")


def pure_modules() -> Iterator[str]:
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        root = Path(spec.origin).parent
        for file in root.rglob("*.py"):
            docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            if re.search(r"(?:^|[.:] )Pure(?:\.| but for reading)", docstring.partition("\n\n")[0].replace("\n", " ")):
                yield ".".join(file.relative_to(root.parent).with_suffix("").parts)


def test_what_calls_itself_pure_is() -> None:
    graph = grimp.build_graph(
        *PACKAGES, include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )
    pure = list(pure_modules())
    assert len(pure) > 60
    chains = [chain for module in pure for target in OUTSIDE if (chain := graph.find_shortest_chain(module, target))]
    assert chains == []
