-- schema_facts: what there is of a schema; release 0.1.0 had no numbers
SELECT to_regclass('schema_info') IS NOT NULL AS has_schema,
       to_regclass('reverie_migrations') IS NOT NULL AS has_numbers,
       to_regclass('procrastinate_jobs') IS NOT NULL AS has_jobs;

-- schema_sha256: which schema.sql release 0.1.0 applied
SELECT sha256 FROM schema_info;

-- applied: the migrations that the database has
SELECT number FROM reverie_migrations ORDER BY number;

-- jobs_migration: up to which of procrastinate's migrations the tables of jobs are
SELECT jobs_migration FROM schema_info;

-- try_hold_schema: one process at a time works on the schema, held until the connection is closed
SELECT pg_try_advisory_lock(7236119822001) AS held;

-- bound_waiting: how long a statement of this transaction waits for a table that another program holds
SELECT set_config('lock_timeout', %(lock_timeout)s, true);

-- leave_new_tables: where the database is spread over nodes, a new table is PostgreSQL's alone until it is distributed,
-- also with a key to one that is copied to every node: Citus would else take it, and not the policies that it gets
SELECT set_config('citus.enable_local_reference_table_foreign_keys', 'off', true)
WHERE current_setting('reverie.on_nodes', true) = 'on';

-- record_fresh: with which tables of jobs a fresh schema was made
INSERT INTO schema_info (jobs_migration) VALUES (%(jobs_migration)s::text);

-- record_migration: that a migration has been applied
INSERT INTO reverie_migrations (number, name) VALUES (%(number)s::integer, %(name)s::text);

-- record_jobs_migration: that a migration of procrastinate has been applied
UPDATE schema_info SET jobs_migration = %(jobs_migration)s::text;
