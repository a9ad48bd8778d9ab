"""The table of `benchmarks/peers`: what was not measured is a dash, what failed says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.peers.table import cost_row, found_row, kill_verdict, leak_verdict, markdown, write_result

FILE = "talks.json"


def peer(**changes: Any) -> dict[str, Any]:
    figures = {
        "recall": {FILE: {"fraction@10": 0.5114, "ndcg@10": 0.25, "mrr": 1.0}},
        "foreign_results": 0,
        "search": {"ms_p50": 12.34, "ms_p95": 20.0, "ratio_to_embedding": 1.5},
        "at_once": {"searches_per_second": 81.4, "ratio_to_embedding": 0.8},
        "ingest": {"ratio_to_embedder": 0.9},
        "rss_bytes": 250_000_000,
        "disk_bytes": 3_400_000,
        "leaks": {"foreign_results": 0, "results_for_nobody": 0},
        "kill": {"lost": 0, "older_lost": 0, "acknowledged": 40, "older_asked": 40},
    }
    return {
        "version": "1.2",
        "notes": ["embedded library"],
        "serial_because": None,
        "error": None,
        "figures": figures,
        **changes,
    }


def result(**peers: Any) -> dict[str, Any]:
    return {
        "data": {FILE: {}},
        "settings": {"k": 10},
        "peers": peers,
        "differences": {},
        "origin": {
            "commit": "c0ffee",
            "dirty": True,
            "machine": {"system": "Linux", "architecture": "x86_64", "cpus": 2},
            "model": "m",
        },
    }


def test_a_peers_figures_stand_in_the_order_of_the_heads() -> None:
    assert found_row(peer(), FILE) == ["1.2", "0.511", "0.250", "1.000", "none", "none"]
    assert cost_row(peer()) == ["12.3", "20.0", "1.50", "81", "0.80", "0.90", "250", "3"]


def test_a_peer_that_did_not_start_is_a_row_of_dashes() -> None:
    failed = peer(version=None, figures={}, error="does not install: no such version")
    assert {*found_row(failed, FILE), *cost_row(failed)} == {"–"}


def test_a_peer_that_allows_one_client_is_marked() -> None:
    assert cost_row(peer(serial_because="one writer"))[3] == "81*"


def test_every_kind_of_foreign_result_counts_as_a_leak() -> None:
    leaks = {"foreign_results": 2, "results_for_nobody": 3}
    assert leak_verdict({"foreign_results": 1, "leaks": leaks}) == "6"
    assert leak_verdict({"foreign_results": 0}) == "–"


def test_what_a_kill_lost_is_told_with_what_was_asked() -> None:
    kill = {"lost": 1, "older_lost": 2, "acknowledged": 40, "older_asked": 20}
    assert kill_verdict({"kill": kill}) == "3 of 60"


def test_markdown_tells_failures_notes_and_the_lead() -> None:
    lead = {"mean": 0.25, "low": 0.2, "high": 0.3}
    told = result(ours=peer(), theirs=peer(error="write: Oops | pipe"))
    told["differences"] = {"theirs": {FILE: {"fraction@10": lead, "ndcg@10": lead, "mrr": lead}}}
    text = markdown(told)
    assert "| ours | 1.2 | 0.511 |" in text
    assert "| theirs | +0.250 (+0.200 … +0.300) |" in text
    assert "- **theirs**: embedded library; **failed**: write: Oops | pipe." in text
    assert "Commit c0ffee, changed since;" in text


def test_a_result_is_written_as_json_and_beside_it_as_markdown(tmp_path: Path) -> None:
    path = write_result(result(ours=peer()), tmp_path / "results", "peers-talks")
    assert json.loads(path.read_text())["peers"]["ours"]["figures"]["search"]["ms_p50"] == 12.34
    assert path.with_suffix(".md").read_text().startswith("# Peers\n")
