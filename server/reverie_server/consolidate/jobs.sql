-- defer: a job, in the transaction of its cause; the one that already waits where there is one
SELECT defer_job(%(stage)s, %(unit)s, %(args)s::jsonb, %(after_seconds)s::float8) AS job_id;

-- publish: that something happened
INSERT INTO events (tenant_id, slice_id, agent_id, kind, payload)
VALUES (%(tenant_id)s, %(slice_id)s, %(agent_id)s, %(kind)s, %(payload)s)
RETURNING event_id;

-- started: that a stage begins on a slice
INSERT INTO stages (tenant_id, slice_id, stage, last_started_at)
VALUES (%(tenant_id)s, %(slice_id)s, %(stage)s, clock_timestamp())
ON CONFLICT (tenant_id, slice_id, stage) DO UPDATE SET last_started_at = clock_timestamp();

-- ended: what a run of a stage came to
INSERT INTO stages (tenant_id, slice_id, stage, last_success_at, last_failed_at, last_status, last_reason, last_error,
                    last_method)
VALUES (%(tenant_id)s, %(slice_id)s, %(stage)s, CASE WHEN %(status)s <> 'failed' THEN clock_timestamp() END,
        CASE WHEN %(status)s = 'failed' THEN clock_timestamp() END, %(status)s, %(reason)s, %(error)s, %(method)s)
ON CONFLICT (tenant_id, slice_id, stage) DO UPDATE
SET last_success_at = coalesce(excluded.last_success_at, stages.last_success_at),
    last_failed_at = coalesce(excluded.last_failed_at, stages.last_failed_at),
    last_status = excluded.last_status,
    last_reason = excluded.last_reason,
    last_error = coalesce(excluded.last_error, stages.last_error),
    last_method = coalesce(excluded.last_method, stages.last_method);

-- cooldown: how many seconds are left until so many have passed since a stage last began on a slice
SELECT extract(epoch FROM last_started_at - clock_timestamp()) + %(seconds)s::float8 AS left FROM stages
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND stage = %(stage)s;
