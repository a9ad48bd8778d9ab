"""How what reads requests is called with a text of somebody's: tools, MCP, HTTP, keys, agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException
from pydantic import ValidationError
from tests.growth import Reading

from reverie_indexer.errors import ValidationFailed
from reverie_server.access import connection_headers as request
from reverie_server.access import keys, origin
from reverie_server.browse import expand
from reverie_server.files.files import parse_if_match
from reverie_server.http import context, json_shape, problems
from reverie_server.http.routes import snapshots
from reverie_server.http.schemas import forgetting
from reverie_server.mcp import message
from reverie_server.settings import agent
from reverie_server.text import fields
from reverie_server.tools import arguments, descriptions, registry

ADMIN = keys.Caller("default", "admin")


def _header(name: str, text: str) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), text.encode("utf-8", "replace"))]


def _described(text: str) -> object:
    try:
        return forgetting.Forget.model_validate({"query": text, text: text, "text": 1, "id": [text]})
    except ValidationError as error:
        return problems._described(error.errors())


def _fields(text: str) -> object:
    """As many unknown arguments as the text has words."""
    return arguments.read_arguments(arguments.SaveMemory, {"content": "a", **dict.fromkeys(text.split(), text[:10])})


def _no_text(text: str) -> object:
    try:
        return fields._checked(text)
    except ValueError:
        return None


def _settings(text: str) -> object:
    try:
        return agent.effective_settings(agent.AgentSettings(), {"language": text, "time_zone": text, text: text})
    except ValidationError as error:
        return error.errors()


def _cursor(text: str) -> object:
    try:
        return context.decode_cursor(text, str, int)
    except (HTTPException, ValidationFailed):
        return None


def _cursor_time(text: str) -> object:
    try:
        return context.cursor_time(text)
    except ValueError:
        return None


def _scope(path: str) -> dict[str, Any]:
    return {"type": "http", "method": "POST", "path": f"/api/v1/agents/{path}/workspace/memory/import"}


TABLE: Mapping[str, Reading] = {
    "reverie_server.access.keys._KEY": keys._KEY.fullmatch,
    "reverie_server.access.origin.check_origin": lambda text: origin.check_origin(ADMIN, _header("host", text)),
    "reverie_server.access.origin.check_origin:origin": lambda text: origin.check_origin(
        ADMIN, _header("origin", text)
    ),
    "reverie_server.settings.agent.effective_settings": _settings,
    "reverie_server.http.context.decode_cursor": _cursor,
    "reverie_server.http.context.encode_cursor": context.encode_cursor,
    "reverie_server.http.context.cursor_time": _cursor_time,
    "reverie_server.http.json_shape.check_shape": lambda text: json_shape.check_shape(text.encode("utf-8", "replace")),
    "reverie_server.http.json_shape.check_shape:text": lambda text: json_shape.check_shape(
        json.dumps([text, text]).encode()
    ),
    "reverie_server.http.problems._described": _described,
    "reverie_server.http.routes.snapshots.takes_archive": lambda text: snapshots.takes_archive(_scope(text)),
    "reverie_server.text.fields._checked": _no_text,
    "reverie_server.text.fields._DAY_FIRST": fields._DAY_FIRST.match,
    "reverie_server.mcp.message.check_message": lambda text: message.check_message(text.encode("utf-8", "replace")),
    "reverie_server.mcp.message.check_message:params": lambda text: message.check_message(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": text, "params": {"a": text}}).encode()
    ),
    "reverie_server.access.connection_headers.connection_of": lambda text: request.connection_of(
        ADMIN, _header(request.AGENT, "a") + _header(request.OWNER, text)
    ),
    "reverie_server.access.connection_headers.header": lambda text: request.header(_header("x", text), "x"),
    "reverie_server.browse.expand._ID": expand._ID.fullmatch,
    "reverie_server.files.files.parse_if_match": parse_if_match,
    "reverie_server.tools.arguments.read_arguments": lambda text: arguments.read_arguments(
        arguments.SaveMemory, {"content": text[:5000], "category": text}
    ),
    "reverie_server.tools.arguments.read_arguments:moment": lambda text: arguments.read_arguments(
        arguments.KnowledgeGraphSearch, {"query": text, "asOf": text}
    ),
    "reverie_server.tools.arguments.read_arguments:names": _fields,
    "reverie_server.tools.descriptions.parse_description": lambda text: _unless_wrong(text),
    "reverie_server.tools.registry.printable": registry.printable,
}


def _unless_wrong(text: str) -> object:
    try:
        return descriptions.parse_description(f"---\n{text}\n---\nbody")
    except ValueError:
        return None


_OWN = "takes what this project itself brings"
EXEMPT: Mapping[str, str] = {
    "reverie_server.app.backups.timelines.Route.has": "compares a place in the log with those of a few timelines",
    "reverie_server.app.backups.timelines.Route.missing": "counts the segments of an archive",
    "reverie_server.app.backups.timelines.place_of": "the name of a segment",
    "reverie_server.app.backups.timelines.route_to": "the history of timelines, which PostgreSQL writes",
    "reverie_server.app.backups.timelines.timeline_at": "compares the times of a few restores",
    "reverie_server.settings.names.without_services": "the environment of whoever starts the server",
    "reverie_server.settings.names.unknown_name": "the environment of whoever starts the server",
    "reverie_server.settings.names.unknown_variables": "the environment of whoever starts the server",
    "reverie_server.tools.descriptions.describe": _OWN,
    "reverie_server.tools.forms.openai": _OWN,
    "reverie_server.tools.forms.anthropic": _OWN,
    "reverie_server.tools.forms.mcp": _OWN,
    "reverie_server.tools.forms.listed": _OWN,
    "reverie_server.tools.arguments.schema_of": _OWN,
    "reverie_bench.tune.figures.crossover": _OWN,
    "reverie_bench.tune.figures.is_decided": _OWN,
}
