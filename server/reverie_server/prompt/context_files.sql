-- prompt_files: the living files of some slices that are enabled or at one of some paths. The text of each is looked up
-- by itself: without statistics the planner would read all versions of the tenant to join them.
WITH wanted AS (
    SELECT document_id, slice_id, path, enabled, sort_order, version FROM documents
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
      AND enabled AND deleted_at IS NULL AND session_key IS NULL
    UNION
    SELECT document_id, slice_id, path, enabled, sort_order, version FROM documents
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND path = ANY(%(paths)s::text[])
      AND deleted_at IS NULL AND session_key IS NULL
)
SELECT w.path, w.enabled, w.sort_order, s.agent_id, s.owner_key,
       (SELECT v.content FROM versions v
        WHERE v.tenant_id = %(tenant_id)s AND v.document_id = w.document_id AND v.version = w.version) AS content
FROM wanted w
JOIN slices s ON s.tenant_id = %(tenant_id)s AND s.slice_id = w.slice_id
ORDER BY w.sort_order, w.path, w.document_id;
