-- set_up_session: nothing of this session is ended by the clock
SELECT set_config('statement_timeout', '0', false), set_config('idle_in_transaction_session_timeout', '0', false),
       set_config('reverie.maintenance', 'on', false), set_config('TimeZone', 'UTC', false);

-- nodes: whether the rows of tenants are on several nodes
SELECT current_setting('reverie.on_nodes', true) IS NOT DISTINCT FROM 'on' AS has_nodes;

-- begin_snapshot: a transaction that only reads, in one snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- facts: what a manifest says of the database, and the name by which others read in this snapshot. A database that was
-- brought back to a point in time numbers its transactions from there again: `cluster` has the timeline from the second on
SELECT pg_export_snapshot() AS exported, pg_current_snapshot()::text AS snapshot, clock_timestamp() AS at,
       (SELECT system_identifier::text FROM pg_control_system())
       || CASE WHEN NOT pg_is_in_recovery()
               THEN coalesce(':' || nullif(ltrim(left(pg_walfile_name(pg_current_wal_lsn()), 8), '0'), '1'), '')
               ELSE '' END AS cluster,
       current_setting('server_version') AS postgresql,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
       (SELECT max(number) FROM reverie_migrations) AS schema_number;

-- now_and_segment_size: the time, and how long a segment of the log is
SELECT clock_timestamp() AS at, pg_size_bytes(current_setting('wal_segment_size')) AS segment_bytes;

-- recovered: how far a database was brought; asked before anything is written in it
SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next_xid, pg_last_xact_replay_timestamp() AS reached,
       ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer AS timeline;

-- undone: which of some transactions did not commit before the place that a database was brought to
SELECT xid FROM unnest(%(xids)s::text[]) AS xid WHERE pg_xact_status(xid::xid8) = 'aborted' ORDER BY xid;

-- has_schema: whether there is a schema with numbered migrations
SELECT to_regclass('reverie_migrations') IS NOT NULL AS has_schema;

-- tables: the tables with rows, but for those of extensions
SELECT c.relname AS name FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname;

-- state: whose database it is, and who else is connected
SELECT current_database() AS name, current_user AS login,
       (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()) AS owner,
       (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = to_regclass('schema_info')) AS tables_owner,
       (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend')::integer AS others;

-- foreign_tables: tables that a restore would remove and that are not Reverie's
SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  AND NOT (n.oid = current_schema()::regnamespace AND to_regclass('schema_info') IS NOT NULL
           AND (c.relname = ANY (%(ours)s::text[]) OR c.relname ~ '^(procrastinate_.*|vectors_[0-9]+)$'))
  AND NOT pg_is_other_temp_schema(n.oid)
ORDER BY 1 LIMIT 5;

-- has_memory: whether somebody has something in the database
SELECT EXISTS (SELECT FROM agents) OR EXISTS (SELECT FROM keys) OR EXISTS (SELECT FROM audit) AS has_memory;

-- sign_out: end the sessions of all browsers; which of them ended since a backup was made is not known
DELETE FROM browser_sessions;

-- terminate: end all connections to a database
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %(name)s::text AND pid <> pg_backend_pid();

-- sample: passages of present memories that are found by their words, chosen anew each time
SELECT c.tenant_id, c.chunk_id, c.tier, c.text, s.agent_id, s.owner_key
FROM chunks c JOIN slices s USING (tenant_id, slice_id)
LEFT JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
WHERE NOT s.past AND s.agent_id IS NOT NULL AND c.valid_to IS NULL AND c.term_count > 3
  AND (d.expires_at IS NULL OR d.expires_at > now())
ORDER BY random() LIMIT %(count)s;
