-- answered: facts that messages of users state, each with such a message and the answer right behind it
SELECT DISTINCT f.fact_id, f.object, left(m.content, %(chars)s) AS said, left(a.content, %(chars)s) AS told
FROM fact_sources s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id
JOIN messages m ON m.tenant_id = s.tenant_id AND m.slice_id = s.slice_id AND m.session_key = s.session_key
               AND m.seq = s.seqs[cardinality(s.seqs)] AND m.role = 'user'
CROSS JOIN LATERAL (
    SELECT n.role, n.content FROM messages n
    WHERE n.tenant_id = %(tenant_id)s AND n.session_key = m.session_key AND n.seq > m.seq
      AND n.role IN ('user', 'assistant')
    ORDER BY n.seq LIMIT 1) AS a
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.fact_id = ANY(%(fact_ids)s::bigint[])
  AND s.session_key IS NOT NULL AND a.role = 'assistant' AND f.change ->> 'kind' IS DISTINCT FROM 'ends'
ORDER BY f.fact_id, said, told;

-- summarised: facts that messages of users state, each with such a message and the summary of the episode that has it
SELECT DISTINCT f.fact_id, f.object, f.text, left(m.content, %(chars)s) AS said, left(e.summary, %(chars)s) AS told
FROM fact_sources s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id
JOIN messages m ON m.tenant_id = s.tenant_id AND m.slice_id = s.slice_id AND m.session_key = s.session_key
               AND m.seq = s.seqs[cardinality(s.seqs)] AND m.role = 'user'
CROSS JOIN LATERAL (
    SELECT n.from_seq, n.summary FROM episodes n
    WHERE n.tenant_id = %(tenant_id)s AND n.session_key = m.session_key AND n.through_seq >= m.seq
    ORDER BY n.through_seq LIMIT 1) AS e
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.fact_id = ANY(%(fact_ids)s::bigint[])
  AND s.session_key IS NOT NULL AND e.from_seq <= m.seq AND f.change ->> 'kind' IS DISTINCT FROM 'ends'
ORDER BY f.fact_id, said, told;
