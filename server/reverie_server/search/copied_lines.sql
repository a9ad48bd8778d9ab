-- said_by_users: which messages, by the documents of their sessions and their numbers there, a user said
SELECT k.row
FROM unnest(%(document_ids)s::bigint[], %(seqs)s::integer[], %(rows)s::integer[]) AS k(document_id, seq, row)
CROSS JOIN LATERAL (
    SELECT session_key FROM documents WHERE tenant_id = %(tenant_id)s AND document_id = k.document_id LIMIT 1
) d
CROSS JOIN LATERAL (
    SELECT role FROM messages WHERE tenant_id = %(tenant_id)s AND session_key = d.session_key AND seq = k.seq LIMIT 1
) m
WHERE m.role = 'user'
ORDER BY k.row;
