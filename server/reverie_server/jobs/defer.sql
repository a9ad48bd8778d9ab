-- defer: a job, in the transaction of its cause; the one that already waits where there is one
SELECT defer_job(%(stage)s, %(unit)s, %(args)s::jsonb, %(after_seconds)s::float8) AS job_id;

-- defer_many: as `defer`, for several of one stage at once
SELECT defer_job(%(stage)s, unit, args, 0) FROM unnest(%(units)s::text[], %(args)s::jsonb[]) AS u (unit, args)
ORDER BY unit;

-- publish: add an event
INSERT INTO events (tenant_id, slice_id, agent_id, kind, payload)
VALUES (%(tenant_id)s, %(slice_id)s, %(agent_id)s, %(kind)s, %(payload)s)
RETURNING event_id;

-- cooldown: how many of the given seconds since a stage last began on a slice are left
SELECT extract(epoch FROM last_started_at - clock_timestamp()) + %(seconds)s::float8 AS left FROM stages
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND stage = %(stage)s;
