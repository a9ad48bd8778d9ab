-- known: the entities of a slice that are known by one of these names, the best known first
SELECT DISTINCT e.entity_id, e.external_id, e.type, e.name, e.aliases, e.description, e.confidence
FROM entity_names n
JOIN entities e ON e.tenant_id = n.tenant_id AND e.entity_id = n.entity_id
WHERE n.tenant_id = %(tenant_id)s AND n.slice_id = ANY(%(slice_ids)s::bigint[]) AND n.name_key = ANY(%(name_keys)s::text[])
ORDER BY e.confidence DESC, e.entity_id
LIMIT %(limit)s;

-- relations_now: what some entities have at an instant, the newest first, at most so many each and in each direction
SELECT k.entity_id, r.is_source, r.name, o.entity_id AS other_id, o.external_id, o.type, o.name AS other, o.aliases,
       o.description, r.valid_from, r.relation_id
FROM unnest(%(entity_ids)s::bigint[]) AS k(entity_id)
CROSS JOIN LATERAL (
    (SELECT true AS is_source, name, target_id AS other_id, valid_from, relation_id FROM relations
     WHERE tenant_id = %(tenant_id)s AND source_id = k.entity_id
       AND coalesce(valid_to, 'infinity'::timestamptz) > %(now)s AND valid_from <= %(now)s
     ORDER BY coalesce(valid_to, 'infinity'::timestamptz) DESC, valid_from DESC, relation_id DESC
     LIMIT %(each)s)
    UNION ALL
    (SELECT false, name, source_id, valid_from, relation_id FROM relations
     WHERE tenant_id = %(tenant_id)s AND target_id = k.entity_id
       AND coalesce(valid_to, 'infinity'::timestamptz) > %(now)s AND valid_from <= %(now)s
     ORDER BY coalesce(valid_to, 'infinity'::timestamptz) DESC, valid_from DESC, relation_id DESC
     LIMIT %(each)s)
) r
-- OFFSET 0: looked up for each relation. A plan that began with the entities read the relations once for each of them.
CROSS JOIN LATERAL (
    SELECT entity_id, external_id, type, name, aliases, description FROM entities
    WHERE tenant_id = %(tenant_id)s AND entity_id = r.other_id
    OFFSET 0
) o
ORDER BY k.entity_id, r.is_source DESC, r.valid_from DESC, r.relation_id DESC;
