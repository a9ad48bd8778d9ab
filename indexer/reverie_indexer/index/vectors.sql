-- active_model: the model whose vectors queries are compared with
SELECT model_id, provider, name, revision, dimension, normalised FROM models WHERE active;

-- cached_hashes: which passages a model has embedded already
SELECT passage_sha256 FROM embedding_cache
WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND passage_sha256 = ANY(%(hashes)s::bytea[]);

-- relaxed_commit: derived data; after a crash it is made again
SELECT set_config('synchronous_commit', 'off', true);

-- add_to_cache: remember what a model said
INSERT INTO embedding_cache (tenant_id, model_id, passage_sha256, embedding)
VALUES (%(tenant_id)s, %(model_id)s, %(sha256)s, %(embedding)s)
ON CONFLICT (tenant_id, model_id, passage_sha256) DO NOTHING;

-- prune_cache: vectors of passages that nobody has had for a while, of now or of the past
DELETE FROM embedding_cache e
WHERE e.created_at < now() - make_interval(days => %(keep_days)s::int)
  AND NOT EXISTS (SELECT FROM chunks c WHERE c.tenant_id = e.tenant_id AND c.passage_sha256 = e.passage_sha256);

-- embed_chunks: give chunks that wait their vectors from the cache; none when the model is not (or no longer) the active one
-- In one statement, so that a chunk is marked exactly where it gets its vector. The cache is asked by key (ORDER BY
-- keeps that) and not joined: without statistics the planner would read all of it for every chunk. On several nodes the rows go to
-- the tenant's alone, since their tenant is that of a row; a LIMIT would prevent it.
WITH marked AS (
    UPDATE chunks c SET embedded = true
    WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = ANY(%(chunk_ids)s::bigint[]) AND NOT c.embedded
      AND (SELECT true FROM embedding_cache
           WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND passage_sha256 = c.passage_sha256 LIMIT 1)
      AND EXISTS (SELECT FROM models m WHERE m.model_id = %(model_id)s AND m.active)
    RETURNING c.tenant_id, c.slice_id, c.chunk_id, c.document_id, c.tier, c.passage_sha256
), given AS (
    INSERT INTO vectors (tenant_id, slice_id, chunk_id, document_id, partition_id, model_id, tier, covered, embedding)
    SELECT s.tenant_id, c.slice_id, c.chunk_id, c.document_id, s.partition_id, %(model_id)s, c.tier,
           vector_dims(e.embedding) <= %(max_covered_dimension)s, e.embedding
    FROM marked c
    JOIN slices s ON s.tenant_id = %(tenant_id)s AND s.slice_id = c.slice_id
    CROSS JOIN LATERAL (
        SELECT embedding FROM embedding_cache
        WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND passage_sha256 = c.passage_sha256
        ORDER BY passage_sha256
    ) e
    ON CONFLICT (tenant_id, chunk_id, model_id, partition_id) DO NOTHING
)
SELECT count(*) AS count FROM marked;

-- attach_vectors: give chunks the vectors of a model that is not active yet, from the cache
INSERT INTO vectors (tenant_id, slice_id, chunk_id, document_id, partition_id, model_id, tier, covered, embedding)
SELECT c.tenant_id, c.slice_id, c.chunk_id, c.document_id, s.partition_id, %(model_id)s, c.tier,
       vector_dims(e.embedding) <= %(max_covered_dimension)s, e.embedding
FROM chunks c
JOIN slices s ON s.tenant_id = c.tenant_id AND s.slice_id = c.slice_id
CROSS JOIN LATERAL (
    SELECT embedding FROM embedding_cache
    WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND passage_sha256 = c.passage_sha256
    ORDER BY passage_sha256
) e
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = ANY(%(chunk_ids)s::bigint[])
ON CONFLICT (tenant_id, chunk_id, model_id, partition_id) DO NOTHING;

-- reject_chunks: passages that the model refuses for good; words still find them
-- This holds no slice's lock. A chunk that a writer holds is left out, or the two could wait in a circle; the
-- back-fill comes to it again.
UPDATE chunks SET embed_error = %(error)s
WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(ARRAY(
    SELECT chunk_id FROM chunks WHERE tenant_id = %(tenant_id)s AND passage_sha256 = %(sha256)s
    FOR NO KEY UPDATE SKIP LOCKED));

-- lock_slices_by_id: lock several slices and give them their next revisions, in id order so that two callers never wait for
-- each other
WITH locked AS MATERIALIZED (
    SELECT slice_id FROM slices
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
    ORDER BY slice_id FOR NO KEY UPDATE
)
UPDATE slices s SET revision = s.revision + 1 FROM locked l
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = l.slice_id;

-- chunks_of_slices: those of some chunks that are in some slices; others have moved to the past meanwhile
SELECT chunk_id FROM chunks
WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[]) AND slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY chunk_id;

-- chunks_to_embed: what waits for the back-fill, oldest first, after a cursor; nothing for a model that is not active
SELECT tenant_id, slice_id, chunk_id, context, text, passage_sha256 FROM chunks
WHERE NOT embedded AND embed_error IS NULL AND chunk_id > %(after)s
  AND (%(slice_ids)s::bigint[] IS NULL OR slice_id = ANY(%(slice_ids)s::bigint[]))
  AND EXISTS (SELECT FROM models m WHERE m.model_id = %(model_id)s AND m.active)
ORDER BY chunk_id LIMIT %(limit)s;

-- any_to_embed: a row where some slices have chunks that wait for the back-fill
SELECT chunk_id FROM chunks
WHERE NOT embedded AND embed_error IS NULL AND slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY chunk_id LIMIT 1;

-- chunks_without: what a new model has not embedded yet, after a cursor
SELECT c.tenant_id, c.slice_id, c.chunk_id, c.context, c.text, c.passage_sha256 FROM chunks c
WHERE c.chunk_id > %(after)s AND c.embed_error IS NULL
  AND NOT EXISTS (SELECT FROM vectors v WHERE v.tenant_id = c.tenant_id AND v.chunk_id = c.chunk_id
                  AND v.model_id = %(model_id)s)
ORDER BY c.chunk_id LIMIT %(limit)s;

-- ensure_model: the row of a model
INSERT INTO models (provider, name, revision, dimension, normalised)
VALUES (%(provider)s, %(name)s, %(revision)s, %(dimension)s, %(normalised)s)
ON CONFLICT (provider, name, revision, dimension, normalised) DO UPDATE SET name = excluded.name
RETURNING model_id, active;

-- lock_models: one process at a time decides which model is active
LOCK TABLE models IN SHARE ROW EXCLUSIVE MODE;

-- activate_model: queries are embedded with this model from the commit on
UPDATE models SET active = true WHERE model_id = %(model_id)s;

-- deactivate_models: before another is made active; the unique index never allows two
UPDATE models SET active = false WHERE active;

-- block_lockers: nobody takes the lock of a slice until the transaction ends. Before `block_writers`, because writers lock
-- in this order.
LOCK TABLE slices IN EXCLUSIVE MODE;

-- next_revisions: what is held in memory of any slice has the vectors of another model
UPDATE slices SET revision = revision + 1;

-- block_writers: nobody writes chunks until the transaction ends
LOCK TABLE chunks IN SHARE ROW EXCLUSIVE MODE;

-- remark_embedded: which chunks have a vector of the model that is now active; what another model refused it may take
UPDATE chunks c SET embedded = has.vector, embed_error = NULL
FROM (SELECT k.tenant_id, k.chunk_id, EXISTS (
          SELECT FROM vectors v WHERE v.tenant_id = k.tenant_id AND v.chunk_id = k.chunk_id
          AND v.model_id = %(model_id)s) AS vector FROM chunks k) AS has
WHERE has.tenant_id = c.tenant_id AND has.chunk_id = c.chunk_id
  AND (c.embedded <> has.vector OR c.embed_error IS NOT NULL);

-- remove_other_vectors: the vectors of the models that are no longer used
DELETE FROM vectors WHERE model_id <> %(model_id)s;

-- slices_to_promote: shared-partition slices too large to scan, largest first
SELECT tenant_id, slice_id, chunk_count FROM slices
WHERE partition_id = 0 AND NOT past AND chunk_count > %(exact_max_chunks)s
ORDER BY chunk_count DESC, slice_id LIMIT %(limit)s;

-- count_partitions: how many slices have a partition of their own
SELECT count(*) AS count FROM slices WHERE partition_id > 0;

-- lock_slice_by_id: keep writers of one slice out while it moves, and give it its next revision
WITH locked AS MATERIALIZED (
    SELECT slice_id FROM slices WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s FOR UPDATE
)
UPDATE slices s SET revision = s.revision + 1 FROM locked l
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = l.slice_id
RETURNING s.partition_id;

-- move_slice: where the slice's vectors are from now on
UPDATE slices SET partition_id = %(partition_id)s WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s;

-- leave_shared_partition: the rows that were copied to the slice's own partition
DELETE FROM vectors_0 WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s;

-- models_in_use: the models that have vectors of one slice
SELECT m.model_id, m.dimension FROM models m
WHERE EXISTS (SELECT FROM vectors_0 v WHERE v.tenant_id = %(tenant_id)s AND v.slice_id = %(slice_id)s AND v.model_id = m.model_id)
ORDER BY m.model_id;

-- own_partitions: the partitions of promoted slices
SELECT DISTINCT partition_id FROM slices WHERE partition_id > 0 ORDER BY partition_id;

-- no_limits: an index build, or a switch that waits for every writer, may take its time and its memory
SELECT set_config('statement_timeout', '0', true), set_config('maintenance_work_mem', '256MB', true);
