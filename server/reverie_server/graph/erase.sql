-- holding: the mentions of some slices that may hold a text: its longest word stands in what they say
SELECT m.mention_id, m.entity_id, m.episode_id, m.session_key, m.seqs, m.name, m.description, m.aliases, m.properties, e.external_id
FROM mentions m
JOIN entities e ON e.tenant_id = m.tenant_id AND e.entity_id = m.entity_id
WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = ANY(%(slice_ids)s::bigint[])
  AND EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
              WHERE strpos(lower(normalize(translate(concat_ws(E'\n', m.name, m.description,
                  array_to_string(m.aliases, E'\n'), m.properties::text, e.external_id), %(invisible)s::text, ''), NFKD)),
                  a.word) > 0)
ORDER BY m.mention_id;

-- rewrite_mention: without what was forgotten
UPDATE mentions SET description = %(description)s, aliases = %(aliases)s::text[], properties = %(properties)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND mention_id = %(mention_id)s
RETURNING entity_id;

-- statements_on: what some episodes say of relations of some entities, as (entity, episode) in two arrays
SELECT DISTINCT s.statement_id
FROM unnest(%(entity_ids)s::bigint[], %(episode_ids)s::bigint[]) AS f(entity_id, episode_id)
JOIN statements s ON s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.episode_id = f.episode_id
                 AND f.entity_id IN (s.source_id, s.target_id)
ORDER BY s.statement_id;

-- of_sessions: what is said of entities and relations in some sessions, with the names of what it is said of
SELECT 'mention' AS kind, m.mention_id AS id, m.entity_id AS source_id, NULL::bigint AS target_id, m.episode_id,
       m.session_key, m.seqs, m.name AS source, e.external_id AS source_external_id, NULL AS target,
       NULL AS target_external_id
FROM mentions m JOIN entities e ON e.tenant_id = m.tenant_id AND e.entity_id = m.entity_id
WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = %(slice_id)s AND m.session_key = ANY(%(session_keys)s::bigint[])
UNION ALL
SELECT 'statement', s.statement_id, s.source_id, s.target_id, s.episode_id, s.session_key, s.seqs, a.name, a.external_id,
       b.name, b.external_id
FROM statements s
JOIN entities a ON a.tenant_id = s.tenant_id AND a.entity_id = s.source_id
JOIN entities b ON b.tenant_id = s.tenant_id AND b.entity_id = s.target_id
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.session_key = ANY(%(session_keys)s::bigint[])
ORDER BY kind, id;

-- messages: what some messages say now, as (session, number) in two arrays
SELECT m.session_key, m.seq, m.content
FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS f(session_key, seq)
JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.session_key = f.session_key AND m.seq = f.seq
ORDER BY m.session_key, m.seq;
