-- of_fact: the passage in which a fact was stated last, by the id of the fact or of its own passage
SELECT c.chunk_id
FROM facts f
JOIN fact_sources o ON o.tenant_id = f.tenant_id AND o.fact_id = f.fact_id
LEFT JOIN documents d ON d.tenant_id = o.tenant_id AND d.session_key = o.session_key AND d.episode_id IS NULL
JOIN chunks c ON c.tenant_id = o.tenant_id AND c.document_id = coalesce(o.document_id, d.document_id)
             AND coalesce(o.seqs[1], o.start_line) BETWEEN c.start_line AND c.end_line AND c.valid_to IS NULL
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[])
  AND CASE WHEN %(is_fact)s THEN f.fact_id = %(chunk_id)s ELSE f.chunk_id = %(chunk_id)s END
ORDER BY o.said_at DESC, o.source_id DESC, c.ordinal, c.chunk_id LIMIT 1;

-- passage: one passage of the visible slices, with its file or episode; a message has the time at which it was said
SELECT c.chunk_id, c.tier, c.ordinal, c.heading_path, c.document_id, d.path, d.version, d.episode_id,
       CASE WHEN c.tier IN ('message', 'episodic') THEN c.valid_from ELSE d.updated_at END AS updated_at,
       s.agent_id, s.owner_key
FROM chunks c
JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
JOIN slices s ON s.tenant_id = c.tenant_id AND s.slice_id = c.slice_id
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = %(chunk_id)s AND c.slice_id = ANY(%(slice_ids)s::bigint[])
  AND d.deleted_at IS NULL AND (d.expires_at IS NULL OR d.expires_at > %(now)s);

-- neighbours: the passages of a file between two ordinals, in its order
SELECT chunk_id, ordinal, start_line, end_line, text
FROM chunks
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
  AND ordinal BETWEEN %(first)s AND %(last)s
ORDER BY ordinal, chunk_id;
