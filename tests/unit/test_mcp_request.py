"""Whose memory a request to /mcp is for, and from where an open server takes one."""

from __future__ import annotations

import pytest

from reverie_indexer.errors import Forbidden, ValidationFailed
from reverie_server.access.connection_headers import connection_of
from reverie_server.access.keys import OPERATOR, Caller
from reverie_server.access.origin import MisdirectedRequest, check_origin
from reverie_server.mcp.message import MalformedMessage, NotJson, check_message

KEYED = Caller("acme", "member", key_id="0123456789abcdef")
OF_WREN = Caller("acme", "member", agent_ids=frozenset({"wren"}), key_id="0123456789abcdef")
OF_TWO = Caller("acme", "member", agent_ids=frozenset({"wren", "finch"}), key_id="0123456789abcdef")
OF_ADA = Caller("acme", "member", owner_key="user:ada", key_id="0123456789abcdef")
WREN = ("x-reverie-agent", "wren")


def headers(*pairs: tuple[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in pairs]


def test_agent_and_owner_are_those_of_the_headers() -> None:
    found = connection_of(OPERATOR, headers(WREN, ("x-reverie-owner", "user:42")))
    assert (found.caller, found.agent_id, found.owner_key) == (OPERATOR, "wren", "user:42")
    assert connection_of(OPERATOR, headers(WREN)).owner_key is None
    assert connection_of(OPERATOR, headers(WREN, ("x-reverie-end-user", "ada"))).owner_key == "api:ada"


def test_a_key_for_one_agent_or_owner_says_what_the_headers_do_not() -> None:
    assert connection_of(OF_WREN, []).agent_id == "wren"
    assert connection_of(OF_ADA, headers(WREN)).owner_key == "user:ada"


def test_the_agent_of_the_path_is_the_same_as_one_of_the_header() -> None:
    for caller in (OPERATOR, KEYED, OF_WREN, OF_TWO):
        for pairs in ([], [WREN]):
            assert connection_of(caller, headers(*pairs), path_agent="wren").agent_id == "wren"
    with pytest.raises(ValidationFailed, match="different agents"):
        connection_of(OPERATOR, headers(WREN), path_agent="finch")
    with pytest.raises(Forbidden):
        connection_of(OF_WREN, [], path_agent="finch")


@pytest.mark.parametrize(
    ("caller", "pairs", "error"),
    [
        (OPERATOR, [], ValidationFailed),
        (KEYED, [], ValidationFailed),
        (OF_TWO, [], ValidationFailed),
        (OPERATOR, [("x-reverie-agent", "a b")], ValidationFailed),
        (OPERATOR, [("x-reverie-agent", "")], ValidationFailed),
        (OPERATOR, [WREN, ("x-reverie-agent", "finch")], ValidationFailed),
        (OPERATOR, [WREN, ("x-reverie-owner", "")], ValidationFailed),
        (OPERATOR, [WREN, ("x-reverie-owner", "*")], ValidationFailed),
        (OPERATOR, [WREN, ("x-reverie-owner", "nobody")], ValidationFailed),
        (OPERATOR, [WREN, ("x-reverie-owner", "user:1"), ("x-reverie-owner", "user:1")], ValidationFailed),
        (OPERATOR, [WREN, ("x-reverie-owner", "user:1"), ("x-reverie-end-user", "1")], ValidationFailed),
        (OF_WREN, [("x-reverie-agent", "finch")], Forbidden),
        (OF_ADA, [WREN, ("x-reverie-owner", "user:bo")], Forbidden),
        (OF_ADA, [WREN, ("x-reverie-end-user", "ada")], Forbidden),
    ],
)
def test_what_is_missing_malformed_or_not_for_the_key_is_refused(
    caller: Caller, pairs: list[tuple[str, str]], error: type[Exception]
) -> None:
    with pytest.raises(error):
        connection_of(caller, headers(*pairs))


def test_an_owner_of_any_script_is_the_same_owner_as_in_a_body() -> None:
    assert connection_of(OPERATOR, headers(WREN, ("x-reverie-owner", "user:Zoë"))).owner_key == "user:Zoë"
    latin = [*headers(WREN), (b"x-reverie-owner", "user:Zoë".encode("latin-1"))]
    with pytest.raises(ValidationFailed, match="not UTF-8"):
        connection_of(OPERATOR, latin)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8077", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:65535", "127.8.9.1:80", "[::1]:99"]
)
def test_an_open_server_answers_under_any_loopback_name_and_port(host: str) -> None:
    check_origin(OPERATOR, headers(("host", host)))
    check_origin(OPERATOR, headers(("host", host), ("origin", f"http://{host}")))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8077",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil@127.0.0.1",
        "user:pass@localhost",
        "10.0.0.1:8077",
        "0.0.0.0:8077",
        "[::2]",
        "[::1",
        "",
        ":8077",
    ],
)
def test_an_open_server_refuses_every_other_name_since_it_may_be_rebound(host: str) -> None:
    with pytest.raises(MisdirectedRequest):
        check_origin(OPERATOR, headers(("host", host)))


@pytest.mark.parametrize("origin", ["http://evil.example", "https://localhost.evil.example", "null", "", "file://"])
def test_an_open_server_refuses_web_pages_of_other_sites(origin: str) -> None:
    with pytest.raises(Forbidden):
        check_origin(OPERATOR, headers(("host", "localhost:8077"), ("origin", origin)))


def test_a_server_with_keys_may_have_any_name() -> None:
    check_origin(KEYED, headers(("host", "memory.example"), ("origin", "https://app.example")))


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"", NotJson),
        (b"{", NotJson),
        (b"\xff", NotJson),
        (b"[" * 100_000, NotJson),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', NotJson),
        (b"[]", MalformedMessage),
        (b"5", MalformedMessage),
        (b'{"id":1,"method":"ping"}', MalformedMessage),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', MalformedMessage),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', MalformedMessage),
    ],
)
def test_what_is_no_message_is_refused_without_quoting_it(raw: bytes, error: type[NotJson]) -> None:
    with pytest.raises(error) as caught:
        check_message(raw)
    assert "pydantic" not in caught.value.detail
