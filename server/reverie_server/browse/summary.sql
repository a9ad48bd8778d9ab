-- summary: counts of what some slices have; trust as the list of facts shows it, and facts of the last 180 days
-- Materialised, or trust would be computed for each count of it; `date_part` costs half of what `extract` does, a numeric.
WITH own AS MATERIALIZED (
    SELECT unnest(%(slice_ids)s::bigint[]) AS slice_id
), rated AS MATERIALIZED (
    SELECT greatest(0, least(1, 0.5::float8 + 0.1::float8 * f.helpful - 0.2::float8 * f.unhelpful))
           * CASE WHEN %(half_life)s::float8 > 0 THEN power(2::float8, -greatest(0, date_part('epoch', %(now)s::timestamptz
                 - greatest(f.created_at, f.said_at, f.last_confirmed_at, f.last_used_at)) / 86400) / %(half_life)s::float8)
                  ELSE 1 END AS trust,
           greatest(f.said_at, f.last_confirmed_at) AS known_at
    FROM facts f
    WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[]) AND f.state = 'current'
      AND (f.valid_to IS NULL OR f.valid_to > %(now)s::timestamptz)
), trust AS (
    SELECT count(*) AS facts, count(*) FILTER (WHERE trust > 0.5) AS trusted, count(*) FILTER (WHERE trust < 0.25) AS doubted,
           count(*) FILTER (WHERE known_at < %(now)s::timestamptz - interval '180 days') AS old
    FROM rated
)
SELECT t.facts::integer, t.trusted::integer, t.doubted::integer, t.old::integer,
       (SELECT count(*) FROM documents d JOIN own o USING (slice_id)
        WHERE d.tenant_id = %(tenant_id)s AND d.session_key IS NULL AND d.deleted_at IS NULL)::integer AS files,
       s.sessions, s.messages,
       (SELECT count(*) FROM episodes e JOIN own o USING (slice_id)
        WHERE e.tenant_id = %(tenant_id)s AND (e.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND e.owner_key IS NULL))::integer AS episodes,
       (SELECT count(*) FROM entities e JOIN own o USING (slice_id) WHERE e.tenant_id = %(tenant_id)s)::integer AS entities,
       (SELECT count(*) FROM contradictions c JOIN own o USING (slice_id)
        WHERE c.tenant_id = %(tenant_id)s AND c.state = 'open')::integer AS contradictions,
       (SELECT count(*) FROM duplicates p JOIN own o USING (slice_id)
        WHERE p.tenant_id = %(tenant_id)s AND p.state = 'open')::integer AS duplicates,
       (SELECT count(*) FROM unmet_requests r JOIN sessions c ON c.tenant_id = r.tenant_id AND c.session_key = r.session_key
        WHERE NOT r.for_model AND r.unheard_since IS NULL AND r.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s
          AND (c.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND c.owner_key IS NULL))::integer AS unmet_requests
FROM trust t
CROSS JOIN LATERAL (
    SELECT count(*)::integer AS sessions, coalesce(sum(c.message_count), 0)::integer AS messages FROM sessions c
    WHERE c.tenant_id = %(tenant_id)s AND c.agent_id = %(agent_id)s AND (c.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND c.owner_key IS NULL)
) s;

-- jobs: how many jobs failed, and how many wait or run; they are not where the rows of a tenant may be
SELECT count(*) FILTER (WHERE status = 'failed')::integer AS failed_jobs,
       count(*) FILTER (WHERE status IN ('todo', 'doing'))::integer AS open_jobs
FROM own_jobs();
