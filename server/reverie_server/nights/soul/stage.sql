-- facts: what holds in a slice and nobody doubts, what was said, confirmed or used last first
SELECT f.fact_id, f.text, f.said_at FROM facts f
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[]) AND f.state = 'current'
  AND (f.valid_to IS NULL OR f.valid_to > %(now)s) AND 0.5 + 0.1 * f.helpful - 0.2 * f.unhelpful > 0
  AND NOT EXISTS (SELECT FROM contradictions c
                  WHERE c.tenant_id = %(tenant_id)s AND c.state = 'open' AND f.fact_id IN (c.first_id, c.second_id))
ORDER BY greatest(f.said_at, f.last_confirmed_at, f.last_used_at) DESC, f.fact_id DESC
LIMIT %(limit)s;

-- still_hold: how many of some facts of a slice hold
SELECT count(*) AS facts FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = ANY(%(fact_ids)s::bigint[]) AND state = 'current';

-- line_facts: for each line of a file that was made of facts, these by their public ids
SELECT x.line_sha256, array_agg(DISTINCT s.source ->> 'fact_id') AS fact_ids
FROM documents d
JOIN derivations x ON x.tenant_id = d.tenant_id AND x.document_id = d.document_id
CROSS JOIN LATERAL jsonb_array_elements(x.sources) AS s(source)
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.path = %(path)s
  AND d.session_key IS NULL AND s.source ->> 'kind' = 'fact'
GROUP BY x.line_sha256
ORDER BY x.line_sha256;

-- holding: those of some facts that hold
SELECT fact_id FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND fact_id = ANY(%(fact_ids)s::bigint[])
  AND state = 'current' AND (valid_to IS NULL OR valid_to > %(now)s)
ORDER BY fact_id;
