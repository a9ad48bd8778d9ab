"""JSON-RPC messages of MCP, checked in their raw form. Pure."""

from __future__ import annotations

from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json

from reverie_indexer.errors import ReverieError


class NotJson(ReverieError):
    """The message is not JSON."""

    code = "bad_request"


class MalformedMessage(ReverieError):
    """The message is JSON, and not one message of JSON-RPC."""

    code = "invalid_message"


def check_message(raw: bytes) -> JSONRPCMessage:
    """The one JSON-RPC message in the bytes; NotJson or MalformedMessage.

    The errors have their own texts, since the library's quote the message.
    """
    try:
        content = from_json(raw)
    except ValueError:
        raise NotJson("the message is not JSON") from None
    try:
        return jsonrpc_message_adapter.validate_python(content, by_name=False)
    except ValidationError:
        raise MalformedMessage("a message is one JSON-RPC request, notification or response") from None
