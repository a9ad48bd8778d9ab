-- digest: how many messages a range of a session has, one hash over all of their texts, and the session's summary
SELECT count(*) AS count,
       encode(sha256(convert_to(coalesce(string_agg(encode(sha256(convert_to(content, 'UTF8')), 'hex'), ''
                                                    ORDER BY seq), ''), 'UTF8')), 'hex') AS digest,
       (SELECT summary FROM sessions
        WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s) AS summary
FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s
  AND seq BETWEEN %(from_seq)s AND %(through_seq)s;
