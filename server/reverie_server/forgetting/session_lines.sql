-- written_of_session: the lines of files of some slices that the server wrote of a session, or of some facts, and of no
-- other session; whether one is the daily log's
SELECT d.document_id, d.path, x.line_sha256, bool_and(x.stage = %(log)s) AS is_logged
FROM documents d
JOIN derivations x ON x.tenant_id = d.tenant_id AND x.document_id = d.document_id
CROSS JOIN LATERAL jsonb_array_elements(x.sources) AS s(source)
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[])
  -- Where owners share a slice, two of them may have a session of one id.
  AND NOT EXISTS (SELECT FROM sessions o
                  WHERE o.tenant_id = %(tenant_id)s AND o.slice_id = d.slice_id AND o.session_id = %(session_id)s
                    AND o.session_key <> %(session_key)s)
GROUP BY d.document_id, d.path, x.line_sha256
HAVING bool_or(s.source ->> 'session_id' = %(session_id)s OR s.source ->> 'fact_id' = ANY(%(fact_ids)s::text[]))
   AND NOT coalesce(bool_or(s.source ->> 'session_id' <> %(session_id)s), false)
ORDER BY d.document_id, x.line_sha256;

-- versions: the versions of some files
SELECT v.document_id, v.content FROM versions v
WHERE v.tenant_id = %(tenant_id)s AND v.document_id = ANY(%(document_ids)s::bigint[])
ORDER BY v.document_id, v.version DESC;
