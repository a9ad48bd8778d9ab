-- entities: entities by their ids, with whose memory they are in
SELECT e.entity_id, e.external_id, e.type, e.name, e.description, e.aliases, e.properties, e.confidence, e.since, e.method,
       e.prompt, e.prompt_version, e.model, e.created_at, e.updated_at, s.agent_id, s.owner_key
FROM entities e
CROSS JOIN LATERAL (
    SELECT agent_id, owner_key FROM slices WHERE tenant_id = %(tenant_id)s AND slice_id = e.slice_id LIMIT 1
) s
WHERE e.tenant_id = %(tenant_id)s AND e.entity_id = ANY(%(entity_ids)s::bigint[])
ORDER BY e.entity_id;

-- relations: relations by their ids, with the names of both ends
SELECT r.relation_id, r.source_id, a.name AS source, r.name, r.target_id, b.name AS target, r.confidence, r.valid_from,
       r.valid_to, r.recorded_at, r.method, r.prompt, r.prompt_version, r.model
FROM relations r
JOIN entities a ON a.tenant_id = r.tenant_id AND a.entity_id = r.source_id
JOIN entities b ON b.tenant_id = r.tenant_id AND b.entity_id = r.target_id
WHERE r.tenant_id = %(tenant_id)s AND r.relation_id = ANY(%(relation_ids)s::bigint[])
ORDER BY r.relation_id;
