"""The board and the alerts in deploy/: each metric, label and value that they name is in the metrics of a server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from tests.conftest import PLAIN, ServeRuntime
from tests.jobs import deferred

from reverie_indexer.database.database import Database
from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime

CHECKOUT = Path(__file__).parents[2]
BOARD = json.loads((CHECKOUT / "deploy/grafana/reverie.json").read_text())
RULES = [
    rule
    for group in yaml.safe_load((CHECKOUT / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]] + [rule["expr"] for rule in RULES]
# Prometheus' own: the metric of a scrape, and what it adds to each series.
OF_PROMETHEUS = "up"
LABELS_OF_PROMETHEUS = {"instance", "job"}
OPERATORS = {"and", "or", "unless", "bool", "offset"}
GROUPING = r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)"


@dataclass(frozen=True)
class Selector:
    """A metric as an expression names it, with the (label, operator, value) that it asks for."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]


def selectors(expression: str) -> Iterator[Selector]:
    """The metrics that an expression names: words that are no function, operator, label or number."""
    bare = re.sub(r"\[[^\]]*\]", "", re.sub(GROUPING, "", expression))
    for name, of_function, matchers in re.findall(r"\b([A-Za-z_:][\w:]*)\b(?:\s*(\()|\s*\{([^}]*)\})?", bare):
        if not of_function and name not in OPERATORS:
            yield Selector(name, tuple(re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', matchers)))


def grouped(expression: str) -> set[str]:
    """The labels that an expression groups by."""
    return {label.strip() for labels in re.findall(GROUPING, expression) for label in labels.split(",")}


def wrong_names(expression: str, series: dict[str, list[dict[str, str]]]) -> list[str]:
    """What an expression names that no series has."""
    wrong, known_labels = [], set(LABELS_OF_PROMETHEUS)
    for selector in selectors(expression):
        if selector.metric == OF_PROMETHEUS:
            continue
        if selector.metric not in series:
            wrong.append(selector.metric)
            continue
        of_metric = series[selector.metric]
        known_labels |= {label for labels in of_metric for label in labels}
        for label, operator, value in selector.matchers:
            values = {labels[label] for labels in of_metric if label in labels}
            if label not in LABELS_OF_PROMETHEUS and (not values or (operator == "=" and value not in values)):
                wrong.append(f"{selector.metric}: {label}{operator}{value}")
    return wrong + sorted(grouped(expression) - known_labels)


async def shown(runtime: Runtime, serve_runtime: ServeRuntime, database: Database) -> dict[str, list[dict[str, str]]]:
    """The labels of each series of a server that has done a little of everything."""
    async with httpx.AsyncClient(base_url=await serve_runtime(runtime), timeout=30, verify=PLAIN) as client:
        written = await client.put("/api/v1/agents/wren/files/a.md", json={"content": "Ada prefers tea."})
        assert written.status_code == 201
        found = await client.post("/api/v1/agents/wren/memory/search", json={"query": "tea"})
        assert found.status_code == 200
        await deferred(database, Work("dedup", "default", "wren", None))
        await drain(runtime)
        for backups in (runtime.consolidation.backups.dumps, runtime.consolidation.backups.bases):
            # As where there is an archive.
            backups.schedule = runtime.settings.base_backup_schedule
            await backups.succeeded(backups.now(), 1)
        text = (await client.get("/metrics")).text
    series: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            series.setdefault(sample.name, []).append(sample.labels)
    return series


async def test_the_board_and_the_alerts_name_what_a_server_shows(
    talking: Runtime, serve_runtime: ServeRuntime, database: Database
) -> None:
    series = await shown(talking, serve_runtime, database)
    assert len(EXPRESSIONS) > 40
    assert {each: wrong for each in EXPRESSIONS if (wrong := wrong_names(each, series))} == {}
    assert all(any(selectors(each)) for each in EXPRESSIONS)


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("sum by (state) (rate(reverie_jobs[5m]))", []),
        ("sum(rate(reverie_job[5m])) > 0", ["reverie_job"]),
        ('reverie_jobs{state="late"} / on (instance) reverie_gone', ["reverie_jobs: state=late", "reverie_gone"]),
        ('max by (stage) (reverie_jobs{state=~"p.*", kind!="x"}) and up == 1', ["reverie_jobs: kind!=x", "stage"]),
    ],
)
def test_a_name_that_is_nowhere_is_found(expression: str, wrong: list[str]) -> None:
    assert wrong_names(expression, {"reverie_jobs": [{"state": "pending"}]}) == wrong


def test_each_alert_says_how_bad_it_is_what_it_means_and_what_to_do() -> None:
    page = (CHECKOUT / "docs/operations.md").read_text()
    told = dict(re.findall(r"^\| `(Reverie\w+)` \| (.+) \|$", page, re.MULTILINE))
    assert list(told) == [rule["alert"] for rule in RULES], "one line for each, in the order of the file"
    for rule in RULES:
        assert rule["labels"]["severity"] in {"critical", "warning"}, rule["alert"]
        assert rule["annotations"]["summary"].strip(), rule["alert"]
        assert len(told[rule["alert"]].split()) > 4, rule["alert"]


def test_all_that_is_told_of_backups_and_the_archive_has_a_panel() -> None:
    names = set(
        re.findall(r"`(reverie_(?:wal|backup|base_backup)_\w+)`", (CHECKOUT / "docs/operations.md").read_text())
    )
    assert len(names) == 10
    shown_there = {each.metric for panel in PANELS for target in panel["targets"] for each in selectors(target["expr"])}
    assert names - shown_there == set()


def test_each_panel_of_the_board_has_a_place_and_says_what_it_shows() -> None:
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        at: dict[str, Any] = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells
    for panel in PANELS:
        assert panel["description"], panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
