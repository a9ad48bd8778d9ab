"""What every adapter shares: a loop of JSON lines on standard input and output, one answer a request.

An adapter is a script beside this file: a subclass of `Adapter`, and `main(ThatClass)` under `if __name__ ==
"__main__"`. It runs in a virtual environment of its own, so this module needs nothing but the standard library and,
for memory, psutil. Import the peer's library inside `open`, so that a failing import is an answer and not a crash.

| request | answer, beside `"ok": true` |
|---|---|
| `{"op": "open", "dir": …, "dsn": …, "embedder": {"dimension": 384}}` | `version`, `notes`, `serial_because` |
| `{"op": "write", "user": …, "items": [{"id", "text", "at"}]}` | `seconds` |
| `{"op": "search", "user": …, "query": …, "k": 10}` | `ids`, `seconds` |
| `{"op": "many", "searches": [{"user", "query"}], "k": 10, "clients": 8}` | `seconds` of all, `clients` |
| `{"op": "rss"}` | `bytes` |
| `{"op": "close"}` | nothing; the process ends |

Whatever fails is `{"ok": false, "error": …}`. Seconds are measured here, around the call of the adapter's method.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any


@dataclass(frozen=True, slots=True)
class Opening:
    """Where an adapter keeps its data.

    `directory` exists and is the adapter's own. `dsn` is a libpq connection string (a URL or `key=value` words;
    `dsn_parts` takes either apart) of a database of its own with the extension `vector`; the server may listen on a
    unix socket only, so `host` may be a path. Both are empty at the first start; after a kill they are as they were
    left. `dimension` is that of the embedder.
    """

    directory: Path
    dsn: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Item:
    """One memory to write; `at` is an ISO 8601 date or moment, or None where the data has none."""

    id: str
    text: str
    at: str | None


class Adapter:
    """One peer. Override `open`, `write` and `search`, and what else differs."""

    notes: Sequence[str] = ()
    """What differs from the others, one sentence each; may be changed in `open`."""

    serial_because: str | None = None
    """Why `search` must not be called from several threads at once; None: it may be."""

    def open(self, opening: Opening) -> str:
        """Start, or start again on what is there; returns the peer's version."""
        raise NotImplementedError

    def write(self, user: str, items: Sequence[Item]) -> None:
        """Keep the items of one user; return only when they are durable and `search` finds them."""
        raise NotImplementedError

    def search(self, user: str, query: str, k: int) -> list[str]:
        """The ids of up to `k` items of this user, best first; empty for a user that has none."""
        raise NotImplementedError

    def close(self) -> None:
        """End what was started."""

    def rss(self) -> int:
        """Resident bytes of this process and all its children. Override where this process is only a client."""
        return resident_bytes(os.getpid())


def resident_bytes(pid: int) -> int:
    """Resident memory of a process and all below it, in bytes; shared pages count once for each of them."""
    import psutil

    top = psutil.Process(pid)
    total = 0
    for process in [top, *top.children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return int(total)


def dsn_parts(dsn: str) -> dict[str, str]:
    """`user`, `password`, `host`, `port`, `dbname` of a connection string, as far as given. Needs psycopg 3."""
    from psycopg.conninfo import conninfo_to_dict

    return {name: str(value) for name, value in conninfo_to_dict(dsn).items() if value is not None}


def sqlalchemy_url(dsn: str, driver: str) -> str:
    """The same database for SQLAlchemy: `postgresql+DRIVER://user@/dbname?host=…`, which also holds a socket's path."""
    from urllib.parse import quote, urlencode

    parts = dsn_parts(dsn)
    secret = f":{quote(parts['password'], safe='')}" if "password" in parts else ""
    login = f"{quote(parts['user'], safe='')}{secret}@" if "user" in parts else ""
    where: dict[str, str] = {name: parts[name] for name in ("host", "port") if name in parts}
    return f"postgresql+{driver}://{login}/{quote(parts['dbname'], safe='')}?{urlencode(where)}"


def main(adapter: type[Adapter]) -> None:
    """Answer requests until `close` or the end of the input."""
    requests, answers = _own_channels()
    peer = adapter()
    for line in requests:
        request = json.loads(line)
        try:
            answer = {"ok": True, **_answer(peer, request)}
        except Exception as error:  # noqa: BLE001  # the edge: whatever a library raises becomes a row of the table
            traceback.print_exc()
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"[:2000]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
        if request["op"] == "close":
            return


def _own_channels() -> tuple[IO[str], IO[str]]:
    """Standard input and output for the protocol alone: prints go to standard error, children read nothing."""
    sys.stdout.flush()
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return requests, answers


def _answer(peer: Adapter, request: Mapping[str, Any]) -> dict[str, Any]:
    match request["op"]:
        case "open":
            opening = Opening(Path(request["dir"]), request["dsn"], request["embedder"]["dimension"])
            version = peer.open(opening)
            return {"version": version, "notes": list(peer.notes), "serial_because": peer.serial_because}
        case "write":
            items = [Item(item["id"], item["text"], item["at"]) for item in request["items"]]
            began = time.perf_counter()
            peer.write(request["user"], items)
            return {"seconds": time.perf_counter() - began}
        case "search":
            began = time.perf_counter()
            ids = peer.search(request["user"], request["query"], request["k"])
            return {"ids": ids, "seconds": time.perf_counter() - began}
        case "many":
            return _search_many(peer, request)
        case "rss":
            return {"bytes": peer.rss()}
        case "close":
            peer.close()
            return {}
        case other:
            raise ValueError(f"no such operation: {other}")


def _search_many(peer: Adapter, request: Mapping[str, Any]) -> dict[str, Any]:
    clients = 1 if peer.serial_because else request["clients"]
    with ThreadPoolExecutor(clients) as threads:
        began = time.perf_counter()
        done = [threads.submit(peer.search, s["user"], s["query"], request["k"]) for s in request["searches"]]
        for search in done:
            search.result()
        return {"seconds": time.perf_counter() - began, "clients": clients}
