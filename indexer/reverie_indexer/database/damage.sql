-- set_up_look: as the tables' owner, over all tenants
SELECT set_config('reverie.maintenance', 'on', false), set_config('enable_indexonlyscan', 'off', false),
       set_config('enable_indexscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
       set_config('client_min_messages', 'error', false);

-- bring_checkers: PostgreSQL's checker of tables and B-trees, and what reads the pages of other indexes (those over
-- vectors); gone again when the transaction is rolled back
CREATE EXTENSION IF NOT EXISTS amcheck;
CREATE EXTENSION IF NOT EXISTS pg_prewarm;

-- relations: our tables and the indexes on them and on their long values, smallest first
WITH tables AS (
    SELECT c.oid, c.reltoastrelid FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
)
SELECT c.oid, c.oid::regclass::text AS name, c.relkind = 'i' AS is_index, m.amname = 'btree' AS is_btree,
       pg_relation_size(c.oid) AS size
FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_am m ON m.oid = c.relam
WHERE c.oid IN (SELECT oid FROM tables)
   OR (c.relkind = 'i' AND (i.indrelid IN (SELECT oid FROM tables) OR i.indrelid IN (SELECT reltoastrelid FROM tables)))
ORDER BY size, c.oid;

-- bound_look: end what takes longer than is left
SELECT set_config('statement_timeout', %(timeout)s, true);

-- check_table: the first thing that is wrong with a table or its long values
SELECT format('block %%s: %%s', blkno, msg) AS problem
FROM verify_heapam(%(relation)s::oid::regclass, on_error_stop => true, check_toast => true) LIMIT 1;

-- check_index: raises what is wrong with an index
SELECT NULL AS problem FROM bt_index_check(%(relation)s::oid::regclass, false);

-- read_index: raises what is wrong with a page of an index that the checker does not know, as far as reading it tells
SELECT NULL AS problem FROM pg_prewarm(%(relation)s::oid::regclass, 'buffer');

-- choose_table: which table is to be read
SELECT set_config('reverie.looked_at', %(relation)s::oid::regclass::text, true);

-- read_table: raises what is wrong with the chosen table, as far as reading it tells
DO $$ BEGIN
    EXECUTE format('SELECT count(*) FROM ONLY %s', current_setting('reverie.looked_at'));
END $$;

-- lost_rows: which tables have fewer rows than others say they have; a page that was zeroed reads as if it were empty
WITH counted AS (
    SELECT tenant_id, slice_id, count(*) AS chunks FROM chunks GROUP BY tenant_id, slice_id
), said AS (
    SELECT tenant_id, session_key, count(*) AS messages FROM messages GROUP BY tenant_id, session_key
)
SELECT 'chunks' AS name, count(*) AS wrong FROM slices s LEFT JOIN counted c USING (tenant_id, slice_id)
WHERE s.chunk_count <> coalesce(c.chunks, 0)
UNION ALL
SELECT 'messages', count(*) FROM sessions s LEFT JOIN said m USING (tenant_id, session_key)
WHERE s.message_count <> coalesce(m.messages, 0)
UNION ALL
SELECT 'documents', count(*) FROM (SELECT DISTINCT tenant_id, document_id FROM chunks WHERE document_id IS NOT NULL) c
WHERE NOT EXISTS (SELECT FROM documents d WHERE (d.tenant_id, d.document_id) = (c.tenant_id, c.document_id))
UNION ALL
SELECT 'versions', count(*) FROM documents d
WHERE d.session_key IS NULL AND NOT EXISTS (
    SELECT FROM versions v
    WHERE (v.tenant_id, v.document_id, v.version) = (d.tenant_id, d.document_id, d.version))
ORDER BY name;
