-- citus: whether the database has Citus, whether this node is the one that plans, and the workers that take rows
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS is_installed,
       EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citus') AS is_available;

-- nodes: whether this node is the coordinator, and how many workers take rows
SELECT citus_is_coordinator() AS is_coordinator,
       (SELECT count(*) FROM pg_dist_node
        WHERE noderole = 'primary' AND isactive AND shouldhaveshards AND groupid <> 0)::integer AS workers;

-- others: how many other clients this database has
SELECT count(*)::integer AS others FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
  AND application_name NOT LIKE 'citus%%';

-- vectors_missing: the workers whose database lacks pgvector
SELECT nodename || ':' || nodeport AS node
FROM run_command_on_workers('SELECT count(*) FROM pg_extension WHERE extname = ''vector''')
WHERE NOT success OR result <> '1' ORDER BY node;

-- uncopied: the tables without a tenant that foreign keys of tenants lead to, directly or not, and that are not copied
-- to every node yet
SELECT c.relname::text AS name
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname IN ('models', 'model_relevance')
  AND NOT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid AND p.partmethod = 'n')
ORDER BY c.relname <> 'models';

-- foreign_keys: the foreign keys from and to some tables, as nodes take them: none sets a column to null
SELECT k.conrelid::regclass::text AS name, k.conname::text AS key,
       regexp_replace(pg_get_constraintdef(k.oid), ' ON DELETE SET NULL \([^)]*\)', '') AS definition
FROM pg_constraint k
WHERE k.contype = 'f' AND k.conparentid = 0
  AND (k.conrelid = ANY(%(tables)s::text[]::regclass[]) OR k.confrelid = ANY(%(tables)s::text[]::regclass[]))
ORDER BY k.conrelid::regclass::text, k.conname;

-- policies: the policies of some tables as nodes take them, which is without sub-queries
SELECT tablename::text AS name, policyname::text AS policy, permissive, cmd, roles::text[] AS roles,
       regexp_replace(qual, '\( SELECT (.*?) AS \w+\)', '(\1)', 'g') AS using,
       regexp_replace(with_check, '\( SELECT (.*?) AS \w+\)', '(\1)', 'g') AS with_check
FROM pg_policies
WHERE schemaname = current_schema() AND tablename = ANY(%(tables)s::text[])
ORDER BY tablename, policyname;

-- one_connection: what follows changes all shards of a table over one connection to each node, as foreign keys want it
SET LOCAL citus.multi_shard_modify_mode TO 'sequential';

-- distribute: by tenant, beside `agents`
SELECT create_distributed_table(%(name)s::text::regclass, 'tenant_id', colocate_with => %(beside)s);

-- copy: to every node
SELECT create_reference_table(%(name)s::text::regclass);

-- forget_local: what stays behind of a distributed table on the coordinator
SELECT truncate_local_data_after_distributing_table(%(name)s::text::regclass);

-- tell_nodes: run a statement on every node, this one too; what those that refuse it say
SELECT nodename || ':' || nodeport AS node, result
FROM run_command_on_all_nodes(%(statement)s) JOIN pg_dist_node USING (nodeid)
WHERE NOT success ORDER BY node;

-- tell_node: what each node is to know of the program; may be run again
-- A setting of the program's session does not reach the nodes that have the rows, and of a transaction's only what is
-- set by SET LOCAL. Row-level security goes by such settings: so `set_config` is one here that does both. Connections
-- between nodes are those of the role that asks.
DO $do$
DECLARE
    setting text;
BEGIN
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'reverie_app') THEN
        CREATE ROLE reverie_app NOBYPASSRLS NOSUPERUSER;
    END IF;
    ALTER ROLE reverie_app LOGIN;
    CREATE SCHEMA IF NOT EXISTS reverie_nodes;
    GRANT USAGE ON SCHEMA reverie_nodes TO reverie_app;
    CREATE OR REPLACE FUNCTION reverie_nodes.set_config(name text, value text, is_local boolean) RETURNS text
    LANGUAGE plpgsql AS $set$
    BEGIN
        IF is_local AND name <> 'role' THEN
            -- Without a query, which would be planned anew in each of the five calls that a transaction begins with.
            EXECUTE format('SET LOCAL "%s" TO %L', replace(replace(name, '"', '""'), '.', '"."'), value);
            RETURN value;
        END IF;
        RETURN pg_catalog.set_config(name, value, is_local);
    END $set$;
    -- Changes of distributed tables take no function that gives another value for each row: the time is the statement's.
    CREATE OR REPLACE FUNCTION reverie_nodes.clock_timestamp() RETURNS timestamptz
    LANGUAGE sql IMMUTABLE AS 'SELECT pg_catalog.clock_timestamp()';
    -- Of a statement that a node runs as a whole, it takes the numbers of new rows itself, as the role that asks.
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO reverie_app;
    FOREACH setting IN ARRAY ARRAY['citus.propagate_set_commands TO ''local''',
        'citus.multi_shard_modify_mode TO ''sequential''',
        'search_path TO "$user", public, reverie_nodes, pg_catalog', 'timezone TO ''UTC''', 'jit TO off',
        'plan_cache_mode TO force_custom_plan', 'enable_seqscan TO off', 'enable_bitmapscan TO off',
        'enable_mergejoin TO off', 'max_parallel_workers_per_gather TO 0',
        'reverie.on_nodes TO ''on'''] LOOP
        EXECUTE format('ALTER DATABASE %I SET %s', current_database(), setting);
    END LOOP;
END $do$;

-- two_phases: what writes rows of the coordinator alone, and a tenant's, commits in two phases; may be run again
-- Citus does not see that a table is written which only the coordinator has (jobs and keys). A transaction that writes on
-- one node besides would commit there first, and here after it: killed in between, the coordinator would have no job for
-- what is there. So each such write changes nothing in a table that is the coordinator's and known to Citus, too.
DO $do$
BEGIN
    CREATE TABLE IF NOT EXISTS reverie_nodes.two_phases (n integer);
    IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'reverie_nodes.two_phases'::regclass) THEN
        PERFORM citus_add_local_table_to_metadata('reverie_nodes.two_phases');
    END IF;
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
    CREATE OR REPLACE FUNCTION reverie_nodes.commit_in_two_phases() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $mark$
    BEGIN
        DELETE FROM reverie_nodes.two_phases WHERE n = 0;
        RETURN NULL;
    END $mark$;
END $do$;
