"""`/readyz` is for everybody, and asks the database little: who asks at once and soon after is given one look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from psycopg.rows import DictRow
from tests.backups import settings_of
from tests.embedders import filled_slot

from reverie_indexer.database.database import Database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_server.app.backups.restore import close
from reverie_server.app.http_app import create_app
from reverie_server.app.wiring import assemble
from reverie_server.http.readiness import KEPT_SECONDS, DatabaseLook
from reverie_server.runtime import Runtime

# So many are let in at once.
AT_ONCE = 16
WITHOUT_ARCHIVE = "PostgreSQL runs without its archive: a program without REVERIE_WAL_ARCHIVE_DIR started it"


class Counted(Database):
    """Counts what is asked as the tables' owner."""

    def __init__(self, conninfo: str) -> None:
        super().__init__(conninfo)
        self.asked = 0
        self.is_asked = asyncio.Event()

    async def maintenance_query(self, statement: bytes, params: Mapping[str, Any]) -> list[DictRow]:
        self.asked += 1
        self.is_asked.set()
        return await super().maintenance_query(statement, params)


@pytest.fixture
async def counted(conninfo: str) -> AsyncIterator[Counted]:
    async with Counted(conninfo) as database:
        yield database


@pytest.fixture
async def served(counted: Counted, conninfo: str, tmp_path: Path) -> AsyncIterator[Runtime]:
    """A system with backups by the clock and an archive, of which its server knows nothing."""
    wanted = {"backup_dir": tmp_path / "backups", "wal_archive_dir": tmp_path / "wal"}
    models = await filled_slot(counted, HashingEmbedder(64))
    runtime = assemble(settings_of(conninfo, tmp_path).model_copy(update=wanted), counted, models)
    yield runtime
    await close(runtime)
    await models.aclose()


async def test_many_who_ask_are_given_one_look_for_a_second(served: Runtime, counted: Counted) -> None:
    backups, now = served.consolidation.backups, 100.0
    app = create_app(served)
    app.state.database_look = DatabaseLook(counted, backups, clock=lambda: now)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=60) as client:

        async def said() -> list[str]:
            answers = await asyncio.gather(*(client.get("/readyz") for _ in range(AT_ONCE)))
            assert {answer.status_code for answer in answers} == {200}
            [body] = {answer.text for answer in answers}
            assert '"degraded"' in body
            return list(answers[0].json()["reasons"])

        before = counted.asked
        assert await said() == [WITHOUT_ARCHIVE]
        # Whether it takes writes, both kinds of backup, and the archiver.
        assert counted.asked - before == 4
        await backups.dumps.failed("setup_error")
        now += KEPT_SECONDS - 0.01
        assert await said() == [WITHOUT_ARCHIVE]
        assert counted.asked - before == 4
        now += 0.01
        assert [reason.partition(":")[0] for reason in await said()] == [
            "the last backup failed",
            WITHOUT_ARCHIVE.partition(":")[0],
        ]
        assert counted.asked - before == 8


async def test_who_goes_away_takes_no_other_one_along(served: Runtime, counted: Counted) -> None:
    look = DatabaseLook(counted, served.consolidation.backups)
    before = counted.asked
    counted.is_asked.clear()
    first, *others = [asyncio.create_task(look.seen()) for _ in range(4)]
    await counted.is_asked.wait()
    first.cancel()
    seen = await asyncio.gather(*others)
    assert {each.database for each in seen} == {"ok"}
    assert [each.backup_troubles for each in seen] == [(WITHOUT_ARCHIVE,)] * 3
    assert counted.asked - before <= 5
    assert first.cancelled()
