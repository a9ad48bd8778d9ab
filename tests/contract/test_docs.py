"""The documents name what the code has: routes, commands, settings; and the client of the README runs."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
import typer.main

from reverie_indexer.settings import Settings
from reverie_server.app.wiring import create_app
from reverie_server.cli.main import cli
from reverie_server.runtime import Runtime

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_every_route_is_in_the_readme(runtime: Runtime) -> None:
    paths = create_app(runtime).openapi()["paths"]
    for path in paths:
        assert path.removeprefix("/api/v1") in README, path


def commands(group: typer.main.TyperGroup, prefix: str) -> list[str]:
    found = []
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        found += commands(command, f"{prefix} {name}") if inner else [f"{prefix} {name}"]
    return found


def test_every_command_is_in_the_readme() -> None:
    group = typer.main.get_command(cli)
    for command in commands(group, "reverie"):
        assert f"`{command}`" in README, command


def test_the_settings_of_the_readme_are_those_there_are() -> None:
    table = README.split("## Settings")[1].split("## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == set(Settings.model_fields)


async def test_the_client_of_the_readme_finds_what_it_wrote(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    import asyncio

    [code] = re.findall(r"```python\n(.+?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    here = str(client.base_url).split("/api/")[0]
    await asyncio.to_thread(exec, code.replace("http://127.0.0.1:8077", here), {})
    assert "memory/2026-04-03.md:1-3" in capsys.readouterr().out
