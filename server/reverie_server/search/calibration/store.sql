-- learnt: what was learnt of a model
SELECT usual_similarity::float8 AS usual_similarity, direction, direction_offset::float8 AS direction_offset
FROM model_relevance WHERE model_id = %(model_id)s;

-- neutral_vectors: what was learnt of a model by these messages, with its vectors of the neutral ones
SELECT usual_similarity::float8 AS usual_similarity, neutral
FROM model_relevance WHERE model_id = %(model_id)s AND messages_sha256 = %(messages_sha256)s;

-- keep_learnt: what a model makes of the labelled messages; another process may have written the same
INSERT INTO model_relevance (model_id, messages_sha256, usual_similarity, direction, direction_offset, neutral)
VALUES (%(model_id)s, %(messages_sha256)s, %(usual_similarity)s, %(direction)s, %(direction_offset)s, %(neutral)s)
ON CONFLICT (model_id) DO UPDATE SET messages_sha256 = excluded.messages_sha256,
    usual_similarity = excluded.usual_similarity, direction = excluded.direction,
    direction_offset = excluded.direction_offset, neutral = excluded.neutral
WHERE model_relevance.messages_sha256 <> excluded.messages_sha256;

-- forget_nearness: what was measured by other messages
DELETE FROM slice_nearness WHERE model_id = %(model_id)s;

-- nearness: of those of some slices that have one of this model, the largest
SELECT max(nearness)::float8 AS nearness FROM slice_nearness
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND model_id = %(model_id)s::smallint;

-- due: slices after a cursor whose nearness is missing, of another model than the active one, or of half or one and a half
-- times the passages; none for a model that is not active
SELECT s.tenant_id, s.slice_id, s.agent_id, s.owner_key
FROM slices s
LEFT JOIN slice_nearness n ON n.tenant_id = s.tenant_id AND n.slice_id = s.slice_id
WHERE (s.tenant_id, s.slice_id) > (%(tenant_id)s, %(slice_id)s) AND NOT s.past AND s.chunk_count > 0
  AND (n.model_id IS NULL OR n.model_id <> %(model_id)s
       OR 2 * s.chunk_count >= 3 * n.chunk_count OR 2 * s.chunk_count <= n.chunk_count)
  AND EXISTS (SELECT FROM models m WHERE m.model_id = %(model_id)s AND m.active)
ORDER BY s.tenant_id, s.slice_id LIMIT %(limit)s;

-- remove_empty: the nearness of slices that have no passage any more
DELETE FROM slice_nearness n USING slices s
WHERE s.tenant_id = n.tenant_id AND s.slice_id = n.slice_id AND s.chunk_count = 0;

-- open_one: of the slices that this transaction may see, open one alone
SELECT set_config('reverie.slices', %(slice_id)s::text, true);

-- waits: whether passages of a slice wait for their vectors
SELECT EXISTS (
    SELECT FROM chunks WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND NOT embedded AND embed_error IS NULL
) AS waits;

-- sample: the vectors of some passages of a slice, always the same ones while it has the same
-- The vectors are looked up by their key (LIMIT 1), so that ids alone are sorted.
SELECT v.embedding
FROM (
    SELECT chunk_id FROM vectors
    WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND model_id = %(model_id)s::smallint
      AND partition_id = %(partition_id)s AND covered = %(covered)s::boolean
    ORDER BY hashint8(chunk_id), chunk_id LIMIT %(limit)s
) k
CROSS JOIN LATERAL (
    SELECT embedding FROM vectors
    WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id AND model_id = %(model_id)s::smallint
      AND partition_id = %(partition_id)s LIMIT 1
) v;

-- keep_nearness: the nearness of a slice that is still there
INSERT INTO slice_nearness (tenant_id, slice_id, model_id, nearness, chunk_count)
SELECT tenant_id, slice_id, %(model_id)s::smallint, %(nearness)s, %(chunk_count)s FROM slices
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s FOR KEY SHARE
ON CONFLICT (tenant_id, slice_id) DO UPDATE
SET model_id = excluded.model_id, nearness = excluded.nearness, chunk_count = excluded.chunk_count;

-- counts: how many memories have passages, and how many of them a nearness of a model
SELECT count(*) AS slices, count(n.slice_id) AS measured
FROM slices s
LEFT JOIN slice_nearness n ON n.tenant_id = s.tenant_id AND n.slice_id = s.slice_id AND n.model_id = %(model_id)s
WHERE NOT s.past AND s.chunk_count > 0;
