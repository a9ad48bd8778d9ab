"""The documents say what the code does: generated pages are up to date, roles are true, links and names exist."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main
from docs import generate
from tests.contract.test_examples_http import Elsewhere, Example, examples

from reverie_server.cli.main import cli
from reverie_server.jobs.model import STAGES
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings
from reverie_server.text.graph_terms import ENTITY_TYPES, RELATION_NAMES
from reverie_server.tools.catalogue import REGISTRY

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
RESULTS = CHECKOUT / "benchmarks/results"
BY_HAND = [CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")]
PAGES = [*BY_HAND, *sorted(DOCS.glob("*.md"))]
# What documents name and no code does: programs and files of PostgreSQL, settings of Prometheus, arguments of commands.
FOREIGN = {"pg_dump", "pg_hba", "rule_files", "DATA_DIR", "KEY_ID", "JOB_ID"}
# PostgreSQL's own, for its operator.
FOREIGN |= {"checkpoint_timeout", "hot_standby_feedback", "load_balance_hosts", "max_standby_streaming_delay"}
FOREIGN |= {"pg_read_all_stats", "pg_stat_replication", "citus_rebalance_start"}
FOREIGN |= {"max_wal_senders", "max_replication_slots", "max_prepared_transactions", "recovery_target_name"}
ROLES = ("viewer", "member", "admin")


def test_the_generated_pages_are_those_of_the_code() -> None:
    """If this fails, run `python docs/generate.py`."""
    for path, text in generate.pages().items():
        assert path.read_text() == text, f"{path.name} is out of date: run `python docs/generate.py`"


@pytest.mark.parametrize("role", ROLES[:2])
async def test_a_key_may_call_the_routes_of_its_role_and_no_others(
    client: httpx.AsyncClient, runtime: Runtime, role: str
) -> None:
    """The column `key` of docs/http.md, tried with every example of a request."""
    root = str(client.base_url).split("/api/")[0]
    await client.put("/agents/wren/files/MEMORY.md", json={"content": "Ada prefers tea.\n"})
    document = (await client.get(f"{root}/openapi.json")).json()
    zips = {"application/zip": (await client.get("/agents/wren/workspace/memory/export")).content}
    _, key = await runtime.keys.create("default", role)  # type: ignore[arg-type]
    client.headers["Authorization"] = f"Bearer {key}"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            needed = generate.role_of(f"{method.upper()} {path}")
            is_allowed = needed is None or ROLES.index(role) >= ROLES.index(needed)
            one = {**document, "paths": {path: {method: operation}}}
            for example in examples(one):
                if example.query.get("owner_key") == "*":
                    continue
                answer = await client.request(
                    method, f"{root}{example.path}", params=example.query, **_sent(example, zips)
                )
                is_refused = answer.status_code == 403 and "key" in answer.text
                assert is_refused is not is_allowed, f"{role}: {example}: {answer.status_code} {answer.text}"


def _sent(example: Example, zips: dict[str, bytes]) -> dict[str, object]:
    if example.media is None:
        return {}
    if isinstance(example.body, Elsewhere):
        return {"content": zips[example.media], "headers": {"Content-Type": example.media}}
    return {"json": example.body}


def code_of(page: Path) -> str:
    """All that a page shows as code: blocks, and what stands between backticks."""
    text = page.read_text()
    blocks = re.findall(r"^```\w+\n(.+?)^```|((?:^    .+\n)+)", text, re.DOTALL | re.MULTILINE)
    return "\n".join([*(part for block in blocks for part in block), *re.findall(r"`([^`\n]+)`", text)])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        name, _, anchor = target.partition("#")
        there = page.parent / name if name else page
        assert there.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", there.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}, target


@cache
def routes() -> set[str]:
    """Each route as pages write it: `GET /agents/{a}`."""
    paths = generate.openapi()["paths"]
    return {f"{method.upper()} {path.removeprefix('/api/v1')}" for path, each in paths.items() for method in each}


@cache
def words_of_the_code() -> set[str]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    kinds = {".py", ".sql", ".toml", ".md", ".yaml"}
    # The board's metrics are held to the server by a test of their own.
    files = [path for path in map(Path, names.split("\0")) if path.suffix in kinds or path.parts[:1] == ("deploy",)]
    texts = [
        (CHECKOUT / path).read_text() for path in files if path.parts[0] != "docs" and CHECKOUT / path not in PAGES
    ]
    return set(re.findall(r"\w+", "\n".join([names, *texts])))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_name_in_a_page_is_one_of_the_code(page: Path) -> None:
    names = {name for name in re.findall(r"[A-Za-z]\w*_\w+", code_of(page)) if name not in FOREIGN}
    known = words_of_the_code() | {f"REVERIE_{name.upper()}" for name in Settings.model_fields}
    assert names - known == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_command_and_route_in_a_page_exists(page: Path) -> None:
    code = code_of(page)
    for words in re.findall(r"^ *(?:\S*/)?reverie ((?:[a-z]+ ?)+)(?![\w/])", code, re.MULTILINE):
        group: Any = typer.main.get_command(cli)
        for word in words.split():
            if not getattr(group, "commands", None):
                break
            assert word in group.commands, f"reverie {words}"
            group = group.commands[word]
    for route in re.findall(r"(?:GET|PUT|POST|PATCH|DELETE) /[^\s?`]+", code):
        assert route in routes(), route


def test_every_module_in_contributing_exists() -> None:
    roots = [CHECKOUT, CHECKOUT / "server/reverie_server", CHECKOUT / "indexer/reverie_indexer"]
    code = re.findall(r"`([^`\n]+)`", (CHECKOUT / "CONTRIBUTING.md").read_text())
    named = {
        name
        for each in code
        for name in each.split(" → ")
        if " → " in each or re.fullmatch(r"[a-z_]+(/[a-z0-9_.]+)+", name)
    }
    assert len(named) > 60
    for name in named:
        file, _, symbol = name.partition(".")
        found = [path for root in roots for path in (root / name, root / f"{file}.py") if path.exists()]
        assert found, name
        assert symbol in ("", found[0].suffix[1:]) or re.search(rf"\b{symbol}\b", found[0].read_text()), name


def test_the_pages_name_all_tools_stages_and_words_of_the_graph() -> None:
    turns, background, graph = (code_of(DOCS / f"{name}.md") for name in ("turns", "background", "graph"))
    assert {tool.name for tool in REGISTRY} <= set(turns.splitlines())
    assert len(list(REGISTRY)) == 12, "README and turns.md say twelve"
    assert set(STAGES) <= set(background.splitlines())
    assert {*ENTITY_TYPES, *RELATION_NAMES} <= set(graph.splitlines())


def test_the_weights_in_the_page_of_nights_are_the_defaults() -> None:
    rows = re.findall(r"^\| (\w+) \| (0\.\d\d) \|", (DOCS / "background.md").read_text(), re.MULTILINE)
    assert {part: float(weight) for part, weight in rows} == Settings().emergence_weights


def test_each_measurement_names_the_commit_of_its_result() -> None:
    rows = re.findall(r"\| ([0-9a-f]{8}) \| \[[^]]+\]\(([^)]+\.json)\) \|", (DOCS / "measurements.md").read_text())
    assert {Path(name).name for _, name in rows} == {
        path.name for path in (CHECKOUT / "benchmarks/results").glob("*.json")
    }
    for commit, name in rows:
        origin = json.loads((DOCS / name).read_text())["origin"]
        assert (origin["commit"][:8], origin["dirty"]) == (commit, False), name


def test_the_figures_of_the_readme_are_those_of_the_results() -> None:
    results = CHECKOUT / "benchmarks/results"
    recall, latency, dreams = (
        json.loads((results / f"{name}.json").read_text())
        for name in ("recall-locomo_dev", "latency-2000", "dreams-scripted")
    )
    readme = " ".join((CHECKOUT / "README.md").read_text().split())
    ways = {way: f"{recall['ways'][way]['overall']['fraction@10']:.3f}" for way in ("reverie", "BM25", "vector")}
    assert f"{ways['reverie']} of the evidence is in the first ten results; BM25 alone finds {ways['BM25']}" in readme
    assert f"vectors alone {ways['vector']}" in readme
    assert f"takes {latency['goals'][0]['median']:.2f} times" in readme
    end = dreams["at_end"]
    assert f"of {end['standing']} statements that still hold, {end['found']} are found by their question" in readme
    assert (end["leaked"], end["forgotten_left"]) == (0, 0)


async def test_the_program_of_the_page_of_turns_runs(client: httpx.AsyncClient) -> None:
    [program] = re.findall(r"```python\n(.+?)```", (DOCS / "turns.md").read_text(), re.DOTALL)
    program = program.replace("http://127.0.0.1:8077", str(client.base_url).split("/api/")[0])
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    assert await process.wait() == 0
    answer = await client.get("/agents/me/sessions/web:7/messages", params={"owner_key": "user:42"})
    assert [message["role"] for message in answer.json()["messages"]] == ["user", "assistant"]
