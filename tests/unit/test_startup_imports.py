"""A command imports what it needs: by the names of modules, whatever the machine's speed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Beside these, typer itself imports pydantic for the options of a command.
HEAVY = ("fastapi", "mcp", "numpy", "onnxruntime", "openai", "psycopg", "pydantic_settings", "structlog")


def modules_after(code: str) -> tuple[set[str], str]:
    """The modules that a fresh Python has imported after some code, and what the code printed."""
    program = f"import sys, json\n{code}\nsys.stderr.write(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    return set(json.loads(done.stderr)), done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["bench", "--help"], ["index", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    imported, shown = modules_after(
        f"from reverie_server.cli.main import main\nsys.argv = ['reverie', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code"
    )
    assert "Usage: " in shown
    assert imported & {*HEAVY, "asyncio"} == set()


def test_commands_that_do_not_serve_import_no_server() -> None:
    imported, _ = modules_after("import reverie_server.app.wiring")
    assert "psycopg" in imported
    assert imported & {"fastapi", "starlette", "uvicorn", "mcp", "onnxruntime", "openai"} == set()
