"""A newer schema on a database that is spread over nodes: its migrations run there, and new tables are distributed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from tests.citus.failures import node_of
from tests.citus.memories import remember, tenants

from reverie_indexer.database import preparing
from reverie_indexer.database.distributing import distribute
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.database.upgrade import load_migrations, shipped_program
from reverie_indexer.errors import SetupError

NAMES = ("acme", "birch")
MIGRATION = """-- What a migration to come may do: columns, checks, indexes, rows, and a table of tenants.
ALTER TABLE sessions ADD COLUMN mood text NOT NULL DEFAULT 'calm';
ALTER TABLE sessions ADD CONSTRAINT mooded CHECK (mood <> '');
UPDATE sessions SET mood = 'good; or so';
DROP INDEX documents_of_new_facts;
CREATE INDEX documents_of_new_facts ON documents (tenant_id, slice_id, updated_at, document_id)
    WHERE facts_version < version AND session_key IS NULL;
CREATE TABLE remarks (
    tenant_id   text COLLATE "C" NOT NULL,
    remark_id   bigint GENERATED ALWAYS AS IDENTITY,
    slice_id    bigint NOT NULL,
    session_key bigint NOT NULL,
    seq         integer NOT NULL,
    model_id    smallint REFERENCES models (model_id) ON DELETE CASCADE,
    PRIMARY KEY (tenant_id, remark_id),
    FOREIGN KEY (tenant_id, session_key, seq) REFERENCES messages (tenant_id, session_key, seq) ON DELETE CASCADE
);
CREATE INDEX remarks_of_slice ON remarks (tenant_id, slice_id, remark_id);
ALTER TABLE remarks ENABLE ROW LEVEL SECURITY;
ALTER TABLE remarks FORCE ROW LEVEL SECURITY;
CREATE POLICY visible ON remarks TO reverie_app USING (tenant_id = (SELECT current_setting('reverie.tenant', true)));
CREATE POLICY maintenance ON remarks TO CURRENT_USER
    USING ((SELECT current_setting('reverie.maintenance', true)) = 'on');
GRANT SELECT, INSERT, UPDATE, DELETE ON remarks TO reverie_app;
INSERT INTO remarks (tenant_id, slice_id, session_key, seq)
SELECT tenant_id, slice_id, session_key, seq FROM messages;
"""


async def test_a_newer_program_brings_its_schema_to_all_nodes(
    distributed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {node_of(distributed, name) for name in NAMES} == {"east", "west"}
    await remember(distributed, tmp_path, NAMES)
    (tmp_path / "9000_remarks.sql").write_text(MIGRATION)
    shipped = shipped_program()
    newer = replace(shipped, migrations=(*shipped.migrations, *load_migrations(tmp_path)))
    monkeypatch.setattr(preparing, "shipped_program", lambda: newer)
    for _ in range(2):
        with pytest.raises(SetupError, match=r"on the coordinator alone are yet: remarks\..*doctor --distribute"):
            await prepare_database(distributed)
    assert (await distribute(distributed)).distributed == ("remarks",)
    assert (await prepare_database(distributed)).number == 9000

    async with tenants(distributed, tmp_path, NAMES) as (runtime, memories):
        for tenant in memories:
            async with runtime.database.tenant(tenant.name) as connection:
                rows = await (await connection.execute("SELECT tenant_id, seq FROM remarks ORDER BY seq")).fetchall()
            assert rows == [{"tenant_id": tenant.name, "seq": seq} for seq in (1, 2, 3, 4)]
            assert f"The heron of {tenant.name}" in await tenant.found("Where does the heron keep its lantern?")
    with psycopg.connect(distributed) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        connection.execute("DELETE FROM messages WHERE tenant_id = 'acme'")
        assert connection.execute("SELECT tenant_id, count(*) FROM remarks GROUP BY 1").fetchall() == [("birch", 4)]
        assert connection.execute("SELECT DISTINCT mood FROM sessions").fetchall() == [("good; or so",)]
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("UPDATE sessions SET mood = ''")
