"""Wrong keys are slowed down, by the address they come from, and a valid key never is."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

from reverie_indexer.errors import TooManyRequests, Unauthorized
from reverie_server.access.keys import Caller, Keys

# So many wrong keys of one address are answered at once; after each further one none is looked at for twice as long.
FREE_ATTEMPTS = 10
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_FORGOTTEN_AFTER_SECONDS = 600.0
_MAX_ADDRESSES = 4096
_MAX_KNOWN = 4096
# While an address is slowed down its keys are looked up in a list that is at most so old, and not in the database.
_LIST_SECONDS = 1.0


class Attempts:
    """Wrong keys by address: how many, and until when none is looked at. The addresses that are seen last are kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, tuple[int, float, float]] = OrderedDict()

    def wait_seconds(self, address: str) -> float:
        """For how long no key of an address is looked at; 0: it is."""
        _, _, until = self._failures.get(address, (0, 0.0, 0.0))
        return max(0.0, until - self._clock())

    def fail(self, address: str) -> None:
        """Note a wrong key."""
        now = self._clock()
        count, last, _ = self._failures.pop(address, (0, now, 0.0))
        count = 1 if now - last > _FORGOTTEN_AFTER_SECONDS else count + 1
        over = count - FREE_ATTEMPTS
        pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** min(over, 10)) if over >= 0 else 0.0
        self._failures[address] = (count, now, now + pause)
        if len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)


class KeyGuard:
    """Authenticates requests. `wrong` counts keys that were looked at and are none, `unread` those not looked at."""

    def __init__(self, keys: Keys, clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = keys
        self._clock = clock
        self._attempts = Attempts(clock)
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._listed: frozenset[tuple[str, bytes]] = frozenset()
        self._listed_at = float("-inf")
        self._listing = asyncio.Lock()
        self._has_keys = False
        self.wrong = 0
        self.unread = 0

    def identity(self, authorization: str | None, address: str) -> str:
        """By what a request is counted: its key where that has been valid before, else its address."""
        if authorization and (digest := _digest(authorization)) in self._known:
            return digest.hex()
        return address

    async def authenticate(self, authorization: str | None, address: str) -> Caller:
        """The caller; Unauthorized for a wrong key, TooManyRequests where too many have come from the address."""
        if not authorization:
            return await self._anonymous()
        digest = _digest(authorization)
        wait = self._attempts.wait_seconds(address)
        if wait > 0 and digest not in self._known and not await self._is_listed(authorization):
            self.unread += 1
            raise TooManyRequests("too many wrong keys came from this address; wait", max(1, round(wait)))
        try:
            caller = await self._keys.authenticate(authorization)
        except Unauthorized:
            self._known.pop(digest, None)
            self._attempts.fail(address)
            self.wrong += 1
            raise
        if caller.key_id is not None:
            self._known[digest] = None
            self._known.move_to_end(digest)
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        return caller

    async def _anonymous(self) -> Caller:
        """The caller of a request without a key; a server that has ever had keys is asked once for all."""
        if self._has_keys:
            raise Unauthorized("give a valid key as `Authorization: Bearer <api key>`")
        try:
            return await self._keys.authenticate(None)
        except Unauthorized:
            self._has_keys = True
            raise

    async def _is_listed(self, authorization: str) -> bool:
        """Whether a key is valid by the list, which is asked for once however many wait for it."""
        if (presented := Keys.parts(authorization)) is None:
            return False
        async with self._listing:
            if self._clock() - self._listed_at > _LIST_SECONDS:
                self._listed = await self._keys.valid()
                self._listed_at = self._clock()
        return presented in self._listed


def address_of(host: str | None) -> str:
    """What counts as one client: an IPv4 address, or the /64 of an IPv6 one, which its owner has whole."""
    try:
        address = ipaddress.ip_address((host or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def _digest(authorization: str) -> bytes:
    return hashlib.sha256(authorization.encode("utf-8", "surrogatepass")).digest()
