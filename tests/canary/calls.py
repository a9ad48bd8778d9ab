"""Requests with what may come of them, and answers with all that they show."""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import httpx
from tests.canary.effects import Effect
from tests.canary.words import canaries_in
from tests.canary.world import Acting, Home, Key, World


@dataclass(frozen=True)
class Answer:
    """What came back. `ok`: it did what was asked; `result` is then what a caller reads, unwrapped."""

    status: int
    ok: bool
    result: Any
    shown: frozenset[str]
    text: str
    content: bytes
    entries: dict[str, str] = field(default_factory=dict)


# An API key. None is ever shown but by what makes it.
SECRET = re.compile(r"rv_[a-z0-9]{16}_[A-Za-z0-9_-]{43}")


class LeakError(AssertionError):
    """An answer, a log or the database shows what it must not, or counts it."""


def demand(holds: object, fault: str) -> None:
    """LeakError unless it holds."""
    if not holds:
        raise LeakError(fault)


Check = Callable[[World, Answer], None]


@dataclass
class Call:
    """One request.

    `acting` says whose memory it is about (None: nobody's). Where `may` gives false, it must be refused. An answer may
    show canaries of the homes that `homes` gives, by default all that `acting` sees; `past`: their history too; `said`:
    what is said in their sessions, and derived of it; `names`: others, of agents or of one session; `echo`: of the
    request itself. `check` looks closer; `exact` is asked only where nothing else was under way, and so knows the
    counts. `follow` gives the next page. `derives`: it makes or removes what is derived; `asked` are words that this
    may be made of.
    """

    label: str
    key: Key
    method: str
    url: str
    acting: Acting | None = None
    may: Callable[[World], bool] | None = None
    body: Any = None
    params: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None
    homes: Callable[[World], Sequence[Home]] | None = None
    past: bool = False
    said: bool = False
    names: Callable[[World], set[str]] | None = None
    echo: frozenset[str] = frozenset()
    effects: Callable[[World, Answer], Sequence[Effect]] = lambda world, answer: ()
    check: Check | None = None
    exact: Check | None = None
    follow: Callable[[Answer], Call | None] = lambda answer: None
    runs_alone: bool = False
    derives: bool = False
    makes_key: bool = False
    asked: str = ""

    def must_be_refused(self, world: World) -> bool:
        """Whether the caller may not do this; by default whether they see nothing there."""
        if self.may is not None:
            return not self.may(world)
        return not self.key.works or (self.acting is not None and world.sight(self.acting) is None)

    def given(self) -> str:
        """All that the caller sent, as text: what an error may repeat."""
        cursors = [decoded_cursor(value) for value in (*self.params.values(), unquote(self.url)) if value]
        archive = " ".join(entries_of(self.content).keys()) if self.content else ""
        body = json.dumps(self.body, ensure_ascii=False) if self.body is not None else ""
        parts = [unquote(self.url), *self.params.values(), *self.headers.values(), *cursors, body, archive]
        return "\n".join(parts)

    def __str__(self) -> str:
        body = f"<{len(self.content)} bytes>" if self.content is not None else json.dumps(self.body)
        who = f"{self.key.tenant} {self.key.label}"
        return f"[{who}] {self.method} {self.url} {self.params or ''} {self.headers or ''} {body}"[:1200]


def answer_of(response: httpx.Response) -> Answer:
    """A response with all that it shows: status line, headers, body, an archive's files, what cursors stand for."""
    is_json = "json" in response.headers.get("content-type", "") and response.content
    body = json.loads(response.content) if is_json else None
    entries = entries_of(response.content) if response.content[:2] == b"PK" else {}
    text = response.content.decode("utf-8", "replace")
    head = [response.reason_phrase, *(f"{name}: {value}" for name, value in response.headers.multi_items())]
    parts = [*head, unquote(" ".join(head)), text, *strings_of(body), *entries.keys(), *entries.values()]
    is_fine, result = _unwrapped(body)
    return Answer(
        status=response.status_code,
        ok=response.is_success and is_fine,
        result=result,
        shown=frozenset(canaries_in("\n".join(parts))),
        text=text,
        content=response.content,
        entries=entries,
    )


def _unwrapped(body: Any) -> tuple[bool, Any]:
    """Whether a body is no error, and the result in it: tools, MCP and control routes wrap theirs."""
    if not isinstance(body, dict):
        return True, body
    if "jsonrpc" in body:
        inner = body.get("result") or {}
        return "error" not in body and not inner.get("isError"), inner.get("structuredContent", inner)
    if body.keys() == {"code", "data"} or body.keys() == {"code", "msg", "error"}:
        return body["code"] == 200, body.get("data")
    if body.keys() == {"ok", "result"} or body.keys() == {"ok", "error"}:
        return body["ok"], body.get("result")
    return True, body


def strings_of(value: Any) -> Iterator[str]:
    """Every text in a JSON value, decoded; of cursors what they stand for."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield name
            yield from strings_of(part)
            if name == "next_cursor" and isinstance(part, str):
                yield decoded_cursor(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings_of(part)


def decoded_cursor(cursor: str) -> str:
    """What a cursor stands for, as text; "" for what is none."""
    try:
        return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def entries_of(archive: bytes) -> dict[str, str]:
    """The names in an archive, each with its text; empty for what is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return {name: opened.read(name).decode("utf-8", "replace") for name in opened.namelist()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error):
        return {}


def objects_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value, itself too."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from objects_of(part)


def rows_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value that says whose it is."""
    return (found for found in objects_of(value) if found.get("scope") in ("personal", "team", "global"))
