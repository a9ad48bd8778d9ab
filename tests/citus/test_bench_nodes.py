"""`reverie bench nodes` on three nodes: the work of each, what crosses, and that it takes nobody's database."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie_bench.nodes.run import SEARCH, SEVERAL, WRITE, NodesOptions, nodes_content, run_nodes
from reverie_bench.report import write_result
from reverie_indexer.errors import SetupError
from reverie_server.settings.server import Settings


@pytest.mark.slow
async def test_a_run_tells_what_each_node_does_and_refuses_a_second_time(
    nodes_conninfo: str, conninfo: str, tmp_path: Path
) -> None:
    options = NodesOptions(
        settings=Settings(embedder="hashing", data_dir=tmp_path),
        database_url=conninfo,
        nodes_url=nodes_conninfo,
        tenants=6,
        chunks=10,
        clients=2,
        requests=12,
        rounds=2,
    )
    report = await run_nodes(options)
    assert report.sizes["workers"] == 2
    assert sum(report.sizes["tenants_on"].values()) == 6
    for kind in (SEARCH, WRITE):
        side = report[kind]["sides"][SEVERAL]
        assert list(side["cpu_ms_per_request"]) == ["server", "coordinator", "worker 1", "worker 2"]
        assert min(side["cpu_ms_per_request"].values()) >= 0
        assert side["crossings_per_request"]["for_one_node"] >= 1
        assert report[kind]["rate_to_one_node"]["median"] > 0
    assert write_result(report, tmp_path).name == "nodes.json"
    assert len(list(nodes_content(report))) == 5
    with pytest.raises(SetupError, match="not empty"):
        await run_nodes(options)
