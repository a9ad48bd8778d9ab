-- Count runs of stages in the database, and run jobs in quarantine that a process has died with.
CREATE TABLE stage_runs (
    stage    text NOT NULL,
    status   text NOT NULL,
    method   text NOT NULL,
    runs     bigint NOT NULL,
    seconds  double precision NOT NULL,
    buckets  bigint[] NOT NULL,
    PRIMARY KEY (stage, status, method)
);

CREATE OR REPLACE FUNCTION own_jobs()
RETURNS TABLE (job_id bigint, stage text, status text, owner_key text, scheduled_at timestamptz, attempts integer,
               error text, failed_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT j.id, j.task_name::text, j.status::text, j.args ->> 'owner_key', j.scheduled_at, j.attempts, e.error, e.at
    FROM procrastinate_jobs j LEFT JOIN job_errors e ON e.job_id = j.id
    WHERE j.queue_name IN ('reverie', 'reverie-quarantine') AND j.status IN ('todo', 'doing', 'failed')
      AND j.args ->> 'tenant_id' = current_setting('reverie.tenant', true)
      AND j.args ->> 'agent_id' = current_setting('reverie.agent', true)
      AND (j.args ->> 'owner_key' IS NULL OR current_setting('reverie.owner', true) IN (j.args ->> 'owner_key', '*'))
    ORDER BY j.id
$$;

CREATE OR REPLACE FUNCTION retry_own_jobs(of_stage text, only_job bigint)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    retried bigint[];
BEGIN
    WITH again AS (UPDATE procrastinate_jobs j SET status = 'todo', attempts = 0, scheduled_at = NULL, queueing_lock = NULL,
                                    worker_id = NULL, queue_name = 'reverie'
    FROM own_jobs() o
    WHERE j.id = o.job_id AND j.status = 'failed'
      AND (of_stage IS NULL OR o.stage = of_stage) AND (only_job IS NULL OR o.job_id = only_job)
    RETURNING j.id)
    SELECT coalesce(array_agg(id), '{}') INTO retried FROM again;
    UPDATE job_errors SET deaths = 0 WHERE job_id = ANY (retried);
    PERFORM wake_workers();
    RETURN cardinality(retried);
END $$;

-- As 0002 did: what runs with the owner's rights finds its tables where they are, and the caller's temporary ones last.
DO $$
DECLARE
    definer regprocedure;
BEGIN
    FOR definer IN SELECT oid FROM pg_proc WHERE prosecdef AND pronamespace = current_schema()::regnamespace
                   AND proowner = (SELECT oid FROM pg_roles WHERE rolname = current_user) ORDER BY oid LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', definer, current_schema());
    END LOOP;
END $$;
