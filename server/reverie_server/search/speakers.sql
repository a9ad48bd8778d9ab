-- speakers: the role of some messages, by the documents of their sessions and their numbers there, and whether they name who
-- speaks
SELECT k.row, m.role, coalesce(m.extra ->> 'name', '') <> '' AS is_named
FROM unnest(%(document_ids)s::bigint[], %(seqs)s::integer[], %(rows)s::integer[]) AS k(document_id, seq, row)
CROSS JOIN LATERAL (
    SELECT session_key FROM documents WHERE tenant_id = %(tenant_id)s AND document_id = k.document_id LIMIT 1
) d
CROSS JOIN LATERAL (
    SELECT role, extra FROM messages
    WHERE tenant_id = %(tenant_id)s AND session_key = d.session_key AND seq = k.seq LIMIT 1
) m
ORDER BY k.row;
