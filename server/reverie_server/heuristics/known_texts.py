"""What was found out about short texts, kept under keyed hashes of them: no text can be read from it. Pure."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

Found = TypeVar("Found")


class KnownTexts(Generic[Found]):
    """What a function found in the last texts that it was asked for, at most `size` texts and finds; longer texts are
    read anew."""

    def __init__(self, read: Callable[[str], Sequence[Found]], *, size: int, max_chars: int) -> None:
        self._read = read
        self._size = size
        self._max_chars = max_chars
        self._secret = secrets.token_bytes(16)
        self._known: OrderedDict[bytes, Sequence[Found]] = OrderedDict()
        self._used = 0
        self._lock = Lock()

    def of(self, text: str) -> Sequence[Found]:
        """What the function finds in a text."""
        if len(text) > self._max_chars:
            return self._read(text)
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=self._secret).digest()
        with self._lock:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return known
        found = self._read(text)
        with self._lock:
            if key not in self._known:
                self._known[key] = found
                self._used += 1 + len(found)
            while self._used > self._size:
                _, oldest = self._known.popitem(last=False)
                self._used -= 1 + len(oldest)
        return found
