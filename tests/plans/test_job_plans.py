"""What a request asks of the queue reads its own agent's unfinished jobs, however many others there are."""

from __future__ import annotations

import json
from typing import Any

import psycopg

OTHERS = 6000
FILL = """
INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args, status, scheduled_at)
SELECT 'reverie', 'dreaming', 'dreaming:' || n, 'dreaming:' || n,
       jsonb_build_object('tenant_id', 'default', 'agent_id', agent, 'owner_key', 'user:' || n),
       status::procrastinate_job_status, now() + interval '1 hour'
FROM (SELECT n, 'other' || n %% 500 AS agent, 'todo' AS status FROM generate_series(1, %(others)s) n
      UNION ALL SELECT n + 100000, 'wren', 'succeeded' FROM generate_series(1, %(others)s) n
      UNION ALL SELECT n + 900000, 'wren', 'todo' FROM generate_series(1, 5) n) jobs
"""


def blocks(connection: psycopg.Connection[Any], statement: bytes) -> tuple[int, Any]:
    """How many pages a statement read, and its answer."""
    row = connection.execute(b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement).fetchone()
    assert row is not None
    [explained] = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    return explained["Plan"]["Shared Hit Blocks"] + explained["Plan"]["Shared Read Blocks"], explained["Plan"]


def test_own_jobs_and_deferring_read_few_pages(conninfo: str) -> None:
    with psycopg.connect(conninfo, autocommit=True, prepare_threshold=None) as connection:
        connection.execute(FILL, {"others": OTHERS})
        connection.execute("ANALYZE procrastinate_jobs")
        pages = connection.execute("SELECT relpages FROM pg_class WHERE relname = 'procrastinate_jobs'").fetchone()
        assert (pages or (0,))[0] > 250
        for name, value in (("tenant", "default"), ("agent", "wren"), ("owner", "*")):
            connection.execute("SELECT set_config(%s, %s, false)", [f"reverie.{name}", value])
        connection.execute("SET enable_seqscan = off")
        own = b"SELECT count(*) FROM own_jobs()"
        assert connection.execute(own).fetchone() == (5,)
        read, plan = blocks(connection, own)
        assert read < 60, plan
        defer = (
            b"SELECT defer_job('dreaming', '900003', "
            b'\'{"tenant_id": "default", "agent_id": "wren", "owner_key": "user:900003"}\', 0)'
        )
        blocks(connection, defer)
        read, plan = blocks(connection, defer)
        assert read < 60, plan
        # The next job is found among all that wait for their time.
        found = connection.execute("SELECT args ->> 'owner_key' FROM take_job(ARRAY['reverie'], NULL)").fetchone()
        assert found == ("user:900003",)
