-- page: a page of the turns of an owner (null: the team's) with an agent, newest first
SELECT turn_id, owner_key, session_id, kind, at, asked, sections, tokens, memories, match_count, top_score, outcome, model,
       milliseconds, answer
FROM turns
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
  AND (%(session_id)s::text IS NULL OR session_id = %(session_id)s::text)
  AND (%(turn_id)s::text IS NULL OR turn_id = %(turn_id)s::text)
  AND (%(before_at)s::timestamptz IS NULL
       OR (at, turn_id) < (%(before_at)s::timestamptz, %(before_id)s::text COLLATE "C"))
ORDER BY at DESC, turn_id DESC
LIMIT %(limit)s;

-- passages: passages by their ids, of now and of before, with where they stand
SELECT c.chunk_id, c.tier, c.text, d.path, s.session_id, c.start_line, l.agent_id, l.owner_key
FROM chunks c
JOIN slices l ON l.tenant_id = c.tenant_id AND l.slice_id = c.slice_id
LEFT JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
LEFT JOIN sessions s ON s.tenant_id = d.tenant_id AND s.session_key = d.session_key
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = ANY(%(chunk_ids)s::bigint[]);
