-- turns: turns of an owner (null: the team's) with an agent that began after a time, the oldest first
SELECT turn_id AS id, at, kind, session_id, outcome, tokens
FROM turns
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
  AND at > %(since)s::timestamptz
ORDER BY at, turn_id
LIMIT %(limit)s;

-- reports: reports of some slices that ended after a time, the oldest first; those of runs of less than a day
SELECT report_id AS id, ended_at AS at, mode, status, jsonb_array_length(promoted) AS promoted
FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
  AND started_at > %(since)s::timestamptz - interval '1 day' AND ended_at > %(since)s::timestamptz
ORDER BY ended_at, report_id
LIMIT %(limit)s;

-- jobs: how many of the jobs of the owner and the team wait, run, and failed for good
SELECT count(*) FILTER (WHERE j.status = 'todo')::integer AS waiting, count(*) FILTER (WHERE j.status = 'doing')::integer AS running,
       count(*) FILTER (WHERE j.status = 'failed')::integer AS failed
FROM own_jobs() j;
