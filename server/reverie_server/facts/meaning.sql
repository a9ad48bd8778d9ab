-- open_facts: the newest facts of a slice that hold, or that a change by meaning replaced, with the sentence that did; not
-- those of marks, which end with the statement
SELECT f.subject, f.predicate, f.object, f.text, f.said_at, f.is_functional, f.about_user, f.category, c.passage_sha256,
       n.text AS replaced_by
FROM facts f
JOIN chunks c ON c.tenant_id = f.tenant_id AND c.chunk_id = f.chunk_id
LEFT JOIN facts n ON n.tenant_id = f.tenant_id AND n.fact_id = f.superseded_by
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (f.state = 'current' OR (f.state = 'superseded' AND n.change ->> 'cue' = ANY(%(cues)s::text[])))
  AND f.closed_by IS DISTINCT FROM 'person' AND f.change ->> 'kind' IS DISTINCT FROM 'ends'
  AND (f.method = 'llm' OR f.model IS NULL)
ORDER BY f.said_at DESC, f.fact_id DESC LIMIT %(limit)s;

-- vectors: what a model made of some passages, by their hashes
SELECT passage_sha256, embedding FROM embedding_cache
WHERE tenant_id = %(tenant_id)s AND model_id = %(model_id)s AND passage_sha256 = ANY(%(hashes)s::bytea[]);
