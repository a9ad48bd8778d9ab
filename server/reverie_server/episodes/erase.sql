-- holding: the episodes of some slices that may hold a text, or that are made of one of some messages
SELECT e.episode_id, e.slice_id, e.agent_id, e.owner_key, e.session_key, e.session_id, e.from_seq, e.through_seq,
       e.compactions, e.summary, e.abstract, e.key_topics, e.method, e.prompt, e.prompt_version, e.model, e.fallback,
       e.attempts, e.started_at, e.ended_at, e.created_at, e.expires_at, e.semantic_at, e.promoted_at, e.promoted_to,
       EXISTS (SELECT FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS m(session_key, seq)
               WHERE m.session_key = e.session_key AND m.seq BETWEEN e.from_seq AND e.through_seq) AS is_of_changed
FROM episodes e
WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
               WHERE strpos(lower(normalize(translate(
                   e.summary || E'\n' || e.abstract || E'\n' || array_to_string(e.key_topics, E'\n'),
                   %(invisible)s::text, ''), NFKD)), a.word) > 0)
       OR EXISTS (SELECT FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS m(session_key, seq)
                  WHERE m.session_key = e.session_key AND m.seq BETWEEN e.from_seq AND e.through_seq))
ORDER BY e.episode_id;

-- passages: the passages of some episodes in the index
SELECT c.text FROM documents d
JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
  AND d.episode_id = ANY(%(episode_ids)s::bigint[])
ORDER BY c.chunk_id;
