-- take: the next job that may run, now this worker's; a row of nulls where there is none
SELECT id, task_name, args, attempts, lock, worker_id, scheduled_at, status, priority, queueing_lock, queue_name
FROM take_job(%(queues)s::text[], %(worker_id)s);

-- bring_forward: make due what is scheduled up to a time
UPDATE procrastinate_jobs SET scheduled_at = NULL
WHERE queue_name IN ('reverie', 'reverie-quarantine') AND status = 'todo' AND scheduled_at <= %(until)s;

-- cause: on several nodes, wait until what caused a job of a slice can be read; elsewhere it can, and no row is locked
-- There a job can be seen as soon as the coordinator has committed, a moment before the node of its cause has, or for as
-- long as that node is away. Whatever causes a job holds a lock of the slice's row, which its prepared part keeps.
SELECT slice_id FROM slices
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
  AND NOT past AND current_setting('reverie.on_nodes', true) = 'on'
FOR UPDATE;

-- started: record that a stage begins on a slice, where the slice still exists
INSERT INTO stages (tenant_id, slice_id, stage, last_started_at)
SELECT tenant_id, slice_id, %(stage)s, clock_timestamp() FROM slices
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
  AND NOT past
ON CONFLICT (tenant_id, slice_id, stage) DO UPDATE SET last_started_at = clock_timestamp();

-- ended: record the outcome of a run of a stage
INSERT INTO stages (tenant_id, slice_id, stage, last_success_at, last_failed_at, last_status, last_reason, last_error,
                    last_method)
SELECT tenant_id, slice_id, %(stage)s, CASE WHEN %(status)s <> 'failed' THEN clock_timestamp() END,
       CASE WHEN %(status)s = 'failed' THEN clock_timestamp() END, %(status)s, %(reason)s::text, %(error)s::text,
       %(method)s::text
FROM slices
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
  AND NOT past
ON CONFLICT (tenant_id, slice_id, stage) DO UPDATE
SET last_success_at = coalesce(excluded.last_success_at, stages.last_success_at),
    last_failed_at = coalesce(excluded.last_failed_at, stages.last_failed_at),
    last_status = excluded.last_status,
    last_reason = excluded.last_reason,
    last_error = coalesce(excluded.last_error, stages.last_error),
    last_method = coalesce(excluded.last_method, stages.last_method);

-- done: record that a worker's job has succeeded; no row where the job is no longer that worker's
WITH done AS (
    UPDATE procrastinate_jobs SET status = 'succeeded', attempts = attempts + 1, abort_requested = false
    WHERE id = %(job_id)s AND worker_id = %(worker_id)s AND status = 'doing'
    RETURNING id
), gone AS (
    DELETE FROM job_errors WHERE job_id IN (SELECT id FROM done)
)
SELECT id FROM done;

-- failed: record that a worker's job has failed: it waits for its next attempt, or has had its last
WITH failed AS (
    UPDATE procrastinate_jobs SET
        status = (CASE WHEN %(is_last)s THEN 'failed' ELSE 'todo' END)::procrastinate_job_status,
        scheduled_at = CASE WHEN NOT %(is_last)s THEN clock_timestamp() + make_interval(secs => %(wait_seconds)s) END,
        attempts = attempts + 1, abort_requested = false, worker_id = NULL
    WHERE id = %(job_id)s AND worker_id = %(worker_id)s AND status = 'doing'
    RETURNING id
)
INSERT INTO job_errors (job_id, error) SELECT id, %(error)s FROM failed
ON CONFLICT (job_id) DO UPDATE SET error = excluded.error, at = excluded.at
RETURNING job_id AS id;

-- put_back: put back a worker's job that it could not finish, as if it had not begun
UPDATE procrastinate_jobs SET status = 'todo', scheduled_at = NULL, abort_requested = false, worker_id = NULL
WHERE id = %(job_id)s AND worker_id = %(worker_id)s AND status = 'doing'
RETURNING id;

-- wake: wake the workers for jobs that waited for this one to end
SELECT wake_workers() FROM procrastinate_jobs WHERE lock = %(lock)s AND status = 'todo' LIMIT 1;

-- lock_rescue: one rescue at a time; false while there is another. In a statement before it, for a snapshot of after it
SELECT pg_try_advisory_xact_lock(1919252070) AS held;

-- rescue: put back the jobs of workers that have died. Who ran alone has one more death, which is waited for, or has
-- failed; of several in one process nobody knows which it died of, so that they run again alone, in quarantine
WITH living AS MATERIALIZED (
    SELECT objid::bigint AS worker FROM pg_locks
    WHERE locktype = 'advisory' AND classid = 1919252069 AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
), company AS (
    SELECT worker_id, count(*) AS jobs FROM procrastinate_jobs
    WHERE status = 'doing' AND worker_id IS NOT NULL GROUP BY worker_id
), orphaned AS (
    SELECT j.id, coalesce(e.deaths, 0) + (coalesce(c.jobs, 0) = 1)::integer AS deaths, c.jobs IS NOT NULL AS died,
           CASE WHEN c.jobs = 1 THEN %(retry_seconds)s::float8 * 2.0 ^ (coalesce(e.deaths, 0) - 1) END AS wait_seconds
    FROM procrastinate_jobs j
    LEFT JOIN job_errors e ON e.job_id = j.id
    LEFT JOIN company c ON c.worker_id = j.worker_id
    WHERE j.status = 'doing' AND j.queue_name = ANY(%(queues)s::text[])
      AND (j.worker_id IS NULL OR mod(j.worker_id, 2147483647) NOT IN (SELECT worker FROM living))
    ORDER BY j.id FOR UPDATE OF j SKIP LOCKED
), rescued AS (
    UPDATE procrastinate_jobs j SET
        status = (CASE WHEN o.deaths >= %(max_deaths)s THEN 'failed' ELSE 'todo' END)::procrastinate_job_status,
        scheduled_at = CASE WHEN o.deaths BETWEEN 2 AND %(max_deaths)s - 1
                            THEN clock_timestamp() + make_interval(secs => o.wait_seconds) END,
        queue_name = CASE WHEN o.died AND j.queue_name = 'reverie' THEN 'reverie-quarantine' ELSE j.queue_name END,
        queueing_lock = NULL, abort_requested = false, worker_id = NULL
    FROM orphaned o WHERE j.id = o.id
    RETURNING j.id, j.task_name, j.status::text, j.args, o.deaths
), noted AS (
    INSERT INTO job_errors (job_id, error, deaths) SELECT id, 'worker_died', deaths FROM rescued
    ON CONFLICT (job_id) DO UPDATE SET error = excluded.error, deaths = excluded.deaths, at = excluded.at
)
SELECT id, task_name, status, args, deaths FROM rescued ORDER BY id;

-- overran: record that a worker is about to die of this job, which has run too long and cannot be stopped
WITH overran AS (
    UPDATE procrastinate_jobs j SET
        status = (CASE WHEN coalesce(e.deaths, 0) + 1 >= %(max_deaths)s THEN 'failed' ELSE 'todo' END
                 )::procrastinate_job_status,
        scheduled_at = CASE WHEN e.deaths BETWEEN 1 AND %(max_deaths)s - 2
            THEN clock_timestamp() + make_interval(secs => %(retry_seconds)s::float8 * 2.0 ^ (e.deaths - 1)) END,
        queue_name = 'reverie-quarantine', abort_requested = false, worker_id = NULL
    FROM procrastinate_jobs k LEFT JOIN job_errors e ON e.job_id = k.id
    WHERE k.id = j.id AND j.id = %(job_id)s AND j.worker_id = %(worker_id)s AND j.status = 'doing'
    RETURNING j.id, coalesce(e.deaths, 0) + 1 AS deaths
)
INSERT INTO job_errors (job_id, error, deaths) SELECT id, 'worker_died', deaths FROM overran
ON CONFLICT (job_id) DO UPDATE SET error = excluded.error, deaths = excluded.deaths, at = excluded.at
RETURNING job_id AS id;

-- put_all_back: put back the other jobs of a worker that is about to die of one, as if they had not begun
UPDATE procrastinate_jobs SET status = 'todo', scheduled_at = NULL, abort_requested = false, worker_id = NULL
WHERE worker_id = %(worker_id)s AND status = 'doing';

-- quarantined: whether a job in quarantine is due
SELECT EXISTS (
    SELECT FROM procrastinate_jobs WHERE queue_name = 'reverie-quarantine' AND status = 'todo'
      AND (scheduled_at IS NULL OR scheduled_at <= clock_timestamp())) AS due;

-- ran: one more run of a stage, for the metrics
INSERT INTO stage_runs AS r (stage, status, method, runs, seconds, buckets)
VALUES (%(stage)s, %(status)s, %(method)s, 1, %(seconds)s, %(buckets)s::bigint[])
ON CONFLICT (stage, status, method) DO UPDATE
SET runs = r.runs + 1, seconds = r.seconds + excluded.seconds,
    buckets = ARRAY(SELECT a + b FROM unnest(r.buckets, excluded.buckets) WITH ORDINALITY AS t (a, b, n) ORDER BY n);

-- wake_all: wake the workers for the jobs that were put back
SELECT wake_workers();

-- remove_dead_workers: the rows of workers that have died and have been rescued from
DELETE FROM procrastinate_workers w
WHERE mod(id, 2147483647) NOT IN (
    SELECT objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND classid = 1919252069 AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
  AND NOT EXISTS (SELECT FROM procrastinate_jobs j WHERE j.worker_id = w.id AND j.status = 'doing');

-- prune: delete jobs that ended `keep_days` ago, `limit` at a time; those that failed stay until they are tried again
WITH old AS (
    SELECT j.id FROM procrastinate_jobs j
    WHERE j.status IN ('succeeded', 'cancelled', 'aborted')
      AND NOT EXISTS (SELECT FROM procrastinate_events e
                      WHERE e.job_id = j.id AND e.at > now() - make_interval(days => %(keep_days)s))
    ORDER BY j.id LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM procrastinate_jobs j USING old WHERE j.id = old.id RETURNING j.id;

-- prune_events: delete events older than `keep_days`, `limit` at a time
WITH old AS (
    SELECT tenant_id, event_id FROM events WHERE at < now() - make_interval(days => %(keep_days)s)
    ORDER BY at LIMIT %(limit)s
)
DELETE FROM events e USING old WHERE e.tenant_id = old.tenant_id AND e.event_id = old.event_id RETURNING e.event_id;
