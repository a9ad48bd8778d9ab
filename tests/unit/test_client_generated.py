"""The sync client is what the generator makes of the async one."""

from __future__ import annotations

import importlib.util
import tokenize
from pathlib import Path
from types import ModuleType

import pytest

CLIENT = Path(__file__).parents[2] / "client"
SYNC = sorted((CLIENT / "reverie_client" / "_sync").glob("*.py"))


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_sync", CLIENT / "generate_sync.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_sync_client_is_up_to_date(generator: ModuleType) -> None:
    """If this fails, run `python client/generate_sync.py`."""
    assert {path: path.read_text() for path in SYNC} == generator.generated()


@pytest.mark.parametrize("path", SYNC, ids=lambda path: path.name)
def test_nothing_async_is_left(path: Path) -> None:
    with path.open() as source:
        names = {token.string for token in tokenize.generate_tokens(source.readline) if token.type == tokenize.NAME}
    assert not [name for name in names if "async" in name.lower() or name == "await" or name.startswith("__a")]


def test_every_new_name_replaces_something(generator: ModuleType) -> None:
    """A name that is nowhere any more would be a rule that nobody can check."""
    source = "".join(path.read_text() for path in (CLIENT / "reverie_client" / "_async").glob("*.py"))
    assert [name for name in generator.RENAMED if name not in source] == []


def test_tokens_are_replaced_and_text_is_kept(generator: ModuleType) -> None:
    source = (
        'async def aclose(self) -> None:\n    """Ask AsyncReverie; await it\n    aclose."""\n'
        '    async with self.x as y:  # of AsyncReverie\n        return [await  f("aclosed") async for f in y]\n'
    )
    assert generator.synced(source) == (
        'def close(self) -> None:\n    """Ask Reverie; await it\n    close."""\n'
        '    with self.x as y:  # of Reverie\n        return [f("aclosed") for f in y]\n'
    )
