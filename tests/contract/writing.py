"""The table of all that writes: a request for each route and tool, for whomever and into whichever scope."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import httpx

AGENT = "wren"
BACKUP = "MEMORY_backup_2026-04-03_09-30-00.md"
# What a request says of whose memory it is: nothing, or these fields.
Says = Mapping[str, str]
OK = (200, 201, 202, 204)


@dataclass(frozen=True)
class Sent:
    """What goes over the wire for a request that says `says` of whose memory it is."""

    json: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None


Send = Callable[[Says], Sent]


@dataclass(frozen=True)
class Row:
    """A way to write. `path` is the route's, `url` what is asked for; `needs` is there before each request.

    `done` are the statuses of a request that may write; of what is looked up by an id that nobody has: 404.
    """

    method: str
    path: str
    url: str
    send: Send
    is_scoped: bool = False
    needs: tuple[str, ...] = ()
    done: tuple[int, ...] = OK
    tool: str = ""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}{f' {self.tool}' if self.tool else ''}"


def _body(**given: Any) -> Send:
    return lambda says: Sent(json={**given, **says})


def _query(says: Says) -> Sent:
    return Sent(params=dict(says))


def _archive(says: Says) -> Sent:
    """A snapshot of one file."""
    text = b"# Imported\n\nFrom an archive.\n"
    entry = {"path": "memory/2026-04-01.md", "sha256": sha256(text).hexdigest(), "size": len(text)}
    at = datetime(2026, 4, 3, tzinfo=UTC).isoformat()
    manifest = {"version": 1, "exported_at": at, "agent_id": AGENT, "agent_name": AGENT, "files": [entry]}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr(str(entry["path"]), text)
    return Sent(params=dict(says), headers={"Content-Type": "application/zip"}, content=packed.getvalue())


def _headers(says: Says) -> dict[str, str]:
    named = {"X-Reverie-Owner": says["owner_key"]} if "owner_key" in says else {}
    return {"X-Reverie-Agent": AGENT, **named}


def _mcp(name: str, arguments: Mapping[str, Any]) -> Send:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": dict(arguments)}}
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    return lambda says: Sent(json=call, headers={**accept, **_headers(says)})


def _chat(says: Says) -> Sent:
    body = {"model": "scripted", "messages": [{"role": "user", "content": "The heron nests by the weir."}]}
    return Sent(json=body, headers={**_headers(says), "X-Reverie-Session": "web:9"})


def _respond(says: Says) -> Sent:
    body = {"model": "scripted", "input": "The heron nests by the weir."}
    return Sent(json=body, headers={**_headers(says), "X-Reverie-Session": "web:9"})


PROXIED = ("/v1/chat/completions", "/v1/responses")
A = "/api/v1/agents/{a}"
M = "/api/v1/memory/{a}"
_TALK = [{"role": "user", "content": "The heron nests by the weir."}, {"role": "assistant", "content": "I see."}]
TOOLS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "save_memory": ({"content": "Ada prefers the early train to Porto."}, ()),
    "update_memory": ({"old_text": "The otter sleeps.", "new_text": "The otter swims."}, ("memory",)),
    "forget_memory": ({"text": "The otter sleeps.", "confirm": True}, ("memory",)),
    "write_workspace_memory_file": ({"filename": "victim.md", "content": "written by a tool"}, ()),
    "edit_workspace_memory_file": (
        {"filename": "victim.md", "old_text": "first line", "new_text": "another line"},
        ("file",),
    ),
}


def _rows() -> list[Row]:
    file, s = f"{A}/files/{{path}}", f"{A}/sessions/{{s}}"
    url, session = f"/agents/{AGENT}", f"/agents/{AGENT}/sessions/web:1"
    scoped = [
        Row("PUT", file, f"{url}/files/victim.md", _body(content="second line\n")),
        Row("PATCH", file, f"{url}/files/victim.md", _body(old_text="first line", new_text="x"), needs=("file",)),
        Row("POST", f"{file}/writes", f"{url}/files/victim.md/writes", _body(strategy="append", content="more")),
        Row("DELETE", file, f"{url}/files/victim.md", _query, needs=("file",)),
        Row("POST", f"{file}/versions/{{version}}/restore", f"{url}/files/victim.md/versions/1/restore", _body(),
            needs=("file",)),
        Row("POST", f"{A}/memory/reindex", f"{url}/memory/reindex", _body()),
        Row("POST", f"{A}/workspace/memory/import/preview", f"{url}/workspace/memory/import/preview", _archive),
        Row("POST", f"{A}/workspace/memory/import", f"{url}/workspace/memory/import", _archive),
    ]  # fmt: skip
    rows = [Row(r.method, r.path, r.url, r.send, is_scoped=True, needs=r.needs) for r in scoped]
    unknown = (404,)
    rows += [
        Row("POST", f"{A}/memory/save", f"{url}/memory/save", _body(content="Ada prefers the early train to Porto."),
            done=(201, 409)),
        Row("POST", f"{A}/memory/update", f"{url}/memory/update",
            _body(old_text="The otter sleeps.", new_text="The otter swims."), needs=("memory",)),
        Row("POST", f"{A}/memory/forget", f"{url}/memory/forget", _body(text="The otter sleeps.", dry_run=False),
            needs=("memory",)),
        Row("POST", f"{A}/memory/clear", f"{url}/memory/clear", _body(path_prefix="victim", dry_run=False),
            needs=("file",)),
        Row("POST", f"{A}/memory/compact", f"{url}/memory/compact", _body(), needs=("memory",)),
        Row("POST", f"{A}/memory/backups/{{name}}/restore", f"{url}/memory/backups/{BACKUP}/restore", _body(),
            needs=("backup",)),
        Row("PUT", s, session, _body(metadata={"title": "x"})),
        Row("DELETE", s, session, _query, needs=("session",)),
        Row("POST", f"{s}/messages", f"{session}/messages", _body(messages=_TALK)),
        Row("DELETE", f"{s}/messages", f"{session}/messages", _query, needs=("session",)),
        Row("POST", f"{s}/complete", f"{session}/complete", _body(trigger_source="web"), needs=("session",)),
        Row("POST", f"{s}/compact", f"{session}/compact", _body(keep_last=0), needs=("session",)),
        Row("DELETE", f"{A}/episodes/{{episode_id}}", f"{url}/episodes/ep-999", _query, done=unknown),
        Row("DELETE", f"{A}/unmet-requests/{{request_id}}", f"{url}/unmet-requests/ask-999", _query, done=unknown),
        Row("POST", f"{A}/graph/merge", f"{url}/graph/merge", _body(keep="ent-998", absorb="ent-999"), done=unknown),
        Row("POST", f"{A}/graph/merges/{{merge_id}}/undo", f"{url}/graph/merges/mrg-999/undo", _body(), done=unknown),
        Row("POST", f"{A}/graph/duplicates/{{duplicate_id}}/dismiss", f"{url}/graph/duplicates/dup-999/dismiss",
            _body(), done=unknown),
        *(
            Row("POST", f"{A}/facts/{{fact_id}}/{action}", f"{url}/facts/fact-999/{action}", _body(**more),
                done=unknown)
            for action, more in (
                ("confirm", {}), ("feedback", {"kind": "helpful"}), ("edit", {"text": "Tea."}), ("forget", {}),
            )
        ),
        Row("POST", f"{A}/contradictions/{{contradiction_id}}/resolve", f"{url}/contradictions/con-999/resolve",
            _body(keep="a"), done=unknown),
        Row("POST", f"{A}/pipeline/retry", f"{url}/pipeline/retry", _body(), needs=("job",)),
        Row("POST", f"{M}/emergence", f"/memory/{AGENT}/emergence", _body()),
        Row("POST", f"{M}/dreaming/focused", f"/memory/{AGENT}/dreaming/focused", _body(topic="otters")),
        *(
            Row(
                "POST",
                f"{M}/dream/reports/{{report_id}}/entries/{{key}}/{action}",
                f"/memory/{AGENT}/dream/reports/{'0' * 16}/entries/{'0' * 16}:1/{action}",
                _body(**more),
                done=unknown,
            )
            for action, more in (("confirm", {}), ("edit", {"content": "Tea."}), ("forget", {}))
        ),
        Row("POST", f"{M}/dream/morning-card/seen", f"/memory/{AGENT}/dream/morning-card/seen", _body()),
        Row("POST", f"{M}/summarize/{{conversation_id}}", f"/memory/{AGENT}/summarize/web:1", _body(),
            needs=("session",)),
        *(Row("POST", path, path, sent) for path, sent in zip(PROXIED, (_chat, _respond), strict=True)),
    ]  # fmt: skip
    for name, (arguments, needs) in TOOLS.items():
        route = f"{url}/tools/{name}"
        done = (200, 409) if name == "save_memory" else (200,)
        rows.append(Row("POST", f"{A}/tools/{{name}}", route, _body(arguments=arguments), False, needs, done, name))
        rows.append(Row("POST", "/mcp", "/mcp", _mcp(name, arguments), False, needs, done, name))
    return rows


ROWS = _rows()
# Of all who use the agent, or of the tenant: an admin's whose key is bound to nobody.
OF_EVERYBODY: list[tuple[str, str, str, Any]] = [
    ("PUT", A, f"/agents/{AGENT}", {"settings": {"memory_isolation": True}}),
    ("DELETE", A, "/agents/crow", None),
    ("POST", f"{A}/memory/clear", f"/agents/{AGENT}/memory/clear", {"owner_key": "*", "dry_run": True}),
    ("POST", f"{A}/pipeline/retry", f"/agents/{AGENT}/pipeline/retry", {"owner_key": "*"}),
]
# Of the tenant as a whole: an admin's whose key is bound to nothing.
OF_TENANT: list[tuple[str, str, str, Any, tuple[int, ...]]] = [
    ("POST", "/api/v1/keys", "/keys", {"role": "viewer"}, (201,)),
    ("DELETE", "/api/v1/keys/{key_id}", "/keys/0123456789abcdef", None, (404,)),
    ("DELETE", "/api/v1/owners/{owner_key}", "/owners/user:ben?dry_run=false", None, (200,)),
]
# POST because it takes a body; it writes nothing that anybody has.
READING = {
    f"POST {A}/context",
    f"POST {A}/memory/search",
    f"POST {A}/memory/keyword-search",
    f"POST {A}/memory/inject",
    f"POST {A}/episodes/search",
    f"POST {A}/graph/search",
}
TOOL_CODES = {"forbidden": 403, "not_found": 404, "duplicate_detected": 409, "validation_error": 422}


def status_of(row: Row, response: httpx.Response) -> int:
    """The status of an answer; what a tool says in its body, as the status that a route would have."""
    if not row.tool or response.status_code != 200:
        return response.status_code
    answer = response.json()
    if row.path == "/mcp":
        result = answer["result"]
        answer = result["structuredContent"] if result.get("isError") else {"ok": True}
    return 200 if answer["ok"] else TOOL_CODES.get(answer["error"]["code"], 500)
