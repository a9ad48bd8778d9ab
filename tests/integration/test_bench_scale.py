"""The scale benchmark builds tables of two sizes and measures the product's own search on both."""

from __future__ import annotations

from pathlib import Path

from tests.consistency import assert_index_consistent

from reverie_bench.latency.memory import text_pool
from reverie_bench.report import write_result
from reverie_bench.scale.measure import build
from reverie_bench.scale.report import scale_content
from reverie_bench.scale.run import ScaleOptions, open_table, run_scale
from reverie_server.settings.server import Settings

from .bench_reports import shown_text

# A slice of 150 gets a partition of its own, so that both plans are measured on small tables.
SETTINGS = Settings(embedder="hashing", exact_max_chunks=130)


async def test_two_sizes_are_measured_and_compared(server_conninfo: str, tmp_path: Path) -> None:
    report = await run_scale(
        ScaleOptions(settings=SETTINGS, sizes=(1000, 1500), database_url=server_conninfo, queries=2, rounds=1)
    )
    assert [table["chunks"] for table in report["tables"]] == [1000, 1500]
    larger = report["tables"][1]
    assert larger["build"]["hnsw_partitions"] == 2
    assert {cell["plan"] for cell in larger["latency"]} == {"exact", "hnsw"}
    assert {cell["mode"] for cell in larger["latency"]} == {"hybrid", "text", "vector"}
    assert all(cell["recall_at_10"] == 1 for table in report["tables"] for cell in table["recall"])
    assert larger["recall"][0]["share"] == 0.1
    assert larger["disk_mb"]["own partitions, hnsw indexes"] > 0
    assert larger["disk_mb"]["database"] > larger["disk_mb"]["postings"]
    assert larger["postgresql_memory_mb"]["resident"] > 0
    assert [(cell["slice_chunks"], cell["table_chunks"]) for cell in report["same_slice"]] == [(100, 1000), (100, 1500)]
    # What is read of the table is the owner's: as many rows, whatever is around them.
    small, large = (cell["rows"] for cell in report["same_slice"])
    assert abs(large - small) < 0.1 * small
    assert "the same owner in larger tables" in shown_text(report, scale_content(report))
    assert write_result(report, tmp_path).name == "scale.json"


async def test_a_built_table_is_one_that_writes_could_have_made(server_conninfo: str) -> None:
    options = ScaleOptions(settings=SETTINGS, sizes=(1000,), database_url=server_conninfo)
    pool = text_pool((), options.seed)
    async with open_table(options, pool, 1000) as (bench, table):
        await build(table, SETTINGS, lambda _: None)
        assert_index_consistent(bench.conninfo)
