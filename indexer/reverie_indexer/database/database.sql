-- configure_connection: plans by value, not generic; no JIT or workers for scans of some thousand rows; and index
-- scans always: right after a bulk load, without statistics, the planner takes tables for small that are not.
-- `has_nodes`: whether Citus spreads the tables
SELECT set_config('plan_cache_mode', 'force_custom_plan', false),
       set_config('TimeZone', 'UTC', false),
       set_config('statement_timeout', %(statement_timeout)s, false),
       set_config('idle_in_transaction_session_timeout', '60s', false),
       set_config('jit', 'off', false),
       set_config('enable_seqscan', 'off', false),
       set_config('enable_bitmapscan', 'off', false),
       set_config('enable_mergejoin', 'off', false),
       set_config('max_parallel_workers_per_gather', '0', false),
       coalesce(current_setting('reverie.on_nodes', true) = 'on', false) AS has_nodes;

-- begin_snapshot: a transaction that only reads, in one snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- end: of what `begin_snapshot` began
COMMIT;

-- enter_tenant, prepared: from here to the end of the transaction, work as reverie_app for one tenant
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

-- act_for, prepared: whose slices this transaction may see and open
SELECT set_config('reverie.agent', %(agent_id)s, true), set_config('reverie.owner', coalesce(%(owner_key)s, ''), true);

-- visible_slices, prepared: the slices of (agent, owner) and what the tenant shares, with their past ones if asked for; opens them to
-- this transaction. Each kind is looked up by itself: an agent may have a million owners
WITH visible AS MATERIALIZED (
    SELECT slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision FROM slices
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key = %(owner_key)s AND (NOT past OR %(with_past)s)
    UNION ALL
    SELECT slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision FROM slices
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key IS NULL AND (NOT past OR %(with_past)s)
    UNION ALL
    SELECT slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision FROM slices
    WHERE tenant_id = %(tenant_id)s AND agent_id IS NULL AND owner_key IS NULL AND (NOT past OR %(with_past)s)
)
SELECT slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision
FROM visible, (SELECT set_config('reverie.slices', coalesce(string_agg(slice_id::text, ','), ''), true)
               FROM visible) AS opened
ORDER BY slice_id;

-- every_slice: as `visible_slices`, of every owner
WITH visible AS MATERIALIZED (
    SELECT slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision FROM slices
    WHERE tenant_id = %(tenant_id)s AND (agent_id = %(agent_id)s OR agent_id IS NULL) AND (NOT past OR %(with_past)s)
)
SELECT slice_id, agent_id, owner_key, past, chunk_count, term_total, partition_id, revision
FROM visible, (SELECT set_config('reverie.slices', coalesce(string_agg(slice_id::text, ','), ''), true)
               FROM visible) AS opened
ORDER BY slice_id;
