"""What the file routes refuse, with which status and code, and that a refusal changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

MIB = 1_048_576
LONGEST = "p" * 509 + ".md"
BAD_PATHS = {
    "no such type": "notes.exe",
    "no extension": "notes",
    "upper-case extension": "notes.MD",
    "extension only of a folder": "notes.md/",
    "absolute": "/etc/passwd.md",
    "absolute, encoded": "%2Fetc%2Fpasswd.md",
    "drive": "C%3A/notes.md",
    "backslash": "notes%5Ca.md",
    "parent": "notes/..%2Fa.md",
    "parent, encoded": "%2e%2e/a.md",
    "parent, wholly encoded": "%2e%2e%2f%2e%2e%2fetc%2fpasswd.md",
    "parent inside": "a/%2e%2e/_system/a.md",
    "dot segment": "a/%2e/b.md",
    "empty segment": "a//b.md",
    "NUL": "a%00.md",
    "NUL before another type": "a.md%00.exe",
    "newline": "a%0Ab.md",
    "newline at the end": "a.md%0A",
    "tab": "a%09.md",
    "DEL": "a%7F.md",
    "C1 control": "a%C2%85.md",
    "513 bytes": "p" * 510 + ".md",
    "513 bytes in 263 characters": "%C3%A9" * 255 + ".md",
}
BAD_AGENTS = ["a b", "a%00", "a%0A", "%C3%A9", "x" * 129, "a%5Cb", "a@b", "*"]
BAD_OWNERS = ["", "ada", "user:", "user: 1", "USER:1", "user:a\nb", "user:a\x00b", "user:" + "x" * 256, "a b:1", ":1"]
# Method, route below the agent, body.
ROUTES: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "files/{}", None),
    ("PUT", "files/{}", {"content": "x"}),
    ("PATCH", "files/{}", {"old_text": "x", "new_text": "y"}),
    ("POST", "files/{}/writes", {"strategy": "append", "content": "x"}),
    ("DELETE", "files/{}", None),
    ("GET", "files/{}/versions", None),
    ("POST", "files/{}/versions/1/restore", {}),
]
BODIES = [(method, route, body) for method, route, body in ROUTES if body is not None] + [
    ("POST", "memory/search", {"query": "x"})
]


@pytest.mark.parametrize(("method", "route", "body"), ROUTES, ids=[f"{m} {r}" for m, r, _ in ROUTES])
async def test_no_route_takes_a_path_that_may_not_be(
    wren: Any, raw: Any, method: str, route: str, body: dict[str, Any] | None
) -> None:
    await wren.put("there.md", "the agent is known")
    wrong = {}
    for name, path in BAD_PATHS.items():
        answer = await raw(method, route.format(path), json.dumps(body).encode() if body is not None else b"")
        got = (answer.status, answer.content_type, answer.body.get("code"))
        if got != (422, "application/problem+json", "validation_error"):
            wrong[name] = (got, answer.body)
    assert wrong == {}
    assert (await wren.get("files")).json()["count"] == 5


async def test_the_longest_path_and_odd_but_allowed_ones_are_taken(wren: Any) -> None:
    for path in [
        LONGEST,
        "..a.md",
        "a..b/c.md",
        ".md",
        "a b/ü.md",
        "~/a.md",
        "…/a.md",
        "%2e%2e.md",
        "versions/writes.md",
    ]:
        assert (await wren.put(path.replace("%", "%25"), "x"))["path"] == path
        assert (await wren.read(path.replace("%", "%25")))["path"] == path


@pytest.mark.parametrize(("method", "route", "body"), [r for r in ROUTES if r[0] != "GET"])
async def test_system_files_are_written_by_the_server_alone(
    wren: Any, problem: Any, method: str, route: str, body: dict[str, Any] | None
) -> None:
    await wren.put("there.md", "the agent is known")
    response = await wren.http.request(method, wren.url(route.format("_system/state.md")), json=body)
    if method == "DELETE":
        response = await wren.delete("_system/state.md")
    problem(response, 403, "forbidden")


@pytest.mark.parametrize(("method", "route", "body"), [*ROUTES, ("GET", "files", None), BODIES[-1]])
async def test_bad_agent_ids_are_refused_everywhere(
    wren: Any, raw: Any, method: str, route: str, body: dict[str, Any] | None
) -> None:
    wrong = {}
    for agent_id in BAD_AGENTS:
        sent = json.dumps(body).encode() if body is not None else b""
        answer = await raw(method, route.format("a.md"), sent, agent_id=agent_id.replace(" ", "%20"))
        if (answer.status, answer.body.get("code")) != (422, "validation_error"):
            wrong[agent_id] = (answer.status, answer.body)
    assert wrong == {}


async def test_the_longest_agent_id_is_taken(agent_of: Any) -> None:
    agent = agent_of("A-Za-z0-9._:" + "x" * 116)
    assert (await agent.put("a.md", "x"))["created"] is True


@pytest.mark.parametrize(("method", "route", "body"), [*ROUTES, ("GET", "files", None), BODIES[-1]])
async def test_bad_owner_keys_are_refused_everywhere(
    wren: Any, problem: Any, method: str, route: str, body: dict[str, Any] | None
) -> None:
    await wren.put("a.md", "x")
    for owner in BAD_OWNERS:
        if body is None:
            response = await wren.http.request(method, wren.url(route.format("a.md")), params={"owner_key": owner})
        else:
            sent = {**body, "owner_key": owner}
            response = await wren.http.request(method, wren.url(route.format("a.md")), json=sent)
        problem(response, 422, "validation_error")
    both = {"owner_key": "user:42", "end_user_id": "42"}
    if body is None:
        response = await wren.http.request(method, wren.url(route.format("a.md")), params=both)
    else:
        response = await wren.http.request(method, wren.url(route.format("a.md")), json={**body, **both})
    problem(response, 422, "validation_error")


async def test_end_user_id_is_short_for_an_api_owner(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "of ada", end_user_id="ada")
    assert (await wren.read("a.md", owner_key="api:ada"))["owner_key"] == "api:ada"
    assert (await wren.read("a.md", end_user_id="ada", owner_key="api:ada"))["content"] == "of ada"
    problem(await wren.get("files/a.md", owner_key="user:ada"), 404, "not_found")
    problem(await wren.get("files/a.md"), 404, "not_found")
    problem(await wren.get("files/a.md", end_user_id=""), 422, "validation_error")


@pytest.mark.parametrize("owner", ["user:42", "telegram:17", "api:ada", "system", "user:a b:c", "slack:Ünï"])
async def test_owner_keys_of_every_kind_are_taken(wren: Any, owner: str) -> None:
    await wren.put("a.md", "mine", owner_key=owner)
    assert (await wren.read("a.md", owner_key=owner))["owner_key"] == owner


@pytest.mark.parametrize(("method", "route", "body"), BODIES, ids=[f"{m} {r}" for m, r, _ in BODIES])
async def test_an_unknown_field_in_a_body_or_beside_it_is_refused(
    wren: Any, problem: Any, method: str, route: str, body: dict[str, Any]
) -> None:
    await wren.put("a.md", "x")
    url = wren.url(route.format("a.md"))
    refused = problem(
        await wren.http.request(method, url, json={**body, "ownerKey": "user:1"}), 422, "validation_error"
    )
    assert "ownerKey" in refused["detail"]
    # An owner in the query of a write would be ignored, and the memory of all be written.
    refused = problem(
        await wren.http.request(method, url, json=body, params={"owner_key": "user:1"}), 422, "validation_error"
    )
    assert "owner_key" in refused["detail"]
    assert (await wren.read("a.md"))["content"] == "x"


async def test_an_unknown_field_in_a_query_is_refused(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "x")
    for method, path in [
        ("GET", "files"),
        ("GET", "files/a.md"),
        ("GET", "files/a.md/versions"),
        ("DELETE", "files/a.md"),
    ]:
        response = await wren.http.request(method, wren.url(path), params={"owner": "user:1"})
        assert "owner" in problem(response, 422, "validation_error")["detail"]
    response = await wren.http.request("DELETE", wren.url("files/a.md"), json={"owner_key": "user:1"})
    problem(response, 422, "validation_error")
    assert (await wren.read("a.md"))["content"] == "x"


async def test_names_that_are_no_unicode_are_refused_and_the_answer_is(wren: Any, raw: Any) -> None:
    for body in (rb'{"content": "x", "\ud800": 1}', rb'{"content": "x", "' + b"k" * 100_000 + b'": 1}'):
        answer = await raw("PUT", "files/a.md", body)
        assert (answer.status, answer.body["code"]) == (422, "validation_error")
        assert len(json.dumps(answer.body)) < 5000


@pytest.mark.parametrize("text", [r"a\ud800b", r"\udfff", r"a\u0000b"], ids=["high", "low", "NUL"])
async def test_what_is_no_text_is_refused_wherever_it_stands(wren: Any, raw: Any, text: str) -> None:
    await wren.put("a.md", "x")
    quoted = f'"{text}"'
    bodies = [
        ("PUT", "files/a.md", f'{{"content": {quoted}}}'),
        ("PUT", "files/a.txt", f'{{"content": {quoted}}}'),
        ("PUT", "files/a.md", f'{{"content": "x", "owner_key": "user:{text}"}}'),
        ("PUT", "files/a.md", f'{{"content": "x", "end_user_id": {quoted}}}'),
        ("PATCH", "files/a.md", f'{{"old_text": "x", "new_text": {quoted}}}'),
        ("POST", "memory/search", f'{{"query": {quoted}}}'),
        ("POST", "memory/search", f'{{"query": "x", "path_prefix": {quoted}}}'),
        ("POST", "files/a.md/writes", f'{{"strategy": "replace_section", "content": "x", "section": {quoted}}}'),
        ("POST", "files/a.md/writes", f'{{"strategy": "upsert_kv", "content": "k: {text}"}}'),
    ]
    bodies += [
        ("POST", "files/a.md/writes", f'{{"strategy": "{strategy}", "content": "## a\\n{text}"}}')
        for strategy in ("append", "replace_section", "overwrite")
    ]
    for method, path, body in bodies:
        answer = await raw(method, path, body.encode())
        assert (answer.status, answer.body["code"]) == (422, "validation_error"), (path, body, answer)
    answer = await raw("PATCH", "files/a.md", f'{{"old_text": {quoted}, "new_text": "y"}}'.encode())
    assert answer.status in (404, 422)
    assert (await wren.read("a.md"))["content"] == "x"


MALFORMED = {
    "cut": b'{"content": "x"',
    "no JSON": b"content=x",
    "empty": b"",
    "a list": b'["x"]',
    "a string": b'"x"',
    "null": b"null",
    "not UTF-8": b'{"content": "\xff\xfe"}',
    "very deep": b'{"content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a huge number": b'{"content": "x", "sort_order": ' + b"9" * 5000 + b"}",
    "not a number": b'{"content": "x", "sort_order": NaN}',
    "a number too large": b'{"content": "x", "sort_order": 2147483648}',
    "no string": b'{"content": 7}',
    "no content": b"{}",
    "a null content": b'{"content": null}',
    "an unknown scope": b'{"content": "x", "scope": "everyone"}',
    "a personal write of nobody": b'{"content": "x", "scope": "personal"}',
}


async def test_malformed_bodies_are_the_clients_fault(wren: Any, raw: Any) -> None:
    wrong = {}
    for name, body in MALFORMED.items():
        answer = await raw("PUT", "files/a.md", body)
        known = (answer.body.get("status"), answer.body.get("code"))
        if known not in [(422, "validation_error"), (400, "bad_request")] or answer.status != known[0]:
            wrong[name] = answer
    form = await raw("PUT", "files/a.md", b'{"content": "x"}', content_type="application/x-www-form-urlencoded")
    assert form.status == 422
    assert wrong == {}
    answer = await wren.get("files")
    assert answer.status_code == 404, "nothing was written, so there is no agent"


async def test_a_file_holds_one_mebibyte_and_no_byte_more(wren: Any, problem: Any) -> None:
    exact = "é" * (MIB // 2)
    assert (await wren.put("a.txt", exact))["bytes_written"] == MIB
    problem(await wren.http.put(wren.url("files/a.txt"), json={"content": exact + "x"}), 413, "payload_too_large")
    problem(await wren.write("a.txt", "overwrite", exact + "x"), 413, "payload_too_large")
    problem(await wren.write("a.txt", "append", "x"), 413, "payload_too_large")
    problem(await wren.patch("a.txt", "é", "éé", replace_all=True), 413, "payload_too_large")
    assert (await wren.read("a.txt"))["version"] == 1


async def test_a_searched_file_may_be_as_large(wren: Any) -> None:
    text = ("word " * 199 + "end.\n\n") * 1050
    written = await wren.put("a.md", text[: MIB - 1] + "\n")
    assert (written["bytes_written"], written["chunk_count"] > 1000) == (MIB, True)


async def test_a_replacement_cannot_blow_up_the_servers_memory(wren: Any, problem: Any) -> None:
    await wren.put("a.txt", "a" * MIB)
    response = await wren.patch("a.txt", "a", "b" * MIB, replace_all=True)
    problem(response, 413, "payload_too_large")


async def test_a_body_over_the_limit_is_refused_unread(wren: Any, problem: Any) -> None:
    body = b'{"content": "' + b"x" * (9 * MIB) + b'"}'
    response = await wren.http.put(wren.url("files/a.md"), content=body, headers={"Content-Type": "application/json"})
    problem(response, 413, "payload_too_large")

    async def chunks() -> Any:
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    response = await wren.http.put(
        wren.url("files/a.md"), content=chunks(), headers={"Content-Type": "application/json"}
    )
    problem(response, 413, "payload_too_large")
    problem(await wren.get("files"), 404, "not_found")


async def test_a_read_of_an_unknown_agent_is_not_found_and_makes_none(wren: Any, problem: Any) -> None:
    for method, path, body in [
        ("GET", "files", None),
        ("GET", "files/AGENTS.md", None),
        ("GET", "files/AGENTS.md/versions", None),
        ("DELETE", "files/AGENTS.md", None),
        ("PATCH", "files/AGENTS.md", {"old_text": "a", "new_text": "b"}),
        ("POST", "files/AGENTS.md/versions/1/restore", {}),
        ("POST", "memory/search", {"query": "x"}),
    ]:
        for _ in range(2):
            sent = {} if body is None else {"json": body}
            problem(await wren.http.request(method, wren.url(path), **sent), 404, "not_found")


async def test_patch_says_why_nothing_was_replaced(wren: Any, problem: Any) -> None:
    await wren.put("a.md", "tea and tea")
    problem(await wren.patch("a.md", "coffee", "tea"), 404, "not_found")
    assert problem(await wren.patch("a.md", "tea", "Tee"), 409, "ambiguous_match")["count"] == 2
    problem(await wren.patch("a.md", "", "x"), 422, "validation_error")
    problem(await wren.patch("a.md", "tea", "tea", replace_all=True), 422, "validation_error")
    problem(await wren.patch("b.md", "tea", "Tee"), 404, "not_found")
    assert (await wren.read("a.md"))["version"] == 1


async def test_strategies_say_what_they_cannot_do(wren: Any, problem: Any) -> None:
    for strategy, content, more in [
        ("append", "", {}),
        ("append", " \n", {}),
        ("replace_section", "no heading", {}),
        ("replace_section", "x", {"section": ""}),
        ("replace_section", "x", {"section": "two\nlines"}),
        ("upsert_kv", "no pair", {}),
        ("upsert_kv", "", {}),
        ("append", "x", {"section": "A"}),
        ("prepend", "x", {}),
    ]:
        problem(await wren.write("a.md", strategy, content, **more), 422, "validation_error")
    problem(await wren.get("files"), 404, "not_found")


async def test_an_unknown_route_or_method_is_a_problem_too(wren: Any, problem: Any) -> None:
    problem(await wren.http.get("/nowhere"), 404, "not_found")
    response = await wren.http.post(wren.url("files/a.md"), json={"content": "x"})
    problem(response, 405, "method_not_allowed")
    assert "PUT" in response.headers["allow"]
