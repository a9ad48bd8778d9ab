"""With `log_format=json` every line that a service writes is a JSON object, without what was stored or asked."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from tests.conftest import PLAIN

from reverie_server.app.http_app import create_app
from reverie_server.cli.frame import load_settings
from reverie_server.cli.main import tcp_socket
from reverie_server.http.server import http_server
from reverie_server.runtime import Runtime

SERVE = (sys.executable, "-m", "reverie_server.cli.main", "serve", "--data-dir")


def environment(conninfo: str) -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    settings = {"EMBEDDER": "hashing", "LOG_FORMAT": "json", "DATABASE_URL": conninfo}
    return given | {f"REVERIE_{name}": value for name, value in settings.items()}


def objects(text: str) -> list[dict[str, Any]]:
    """Each line as the object that it is; fails for any other line."""
    found = [json.loads(line) for line in text.splitlines()]
    assert all(each.keys() >= {"event", "level", "timestamp"} for each in found)
    return found


def test_every_line_of_a_server_and_its_worker_is_json(tmp_path: Path, conninfo: str) -> None:
    process = subprocess.Popen(
        [*SERVE, str(tmp_path), "--port", "0"],
        env=environment(conninfo),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stdout is not None
    killing = threading.Timer(120, process.kill)
    killing.start()
    try:
        lines: list[str] = []
        is_at_work = False
        base_url = ""
        while not (base_url and is_at_work):
            lines.append(process.stderr.readline())
            assert lines[-1], "".join(lines)
            event = json.loads(lines[-1])["event"]
            is_at_work |= event.startswith("reverie works")
            base_url = event.partition("listens on ")[2] or base_url
        with httpx.Client(base_url=base_url, timeout=60, verify=PLAIN) as client:
            written = client.put("/api/v1/agents/wren/files/agguaq.md", json={"content": "The agguaq is blue."})
            assert written.status_code == 201
            asked = client.post("/api/v1/agents/wren/memory/search", json={"query": "agguaq"})
            assert asked.status_code == 200
            assert client.get("/agguaq?agguaq=agguaq").status_code == 404
        # The port is taken: a second server says so and ends.
        port = base_url.rpartition(":")[2]
        second = subprocess.run(
            [*SERVE, str(tmp_path), "--port", port],
            env=environment(conninfo),
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        process.send_signal(signal.SIGTERM)
        left = process.stderr.read()
        shown = process.stdout.read()
        process.wait()
        killing.cancel()
        process.stderr.close()
        process.stdout.close()
    assert (shown, second.stdout, second.returncode) == ("", "", 1)
    [failed] = objects(second.stderr)
    assert (failed["event"], failed["code"]) == ("service_failed", "setup_error")
    assert port in failed["detail"]
    log = "".join(lines) + left
    assert "agguaq" not in log
    requests = [each for each in objects(log) if each["event"] == "request"]
    assert [(each["method"], each["route"], each["status"]) for each in requests] == [
        ("PUT", "/agents/{a}/files/{path:file}", 201),
        ("POST", "/agents/{a}/memory/search", 200),
        ("any", "unmatched", 404),
    ]
    assert all(0 < each["duration_ms"] < 60_000 for each in requests)
    assert [each["request_id"] for each in requests][:2] == [
        answer.headers["X-Request-Id"] for answer in (written, asked)
    ]


@pytest.fixture
def _logging_as_before() -> Iterator[None]:
    configured, handlers = structlog.get_config(), list(logging.getLogger().handlers)
    yield
    logging.captureWarnings(False)
    logging.getLogger().handlers = handlers
    structlog.configure(**configured)


@pytest.mark.usefixtures("_logging_as_before")
async def test_the_traceback_of_a_request_that_failed_is_a_field_of_one_line(
    capfd: pytest.CaptureFixture[str], runtime: Runtime
) -> None:
    settings = load_settings(log_format="json", embedder="hashing")
    app = create_app(runtime)

    @app.get("/boom/{name}")
    async def boom(name: str) -> None:
        raise RuntimeError(f"a name of {len(name)} characters")

    listener = tcp_socket("127.0.0.1")
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    server = http_server(app, settings)
    capfd.readouterr()
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    async with httpx.AsyncClient(verify=PLAIN) as client:
        answer = await client.get(f"http://127.0.0.1:{listener.getsockname()[1]}/boom/agguaq")
    server.should_exit = True
    await serving
    listener.close()
    assert answer.status_code == 500
    written = capfd.readouterr()
    assert (written.out, "agguaq" in written.err) == ("", False)
    by_event = {each["event"].strip(): each for each in objects(written.err)}
    traced = by_event["Exception in ASGI application"]
    assert (traced["level"], traced["logger"]) == ("error", "uvicorn.error")
    assert traced["exception"].startswith("Traceback")
    assert "RuntimeError: a name of 6 characters" in traced["exception"]
    assert by_event["request_failed"]["request_id"] == answer.headers["X-Request-Id"]


@pytest.mark.usefixtures("_logging_as_before")
def test_what_libraries_warn_of_is_written_once_and_what_they_chat_about_is_not(
    capfd: pytest.CaptureFixture[str],
) -> None:
    load_settings(log_format="json")
    load_settings(log_format="json")
    logging.getLogger("some.library").warning("it is %s", "late")
    logging.getLogger("some.library").info("all is well")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    late, old = objects(capfd.readouterr().err)
    assert (late["event"], late["level"], late["logger"]) == ("it is late", "warning", "some.library")
    assert "DeprecationWarning: old" in old["event"]
