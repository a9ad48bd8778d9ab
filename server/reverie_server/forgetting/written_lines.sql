-- machine_written: versions of files of some slices with one of the words and with lines that the server wrote; their hashes
WITH found AS MATERIALIZED (
    SELECT d.document_id, array_agg(DISTINCT x.line_sha256) AS hashes
    FROM documents d
    JOIN derivations x ON x.tenant_id = d.tenant_id AND x.document_id = d.document_id
    WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
    GROUP BY d.document_id)
SELECT f.document_id, v.content, f.hashes
FROM found f
JOIN versions v ON v.tenant_id = %(tenant_id)s AND v.document_id = f.document_id
WHERE EXISTS (SELECT FROM unnest(%(words)s::text[]) AS w(word)
              WHERE strpos(lower(normalize(translate(v.content, %(invisible)s::text, ''), NFKD)), w.word) > 0)
ORDER BY v.document_id, v.version;

-- of_facts: versions of a file of some slices with lines that the server wrote of some facts, and what reports tell of its
-- changes, also where the versions are gone; hashes of these lines
WITH found AS MATERIALIZED (
    SELECT d.slice_id, d.document_id, array_agg(DISTINCT x.line_sha256) AS hashes
    FROM documents d
    JOIN derivations x ON x.tenant_id = d.tenant_id AND x.document_id = d.document_id
    WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.path = %(path)s
      AND EXISTS (SELECT FROM jsonb_array_elements(x.sources) AS s(source)
                  WHERE s.source ->> 'fact_id' = ANY(%(fact_ids)s::text[]))
    GROUP BY d.slice_id, d.document_id)
SELECT f.document_id, v.content, f.hashes
FROM found f
JOIN versions v ON v.tenant_id = %(tenant_id)s AND v.document_id = f.document_id
UNION ALL
SELECT f.document_id, r.diff, f.hashes
FROM found f
JOIN reports r ON r.tenant_id = %(tenant_id)s AND r.slice_id = f.slice_id AND r.path = %(path)s AND r.diff <> '';

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
SELECT f.document_id, v.content, f.hashes
FROM found f
JOIN versions v ON v.tenant_id = %(tenant_id)s AND v.document_id = f.document_id
ORDER BY v.document_id, v.version;
