-- prompt_files: the living files of some slices that are enabled or at one of some paths. The text of each is looked up
-- by itself: without statistics the planner would read all versions of the tenant to join them.
WITH selected AS (
    SELECT document_id, slice_id, path, enabled, sort_order, version FROM documents
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND enabled AND deleted_at IS NULL AND session_key IS NULL
    UNION
    SELECT document_id, slice_id, path, enabled, sort_order, version FROM documents
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND path = ANY(%(paths)s::text[])
      AND deleted_at IS NULL AND session_key IS NULL
)
SELECT f.path, f.enabled, f.sort_order, s.agent_id, s.owner_key,
       (SELECT v.content FROM versions v
        WHERE v.tenant_id = %(tenant_id)s AND v.document_id = f.document_id AND v.version = f.version) AS content
FROM selected f
JOIN slices s ON s.tenant_id = %(tenant_id)s AND s.slice_id = f.slice_id
ORDER BY f.sort_order, f.path, f.document_id;
