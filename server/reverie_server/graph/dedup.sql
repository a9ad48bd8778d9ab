-- neighbours: the nearest of the same type, of entities that were not compared yet; by similarity, then by id
-- Exact within the slice. An entity that has no neighbour has a row without one.
SELECT d.entity_id, d.type, e.name, n.entity_id AS other_id, o.name AS other_name, n.cosine
FROM (SELECT entity_id, type FROM entities
      WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND merged_into IS NULL AND deduped_at IS NULL
        AND model_id = %(model_id)s AND entity_id > %(after)s
      ORDER BY entity_id LIMIT %(limit)s) d
JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.entity_id = d.entity_id
LEFT JOIN entity_vectors v ON v.tenant_id = %(tenant_id)s AND v.entity_id = d.entity_id AND v.model_id = %(model_id)s
LEFT JOIN LATERAL (
    SELECT w.entity_id, 1 - (v.embedding <=> w.embedding) AS cosine
    FROM entity_vectors w
    WHERE w.tenant_id = %(tenant_id)s AND w.slice_id = %(slice_id)s AND w.model_id = %(model_id)s AND w.type = d.type
      AND w.entity_id <> d.entity_id AND v.embedding IS NOT NULL
    ORDER BY v.embedding <=> w.embedding, w.entity_id
    LIMIT %(nearest)s
) n ON true
LEFT JOIN entities o ON o.tenant_id = %(tenant_id)s AND o.entity_id = n.entity_id
ORDER BY d.entity_id, n.cosine DESC NULLS LAST, n.entity_id;

-- mark: that entities were compared, as they are now
UPDATE entities SET deduped_at = %(at)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND entity_id = ANY(%(entity_ids)s::bigint[])
  AND merged_into IS NULL AND model_id = %(model_id)s;
