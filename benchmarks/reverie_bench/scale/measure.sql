-- exact_nearest: the nearest of one slice, or of its files under a path, by reading every vector
-- What points away from the query is not near, and search gives all of it the same score: 0.
SELECT v.chunk_id FROM vectors v
WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = %(slice_id)s AND v.partition_id = %(partition_id)s
  AND v.model_id = %(model_id)s::smallint
  AND (%(prefix)s::text IS NULL OR v.document_id IN (
      SELECT d.document_id FROM documents d
      WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND starts_with(d.path, %(prefix)s::text)))
  AND (v.embedding <=> %(embedding)s::halfvec) < 1
ORDER BY (v.embedding <=> %(embedding)s::halfvec) + 0, v.chunk_id DESC
LIMIT %(limit)s;

-- slice: where one owner's vectors are
SELECT slice_id, partition_id FROM slices
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key = %(owner_key)s AND NOT past;

-- own_partitions: how many slices have a partition of their own, and how many chunks these have
SELECT count(*), coalesce(sum(chunk_count), 0)::bigint FROM slices WHERE partition_id <> 0;

-- sizes: bytes by relation, a table's with what is stored out of line
SELECT c.relname, t.relname AS table_name, c.relkind = 'i' AS is_index,
       CASE WHEN c.relkind = 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END AS bytes
FROM pg_class c
LEFT JOIN pg_index i ON i.indexrelid = c.oid
JOIN pg_class t ON t.oid = coalesce(i.indrelid, c.oid)
WHERE c.relkind IN ('r', 'i') AND c.relnamespace = 'public'::regnamespace
ORDER BY t.relname, c.relname;

-- server: what the server is set to, and the size of the whole database in bytes
SELECT current_setting('shared_buffers'), pg_database_size(current_database());
