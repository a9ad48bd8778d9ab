"""Request bodies are read here, within limits for one body, for the bodies of one key and for all bodies in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Receive, Scope

from reverie_indexer.errors import Overloaded, PayloadTooLarge, TooManyRequests

# A file of 1 MiB may need six bytes a character as JSON escapes.
MAX_BODY_BYTES = 8 * 1024 * 1024


class ClientGone(Exception):
    """The client ended the connection before its request was whole."""


class BodyMemory:
    """Counts the bytes of request bodies in memory, by key and in all."""

    def __init__(self, total_bytes: int, bytes_per_key: int) -> None:
        self._total_bytes = total_bytes
        self._bytes_per_key = bytes_per_key
        self._used: Counter[str] = Counter()

    @property
    def used_bytes(self) -> int:
        """The bytes of all bodies together."""
        return self._used.total()

    @contextmanager
    def body_of(self, key: str) -> Iterator[Body]:
        """A body of a key. Its bytes count until the context is left."""
        body = Body(self, key)
        try:
            yield body
        finally:
            self._used[key] -= body.size
            if self._used[key] <= 0:
                del self._used[key]

    def reserve(self, key: str, size: int) -> None:
        """Add bytes of a key to the count; TooManyRequests over the key's limit, Overloaded over the limit of all."""
        if self._used[key] + size > self._bytes_per_key:
            raise TooManyRequests(
                "the bodies of this key's requests take more memory than they may; send fewer at once"
            )
        if self._used.total() + size > self._total_bytes:
            raise Overloaded("the bodies of requests take as much memory as they may; try again")
        self._used[key] += size


class Body:
    """One body, counted in `memory` while it is read and used."""

    def __init__(self, memory: BodyMemory, key: str) -> None:
        self._memory = memory
        self._key = key
        self.size = 0

    async def read(self, scope: Scope, receive: Receive, max_bytes: int) -> bytes:
        """The whole body; PayloadTooLarge once it is known to be over the limit, ClientGone when it ends early."""
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > max_bytes:
            raise _too_large(max_bytes)
        pieces: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ClientGone
            if piece := message.get("body", b""):
                self._memory.reserve(self._key, len(piece))
                self.size += len(piece)
                pieces.append(piece)
            if self.size > max_bytes:
                raise _too_large(max_bytes)
            if not message.get("more_body", False):
                return b"".join(pieces)


def _too_large(max_bytes: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"a request body has at most {max_bytes} bytes")
