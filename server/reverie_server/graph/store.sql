-- by_external_id: the entities of a slice that have one of these external ids, merged ones too
SELECT e.entity_id, e.type, e.external_id
FROM unnest(%(types)s::text[], %(external_ids)s::text[]) AS wanted(type, external_id)
JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.slice_id = %(slice_id)s
               AND e.type = wanted.type AND e.external_id = wanted.external_id
ORDER BY e.entity_id;

-- by_name: the entities of a slice that are known by one of these names
SELECT n.name_key, e.type, e.entity_id
FROM entity_names n
JOIN entities e ON e.tenant_id = n.tenant_id AND e.entity_id = n.entity_id
WHERE n.tenant_id = %(tenant_id)s AND n.slice_id = %(slice_id)s AND n.name_key = ANY(%(name_keys)s::text[])
ORDER BY e.entity_id;

-- by_id: which of these entities are in a slice
SELECT entity_id FROM entities
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND entity_id = ANY(%(entity_ids)s::bigint[])
ORDER BY entity_id;

-- add_entity: a new entity; its text is derived from its mentions afterwards
INSERT INTO entities (tenant_id, slice_id, external_id, type, name, name_key, confidence, since, method, prompt,
                      prompt_version, model, language, created_at, updated_at)
VALUES (%(tenant_id)s, %(slice_id)s, %(external_id)s, %(type)s, %(name)s, %(name_key)s, %(confidence)s, %(said_at)s,
        %(method)s, %(prompt)s, %(prompt_version)s, %(model)s, %(language)s, %(at)s, %(at)s)
RETURNING entity_id;

-- add_mention: an entity's mention in an episode; of an episode read in several parts the more certain mention stands
INSERT INTO mentions (tenant_id, slice_id, entity_id, episode_id, session_key, session_id, seqs, said_at, name,
                      description, aliases, properties, confidence, method, prompt, prompt_version, model, recorded_at)
SELECT %(tenant_id)s, %(slice_id)s, %(entity_id)s, %(episode_id)s, %(session_key)s, %(session_id)s, %(seqs)s::int[],
       %(said_at)s, %(name)s, %(description)s, %(aliases)s::text[], %(properties)s::jsonb, %(confidence)s, %(method)s,
       %(prompt)s, %(prompt_version)s, %(model)s, %(at)s
ON CONFLICT (tenant_id, entity_id, episode_id) DO UPDATE
SET name = CASE WHEN excluded.confidence > mentions.confidence THEN excluded.name ELSE mentions.name END,
    description = CASE WHEN excluded.description <> '' AND (excluded.confidence >= mentions.confidence
                       OR mentions.description = '') THEN excluded.description ELSE mentions.description END,
    aliases = mentions.aliases || excluded.aliases || CASE WHEN excluded.name <> mentions.name
              THEN ARRAY[excluded.name, mentions.name] ELSE '{}' END,
    properties = mentions.properties || excluded.properties,
    confidence = greatest(mentions.confidence, excluded.confidence),
    said_at = least(mentions.said_at, excluded.said_at),
    seqs = ARRAY(SELECT DISTINCT seq FROM unnest(mentions.seqs || excluded.seqs) AS s(seq) ORDER BY seq);

-- add_statement: an episode's statement of a relation
INSERT INTO statements (tenant_id, slice_id, source_id, name, target_id, since, until, episode_id, session_key,
                        session_id, seqs, said_at, confidence, method, prompt, prompt_version, model, recorded_at)
SELECT %(tenant_id)s, %(slice_id)s, %(source_id)s, %(name)s, %(target_id)s, %(since)s::timestamptz,
       %(until)s::timestamptz, %(episode_id)s, %(session_key)s, %(session_id)s, %(seqs)s::int[], %(said_at)s,
       %(confidence)s, %(method)s, %(prompt)s, %(prompt_version)s, %(model)s, %(at)s
ON CONFLICT (tenant_id, source_id, name, target_id, episode_id, since, until) DO UPDATE
SET confidence = greatest(statements.confidence, excluded.confidence),
    seqs = ARRAY(SELECT DISTINCT seq FROM unnest(statements.seqs || excluded.seqs) AS s(seq) ORDER BY seq);

-- of_episodes: the contents of the graph from some episodes
SELECT 'mention' AS kind, mention_id AS id FROM mentions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = ANY(%(episode_ids)s::bigint[])
UNION ALL
SELECT 'statement', statement_id FROM statements
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = ANY(%(episode_ids)s::bigint[])
ORDER BY kind, id;

-- drop_mentions: delete mentions and return their entities
DELETE FROM mentions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND mention_id = ANY(%(mention_ids)s::bigint[])
RETURNING entity_id;

-- drop_statements: delete statements and return their relations
DELETE FROM statements
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND statement_id = ANY(%(statement_ids)s::bigint[])
RETURNING source_id, name, target_id, relation_id;

-- statements_on: the facts stated of relations of some entities, before any merge
SELECT source_id, name, target_id, relation_id FROM statements
WHERE tenant_id = %(tenant_id)s AND source_id = ANY(%(entity_ids)s::bigint[])
UNION
SELECT source_id, name, target_id, relation_id FROM statements
WHERE tenant_id = %(tenant_id)s AND target_id = ANY(%(entity_ids)s::bigint[])
ORDER BY source_id, name, target_id, relation_id;

-- facts_of: the facts that some relations come from, before any merge
SELECT DISTINCT source_id, name, target_id FROM statements
WHERE tenant_id = %(tenant_id)s AND relation_id = ANY(%(relation_ids)s::bigint[])
ORDER BY source_id, name, target_id;

-- unmentioned: those of these entities that have no mention left
SELECT e.entity_id, e.merged_into FROM entities e
WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = %(slice_id)s AND e.entity_id = ANY(%(entity_ids)s::bigint[])
  AND NOT EXISTS (SELECT FROM mentions m WHERE m.tenant_id = %(tenant_id)s AND m.entity_id = e.entity_id)
ORDER BY e.entity_id;

-- merged_in: the entities merged into an entity, in the order in which they were made
SELECT entity_id FROM entities WHERE tenant_id = %(tenant_id)s AND merged_into = %(entity_id)s ORDER BY entity_id;

-- parent: the entity that an entity is merged into
SELECT merged_into FROM entities
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND entity_id = %(entity_id)s;

-- point: some entities are merged into another, or (null) into none
UPDATE entities SET merged_into = %(merged_into)s, updated_at = %(at)s, deduped_at = NULL, model_id = NULL
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND entity_id = ANY(%(entity_ids)s::bigint[]);

-- detach: statements on what was merged into an entity are of none of its relations any more; on several nodes no foreign
-- key does that
UPDATE statements SET relation_id = NULL
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND relation_id = ANY(ARRAY(
    SELECT relation_id FROM relations WHERE tenant_id = %(tenant_id)s AND source_id = %(entity_id)s
    UNION ALL
    SELECT relation_id FROM relations WHERE tenant_id = %(tenant_id)s AND target_id = %(entity_id)s));

-- drop_entity: delete an entity without mentions, with all rows that refer to it
DELETE FROM entities WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND entity_id = %(entity_id)s;

-- mentions_of: the mentions of some entities
SELECT mention_id, entity_id, name, description, aliases, properties, confidence, said_at, method, prompt,
       prompt_version, model
FROM mentions
WHERE tenant_id = %(tenant_id)s AND entity_id = ANY(%(entity_ids)s::bigint[])
ORDER BY mention_id;

-- write_entity: what its mentions make of an entity; its language and whether it changed, null where nothing did
WITH before AS MATERIALIZED (
    SELECT entity_id, name, description, aliases, confidence, properties FROM entities
    WHERE tenant_id = %(tenant_id)s AND entity_id = %(entity_id)s
), written AS (
    UPDATE entities e
    SET name = %(name)s, name_key = %(name_key)s, description = %(description)s, aliases = %(aliases)s::text[],
        properties = %(properties)s, confidence = %(confidence)s, since = least(e.since, %(since)s::timestamptz),
        method = %(method)s, prompt = %(prompt)s, prompt_version = %(prompt_version)s, model = %(model)s,
        language = coalesce(%(language)s, e.language),
        model_id = CASE WHEN (b.name, b.description) = (%(name)s, %(description)s) THEN e.model_id END,
        deduped_at = CASE WHEN (b.name, b.description) = (%(name)s, %(description)s) THEN e.deduped_at END,
        updated_at = CASE WHEN (b.name, b.description, b.aliases, b.confidence, b.properties)
                             = (%(name)s, %(description)s, %(aliases)s::text[], %(confidence)s::real, %(properties)s::jsonb)
                          THEN e.updated_at ELSE %(at)s::timestamptz END
    FROM before b
    WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = %(slice_id)s AND e.entity_id = b.entity_id
    RETURNING e.entity_id, e.language, e.model_id
)
SELECT entity_id, language, model_id FROM written;

-- unindex: delete the words and names by which an entity is found
WITH terms AS (DELETE FROM entity_terms WHERE tenant_id = %(tenant_id)s AND entity_id = ANY(%(entity_ids)s::bigint[])),
     names AS (DELETE FROM entity_names WHERE tenant_id = %(tenant_id)s AND entity_id = ANY(%(entity_ids)s::bigint[]))
DELETE FROM entity_vectors v
WHERE v.tenant_id = %(tenant_id)s AND v.entity_id = ANY(%(entity_ids)s::bigint[])
  AND NOT EXISTS (SELECT FROM entities e WHERE e.tenant_id = %(tenant_id)s AND e.entity_id = v.entity_id
                  AND e.merged_into IS NULL AND e.model_id = v.model_id);

-- index_terms: add the words by which an entity is found
INSERT INTO entity_terms (tenant_id, slice_id, term, entity_id, weight)
SELECT %(tenant_id)s, %(slice_id)s, t.term, %(entity_id)s, t.weight
FROM unnest(%(terms)s::text[], %(weights)s::real[]) AS t(term, weight)
RETURNING 1;

-- index_names: add the whole names by which an entity is known
INSERT INTO entity_names (tenant_id, slice_id, name_key, entity_id)
SELECT %(tenant_id)s, %(slice_id)s, n.name_key, %(entity_id)s FROM unnest(%(name_keys)s::text[]) AS n(name_key)
RETURNING 1;
