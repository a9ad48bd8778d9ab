-- ended: the sentences of some slices that state what does not hold (any more), or only until a day (`ended_at`, which is null
-- for what does not hold already), each with its fact, those said last at the end, the sentences of the fact that
-- replaces it, and whether the sentence states another fact, too
SELECT f.slice_id, s.sentence_sha256, f.said_at, f.fact_id, f.superseded_by,
       CASE WHEN f.state = 'current' THEN f.valid_to END AS ended_at,
       ARRAY(SELECT n.sentence_sha256 FROM fact_sentences n
             WHERE n.tenant_id = %(tenant_id)s AND n.fact_id = f.superseded_by ORDER BY n.sentence_sha256) AS replacing,
       s.sentence_sha256 IN (SELECT k.sentence_sha256 FROM fact_sentences k
                             WHERE k.tenant_id = %(tenant_id)s AND k.slice_id = ANY(%(slice_ids)s::bigint[])
                             GROUP BY k.slice_id, k.sentence_sha256 HAVING count(*) > 1) AS is_shared
FROM facts f
CROSS JOIN LATERAL (
    SELECT sentence_sha256 FROM fact_sentences
    WHERE tenant_id = %(tenant_id)s AND fact_id = f.fact_id OFFSET 0
) s
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (f.state <> 'current' OR f.valid_to IS NOT NULL)
ORDER BY f.said_at, f.fact_id, s.sentence_sha256;
