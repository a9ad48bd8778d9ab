-- known: what the facts of some sentences say of their worth; a fact that no longer holds is trusted no more
SELECT s.sentence_sha256, f.state = 'current' AS holds, f.is_request, f.helpful, f.unhelpful,
       greatest(f.created_at, f.said_at, f.last_confirmed_at, f.last_used_at) AS at
FROM fact_sentences s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.sentence_sha256 = ANY(%(keys)s::bytea[])
ORDER BY s.sentence_sha256, f.fact_id;

-- requests: those of some messages in which something was asked to be remembered
SELECT m.session_id, m.seq
FROM (SELECT DISTINCT * FROM unnest(%(session_ids)s::text[], %(seqs)s::int[])) AS m(session_id, seq)
WHERE EXISTS (
    SELECT FROM sessions x
    JOIN fact_sources s ON s.tenant_id = x.tenant_id AND s.slice_id = x.slice_id AND s.session_key = x.session_key
    JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id AND f.is_request
    WHERE x.tenant_id = %(tenant_id)s AND x.slice_id = %(slice_id)s AND x.session_id = m.session_id
      AND m.seq = ANY(s.seqs))
ORDER BY 1, 2;
