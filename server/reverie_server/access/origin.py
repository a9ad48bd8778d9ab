"""Checks where a request to an open server comes from. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reverie_indexer.errors import Forbidden, ReverieError

if TYPE_CHECKING:
    from reverie_server.access.keys import Caller

Headers = Iterable[tuple[bytes, bytes]]


class MisdirectedRequest(ReverieError):
    """The request is for a server of another name."""

    code = "misdirected_request"


def check_origin(caller: Caller, headers: Headers) -> None:
    """Refuse a request that a web page may have sent to an open server.

    MisdirectedRequest for a Host that is not loopback's, Forbidden for an Origin that is not; any port will do. An open
    server listens on loopback, where a page of any site can reach it, even under a name of that site (DNS rebinding).
    A request with a key passes: a web page has no key, and a server with keys may have any name.
    """
    if caller.key_id is not None:
        return
    for key, value in headers:
        if key == b"host" and not _is_loopback(f"//{value.decode('latin-1')}"):
            raise MisdirectedRequest("a server without keys answers to names of loopback only, such as localhost")
        if key == b"origin" and not _is_loopback(value.decode("latin-1")):
            raise Forbidden("a server without keys answers no web page of another site")


def _is_loopback(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return parts.username is None and (host == "localhost" or ipaddress.ip_address(host).is_loopback)
    except ValueError:
        return False
