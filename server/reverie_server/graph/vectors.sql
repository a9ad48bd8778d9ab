-- to_embed: entities whose text the model has not embedded yet, of a tenant's slices or (null) of all, by id after a cursor
-- Three ranges of one index: everything but the model's own.
SELECT e.tenant_id, e.slice_id, e.entity_id, e.type, e.name, e.description
FROM (
    (SELECT tenant_id, slice_id, entity_id, type, name, description FROM entities
     WHERE model_id IS NULL AND merged_into IS NULL AND entity_id > %(after)s
       AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s::text)
       AND (%(slice_ids)s::bigint[] IS NULL OR slice_id = ANY(%(slice_ids)s::bigint[]))
     ORDER BY entity_id LIMIT %(limit)s)
    UNION ALL
    (SELECT tenant_id, slice_id, entity_id, type, name, description FROM entities
     WHERE model_id < %(model_id)s AND merged_into IS NULL AND entity_id > %(after)s
       AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s::text)
       AND (%(slice_ids)s::bigint[] IS NULL OR slice_id = ANY(%(slice_ids)s::bigint[]))
     ORDER BY entity_id LIMIT %(limit)s)
    UNION ALL
    (SELECT tenant_id, slice_id, entity_id, type, name, description FROM entities
     WHERE model_id > %(model_id)s AND merged_into IS NULL AND entity_id > %(after)s
       AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s::text)
       AND (%(slice_ids)s::bigint[] IS NULL OR slice_id = ANY(%(slice_ids)s::bigint[]))
     ORDER BY entity_id LIMIT %(limit)s)
) e
ORDER BY e.entity_id LIMIT %(limit)s;

-- attach: an entity's vector, if its text still is the one that was embedded; the slice, if it did
-- The vector may be null: the model refuses that text, and is not asked again until it changes.
WITH marked AS (
    UPDATE entities e SET model_id = %(model_id)s
    WHERE e.tenant_id = %(tenant_id)s AND e.entity_id = %(entity_id)s AND e.merged_into IS NULL
      AND e.name = %(name)s AND e.description = %(description)s
      AND EXISTS (SELECT FROM models m WHERE m.model_id = %(model_id)s AND m.active)
    RETURNING e.tenant_id, e.slice_id, e.entity_id, e.type
), given AS (
    INSERT INTO entity_vectors (tenant_id, slice_id, entity_id, model_id, type, embedding)
    SELECT s.tenant_id, m.slice_id, m.entity_id, %(model_id)s, m.type, %(embedding)s::halfvec
    FROM marked m JOIN slices s ON s.tenant_id = %(tenant_id)s AND s.slice_id = m.slice_id
    WHERE %(embedding)s::halfvec IS NOT NULL
    ON CONFLICT (tenant_id, entity_id) DO UPDATE SET model_id = excluded.model_id, embedding = excluded.embedding
)
SELECT slice_id FROM marked;

-- to_dedup: the slices among some that have entities which were not compared yet, and whose they are
SELECT s.tenant_id, s.slice_id, s.agent_id, s.owner_key FROM slices s
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[]) AND s.agent_id IS NOT NULL
  AND EXISTS (SELECT FROM entities e WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = s.slice_id
              AND e.merged_into IS NULL AND e.deduped_at IS NULL)
ORDER BY s.slice_id;
