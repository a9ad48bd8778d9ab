-- server_facts: what the start-up check looks at
SELECT current_setting('server_version_num')::int AS version_num,
       current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector_available,
       coalesce((SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = 'reverie_app'), false) AS role_too_strong,
       -- Since PostgreSQL 16 a member may be one without the right to become the role: who creates it is such a one.
       EXISTS (SELECT FROM pg_roles WHERE rolname = 'reverie_app' AND pg_has_role(current_user, oid,
               CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)) AS role_usable,
       to_regclass('procrastinate_jobs') IS NOT NULL AS has_jobs,
       current_user AS login,
       o.rolname AS tables_owner,
       coalesce(pg_has_role(current_user, o.oid,
                CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END), true)
           AS may_be_owner
FROM (SELECT) AS always
LEFT JOIN pg_class c ON c.oid = to_regclass('schema_info')
LEFT JOIN pg_roles o ON o.oid = c.relowner;

-- set_up_session: a step of an upgrade takes the time that it takes, and sees the rows of all tenants: also the check of
-- a new foreign key goes by row-level security
SELECT set_config('statement_timeout', '0', false), set_config('idle_in_transaction_session_timeout', '0', false),
       set_config('reverie.maintenance', 'on', false);

-- become_owner: what a step makes belongs to whom the rest belongs to, also where an operator upgrades
SELECT set_config('role', %(owner)s, false);

-- create_role: the unprivileged role the program works as; another database of the cluster may be making it too
-- Looked for first, because a login that may not create roles is refused even when there is nothing to create.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'reverie_app') THEN
        CREATE ROLE reverie_app NOLOGIN NOBYPASSRLS NOSUPERUSER;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

-- grant_role: a login that is no superuser must be a member to become reverie_app
DO $$ BEGIN
    EXECUTE format('GRANT reverie_app TO %I', current_user);
END $$;

-- take_maintenance: let the owner maintain where a policy lets in another role, as after a restore by another one: it
-- would see no row, and say nothing
DO $$
DECLARE
    restored regclass;
BEGIN
    FOR restored IN SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relforcerowsecurity
          AND c.relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
          AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'visible')
          AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'maintenance'
                          AND c.relowner = ANY (p.polroles))
        ORDER BY c.oid
    LOOP
        EXECUTE format('DROP POLICY IF EXISTS maintenance ON %s', restored);
        EXECUTE format('CREATE POLICY maintenance ON %s TO CURRENT_USER USING ('
            '(SELECT current_setting(''reverie.maintenance'', true)) = ''on'')', restored);
    END LOOP;
END $$;

-- configure_connection: plans by value, not generic; no JIT or workers for scans of some thousand rows; and index
-- scans always: right after a bulk load, without statistics, the planner takes tables for small that are not
SELECT set_config('plan_cache_mode', 'force_custom_plan', false),
       set_config('TimeZone', 'UTC', false),
       set_config('statement_timeout', %(statement_timeout)s, false),
       set_config('idle_in_transaction_session_timeout', '60s', false),
       set_config('jit', 'off', false),
       set_config('enable_seqscan', 'off', false),
       set_config('enable_bitmapscan', 'off', false),
       set_config('enable_mergejoin', 'off', false),
       set_config('max_parallel_workers_per_gather', '0', false);

-- begin_snapshot: a transaction that only reads, in one snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- in_snapshot: the first statement of a message, which only reads, in one snapshot
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- enter_tenant: from here to the end of the transaction, work as reverie_app for one tenant
SELECT set_config('reverie.tenant', %(tenant_id)s, true),
       set_config('reverie.slices', '', true),
       set_config('reverie.agent', '', true),
       set_config('reverie.owner', '', true),
       set_config('role', 'reverie_app', true);

-- enter_maintenance: upkeep across tenants, as the tables' owner, until the transaction ends
SELECT set_config('reverie.maintenance', 'on', true);

-- ping: whether the server answers
SELECT 1 AS one;

-- takes_writes: whether the server takes writes, which a standby does not, nor one that is set read-only
SELECT current_setting('transaction_read_only') = 'off' AS takes_writes;

-- act_for: whose slices this transaction may see and open
SELECT set_config('reverie.agent', %(agent_id)s, true), set_config('reverie.owner', coalesce(%(owner_key)s, ''), true);

-- visible_slices: the slices of (agent, owner; `*`: every owner) and what the tenant shares, with their past ones if
-- asked for; opens them to this transaction
WITH visible AS MATERIALIZED (
    SELECT slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision
    FROM slices
    WHERE tenant_id = %(tenant_id)s AND (NOT past OR %(with_past)s)
      AND ((agent_id = %(agent_id)s AND (owner_key = %(owner_key)s OR %(owner_key)s = '*'))
        OR (agent_id = %(agent_id)s AND owner_key IS NULL)
        OR (agent_id IS NULL AND owner_key IS NULL))
)
SELECT slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision
FROM visible, (SELECT set_config('reverie.slices', coalesce(string_agg(slice_id::text, ','), ''), true)
               FROM visible) AS opened
ORDER BY slice_id;
