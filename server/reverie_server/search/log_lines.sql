-- logged_messages: which lines of the daily log tell of a message that is in the index, by document and the line's identity
-- `within` are the passages that filters leave, null without any.
SELECT x.document_id, x.line_sha256
FROM unnest(%(document_ids)s::bigint[], %(hashes)s::bytea[]) AS k(document_id, line_sha256)
CROSS JOIN LATERAL (
    SELECT document_id, line_sha256, slice_id, stage, sources FROM derivations
    WHERE tenant_id = %(tenant_id)s AND document_id = k.document_id AND line_sha256 = k.line_sha256 OFFSET 0
) x
CROSS JOIN LATERAL jsonb_array_elements(x.sources) AS source
CROSS JOIN LATERAL jsonb_array_elements(source -> 'messages') AS message
WHERE x.stage = 'daily_log' AND EXISTS (
    SELECT FROM (
        SELECT document_id FROM documents
        WHERE tenant_id = %(tenant_id)s AND slice_id = x.slice_id AND path = 'sessions/' || (source ->> 'session_id')
          AND session_key IS NOT NULL AND episode_id IS NULL OFFSET 0
    ) d
    CROSS JOIN LATERAL (
        SELECT chunk_id, start_line FROM chunks
        WHERE tenant_id = %(tenant_id)s AND document_id = d.document_id OFFSET 0
    ) c
    WHERE c.start_line = (message ->> 'seq')::integer
      AND (%(within)s::bigint[] IS NULL OR c.chunk_id = ANY(%(within)s::bigint[])))
ORDER BY x.document_id, x.line_sha256;

-- made_of_messages, prepared: the lines of files that facts made, each with a message that it was made of, by the document of its
-- session and its number
SELECT x.document_id, x.line_sha256, d.document_id AS session_document_id, (message ->> 'seq')::integer AS seq
FROM unnest(%(document_ids)s::bigint[], %(hashes)s::bytea[]) AS k(document_id, line_sha256)
CROSS JOIN LATERAL (
    SELECT document_id, line_sha256, slice_id, stage, sources FROM derivations
    WHERE tenant_id = %(tenant_id)s AND document_id = k.document_id AND line_sha256 = k.line_sha256 OFFSET 0
) x
CROSS JOIN LATERAL jsonb_array_elements(x.sources) AS source
CROSS JOIN LATERAL jsonb_array_elements(source -> 'messages') AS message
CROSS JOIN LATERAL (
    SELECT document_id FROM documents
    WHERE tenant_id = %(tenant_id)s AND slice_id = x.slice_id AND path = 'sessions/' || (source ->> 'session_id')
      AND session_key IS NOT NULL AND episode_id IS NULL OFFSET 0
) d
WHERE x.stage = 'facts'
ORDER BY x.document_id, x.line_sha256, d.document_id, seq;
