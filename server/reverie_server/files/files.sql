-- written_by: the living files of some slices whose present text has one origin, with its hash
SELECT d.path, v.sha256
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND (%(reason)s::text IS NULL OR v.reason = %(reason)s::text)
ORDER BY d.path;
