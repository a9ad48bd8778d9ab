-- backups: the living backups of MEMORY.md in some slices, newest first
SELECT d.document_id, d.path AS name, v.size
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND d.path ~ %(pattern)s::text
ORDER BY d.path DESC, d.document_id DESC;
