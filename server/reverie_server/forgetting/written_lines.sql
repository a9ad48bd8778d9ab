-- machine_written: files of some slices with one of the words and with lines that the server wrote; hashes of these lines
SELECT d.document_id, v.content, ARRAY(
           SELECT DISTINCT x.line_sha256 FROM derivations x
           WHERE x.tenant_id = %(tenant_id)s AND x.document_id = d.document_id ORDER BY x.line_sha256) AS hashes
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND EXISTS (SELECT FROM derivations x WHERE x.tenant_id = %(tenant_id)s AND x.document_id = d.document_id)
  AND EXISTS (SELECT FROM unnest(%(words)s::text[]) AS w(word)
              WHERE strpos(lower(normalize(translate(v.content, %(invisible)s::text, ''), NFKD)), w.word) > 0)
ORDER BY d.document_id;

-- of_facts: a file of some slices with lines that the server wrote of some facts; hashes of these lines
SELECT d.document_id, v.content, array_agg(DISTINCT x.line_sha256) AS hashes
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
JOIN derivations x ON x.tenant_id = d.tenant_id AND x.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.path = %(path)s AND d.deleted_at IS NULL
  AND EXISTS (SELECT FROM jsonb_array_elements(x.sources) AS s(source) WHERE s.source ->> 'fact_id' = ANY(%(fact_ids)s::text[]))
GROUP BY d.document_id, v.content
ORDER BY d.document_id;

-- of_messages: versions of files of some slices with lines that the server made of some messages; hashes of these lines
-- Lines of the daily log are the messages' own words.
WITH found AS MATERIALIZED (
    SELECT d.document_id, array_agg(DISTINCT x.line_sha256) AS hashes
    FROM documents d
    JOIN derivations x ON x.tenant_id = d.tenant_id AND x.document_id = d.document_id
    WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND x.stage <> %(log)s
      AND EXISTS (
          SELECT FROM jsonb_array_elements(x.sources) AS s(source)
          WHERE s.source ->> 'session_id' = ANY(%(session_ids)s::text[])
            AND (s.source -> 'messages' IS NULL OR EXISTS (
                SELECT FROM jsonb_array_elements(s.source -> 'messages') AS m(message)
                JOIN unnest(%(of_sessions)s::text[], %(seqs)s::int[]) AS h(session_id, seq)
                  ON h.session_id = s.source ->> 'session_id' AND h.seq = (m.message ->> 'seq')::int)))
    GROUP BY d.document_id)
SELECT v.content, f.hashes
FROM found f
JOIN versions v ON v.tenant_id = %(tenant_id)s AND v.document_id = f.document_id
ORDER BY v.document_id, v.version;
