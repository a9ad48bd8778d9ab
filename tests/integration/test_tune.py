"""`doctor --tune` measures the program's own statements in a database of its own, and changes nothing else."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from psycopg import conninfo as pg_conninfo
from psycopg import sql
from pydantic import SecretStr

from reverie_bench import scratch
from reverie_bench.report import write_result
from reverie_bench.tune.say import say_tuned
from reverie_bench.tune.tune import TuneOptions, tune
from reverie_indexer.errors import DatabaseUnavailable, SetupError
from reverie_server.settings.server import Settings


def options(conninfo: str, **changes: object) -> TuneOptions:
    settings = Settings(database_url=SecretStr(conninfo), embedder_dimension=16)
    return TuneOptions(settings=settings, sizes=(60, 120), queries=2, rounds=1, **changes)  # type: ignore[arg-type]


def databases(conninfo: str) -> set[str]:
    with psycopg.connect(conninfo) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall()}


async def test_both_ways_find_the_same_and_nothing_is_left_behind(
    conninfo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests have databases of that kind at the same time.
    tag = uuid.uuid4().hex
    monkeypatch.setattr(scratch, "secrets", SimpleNamespace(token_hex=lambda _: tag))
    tuned = await tune(options(conninfo))
    assert [each.chunks for each in tuned["measured"]] == [60, 120]
    # HNSW's candidates are as many as there are passages, nearly: it finds all of the ten best.
    assert [each.recall for each in tuned["measured"]] == [1.0, 1.0]
    assert all(each.exact_ms > 0 and each.hnsw_ms > 0 for each in tuned["measured"])
    assert not any(tag in name for name in databases(conninfo))
    with psycopg.connect(conninfo) as connection:
        assert connection.execute("SELECT count(*) FROM models").fetchone() == (0,)
    written = json.loads(write_result(tuned, tmp_path).read_text())
    assert written["crossover"]["exact_max_chunks"] == tuned["crossover"].exact_max_chunks
    assert written["settings"]["dimension"] == 16


async def test_it_ends_in_time_with_what_it_has(conninfo: str) -> None:
    told: list[str] = []
    tuned = await tune(options(conninfo, budget_seconds=0.0, progress=told.append))
    assert [each.chunks for each in tuned["measured"]] == [60]
    assert told[-1] == "no time for 120 chunks"


async def test_a_login_that_may_not_make_a_database_is_told_so(conninfo: str) -> None:
    name = f"poor_{uuid.uuid4().hex[:8]}"
    login = sql.Identifier(name)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'x'").format(login))
        try:
            poor = pg_conninfo.make_conninfo(conninfo, user=name, password="x")
            with pytest.raises(SetupError, match="CREATEDB"):
                await say_tuned(options(poor).settings, None)
        finally:
            connection.execute(sql.SQL("DROP ROLE {}").format(login))


async def test_a_server_that_does_not_answer_is_told() -> None:
    with pytest.raises(DatabaseUnavailable):
        await tune(options("postgresql://nobody@127.0.0.1:9/none"))
