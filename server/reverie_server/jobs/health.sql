-- counts: the unfinished jobs that the transaction may see, by stage and state
SELECT stage, CASE status WHEN 'doing' THEN 'running' WHEN 'failed' THEN 'failed'
                          ELSE CASE WHEN scheduled_at > now() THEN 'scheduled' ELSE 'pending' END END AS state,
       count(*)::integer AS jobs
FROM own_jobs() GROUP BY 1, 2 ORDER BY 1, 2;

-- dead: those of them that have failed for good, the newest first
SELECT job_id, stage, owner_key, attempts, coalesce(error, 'unknown') AS error, failed_at
FROM own_jobs() WHERE status = 'failed'
ORDER BY job_id DESC LIMIT %(limit)s;

-- errors: why the last of them failed, by stage, for good or for now
SELECT DISTINCT ON (stage) stage, error, failed_at FROM own_jobs() WHERE error IS NOT NULL
ORDER BY stage, failed_at DESC, job_id DESC;

-- stages: the last runs of each stage on the slices that the transaction sees
SELECT stage, last_started_at, last_success_at, last_failed_at, last_status, last_reason, last_error, last_method
FROM stages WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND last_started_at IS NOT NULL
ORDER BY stage, last_started_at DESC, slice_id;

-- retry: give jobs that failed for good all their attempts again
SELECT retry_own_jobs(%(stage)s::text, %(job_id)s::bigint) AS retried;

-- retry_of_owner: the same for the jobs of one owner alone, and none of the team's
SELECT coalesce(sum(retry_own_jobs(%(stage)s::text, job_id)), 0)::integer AS retried
FROM own_jobs()
WHERE status = 'failed' AND owner_key = %(owner_key)s AND (%(job_id)s::bigint IS NULL OR job_id = %(job_id)s::bigint);

-- totals: the unfinished jobs of all tenants, by stage and state
SELECT task_name AS stage, CASE status WHEN 'doing' THEN 'running' WHEN 'failed' THEN 'failed'
                               ELSE CASE WHEN scheduled_at > now() THEN 'scheduled' ELSE 'pending' END END AS state,
       count(*)::integer AS jobs
FROM procrastinate_jobs WHERE queue_name IN ('reverie', 'reverie-quarantine') AND status IN ('todo', 'doing', 'failed')
GROUP BY 1, 2 ORDER BY 1, 2;

-- ages: for how many seconds the oldest jobs that are due have waited, and the oldest runs have gone on, by stage
SELECT j.task_name AS stage, CASE j.status WHEN 'doing' THEN 'running' ELSE 'pending' END AS state,
       greatest(0, extract(epoch FROM max(now() - greatest(j.scheduled_at, e.at))))::float8 AS seconds
FROM procrastinate_jobs j
CROSS JOIN LATERAL (SELECT max(at) AS at FROM procrastinate_events WHERE job_id = j.id) e
WHERE j.queue_name IN ('reverie', 'reverie-quarantine')
  AND (j.status = 'doing' OR j.status = 'todo' AND (j.scheduled_at IS NULL OR j.scheduled_at <= now()))
GROUP BY 1, 2 ORDER BY 1, 2;

-- runs: the runs of all workers, by stage, status and method
SELECT stage, status, method, runs, seconds, buckets FROM stage_runs ORDER BY stage, status, method;

-- workers: how many workers live
SELECT count(*)::integer AS workers FROM pg_locks
WHERE locktype = 'advisory' AND classid = 1919252069 AND objsubid = 2 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database());

-- jobs: the unfinished jobs of all tenants, in the order of their deferral
SELECT j.id AS job_id, j.task_name AS stage, j.args ->> 'tenant_id' AS tenant_id, j.args ->> 'agent_id' AS agent_id,
       j.args ->> 'owner_key' AS owner_key, j.attempts, j.scheduled_at, e.error, e.at AS failed_at,
       CASE j.status WHEN 'doing' THEN 'running' WHEN 'failed' THEN 'failed'
            ELSE CASE WHEN j.scheduled_at > now() THEN 'scheduled' ELSE 'pending' END END AS state
FROM procrastinate_jobs j LEFT JOIN job_errors e ON e.job_id = j.id
WHERE j.queue_name IN ('reverie', 'reverie-quarantine') AND j.status IN ('todo', 'doing', 'failed')
  AND (%(failed_only)s IS FALSE OR j.status = 'failed')
  AND (%(agent_id)s::text IS NULL OR j.args ->> 'agent_id' = %(agent_id)s)
  AND (%(stage)s::text IS NULL OR j.task_name = %(stage)s)
ORDER BY j.id LIMIT %(limit)s;

-- retry_jobs: give jobs of any tenant that failed for good all their attempts again
WITH retried AS (
    UPDATE procrastinate_jobs j SET status = 'todo', attempts = 0, scheduled_at = NULL, queueing_lock = NULL,
                                    worker_id = NULL, queue_name = 'reverie'
    WHERE j.queue_name IN ('reverie', 'reverie-quarantine') AND j.status = 'failed'
      AND (%(agent_id)s::text IS NULL OR j.args ->> 'agent_id' = %(agent_id)s)
      AND (%(stage)s::text IS NULL OR j.task_name = %(stage)s)
      AND (%(job_ids)s::bigint[] IS NULL OR j.id = ANY(%(job_ids)s::bigint[]))
    RETURNING j.id
), alive AS (
    UPDATE job_errors SET deaths = 0 WHERE job_id IN (SELECT id FROM retried)
)
SELECT count(*)::integer AS retried, wake_workers() FROM retried;
