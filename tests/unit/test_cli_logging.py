"""Logs go to stderr and hold no memory texts, not even those that variables of a traceback hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from reverie_server.cli.frame import load_settings


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.mark.parametrize("log_format", ["console", "json"])
def test_a_logged_exception_shows_no_values(
    capsys: pytest.CaptureFixture[str], log_format: Literal["console", "json"]
) -> None:
    load_settings(log_format=log_format)

    def fail(memory: str) -> None:
        raise RuntimeError(f"a memory of {len(memory)} characters")

    # Not in the source, whose lines a traceback may show.
    secret = "agguaq"[::-1]
    try:
        fail(secret)
    except RuntimeError:
        structlog.get_logger().exception("tool_failed")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "tool_failed" in shown.err
    assert "in fail" in shown.err
    assert "RuntimeError: a memory of 6 characters" in shown.err
    if log_format == "json":
        [line] = shown.err.splitlines()
        assert json.loads(line)["exception"].startswith("Traceback")
    assert secret not in shown.err
