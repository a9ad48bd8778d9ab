"""What was found out about short texts, kept under keyed hashes of them: no text can be read from it. Pure."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Found = TypeVar("Found")


class KnownTexts(Generic[Found]):
    """The results of a function for the last texts that it was asked for, `size` at most; longer ones are read anew."""

    def __init__(self, read: Callable[[str], Found], *, size: int, max_chars: int) -> None:
        self._read = read
        self._size = size
        self._max_chars = max_chars
        self._secret = secrets.token_bytes(16)
        self._known: OrderedDict[bytes, Found] = OrderedDict()
        self._lock = Lock()

    def of(self, text: str) -> Found:
        """What the function says of a text."""
        if len(text) > self._max_chars:
            return self._read(text)
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=self._secret).digest()
        with self._lock:
            if (found := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return found
        found = self._read(text)
        with self._lock:
            self._known[key] = found
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return found
