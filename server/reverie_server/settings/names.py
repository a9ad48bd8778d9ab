"""The names that settings may have. An unknown name is an error that says the nearest known one. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

PREFIX = "REVERIE_"
# Variables that are no settings, each with its reader. This is the one list.
OTHER_VARIABLES = frozenset(
    {
        "REVERIE_URL",  # the Python client, and commands that talk to a running server
        "REVERIE_API_KEY",  # the same, and `reverie mcp`
        "REVERIE_BOOTSTRAP_ADMIN_KEY",  # the first key of a server
        "REVERIE_BOOTSTRAP_ADMIN_KEY_FILE",
        "REVERIE_CANARY_SEED",  # the test suite
    }
)
# The test suite has variables of its own under this prefix.
TEST_PREFIX = "REVERIE_TEST_"

# Variables that Kubernetes sets in every container of a namespace for a Service called reverie or reverie-something.
_OF_SERVICE = re.compile(
    r"REVERIE(?:_[A-Z0-9_]+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)"
)
_ADDRESS_OF_SERVICE = re.compile(r"(?:tcp|udp|sctp)://\S+")

T = TypeVar("T", str, str | None)


def without_services(environment: Mapping[str, T]) -> dict[str, T]:
    """The variables without those that Kubernetes sets for a Service: nobody set them, and nobody can mistype them.

    REVERIE_PORT is one of them where its value is an address (`tcp://10.0.0.1:8077`), and is then no setting.
    """
    return {
        name: value
        for name, value in environment.items()
        if not _OF_SERVICE.fullmatch(name.upper())
        and not (re.fullmatch(r"REVERIE_(?:\w+_)?PORT", name.upper()) and _ADDRESS_OF_SERVICE.fullmatch(value or ""))
    }


def unknown_variables(environment: Iterable[str], settings: Collection[str]) -> list[str]:
    """A sentence for each `REVERIE_*` variable that is no setting and that nothing else reads.

    Case does not matter, as it does not where the variables are read.
    """
    known = {*(PREFIX + name.upper() for name in settings), *OTHER_VARIABLES}
    unknown = sorted(
        name
        for name in environment
        if name.upper().startswith(PREFIX) and not name.upper().startswith(TEST_PREFIX) and name.upper() not in known
    )
    return [unknown_name(name, known) for name in unknown]


def unknown_name(name: str, known: Collection[str]) -> str:
    """The sentence about one unknown name."""
    # Without a cutoff: even a distant name shows an operator what kind of name is expected.
    spelled_alike = (
        name.upper() if any(each.startswith(PREFIX) for each in known) else name.lower().removeprefix("reverie_")
    )
    [nearest] = difflib.get_close_matches(spelled_alike, known, 1, 0.0)
    return f"{name}: there is no such setting (the nearest name is {nearest})"
