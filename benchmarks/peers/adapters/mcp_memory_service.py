"""mcp-memory-service by its storage interface: SQLite with sqlite-vec, hybrid search (FTS5's BM25 and vectors).

Hybrid search is reached by the tool `memory_search` and by the storage class, not by its HTTP route, which searches by
vectors alone. The adapter calls the method the tool calls, in process, so it pays for no transport. The embedder is
set in process, too, where the service itself would ask an endpoint (`MCP_EXTERNAL_EMBEDDING_URL`) for every text.

A database of its own for every user. The service also has partitions (`store`), but in 12.2.0 the keyword half looks
for its candidates in all of them and drops the others' afterwards, and a text that one partition has is refused in
every other, so they would cost it recall.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Coroutine, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from base import Adapter, Item, Opening, main  # needs the path as it now is

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Result = TypeVar("_Result")
_BATCH = 256
_DUPLICATE = "Duplicate content detected"


class McpMemoryService(Adapter):
    """One database a user, opened when the user is first asked for."""

    notes = (
        "its storage interface in process, mode hybrid: its HTTP search has vectors alone",
        "fused by its setting `rrf`, which finds more here than its default, a weighted average (0.3 and 0.7)",
        "a database of its own for every user: its partitions share keyword candidates and refuse each other's texts",
        "a text that the user has already is kept once, under the first id",
        "every search also writes when and by what the results were found; vectors of queries are cached",
    )

    def open(self, opening: Opening) -> str:
        """Paths and switches are read from the environment at import."""
        self._home = opening.directory / "memories"
        self._home.mkdir(exist_ok=True)
        os.environ |= {
            "MCP_MEMORY_BASE_DIR": str(opening.directory),
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_HYBRID_FUSION_METHOD": "rrf",
            "HF_HUB_OFFLINE": "1",
        }
        import embedder

        embedder.warm_up()
        _choose_sqlite()
        self._dimension = opening.dimension
        self._storage_class = _storage_class()
        self._storages: dict[str, Any] = {}
        self._opening = asyncio.Lock()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="storage", daemon=True).start()
        return version("mcp-memory-service")

    def write(self, user: str, items: Sequence[Item]) -> None:
        """One transaction for every 256 items."""
        self._run(self._write(user, items))

    def search(self, user: str, query: str, k: int) -> list[str]:
        """The fused list; empty for a user without a database."""
        if user not in self._storages and not self._place(user).exists():
            return []
        return self._run(self._search(user, query, k))

    def close(self) -> None:
        """Close the databases."""
        for storage in self._storages.values():
            self._run(storage.close())

    async def _write(self, user: str, items: Sequence[Item]) -> None:
        storage = await self._storage(user)
        for start in range(0, len(items), _BATCH):
            stored = await storage.store_batch([_memory(item) for item in items[start : start + _BATCH]])
            for done, message in stored:
                if not done and not message.startswith(_DUPLICATE):
                    raise RuntimeError(message)

    async def _search(self, user: str, query: str, k: int) -> list[str]:
        storage = await self._storage(user)
        found = await storage.search_memories(query=query, mode="hybrid", limit=k)
        if error := found.get("error"):
            raise RuntimeError(error)
        return [memory["item_id"] for memory in found["memories"]]

    async def _storage(self, user: str) -> Any:
        async with self._opening:
            if user not in self._storages:
                storage = self._storage_class(str(self._place(user)))
                storage.embedding_dimension = self._dimension
                await storage.initialize()
                self._storages[user] = storage
            return self._storages[user]

    def _place(self, user: str) -> Path:
        return self._home / f"{hashlib.sha256(user.encode()).hexdigest()}.db"

    def _run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _choose_sqlite() -> None:
    """Take the pinned SQLite (3.46) where it is installed.

    The module of some Pythons cannot load extensions, which sqlite-vec is. And the planner of 3.51 begins the
    service's keyword query at an index of its own table and asks FTS5 again for every row: a second for 550 memories
    where 3.40 and 3.46 take milliseconds.
    """
    if importlib.util.find_spec("pysqlite3"):
        sys.modules["sqlite3"] = importlib.import_module("pysqlite3")


def _memory(item: Item) -> Any:
    from mcp_memory_service.models.memory import Memory
    from mcp_memory_service.utils.hashing import generate_content_hash

    return Memory(
        content=item.text,
        content_hash=generate_content_hash(item.text),
        tags=["peers"],
        metadata={"item_id": item.id},
        created_at_iso=item.at,
    )


def _storage_class() -> Any:
    from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage

    class Storage(SqliteVecMemoryStorage):  # type: ignore[misc]  # the library has no types
        """The same with the shared embedder; otherwise it would ask an endpoint or load weights from a hub."""

        async def _initialize_embedding_model(self) -> None:
            self.embedding_model = _Model()

    return Storage


class _Model:
    """The part of sentence-transformers' interface that the service uses."""

    def encode(self, texts: Sequence[str], *, convert_to_numpy: bool = True) -> NDArray[np.float32]:  # noqa: ARG002
        import embedder
        import numpy as np

        return np.asarray(embedder.embed_arrays(texts), dtype=np.float32)


if __name__ == "__main__":
    main(McpMemoryService)
