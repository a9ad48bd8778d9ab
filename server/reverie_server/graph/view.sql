-- entities: a page of the entities of some slices, by name and id, after a cursor ('' and 0: from the beginning)
SELECT e.entity_id, e.external_id, e.type, e.name, e.description, e.aliases, e.properties, e.confidence, e.since, e.method,
       e.prompt, e.prompt_version, e.model, e.created_at, e.updated_at, e.name_key, s.agent_id, s.owner_key
FROM unnest(%(slice_ids)s::bigint[]) AS w(slice_id)
CROSS JOIN LATERAL (
    SELECT entity_id, slice_id, external_id, type, name, description, aliases, properties, confidence, since, method,
           prompt, prompt_version, model, created_at, updated_at, name_key
    FROM entities
    WHERE tenant_id = %(tenant_id)s AND slice_id = w.slice_id AND merged_into IS NULL
      AND (%(type)s::text IS NULL OR type = %(type)s)
      AND (name_key, entity_id) > (%(after_key)s::text COLLATE "C", %(after_id)s::bigint)
    ORDER BY name_key, entity_id LIMIT %(limit)s
) e
CROSS JOIN LATERAL (
    SELECT agent_id, owner_key FROM slices WHERE tenant_id = %(tenant_id)s AND slice_id = e.slice_id LIMIT 1
) s
ORDER BY e.name_key, e.entity_id
LIMIT %(limit)s;

-- relations_of: the relations of an entity, of now and of before, the newest first
SELECT relation_id FROM (
    (SELECT relation_id, valid_to, valid_from FROM relations
     WHERE tenant_id = %(tenant_id)s AND source_id = %(entity_id)s
     ORDER BY coalesce(valid_to, 'infinity'::timestamptz) DESC, valid_from DESC, relation_id DESC LIMIT %(limit)s)
    UNION ALL
    (SELECT relation_id, valid_to, valid_from FROM relations
     WHERE tenant_id = %(tenant_id)s AND target_id = %(entity_id)s
     ORDER BY coalesce(valid_to, 'infinity'::timestamptz) DESC, valid_from DESC, relation_id DESC LIMIT %(limit)s)
) r
ORDER BY coalesce(valid_to, 'infinity'::timestamptz) DESC, valid_from DESC, relation_id DESC
LIMIT %(limit)s;

-- members: an entity and the entities merged into it
WITH RECURSIVE down AS (
    SELECT entity_id FROM entities WHERE tenant_id = %(tenant_id)s AND entity_id = %(entity_id)s
    UNION
    SELECT e.entity_id FROM down d JOIN entities e ON e.tenant_id = %(tenant_id)s AND e.merged_into = d.entity_id
)
SELECT entity_id FROM down ORDER BY entity_id;

-- mentions: what speaks of some entities, the newest first, with the callers' own ids of the messages
SELECT m.mention_id AS said_id, m.episode_id, m.session_id, m.said_at, m.confidence, m.method, m.prompt, m.prompt_version,
       m.model, m.seqs,
       ARRAY(SELECT g.message_id FROM unnest(m.seqs) WITH ORDINALITY AS q(seq, place)
             LEFT JOIN messages g ON g.tenant_id = %(tenant_id)s AND g.session_key = m.session_key AND g.seq = q.seq
             ORDER BY q.place) AS message_ids
FROM mentions m
WHERE m.tenant_id = %(tenant_id)s AND m.entity_id = ANY(%(entity_ids)s::bigint[])
ORDER BY m.said_at DESC, m.mention_id DESC
LIMIT %(limit)s;

-- statements: what says relations, the newest first, at most so many of each
SELECT s.relation_id, s.statement_id AS said_id, s.episode_id, s.session_id, s.said_at, s.confidence, s.method, s.prompt,
       s.prompt_version, s.model, s.seqs,
       ARRAY(SELECT g.message_id FROM unnest(s.seqs) WITH ORDINALITY AS q(seq, place)
             LEFT JOIN messages g ON g.tenant_id = %(tenant_id)s AND g.session_key = s.session_key AND g.seq = q.seq
             ORDER BY q.place) AS message_ids
FROM unnest(%(relation_ids)s::bigint[]) AS r(relation_id)
CROSS JOIN LATERAL (
    SELECT relation_id, tenant_id, session_key, statement_id, episode_id, session_id, said_at, confidence, method, prompt,
           prompt_version, model, seqs
    FROM statements
    WHERE tenant_id = %(tenant_id)s AND relation_id = r.relation_id
    ORDER BY said_at DESC, statement_id DESC LIMIT %(each)s
) s
ORDER BY s.relation_id, s.said_at DESC, s.statement_id DESC;

-- merges: what was merged into some entities, or one of them into another, the newest first
SELECT m.merge_id, m.kept_id, m.absorbed_id, a.name AS absorbed_name, m.cosine, m.jaro_winkler, m.by, m.at, m.undone_by,
       m.undone_at
FROM merges m
JOIN entities a ON a.tenant_id = m.tenant_id AND a.entity_id = m.absorbed_id
WHERE m.tenant_id = %(tenant_id)s AND (m.kept_id = ANY(%(entity_ids)s::bigint[]) OR m.absorbed_id = %(entity_id)s)
ORDER BY m.merge_id DESC
LIMIT %(limit)s;

-- duplicates: a page of the pairs of some slices, the newest first, before a cursor
SELECT duplicate_id, first_id, second_id, cosine, jaro_winkler, state, found_at, decided_at, decided_by
FROM duplicates
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
  AND (%(state)s::text IS NULL OR state = %(state)s)
  AND (%(before)s::bigint IS NULL OR duplicate_id < %(before)s::bigint)
ORDER BY duplicate_id DESC
LIMIT %(limit)s;

-- duplicate: one pair
SELECT duplicate_id, first_id, second_id, cosine, jaro_winkler, state, found_at, decided_at, decided_by
FROM duplicates
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND duplicate_id = %(duplicate_id)s;
