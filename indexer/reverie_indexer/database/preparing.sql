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

-- spread: whether the database is spread over nodes
SELECT current_setting('reverie.on_nodes', true) IS NOT DISTINCT FROM 'on' AS has_nodes;

-- undistributed: the tables of tenants that are not distributed yet, `agents` first
SELECT c.relname::text AS name
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relname <> 'keys'
  AND NOT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid AND p.partmethod = 'h')
ORDER BY c.relname <> 'agents', c.relname;

-- in_one_phase: the coordinator's tables, written together with rows of tenants, that would commit apart from them: where
-- what `two_phases_of_writes` makes is not there, or is switched off
SELECT t.name
FROM unnest(ARRAY['keys', 'procrastinate_jobs']) AS t (name)
WHERE NOT EXISTS (SELECT FROM pg_trigger g JOIN pg_proc f ON f.oid = g.tgfoid
                  WHERE g.tgrelid = to_regclass(t.name) AND f.proname = 'commit_in_two_phases'
                    AND f.pronamespace = to_regnamespace('reverie_nodes') AND g.tgenabled IN ('O', 'A'))
   OR NOT EXISTS (SELECT FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
                  WHERE c.relnamespace = to_regnamespace('reverie_nodes') AND c.relname = 'two_phases')
ORDER BY t.name;

-- two_phases_of_writes: what writes jobs or keys commits in two phases (`two_phases` says why); may be run again
DO $do$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['procrastinate_jobs', 'keys'] LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER commit_in_two_phases BEFORE INSERT OR UPDATE OR DELETE ON %I '
                       'FOR EACH STATEMENT EXECUTE FUNCTION reverie_nodes.commit_in_two_phases()', name);
    END LOOP;
END $do$;
