-- logged_messages: which lines of the daily log tell of a message that is in the index, by document and the line's identity
-- `within` are the passages that filters leave, null without any.
SELECT x.document_id, x.line_sha256
FROM unnest(%(document_ids)s::bigint[], %(hashes)s::bytea[]) AS k(document_id, line_sha256)
JOIN derivations x ON x.tenant_id = %(tenant_id)s AND x.document_id = k.document_id AND x.line_sha256 = k.line_sha256
CROSS JOIN LATERAL jsonb_array_elements(x.sources) AS source
CROSS JOIN LATERAL jsonb_array_elements(source -> 'messages') AS message
WHERE x.stage = 'daily_log' AND EXISTS (
    SELECT FROM documents d
    JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
    WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = x.slice_id AND d.path = 'sessions/' || (source ->> 'session_id')
      AND d.session_key IS NOT NULL AND d.episode_id IS NULL AND c.start_line = (message ->> 'seq')::integer
      AND (%(within)s::bigint[] IS NULL OR c.chunk_id = ANY(%(within)s::bigint[])))
ORDER BY x.document_id, x.line_sha256;

-- made_of_messages: the lines of files that facts made, each with a message that it was made of, by the document of its
-- session and its number
SELECT x.document_id, x.line_sha256, d.document_id AS session_document_id, (message ->> 'seq')::integer AS seq
FROM unnest(%(document_ids)s::bigint[], %(hashes)s::bytea[]) AS k(document_id, line_sha256)
JOIN derivations x ON x.tenant_id = %(tenant_id)s AND x.document_id = k.document_id AND x.line_sha256 = k.line_sha256
CROSS JOIN LATERAL jsonb_array_elements(x.sources) AS source
CROSS JOIN LATERAL jsonb_array_elements(source -> 'messages') AS message
JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.slice_id = x.slice_id
                AND d.path = 'sessions/' || (source ->> 'session_id') AND d.session_key IS NOT NULL AND d.episode_id IS NULL
WHERE x.stage = 'facts'
ORDER BY x.document_id, x.line_sha256, d.document_id, seq;
