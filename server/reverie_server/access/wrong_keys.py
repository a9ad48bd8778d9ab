"""Slows down addresses that send wrong keys. A valid key is never slowed down."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from reverie_indexer.errors import TooManyRequests, Unauthorized
from reverie_server.access.browser_sessions import SCHEME, BrowserSessions
from reverie_server.access.keys import Caller, Keys

# The wrong keys of one address that are answered at once. After each further one, the address is paused twice as long.
FREE_ATTEMPTS = 10
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_FORGOTTEN_AFTER_SECONDS = 600.0
_MAX_ADDRESSES = 4096
_MAX_KNOWN = 4096
# While an address is paused, its keys are looked up in a list of at most this age, and not in the database.
_LIST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Failures:
    """The wrong keys of one address, with the times of the last one and of the end of the pause."""

    count: int
    last_at: float
    paused_until: float


class Attempts:
    """The wrong keys of each address, of the addresses with the most recent ones."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, _Failures] = OrderedDict()

    def wait_seconds(self, address: str) -> float:
        """The rest of the pause of an address, in which its keys are not looked up; 0 without a pause."""
        failures = self._failures.get(address)
        return 0.0 if failures is None else max(0.0, failures.paused_until - self._clock())

    def fail(self, address: str) -> None:
        """Note a wrong key."""
        now = self._clock()
        earlier = self._failures.pop(address, None)
        is_forgotten = earlier is None or now - earlier.last_at > _FORGOTTEN_AFTER_SECONDS
        count = 1 if earlier is None or is_forgotten else earlier.count + 1
        over = count - FREE_ATTEMPTS
        pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** min(over, 10)) if over >= 0 else 0.0
        self._failures[address] = _Failures(count, now, now + pause)
        if len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)


class KeyGuard:
    """Authenticates requests. `wrong` counts the keys that were looked up in vain, `unread` those not looked up."""

    def __init__(self, keys: Keys, sessions: BrowserSessions, clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = keys
        self._sessions = sessions
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
        """The identity by which requests are limited: a key that has been valid before, else the address."""
        if authorization and (digest := _digest(authorization)) in self._known:
            return digest.hex()
        return address

    async def authenticate_session(self, token: str, address: str) -> Caller:
        """The caller of a browser's session. Raises what `authenticate` raises."""
        return await self._authenticated(f"{SCHEME} {token}", address, lambda: self._sessions.caller(token))

    async def authenticate(self, authorization: str | None, address: str) -> Caller:
        """The caller; Unauthorized for a wrong key, TooManyRequests after too many from the address."""
        if not authorization:
            return await self._anonymous()
        return await self._authenticated(authorization, address, lambda: self._keys.authenticate(authorization))

    async def _authenticated(
        self, authorization: str, address: str, look_up: Callable[[], Awaitable[Caller]]
    ) -> Caller:
        digest = _digest(authorization)
        wait = self._attempts.wait_seconds(address)
        if wait > 0 and digest not in self._known and not await self._is_listed(authorization):
            self.unread += 1
            raise TooManyRequests("too many wrong keys came from this address; wait", max(1, round(wait)))
        try:
            caller = await look_up()
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
        """The caller of a request without a key. Once the server has had a key, the database is asked no more."""
        if self._has_keys:
            raise Unauthorized("give a valid key as `Authorization: Bearer <api key>`")
        try:
            return await self._keys.authenticate(None)
        except Unauthorized:
            self._has_keys = True
            raise

    async def _is_listed(self, authorization: str) -> bool:
        """Whether the list of valid keys has the key. Requests that wait for the list share one query."""
        if (presented := Keys.presented(authorization)) is None:
            return False
        async with self._listing:
            if self._clock() - self._listed_at > _LIST_SECONDS:
                self._listed = await self._keys.valid()
                self._listed_at = self._clock()
        return presented in self._listed


def address_of(host: str | None) -> str:
    """The address that counts as one client: an IPv4 address, or the /64 network of an IPv6 address."""
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
