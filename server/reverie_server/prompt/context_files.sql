-- prompt_files, prepared: the living files of the open slices that are enabled, at one of some paths, or notes of some days. The text
-- of each is looked up by itself: without statistics the planner would read all versions of the tenant to join them.
WITH selected AS (
    SELECT document_id, slice_id, path, enabled, sort_order, version FROM documents
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(string_to_array(current_setting('reverie.slices'), ',')::bigint[])
      AND enabled AND deleted_at IS NULL AND session_key IS NULL
    UNION
    SELECT document_id, slice_id, path, enabled, sort_order, version FROM documents
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(string_to_array(current_setting('reverie.slices'), ',')::bigint[])
      AND path = ANY(%(paths)s::text[]) AND deleted_at IS NULL AND session_key IS NULL
    UNION
    SELECT document_id, slice_id, path, enabled, sort_order, version FROM documents
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(string_to_array(current_setting('reverie.slices'), ',')::bigint[])
      AND path >= %(notes_from)s AND path < %(notes_to)s AND note_day IS NOT NULL
      AND deleted_at IS NULL AND session_key IS NULL
)
SELECT f.document_id, f.path, f.enabled, f.sort_order, s.agent_id, s.owner_key,
       (SELECT v.content FROM versions v
        WHERE v.tenant_id = %(tenant_id)s AND v.document_id = f.document_id AND v.version = f.version) AS content
FROM selected f
JOIN slices s ON s.tenant_id = %(tenant_id)s AND s.slice_id = f.slice_id
ORDER BY f.sort_order, f.path, f.document_id;

-- machine_made, prepared: those of some lines of files that the server wrote by itself; where they are asked for, with the messages
-- behind each, as (document of the session, number)
SELECT x.document_id, x.line_sha256,
       coalesce(jsonb_agg(jsonb_build_array(t.document_id, (e ->> 'seq')::int)) FILTER (WHERE t.document_id IS NOT NULL), '[]')
           AS messages
FROM unnest(%(document_ids)s::bigint[], %(hashes)s::bytea[]) AS k(document_id, line_sha256)
CROSS JOIN LATERAL (
    SELECT tenant_id, document_id, line_sha256, slice_id, sources FROM derivations
    WHERE tenant_id = %(tenant_id)s AND document_id = k.document_id AND line_sha256 = k.line_sha256 OFFSET 0
) x
LEFT JOIN LATERAL jsonb_array_elements(x.sources) AS o ON %(with_messages)s AND o ->> 'kind' = 'messages'
LEFT JOIN LATERAL jsonb_array_elements(o -> 'messages') AS e ON true
LEFT JOIN sessions s ON s.tenant_id = x.tenant_id AND s.slice_id = x.slice_id AND s.session_id = o ->> 'session_id'
LEFT JOIN documents t ON t.tenant_id = s.tenant_id AND t.session_key = s.session_key AND t.episode_id IS NULL
GROUP BY x.document_id, x.line_sha256
ORDER BY x.document_id, x.line_sha256;
