-- clusters: each entity that some belong to by merges, with all that belong to it
WITH RECURSIVE up AS (
    SELECT entity_id, merged_into FROM entities
    WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND entity_id = ANY(%(entity_ids)s::bigint[])
    UNION
    SELECT e.entity_id, e.merged_into FROM up JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.entity_id = up.merged_into
), down AS (
    SELECT entity_id AS root_id, entity_id, 0 AS depth FROM up WHERE merged_into IS NULL
    UNION ALL
    SELECT d.root_id, e.entity_id, d.depth + 1
    FROM down d JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.merged_into = d.entity_id
)
SELECT d.root_id, d.entity_id, e.type, e.name_key, e.updated_at
FROM down d JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.entity_id = d.entity_id
ORDER BY d.root_id, d.depth, d.entity_id;

-- statements_of_facts: the statements of exact facts, given as (source, name, target) in three arrays
SELECT DISTINCT s.statement_id, s.source_id, s.name, s.target_id, s.since, s.until, s.relation_id, s.confidence, s.method,
       s.prompt, s.prompt_version, s.model, s.recorded_at
FROM unnest(%(source_ids)s::bigint[], %(names)s::text[], %(target_ids)s::bigint[]) AS f(source_id, name, target_id)
JOIN statements s ON s.tenant_id = %(tenant_id)s AND s.source_id = f.source_id AND s.name = f.name
                 AND s.target_id = f.target_id
ORDER BY s.statement_id;

-- statements_of_sources: the statements of some relations of sources, given as (source, name) in two arrays
SELECT DISTINCT s.statement_id, s.source_id, s.name, s.target_id, s.since, s.until, s.relation_id, s.confidence, s.method,
       s.prompt, s.prompt_version, s.model, s.recorded_at
FROM unnest(%(source_ids)s::bigint[], %(names)s::text[]) AS f(source_id, name)
JOIN statements s ON s.tenant_id = %(tenant_id)s AND s.source_id = f.source_id AND s.name = f.name
ORDER BY s.statement_id;

-- statements_of_targets: the statements of some relations of targets, given as (target, name) in two arrays
SELECT DISTINCT s.statement_id, s.source_id, s.name, s.target_id, s.since, s.until, s.relation_id, s.confidence, s.method,
       s.prompt, s.prompt_version, s.model, s.recorded_at
FROM unnest(%(target_ids)s::bigint[], %(names)s::text[]) AS f(target_id, name)
JOIN statements s ON s.tenant_id = %(tenant_id)s AND s.target_id = f.target_id AND s.name = f.name
ORDER BY s.statement_id;

-- nested: the pairs of some entities of which one lies within the other, by the relations of the graph
SELECT DISTINCT source_id, target_id FROM relations
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND name = ANY(%(names)s::text[])
  AND source_id = ANY(%(entity_ids)s::bigint[]) AND target_id = ANY(%(entity_ids)s::bigint[])
ORDER BY source_id, target_id;

-- add_relation: a fact over a period
INSERT INTO relations (tenant_id, slice_id, source_id, name, target_id, confidence, valid_from, valid_to, method, prompt,
                       prompt_version, model, recorded_at)
VALUES (%(tenant_id)s, %(slice_id)s, %(source_id)s, %(name)s, %(target_id)s, %(confidence)s, %(valid_from)s, %(valid_to)s,
        %(method)s, %(prompt)s, %(prompt_version)s, %(model)s, %(recorded_at)s)
RETURNING relation_id;

-- change_relation: the same fact as it now is
UPDATE relations
SET source_id = %(source_id)s, target_id = %(target_id)s, confidence = %(confidence)s, valid_from = %(valid_from)s,
    valid_to = %(valid_to)s, method = %(method)s, prompt = %(prompt)s, prompt_version = %(prompt_version)s,
    model = %(model)s, recorded_at = %(recorded_at)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND relation_id = %(relation_id)s
  AND (source_id, target_id, confidence, valid_from, valid_to, method, prompt, prompt_version, model, recorded_at)
      IS DISTINCT FROM (%(source_id)s::bigint, %(target_id)s::bigint, %(confidence)s::real, %(valid_from)s::timestamptz,
                        %(valid_to)s::timestamptz, %(method)s::text, %(prompt)s::text, %(prompt_version)s::text,
                        %(model)s::text, %(recorded_at)s::timestamptz);

-- assign: set the relation of each statement, given as (statement, relation or null) in two arrays
UPDATE statements s SET relation_id = a.relation_id
FROM unnest(%(statement_ids)s::bigint[], %(relation_ids)s::bigint[]) AS a(statement_id, relation_id)
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.statement_id = a.statement_id
  AND s.relation_id IS DISTINCT FROM a.relation_id;

-- drop_unsaid: delete those of some relations that have no statement left
DELETE FROM relations r
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = %(slice_id)s AND r.relation_id = ANY(%(relation_ids)s::bigint[])
  AND NOT EXISTS (SELECT FROM statements s WHERE s.tenant_id = %(tenant_id)s AND s.relation_id = r.relation_id);

-- known_since: set when entities became known back to the beginning of their relations
UPDATE entities e SET since = k.since
FROM (SELECT entity_id, min(since) AS since
      FROM unnest(%(entity_ids)s::bigint[], %(instants)s::timestamptz[]) AS u(entity_id, since) GROUP BY entity_id) AS k
WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = %(slice_id)s AND e.entity_id = k.entity_id AND e.since > k.since;
