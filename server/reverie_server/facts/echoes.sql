-- over_in: the facts that hold no more, of those that the messages of an episode state
SELECT DISTINCT f.fact_id
FROM episodes e
JOIN fact_sources s ON s.tenant_id = e.tenant_id AND s.slice_id = e.slice_id AND s.session_key = e.session_key
                   AND s.seqs[cardinality(s.seqs)] BETWEEN e.from_seq AND e.through_seq
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id AND f.state <> 'current'
WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = %(slice_id)s AND e.episode_id = %(episode_id)s
ORDER BY f.fact_id;

-- repeated: facts that messages of users state, each with such a message, the answer right behind it and the summary of the
-- episode that has it, where there are such
SELECT DISTINCT f.fact_id, f.object, f.text, left(m.content, %(chars)s) AS message,
       coalesce(left(a.content, %(chars)s), '') AS answer, coalesce(left(e.summary, %(chars)s), '') AS summary
FROM fact_sources s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id
JOIN messages m ON m.tenant_id = s.tenant_id AND m.slice_id = s.slice_id AND m.session_key = s.session_key
               AND m.seq = s.seqs[cardinality(s.seqs)] AND m.role = 'user'
LEFT JOIN LATERAL (
    SELECT n.role, n.content FROM messages n
    WHERE n.tenant_id = %(tenant_id)s AND n.session_key = m.session_key AND n.seq > m.seq
      AND n.role IN ('user', 'assistant')
    ORDER BY n.seq LIMIT 1) AS a ON a.role = 'assistant'
LEFT JOIN LATERAL (
    SELECT n.from_seq, n.summary FROM episodes n
    WHERE n.tenant_id = %(tenant_id)s AND n.session_key = m.session_key AND n.through_seq >= m.seq
    ORDER BY n.through_seq LIMIT 1) AS e ON e.from_seq <= m.seq
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.fact_id = ANY(%(fact_ids)s::bigint[])
  AND s.session_key IS NOT NULL AND f.change ->> 'kind' IS DISTINCT FROM 'ends'
ORDER BY f.fact_id, message, answer, summary;
