-- set_up_look: as the tables' owner, over all tenants
SELECT set_config('reverie.maintenance', 'on', false), set_config('enable_indexonlyscan', 'off', false),
       set_config('enable_indexscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
       set_config('client_min_messages', 'error', false);

-- bring_amcheck: PostgreSQL's checker, gone again when the transaction is rolled back
CREATE EXTENSION IF NOT EXISTS amcheck;

-- relations: our tables and the B-tree indexes on them and on their long values, smallest first
WITH tables AS (
    SELECT c.oid, c.reltoastrelid FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
)
SELECT c.oid, c.oid::regclass::text AS name, c.relkind = 'i' AS is_index, pg_relation_size(c.oid) AS size
FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_am m ON m.oid = c.relam
WHERE c.oid IN (SELECT oid FROM tables)
   OR (c.relkind = 'i' AND m.amname = 'btree'
       AND (i.indrelid IN (SELECT oid FROM tables) OR i.indrelid IN (SELECT reltoastrelid FROM tables)))
ORDER BY size, c.oid;

-- bound_look: end what takes longer than is left
SELECT set_config('statement_timeout', %(timeout)s, true);

-- check_table: the first thing that is wrong with a table or its long values
SELECT format('block %%s: %%s', blkno, msg) AS problem
FROM verify_heapam(%(relation)s::oid::regclass, on_error_stop => true, check_toast => true) LIMIT 1;

-- check_index: raises what is wrong with an index
SELECT NULL AS problem FROM bt_index_check(%(relation)s::oid::regclass, false);

-- read_table: raises what is wrong with a table, as far as reading it tells
SELECT NULL AS problem FROM query_to_xml(
    format('SELECT count(*) FROM ONLY %%s', %(relation)s::oid::regclass), false, false, '');
