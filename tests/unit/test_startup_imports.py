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


@pytest.mark.parametrize(
    "arguments",
    [["keys", "list"], ["jobs", "list"], ["upgrade", "--dry-run"], ["export", "never.zip", "--agent", "anna"]],
)
def test_a_command_that_needs_no_model_imports_no_model_and_no_stage(arguments: list[str]) -> None:
    """They run up to the database, which nobody is at home at: all that they need is imported by then."""
    imported, _ = modules_after(
        "import os\nos.environ['REVERIE_DATABASE_URL'] = 'postgresql://nobody@127.0.0.1:1/none'\n"
        f"from reverie_server.cli.main import main\nsys.argv = ['reverie', *{arguments!r}]\n"
        "sys.stderr = open(os.devnull, 'w')\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 1\n"
        "sys.stderr = sys.__stderr__"
    )
    assert "reverie_indexer.database.database" in imported
    rooms = {name for name in imported if name.startswith("reverie_server.")}
    assert imported & {"numpy", "fastapi", "starlette", "onnxruntime", "httpx", "procrastinate"} == set()
    assert {
        name for name in rooms if name.split(".")[1] in ("search", "heuristics", "graph", "http", "prompt")
    } == set()


def test_doctor_does_not_import_the_stages_or_the_server() -> None:
    imported, _ = modules_after("import reverie_server.cli.doctor, reverie_server.app.language")
    rooms = {name.split(".")[1] for name in imported if name.startswith("reverie_server.")}
    assert rooms & {"search", "graph", "nights", "extraction", "prompt", "http"} == set()


def test_commands_that_do_not_serve_import_no_server() -> None:
    imported, _ = modules_after("import reverie_server.app.wiring")
    assert "psycopg" in imported
    assert imported & {"fastapi", "starlette", "uvicorn", "mcp", "onnxruntime", "openai"} == set()


@pytest.mark.parametrize("reranker", ["none", "cross-encoder", "endpoint"])
def test_a_reranker_imports_its_libraries_when_it_is_loaded_and_not_before(reranker: str) -> None:
    imported, _ = modules_after(
        "from reverie_server.app.rerankers import reranking_of\nfrom reverie_server.settings.server import Settings\n"
        f"reranking_of(Settings(reranker={reranker!r}, reranker_model='m', reranker_base_url='http://127.0.0.1:1'))"
    )
    kinds = {f"reverie_server.search.rerank.{kind}" for kind in ("cross_encoder", "endpoint")}
    assert imported & {"torch", "transformers", "sentence_transformers", "openai", "httpx2", *kinds} == set()
